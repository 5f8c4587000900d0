/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clocks of a Perfetto trace, and what it says of itself.
 */
#ifndef XSPROF_PERFETTO_META_H
#define XSPROF_PERFETTO_META_H

#include "format/perfetto/local.h"

/* What stands before everything else; needs the start of the trace, and its first event's time. */
void pf_begin(struct xsp_out *out, uint64_t ns);
/* Snapshots of the clocks up to @ns. */
void pf_clocks(struct xsp_out *out, uint64_t ns);
void pf_end(struct xsp_out *out);
/* Records that are missing before @ev. */
void pf_lost(struct xsp_out *out, const struct xsprof_event *ev);
/* Before the packets of an event. */
static inline void pf_event_at(struct xsp_out *out, uint64_t ns)
{
	struct perfetto *pf = pf_of(out);

	if (__builtin_expect(!pf->begun, 0))
		pf_begin(out, ns);
	if (__builtin_expect(ns >= pf->next_ns, 0))
		pf_clocks(out, ns);
}

#endif /* XSPROF_PERFETTO_META_H */
