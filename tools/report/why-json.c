// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reasons as JSON, with every nanosecond, for programs.  It never counts anything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/tool.h"
#include "format/common/out.h"
#include "report/why-local.h"
#include "text/json.h"

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
		name = item->who.context == CAUSE_IN_SOFTIRQ ? why_softirq_name(item->who.vec) :
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
	/* In other classes it does not distinguish causes. */
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
