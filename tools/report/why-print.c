// SPDX-License-Identifier: GPL-2.0-only
/*
 * How reasons look: "12.400 ms: 9.800 ms runnable on CPU 1 behind kworker/1:2-45; ..." for people,
 * and JSON with every nanosecond for programs.  It never counts anything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "format/common/out.h"
#include "report/why-local.h"
#include "text/json.h"

#define SHOWN	12u	/* causes of a window, in text */

static void put(const char *s)
{
	report_print_text(s, strlen(s), 0);
}

static void put_time(uint64_t ns)
{
	char buf[32];

	fputs(tool_format_time(buf, sizeof(buf), ns), stdout);
}

static const char *softirq_name(int32_t vec)
{
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};

	return vec >= 0 && (size_t)vec < sizeof(names) / sizeof(names[0]) ? names[vec] : NULL;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void put_task(const char *comm, uint32_t tid)
{
	if (!tid) {
		fputs("an idle CPU", stdout);
		return;
	}
	put(comm);
	printf("-%u", tid);
}

static void put_interrupt(const struct cause_who *who)
{
	bool soft = who->context == CAUSE_IN_SOFTIRQ;
	const char *name = soft ? softirq_name(who->vec) : who->name;

	if (name && *name) {
		fputs(soft ? "softirq " : "irq ", stdout);
		put(name);
	} else if (who->vec >= 0) {
		printf("%s %d", soft ? "softirq" : "irq", who->vec);
	} else {
		fputs(soft ? "a softirq" : "an interrupt", stdout);
	}
}

static void put_who(const struct why_item *item)
{
	if (item->who.context == CAUSE_IN_TASK)
		put_task(item->comm, (uint32_t)item->who.tid);
	else
		put_interrupt(&item->who);
}

static void put_syscall(int32_t nr)
{
	const char *name = syscall_name(nr);

	if (name)
		fputs(name, stdout);
	else
		printf("system call %d", nr);
}

static void put_runnable(const struct why_item *item)
{
	fputs("runnable", stdout);
	if (item->cpu >= 0)
		printf(" on CPU %d", item->cpu);
	if (item->who.context == CAUSE_IN_NOTHING)
		return;
	if (!item->who.tid) {
		fputs(", which was idle", stdout);
		return;
	}
	fputs(" behind ", stdout);
	put_task(item->comm, (uint32_t)item->who.tid);
	if (item->partial & CAUSE_OTHERS_BEFORE)
		fputs(", or others before it", stdout);
	if (item->partial & CAUSE_OTHERS_AFTER)
		fputs(", and others after it", stdout);
}

/* ", 150.1 ms of it", where another one or more had the rest. */
static void put_part(const struct why_link *link)
{
	if (link->who_ns >= link->ns - link->ns / 100)
		return;
	fputs(", ", stdout);
	put_time(link->who_ns);
	fputs(" of it", stdout);
}

static void put_link(const struct why_link *link)
{
	fputs(", which ", stdout);
	switch (link->class) {
	case CAUSE_RUNNABLE:
		fputs("waited ", stdout);
		put_time(link->ns);
		fputs(" for a CPU", stdout);
		if (link->who) {
			put_part(link);
			fputs(" behind ", stdout);
			put_task(link->who_comm, link->who);
		}
		break;
	case CAUSE_BLOCKED:
	case CAUSE_IO:
	case CAUSE_FAULT:
		fputs(link->class == CAUSE_BLOCKED ? "slept " : link->class == CAUSE_IO ?
		      "slept in IO " : "slept in a page fault ", stdout);
		put_time(link->ns);
		put_part(link);
		fputs(" until ", stdout);
		if (link->who)
			put_task(link->who_comm, link->who);
		else
			fputs("an interrupt", stdout);
		fputs(" woke it", stdout);
		break;
	case CAUSE_IRQ:
		fputs("was interrupted for ", stdout);
		put_time(link->ns);
		break;
	case CAUSE_GIL:
		fputs("waited ", stdout);
		put_time(link->ns);
		fputs(" for the GIL", stdout);
		break;
	case CAUSE_UNKNOWN:
		fputs("is not known of for ", stdout);
		put_time(link->ns);
		break;
	default:
		fputs("ran ", stdout);
		put_time(link->ns);
	}
}

static void put_sleep(const struct why_item *item)
{
	fputs(item->class == CAUSE_FAULT ? "blocked in a page fault" :
	      item->class == CAUSE_IO ? "blocked in IO" : "blocked", stdout);
	if (item->nr >= 0) {
		fputs(item->class == CAUSE_IO ? ", by " : " in ", stdout);
		put_syscall(item->nr);
	}
	if (item->who.context == CAUSE_IN_NOTHING)
		return;
	fputs(", woken by ", stdout);
	put_who(item);
	for (uint32_t i = 0; i < item->nr_links; i++)
		put_link(&item->links[i]);
}

static void put_name(const struct why *why, const struct why_window *w, uint32_t name)
{
	size_t len;
	const char *s = xsprof_trace_name_len(why->report->source.trace, w->producer, name, &len);

	report_print_text(s, len, 0);
}

static void put_cause(const struct why *why, const struct why_window *w,
		      const struct why_item *item)
{
	if (item->rest) {
		printf("%s, in other places", report_class_word(item->class));
		return;
	}
	switch (item->class) {
	case CAUSE_CPU:
		fputs("on CPU", stdout);
		break;
	case CAUSE_SYSCALL:
		fputs("on CPU in ", stdout);
		put_syscall(item->nr);
		break;
	case CAUSE_IRQ:
	case CAUSE_SOFTIRQ:
		fputs("taken by ", stdout);
		put_interrupt(&item->who);
		break;
	case CAUSE_RUNNABLE:
		put_runnable(item);
		break;
	case CAUSE_UNKNOWN:
		fputs("unknown", stdout);
		break;
	case CAUSE_GIL:
		fputs("waiting for the GIL", stdout);
		if (item->who.context == CAUSE_IN_TASK) {
			fputs(", held by ", stdout);
			put_task(item->comm, (uint32_t)item->who.tid);
		} else {
			fputs(", which no thread held", stdout);
		}
		if (item->range) {
			fputs(" in ", stdout);
			put_name(why, w, item->range);
		}
		break;
	default:
		put_sleep(item);
	}
}

static void put_title(const struct why *why, const struct why_window *w)
{
	const char *comm = xsprof_trace_thread(why->report->source.trace, w->producer, w->tid);
	uint64_t at = w->begin > why->report->first_ns ? w->begin - why->report->first_ns : 0;
	struct report_op op = why_op(w);

	if (w->kind == WHY_STREAM)
		printf("GPU %u stream %u idle between ", w->device, w->stream);
	else if (w->kind == WHY_GAP)
		fputs("between ", stdout);
	if (w->kind != WHY_RANGE) {
		put_name(why, w, w->before);
		fputs(" and ", stdout);
	}
	put_name(why, w, w->name);
	report_print_place(why->report->source.trace, why->places, &op);
	printf(", thread %u", w->tid);
	if (*comm) {
		fputs(" (", stdout);
		put(comm);
		putchar(')');
	}
	printf(", at %" PRIu64 ".%09" PRIu64 " s\n", at / 1000000000u, at % 1000000000u);
}

static void put_window(const struct why *why, const struct why_window *w)
{
	uint64_t wall = why_wall(w), rest = 0;
	uint32_t shown = 0;

	put_title(why, w);
	fputs("    ", stdout);
	put_time(wall);
	for (uint32_t i = 0; i < w->nr_items; i++) {
		const struct why_item *item = &w->items[i];

		/* What takes no hundredth of it explains nothing. */
		if (shown && (shown == SHOWN || item->ns < wall / 100)) {
			rest += item->ns;
			continue;
		}
		fputs(shown++ ? ";\n        " : ":\n        ", stdout);
		put_time(item->ns);
		printf(" (%.1f %%) ", wall ? 100.0 * (double)item->ns / (double)wall : 0.0);
		put_cause(why, w, item);
		if (item->count > 1)
			printf(", %" PRIu64 " times", item->count);
	}
	if (rest) {
		fputs(";\n        ", stdout);
		put_time(rest);
		fputs(" of other causes, each below 1 %", stdout);
	}
	putchar('\n');
}

void why_print(const struct why *why)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };

	fputs("# ", stdout);
	put(why->report->source.path);
	printf(": the %s %u of %" PRIu64 " %s",
	       why->report->gaps ? "longest" : "slowest", why->nr, why->found,
	       why->report->gaps ? "gaps between ranges" : "ranges called ");
	if (!why->report->gaps)
		put(why->report->why);
	putchar('\n');
	if (why->report->nr_uncertain)
		printf("# uncertain: %" PRIu64 " more, inside which records were lost "
		       "(--include-uncertain shows them)\n", why->report->nr_uncertain);
	report_print_sources(cause_get_stats(why->cause));
	if (xsprof_trace_get_kernel(why->report->source.trace, &kernel))
		kernel.error_ns = 0;
	if (kernel.error_ns == UINT64_MAX)
		puts("# the error between clocks of markers and kernel is not known");
	else if (kernel.error_ns)
		printf("# clocks of markers and kernel agree to %" PRIu64 " ns\n", kernel.error_ns);
	for (uint32_t i = 0; i < why->nr; i++) {
		printf("\n%u. ", i + 1);
		put_window(why, &why->windows[i]);
	}
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_text(const char *key, const char *s, size_t len)
{
	printf(",\"%s\":", key);
	xsp_json_print(stdout, s, len);
}

static void json_name(const struct why *why, const struct why_window *w, const char *key,
		      uint32_t name)
{
	size_t len;
	const char *s = xsprof_trace_name_len(why->report->source.trace, w->producer, name, &len);

	json_text(key, s, len);
}

static void json_who(const struct why_item *item)
{
	static const char *const contexts[] = { "task", "irq", "softirq" };
	const char *name;

	if (item->who.context >= CAUSE_IN_NOTHING)
		return;
	printf(",\"by\":{\"context\":\"%s\"", contexts[item->who.context]);
	if (item->who.context == CAUSE_IN_TASK) {
		printf(",\"tid\":%u", (uint32_t)item->who.tid);
		json_text("comm", item->comm, strlen(item->comm));
	} else {
		if (item->who.vec >= 0)
			printf(",\"vector\":%d", item->who.vec);
		name = item->who.context == CAUSE_IN_SOFTIRQ ? softirq_name(item->who.vec) :
		       item->who.name;
		if (name && *name)
			json_text("name", name, strlen(name));
	}
	putchar('}');
}

static void json_link(const struct why_link *link)
{
	printf("{\"tid\":%u", link->tid);
	json_text("comm", link->comm, strlen(link->comm));
	printf(",\"class\":\"%s\",\"ns\":%" PRIu64, report_class_word(link->class), link->ns);
	if (link->who) {
		printf(",\"by_tid\":%u", link->who);
		json_text("by_comm", link->who_comm, strlen(link->who_comm));
	}
	putchar('}');
}

static void json_item(const struct why *why, const struct why_window *w,
		      const struct why_item *item)
{
	const char *name = syscall_name(item->nr);

	printf("{\"class\":\"%s\",\"ns\":%" PRIu64 ",\"count\":%" PRIu64 ",\"longest_ns\":%" PRIu64
	       ",\"first_ns\":%" PRIu64, report_class_word(item->class), item->ns, item->count,
	       item->longest, item->first);
	if (item->class == CAUSE_RUNNABLE && item->cpu >= 0)
		printf(",\"cpu\":%d", item->cpu);
	if (item->partial)
		fputs(",\"partial\":true", stdout);
	/* Those of other classes are not told apart by it. */
	if (item->nr >= 0 && (item->class == CAUSE_SYSCALL || item->class == CAUSE_BLOCKED ||
			      item->class == CAUSE_IO)) {
		printf(",\"syscall_nr\":%d", item->nr);
		if (name)
			json_text("syscall", name, strlen(name));
	}
	json_who(item);
	if (item->range)
		json_name(why, w, "range", item->range);
	if (item->nr_links) {
		fputs(",\"chain\":[", stdout);
		for (uint32_t i = 0; i < item->nr_links; i++) {
			if (i)
				putchar(',');
			json_link(&item->links[i]);
		}
		putchar(']');
	}
	putchar('}');
}

static void json_window(const struct why *why, const struct why_window *w)
{
	static const char *const kinds[] = { "range", "gap", "stream" };
	const char *comm = xsprof_trace_thread(why->report->source.trace, w->producer, w->tid);
	struct report_op op = why_op(w);

	printf("{\"kind\":\"%s\"", kinds[w->kind]);
	json_name(why, w, "name", w->name);
	if (w->kind != WHY_RANGE)
		json_name(why, w, "before", w->before);
	if (w->kind == WHY_STREAM)
		printf(",\"device\":%u,\"stream\":%u", w->device, w->stream);
	report_json_place(why->report->source.trace, why->places, &op);
	json_text("thread", comm, strlen(comm));
	printf(",\"tid\":%u,\"pid\":%u,\"producer\":%u,\"begin_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64
	       ",\"wall_ns\":%" PRIu64 ",\n \"sum\":{\"wall_ns\":%" PRIu64, w->tid, w->pid,
	       w->producer, w->begin, w->end, why_wall(w), why_wall(w));
	report_json_sum(&w->sum);
	fputs("},\n \"causes\":[", stdout);
	for (uint32_t i = 0; i < w->nr_items; i++) {
		fputs(i ? ",\n  " : "\n  ", stdout);
		json_item(why, w, &w->items[i]);
	}
	fputs("]}", stdout);
}

void why_print_json(const struct why *why)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };

	printf("{\"found\":%" PRIu64 ",\"uncertain\":%" PRIu64 ",", why->found,
	       why->report->nr_uncertain);
	report_json_recorded(cause_get_stats(why->cause));
	if (!xsprof_trace_get_kernel(why->report->source.trace, &kernel) &&
	    kernel.error_ns != UINT64_MAX)
		printf(",\"clock_error_ns\":%" PRIu64, kernel.error_ns);
	printf(",\n\"%s\":[", why->report->gaps ? "gaps" : "ranges");
	for (uint32_t i = 0; i < why->nr; i++) {
		fputs(i ? ",\n" : "\n", stdout);
		json_window(why, &why->windows[i]);
	}
	fputs("]}\n", stdout);
}
