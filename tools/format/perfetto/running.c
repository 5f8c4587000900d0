// SPDX-License-Identifier: GPL-2.0-only
/*
 * The running tasks in a Perfetto trace that no event shows: switches that the kernel's tracer left
 * out, and the tasks that run when the time shown begins.
 */
#include <errno.h>

#include "format/perfetto/local.h"

static bool has_running(struct xsp_out *out)
{
	struct perfetto *pf = pf_of(out);

	if (!pf->running && fmt_running_new(&pf->running))
		out->buf.err = ENOMEM;
	return pf->running;
}

bool pf_running_take(struct xsp_out *out, const struct xsprof_event *ev,
		     struct fmt_inferred *inferred)
{
	return has_running(out) &&
	       fmt_running_take(pf_of(out)->running, out->trace, ev, inferred);
}

void pf_running_before(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct fmt_inferred inferred;

	(void)pf_running_take(out, ev, &inferred);
}

static void put_running(void *data, int32_t cpu, const struct fmt_inferred *inferred)
{
	struct xsprof_event at = { .cpu = cpu };

	if (!pf_bundle_takes(data, cpu))
		return;
	pf_tell_kernel_task(data, inferred->to.tid, inferred->ns);
	pf_sched_inferred(data, &at, inferred);
}

void pf_running_begin(struct xsp_out *out, uint64_t ns)
{
	struct perfetto *pf = pf_of(out);

	if (pf->running)
		fmt_running_at(pf->running, out->trace, ns, put_running, out);
}

void pf_running_marker(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct perfetto *pf = pf_of(out);
	struct fmt_inferred inferred;

	if (pf->running && fmt_running_marker(pf->running, out->trace, ev, &inferred) &&
	    pf_bundle_takes(out, ev->cpu))
		pf_sched_inferred(out, ev, &inferred);
}
