// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints open ranges: a sentence for each thread, or JSON objects.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/signal-name.h"
#include "cli/tool.h"
#include "cli/why.h"
#include "decode/rank.h"
#include "format/common/out.h"
#include "ranges/program.h"
#include "report/open.h"
#include "report/local.h"
#include "text/json.h"

#define THREADS_SHOWN	16u	/* of a process, unless --open */
#define AROUND		8u	/* ranges shown around one: the outermost and the innermost */
#define SILENT_SHOWN	4u	/* processes, unless --open */
#define SILENT_NS	1000000000u	/* a process without a record for so long may hang */

/* Ranges [@from, @to) of one thread, or one range with an id. */
struct stack {
	const struct open_range	*v;
	size_t			n;
};

static bool is_async(const struct open_range *range)
{
	return range->kind == XSPROF_REC_ASYNC_BEGIN;
}

static struct stack stack_at(const struct open_ranges *open, size_t at)
{
	struct stack s = { &open->list[at], 1 };

	while (at + s.n < open->nr && !is_async(s.v) && !is_async(&s.v[s.n]) &&
	       s.v[s.n].producer == s.v->producer && s.v[s.n].tid == s.v->tid &&
	       s.v[s.n].gone == s.v->gone && (!s.v->gone || s.v[s.n].end_ns == s.v->end_ns))
		s.n++;
	return s;
}

static bool wanted(const struct open_show *show, uint32_t pid, uint32_t tid,
		   const struct xsprof_trace_producer *p)
{
	if (show->wanted && !show->wanted(show->data, pid, tid))
		return false;
	if (show->all)
		return true;
	return !show->window && p->how != XSPROF_HOW_EXITED && p->how != XSPROF_HOW_EXEC;
}

static void put_text(const struct open_ranges *open, const struct open_range *range)
{
	size_t len;
	const char *s = xsprof_trace_name_len(open->trace, range->producer, range->name, &len);

	report_print_text(s, len, 0);
}

static void put_signal(int signal)
{
	const char *name = signal_name(signal);

	if (name)
		printf("SIG%s", name);
	else
		printf("signal %d", signal);
}

/* "... when killed by SIGKILL" */
static void put_end(const struct open_ranges *open, const struct open_show *show,
		    const struct xsprof_trace_producer *p)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };

	if (show->window) {
		fputs("at the end of the time shown", stdout);
		return;
	}
	switch (p->how) {
	case XSPROF_HOW_EXITED:
		printf("when it exited with status %d", p->status);
		break;
	case XSPROF_HOW_KILLED:
		fputs("when killed", stdout);
		/* A ring file shows that it was killed, not by which signal. */
		if (p->status) {
			fputs(" by ", stdout);
			put_signal(p->status);
		}
		break;
	case XSPROF_HOW_EXEC:
		fputs("when another program replaced it", stdout);
		break;
	case XSPROF_HOW_VANISHED:
		fputs("when its process vanished", stdout);
		break;
	case XSPROF_HOW_RUNNING:
		if (!xsprof_trace_get_info(open->trace, &info) && info.end &&
		    info.end->why == WHY_SNAPSHOT)
			fputs("when the snapshot was taken", stdout);
		else
			fputs("when the recording ended", stdout);
		break;
	default:
		fputs("at the end of the recording", stdout);
	}
}

static void put_thread(const struct open_ranges *open, uint32_t producer, uint32_t tid)
{
	const char *comm = xsprof_trace_thread(open->trace, producer, tid);

	printf("thread %u", tid);
	if (*comm) {
		fputs(" (", stdout);
		report_print_text(comm, strlen(comm), 0);
		putchar(')');
	}
}

static uint64_t since(uint64_t begin, uint64_t ns)
{
	return ns > begin ? ns - begin : 0;
}

/* "3.200 s"; if the end is known to an interval only, "3.151 s to 3.200 s", "at most ..." */
static void put_duration(const struct open_ranges *open, uint32_t producer, uint64_t begin,
			 uint64_t end)
{
	uint64_t ran = xsprof_trace_ran_ns(open->trace, producer), most = since(begin, end);
	/* A process without an end in the capture ran at least to its last record. */
	uint64_t least = ran && ran < end ? since(begin, ran) : most;
	char from[32], to[32];

	tool_format_time(from, sizeof(from), least);
	tool_format_time(to, sizeof(to), most);
	if (!strcmp(from, to))
		fputs(to, stdout);
	else if (!least)
		printf("at most %s", to);
	else
		printf("%s to %s", from, to);
}

/* " (in step > forward) ": of many, the outermost and the innermost. */
static void put_around(const struct open_ranges *open, const struct stack *s)
{
	size_t around = s->n - 1, left_out = around > 2 * AROUND ? around - 2 * AROUND : 0;

	for (size_t i = 0; i < around; i++) {
		fputs(i ? " > " : " (in ", stdout);
		if (left_out && i == AROUND) {
			printf("%zu more > ", left_out);
			i += left_out;
		}
		put_text(open, &s->v[i]);
		if (s->v[i].doubt)
			putchar('?');
	}
	fputs(around ? ") " : " ", stdout);
}

/* thread 12 (worker) was in conv2d for 3.200 s (in step > forward) when killed by SIGKILL */
static void print_stack(const struct open_ranges *open, const struct open_show *show,
			const struct stack *s, const struct xsprof_trace_producer *p)
{
	const struct open_range *inner = &s->v[s->n - 1];
	struct report_op op = open_range_op(inner);
	char time[32];

	fputs("  ", stdout);
	put_thread(open, inner->producer, inner->tid);
	fputs(is_async(inner) ? " began " : " was in ", stdout);
	put_text(open, inner);
	report_print_place(open->trace, open->places, &op);
	if (is_async(inner))
		printf(" with id %#" PRIx64 ", open", inner->id);
	fputs(" for ", stdout);
	/* The time when its markers were switched off, or its thread ended, is known. */
	if (inner->doubt == OPEN_PAUSED || inner->gone)
		fputs(tool_format_time(time, sizeof(time), since(inner->begin_ns, inner->end_ns)),
		      stdout);
	else
		put_duration(open, inner->producer, inner->begin_ns, inner->end_ns);
	put_around(open, s);
	if (inner->holder) {
		fputs("for the lock held by ", stdout);
		put_thread(open, inner->producer, inner->holder);
		putchar(' ');
	}
	if (inner->doubt == OPEN_PAUSED)
		fputs("when its markers were disabled: later events are unknown", stdout);
	else if (inner->gone)
		fputs("when the thread ended", stdout);
	else
		put_end(open, show, p);
	if (inner->doubt == OPEN_LOST)
		fputs("; uncertain: records after its begin are missing", stdout);
	putchar('\n');
}

/* @what: the process, in "Open at the end of ...". */
static void print_process(const struct open_ranges *open, const char *what, uint32_t producer,
			  uint32_t pid)
{
	char text[XSP_PROGRAM_MAX];
	const char *name = xsp_program(open->trace, producer, text);
	struct xsp_rank rank;

	printf("\n%s of process %u", what, pid);
	if (name) {
		fputs(" (", stdout);
		report_print_text(name, strlen(name), 0);
		putchar(')');
	}
	if (xsp_rank_of(open->trace, producer, &rank))
		printf(", rank %u", rank.rank);
	puts(":");
}

/* ---- with nothing open ---------------------------------------------------------------------- */

/*
 * The latest record of a process with nothing open that was killed or ended long after it; or NULL.
 */
static const struct open_latest *silent(const struct open_ranges *open,
					const struct open_show *show, uint32_t producer,
					struct xsprof_trace_producer *p)
{
	const struct open_latest *latest = &open->latest[producer];

	if (show->window || !latest->pid || xsprof_trace_get_producer(open->trace, producer, p) ||
	    !wanted(show, latest->pid, latest->tid, p) ||
	    (!show->all && p->how != XSPROF_HOW_KILLED &&
	     since(latest->ns, p->exit_ns) < SILENT_NS) ||
	    latest->open)
		return NULL;
	return latest;
}

static void put_latest(const struct open_ranges *open, uint32_t producer,
		       const struct open_latest *latest)
{
	struct open_range range = { .producer = producer, .name = latest->name };

	printf("the latest record, the %s", xsp_word_type(latest->type));
	if (latest->name) {
		fputs(latest->type == XSPROF_REC_BEGIN || latest->type == XSPROF_REC_END ?
		      " of " : " ", stdout);
		put_text(open, &range);
	}
}

/* the latest record, the end of step in thread 12 (worker), was 3.200 s old when killed */
static void print_silent(const struct open_ranges *open, const struct open_show *show)
{
	struct xsprof_trace_producer p = { 0 };
	const struct open_latest *latest;
	uint32_t shown = 0, more = 0;

	for (uint32_t i = 0; i < open->nr_latest; i++) {
		latest = silent(open, show, i, &p);
		if (!latest)
			continue;
		if (!show->all && shown == SILENT_SHOWN) {
			more++;
			continue;
		}
		shown++;
		print_process(open, "No range was open at the end", i, latest->pid);
		fputs("  ", stdout);
		put_latest(open, i, latest);
		fputs(" in ", stdout);
		put_thread(open, i, latest->tid);
		fputs(", was ", stdout);
		put_duration(open, i, latest->ns, p.exit_ns);
		fputs(" old ", stdout);
		put_end(open, show, &p);
		if (latest->lost)
			fputs("; uncertain: records after it are missing", stdout);
		putchar('\n');
	}
	if (more)
		printf("... and %u more processes that were killed, or stopped writing long before "
		       "their end: --open shows all\n", more);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static struct xsprof_trace_producer producer_of(const struct open_ranges *open,
						const struct stack *s)
{
	struct xsprof_trace_producer p = { .number = s->v->producer };

	xsprof_trace_get_producer(open->trace, p.number, &p);
	return p;
}

void open_ranges_print(const struct open_ranges *open, const struct open_show *show)
{
	struct xsprof_trace_producer p = { 0 };
	uint32_t producer = ~0u;
	size_t at, shown = 0, more = 0;
	struct stack s;

	for (at = 0; at < open->nr; at += s.n) {
		s = stack_at(open, at);
		if (s.v->producer != p.number || !at)
			p = producer_of(open, &s);
		if (!wanted(show, s.v->pid, s.v->tid, &p))
			continue;
		if (producer != s.v->producer) {
			if (more)
				printf("  ... and %zu more: --open shows all\n", more);
			print_process(open, s.v->gone ? "Open at the end of threads" :
				      "Open at the end", s.v->producer, s.v->pid);
			producer = s.v->producer;
			shown = more = 0;
		}
		if (show->all || shown++ < THREADS_SHOWN)
			print_stack(open, show, &s, &p);
		else
			more++;
	}
	if (more)
		printf("  ... and %zu more: --open shows all\n", more);
	if (open->dropped + open->left_out)
		printf("  ... and %" PRIu64 " more open ranges: too many to list\n",
		       open->dropped + open->left_out);
	/* Ranges that were not kept may be of any process. */
	if (!open->dropped)
		print_silent(open, show);
}

static void json_range(const struct open_ranges *open, const struct open_range *range)
{
	static const char *const doubts[] = { "null", "\"lost\"", "\"paused\"" };
	struct report_op op = open_range_op(range);
	const char *category;
	size_t len;
	const char *s = xsprof_trace_name_len(open->trace, range->producer, range->name, &len);

	fputs("{\"name\":", stdout);
	xsp_json_print(stdout, s, len);
	category = xsprof_trace_category(open->trace, range->producer, range->name);
	fputs(",\"category\":", stdout);
	xsp_json_print(stdout, category, strlen(category));
	if (is_async(range))
		printf(",\"id\":%" PRIu64, range->id);
	report_json_place(open->trace, open->places, &op);
	if (range->holder)
		printf(",\"held_by\":%u", range->holder);
	printf(",\"begin_ns\":%" PRIu64 ",\"open_ns\":%" PRIu64 ",\"uncertain\":%s}",
	       range->begin_ns,
	       range->end_ns > range->begin_ns ? range->end_ns - range->begin_ns : 0,
	       doubts[range->doubt % 3]);
}

void open_ranges_json(const struct open_ranges *open, const struct open_show *show)
{
	struct xsprof_trace_producer p = { 0 };
	bool first = true;
	const char *comm;
	struct stack s;
	size_t at, i;

	putchar('[');
	for (at = 0; at < open->nr; at += s.n) {
		s = stack_at(open, at);
		if (s.v->producer != p.number || !at)
			p = producer_of(open, &s);
		if (!wanted(show, s.v->pid, s.v->tid, &p))
			continue;
		printf("%s{\"producer\":%u,\"pid\":%u,\"how\":\"%s\",\"%s\":%d,"
		       "\"end_within_ns\":%" PRIu64 ",\"thread_ended\":%s,\"tid\":%u",
		       first ? "\n" : ",\n", s.v->producer,
		       s.v->pid, xsp_word_how(p.how), xsp_word_of_end(p.how), p.status,
		       s.v->gone ? 0 : p.exit_ns - xsprof_trace_ran_ns(open->trace, s.v->producer),
		       s.v->gone ? "true" : "false", s.v->tid);
		first = false;
		comm = xsprof_trace_thread(open->trace, s.v->producer, s.v->tid);
		fputs(",\"thread\":", stdout);
		xsp_json_print(stdout, comm, strlen(comm));
		fputs(",\"ranges\":[", stdout);
		for (i = 0; i < s.n; i++) {
			if (i)
				putchar(',');
			json_range(open, &s.v[i]);
		}
		fputs("]}", stdout);
	}
	putchar(']');
}

void open_silent_json(const struct open_ranges *open, const struct open_show *show)
{
	struct xsprof_trace_producer p = { 0 };
	const struct open_latest *latest;
	const char *sep = "\n", *s;
	size_t len;

	putchar('[');
	for (uint32_t i = 0; i < open->nr_latest && !open->dropped; i++) {
		latest = silent(open, show, i, &p);
		if (!latest)
			continue;
		printf("%s{\"producer\":%u,\"pid\":%u,\"how\":\"%s\",\"%s\":%d,"
		       "\"end_within_ns\":%" PRIu64 ",\"silent_ns\":%" PRIu64 ",\"tid\":%u", sep, i,
		       latest->pid, xsp_word_how(p.how), xsp_word_of_end(p.how), p.status,
		       p.exit_ns - xsprof_trace_ran_ns(open->trace, i),
		       since(latest->ns, p.exit_ns), latest->tid);
		sep = ",\n";
		s = xsprof_trace_thread(open->trace, i, latest->tid);
		fputs(",\"thread\":", stdout);
		xsp_json_print(stdout, s, strlen(s));
		s = xsprof_trace_name_len(open->trace, i, latest->name, &len);
		printf(",\"type\":\"%s\",\"name\":", xsp_word_type(latest->type));
		xsp_json_print(stdout, s, latest->name ? len : 0);
		printf(",\"uncertain\":%s}", latest->lost ? "\"lost\"" : "null");
	}
	putchar(']');
}
