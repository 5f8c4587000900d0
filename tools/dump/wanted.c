// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the events to show: those that match the filter's options, in its time window.
 */
#include "dump/local.h"

static bool wanted(struct dump *dump, const struct xsprof_event *ev, uint32_t name)
{
	const struct xsp_filter *filter = &dump->filter;
	struct xsp_name *entry;

	if (!filter->any)
		return true;
	if (xsp_event_nameless(ev))
		return xsp_filter_pid(filter, ev->pid) &&
		       (ev->cpu < 0 || xsp_filter_cpu(filter, ev->cpu));
	if (!xsp_filter_thread(filter, ev->pid, xsp_event_tid(ev)) ||
	    !xsp_filter_cpu(filter, ev->cpu))
		return false;
	if (!xsp_filter_names(filter))
		return true;
	entry = xsp_names_get(dump->out.names, ev->producer, name);
	return xsp_filter_name(filter, dump->source.trace, ev->producer, name, &entry->match);
}

bool dump_matches(struct dump *dump, const struct xsp_view *view)
{
	switch (view->ev->type) {
	case XSPROF_REC_END:
		if (view->range)
			return view->range->match;
		break;
	case XSPROF_REC_ARGS:
	case XSPROF_REC_STACK:
		if (dump->filter.any && !view->ev->name)
			return view->thread->last_match;
		break;
	}
	return wanted(dump, view->ev, view->name);
}

bool dump_kernel_matches(struct dump *dump, const struct xsprof_event *ev)
{
	const struct xsp_filter *filter = &dump->filter;
	struct xsp_kernel_kind *kind;

	if (!filter->any)
		return true;
	if (ev->type != XSPROF_EV_KERNEL)
		return xsp_filter_cpu(filter, ev->cpu);
	if (!xsp_filter_thread(filter, ev->pid, ev->tid) || !xsp_filter_cpu(filter, ev->cpu))
		return false;
	kind = xsp_kernel_kind(dump->out.kernel, ev);
	return xsp_filter_text(filter, kind->kind ? kind->kind->system : "", kind->name,
			       &kind->match);
}

bool dump_kernel_wanted(struct dump *dump, const struct xsprof_event *ev)
{
	return xsp_filter_time(&dump->filter, ev->ns) && dump_kernel_matches(dump, ev);
}

bool dump_continues(const struct dump *dump, const struct xsprof_event *ev)
{
	return ev->type == XSPROF_REC_ARGS && dump->late.tid && ev->tid == dump->late.tid &&
	       ev->producer == dump->late.producer;
}

bool dump_in_time(struct dump *dump, const struct xsprof_event *ev)
{
	const struct xsp_filter *filter = &dump->filter;
	bool more = ev->rec && ev->rec->size >> 4 & XSPROF_RECF_MORE, shown;

	if (dump_continues(dump, ev)) {
		shown = dump->late.shown;
	} else if (ev->type == XSPROF_REC_GPU) {
		shown = ev->end_ns >= filter->from_ns && ev->begin_ns <= filter->to_ns;
		dump->late.producer = ev->producer;
		dump->late.shown = shown;
		dump->late.any = true;
	} else {
		return xsp_filter_time(filter, ev->ns);
	}
	dump->late.tid = more ? ev->tid : 0;
	return shown;
}
