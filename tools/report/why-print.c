// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints reasons as text: "12.400 ms: 9.800 ms runnable on CPU 1 behind kworker/1:2-45; ...". It
 * counts nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "report/why-local.h"

#define SHOWN	12u	/* causes of a window */
#define MANY	3u	/* with more causes of a class than this, their sum is printed too */

static void put(const char *s)
{
	report_print_text(s, strlen(s), 0);
}

static void put_time(uint64_t ns)
{
	char buf[32];

	fputs(tool_format_time(buf, sizeof(buf), ns), stdout);
}

const char *why_softirq_name(int32_t vec)
{
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};

	return vec >= 0 && (size_t)vec < sizeof(names) / sizeof(names[0]) ? names[vec] : NULL;
}

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
	const char *name = soft ? why_softirq_name(who->vec) : who->name;

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

/* ", 150.1 ms of it", if others had the rest. */
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

static double percent(uint64_t ns, uint64_t wall)
{
	return wall ? 100.0 * (double)ns / (double)wall : 0.0;
}

static bool has_many_of_a_class(const struct why_window *w)
{
	uint32_t nr[CAUSE_CLASSES] = { 0 };

	for (uint32_t i = 0; i < w->nr_items; i++)
		if (w->items[i].class < CAUSE_CLASSES && ++nr[w->items[i].class] == MANY)
			return true;
	return false;
}

/* "in all 83.0 % runnable, 15.8 % on CPU", the most first. */
static void put_classes(const struct why_window *w)
{
	static const char *const words[CAUSE_CLASSES] = {
		[CAUSE_CPU] = "on CPU",
		[CAUSE_SYSCALL] = "on CPU in system calls",
		[CAUSE_FAULT] = "blocked in page faults",
		[CAUSE_IRQ] = "taken by interrupts",
		[CAUSE_SOFTIRQ] = "taken by softirqs",
		[CAUSE_RUNNABLE] = "runnable",
		[CAUSE_BLOCKED] = "blocked",
		[CAUSE_IO] = "blocked in IO",
		[CAUSE_GIL] = "waiting for the GIL",
		[CAUSE_UNKNOWN] = "unknown",
	};
	uint64_t wall = why_wall(w);
	struct cause_sum left = w->sum;
	uint32_t most = 0;

	for (const char *before = ";\n        in all "; ; before = ", ") {
		for (uint32_t i = most = 0; i < CAUSE_CLASSES; i++)
			if (left.v[i] > left.v[most])
				most = i;
		if (!left.v[most] || left.v[most] < wall / 100)
			return;
		printf("%s%.1f %% %s", before, percent(left.v[most], wall), words[most]);
		left.v[most] = 0;
	}
}

static void put_window(const struct why *why, const struct why_window *w)
{
	uint64_t wall = why_wall(w), rest = 0, longest = 0;
	uint32_t shown = 0;

	put_title(why, w);
	fputs("    ", stdout);
	put_time(wall);
	for (uint32_t i = 0; i < w->nr_items; i++) {
		const struct why_item *item = &w->items[i];

		/* Causes below 1 % explain nothing. */
		if (shown && (shown == SHOWN || item->ns < wall / 100)) {
			rest += item->ns;
			longest = item->ns > longest ? item->ns : longest;
			continue;
		}
		fputs(shown++ ? ";\n        " : ":\n        ", stdout);
		put_time(item->ns);
		printf(" (%.1f %%) ", percent(item->ns, wall));
		put_cause(why, w, item);
		if (item->count > 1)
			printf(", %" PRIu64 " times", item->count);
	}
	if (rest) {
		fputs(";\n        ", stdout);
		put_time(rest);
		if (longest < wall / 100)
			fputs(" of other causes, each below 1 %", stdout);
		else
			printf(" of other causes, each at most %.1f %%", percent(longest, wall));
	}
	if (has_many_of_a_class(w))
		put_classes(w);
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
		puts("# the error between the clocks of markers and kernel is unknown");
	else if (kernel.error_ns)
		printf("# clocks of markers and kernel agree to %" PRIu64 " ns\n", kernel.error_ns);
	if (!why->nr && why->report->gaps)
		puts("... no gap: a gap is between two outermost ranges of a thread, other than "
		     "GIL waits and garbage collections");
	for (uint32_t i = 0; i < why->nr; i++) {
		printf("\n%u. ", i + 1);
		put_window(why, &why->windows[i]);
	}
}
