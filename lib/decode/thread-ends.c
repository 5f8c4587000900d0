// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Threads that ended while their process went on, as the kernel saw it: nothing is open on them
 * any more.  When a process ends all its threads do, within the time that it takes to go: what
 * was open on those was open when the process ended, which its own end tells.
 */
#include "decode/local.h"

bool xst_went_on(const struct xst_producer *p, uint64_t ns)
{
	uint64_t ran = p->ran_ticks ? p->ran_ticks : p->lived_ticks;

	/* Of one that has no end here it is not known what its threads ended with. */
	if (!p->has_exit || !p->end_ticks)
		return false;
	if (p->how == XSPROF_HOW_RUNNING)
		return ns < xst_fit_ns(p->fit, p->end_ticks);
	/* One that is killed is there until its memory has been freed: that is no going on. */
	return ns + XST_GOING_NS < xst_fit_ns(p->fit, ran ? ran : p->end_ticks);
}

/* Was @p there at @ns?  A number may be that of several, one after the other. */
static bool was_there(const struct xst_producer *p, uint64_t ns)
{
	return p->known && (!p->attach.ticks || xst_fit_ns(p->fit, p->attach.ticks) <= ns) &&
	       xst_went_on(p, ns);
}

void xst_thread_ends(struct xsprof_trace *t, const struct xsprof_event *ev,
		     struct xsprof_event *ended)
{
	const struct xst_kernel *k = &t->found.kernel;
	uint64_t kernel_tid;
	uint32_t tgid, tid;

	if (t->flags & XSPROF_TRACE_FOLLOW || !xsprof_kernel_value(ev, k->exit_pid, &kernel_tid) ||
	    !kernel_tid || kernel_tid > UINT32_MAX)
		return;
	tgid = xsprof_trace_tgid(t, (uint32_t)kernel_tid);
	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		const struct xst_producer *p = t->found.producers[i];

		/* Of another namespace, its number says nothing here. */
		if (!p || (!k->namespaced && !p->nameless && p->pid != tgid) ||
		    !was_there(p, ev->ns))
			continue;
		tid = xst_tids_own(t, p, (uint32_t)kernel_tid);
		if (!tid)
			continue;
		xst_event_init(ended, p, XSPROF_EV_THREAD_EXIT, ev->ns);
		ended->tid = tid;
		return;
	}
}
