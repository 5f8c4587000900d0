// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The op in which a graph's kernel was captured, in a Kineto trace. Its "External id" stays that of
 * the op that launched the graph, as in Kineto; the op of the capture has keys of its own.
 */
#include "export/kineto/local.h"

/* Ids of nodes, distinct from those of calls, which have 32 bits. */
static uint64_t link_of(uint64_t node)
{
	return ~node;
}

static uint64_t innermost_op(const struct xsp_track *thread)
{
	const struct xsp_stack *stack = &thread->opens.stack;

	for (uint32_t i = stack->n; i; i--)
		if (stack->v[i - 1].end == XSP_OPEN && stack->v[i - 1].kind == XSR_RANGE_OP)
			return xsr_kineto_range_id(&stack->v[i - 1]);
	return 0;
}

void xsr_node_made(struct xsr_kineto *k, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	struct xsp_track *thread = xsp_tracks_get(k->tracks, ev->producer, ev->pid, XSR_THREAD,
						  ev->tid, ev->ns);
	uint64_t node = link_of(rec->graph_node);
	const struct xsr_called *copied;
	struct xsr_called called = { 0 };

	xsp_captured_event(&k->captured, ev, thread);
	/* As in ranges/captured.c: the record of the copy counts, in whichever order they come. */
	if (ev->value) {
		copied = xsr_link_find(k, ev->producer, link_of(ev->value));
		called.external = copied ? copied->external : 0;
	} else if (xsr_link_find(k, ev->producer, node)) {
		return;
	} else if (thread && rec->thread == ev->tid) {
		called.external = innermost_op(thread);
	}
	xsr_link_call(k, ev->producer, node, &called);
}

char *xsr_node_put(struct xsr_kineto *k, const struct xsprof_event *ev, char *p)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	uint32_t in = xsp_captured_in(&k->captured, ev);
	const struct xsr_called *called;

	if (!in)
		return p;
	p = xsr_writer_name(&k->w, ev->producer, in, put_lit(p, ",\"captured in\":"));
	called = xsr_link_find(k, ev->producer, link_of(rec->graph_node));
	if (called && called->external)
		p = put_u64(put_lit(p, ",\"captured External id\":"), called->external);
	return xsr_writer_room(&k->w, p);
}
