// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Graph nodes by the range in which they were captured: see captured.h.
 *
 * The thread that creates a node writes its record, so its open ranges are known at that time.
 * Instantiating a graph creates nodes too, inside of unrelated ranges; the record of such a copy
 * names the original node, whose range counts, in whichever order the two records come.
 */
#include "base/hash.h"
#include "ranges/captured.h"

static uint64_t key_of(uint32_t producer, uint64_t node)
{
	uint64_t key = xsp_hash_pair(producer + 1ull, node);

	return key ? key : 1;
}

static void set(struct xsp_captured *captured, uint64_t key, uint32_t name)
{
	bool room = captured->nodes.used < XSP_CAPTURED_NODES ||
		    xsp_map_get(&captured->nodes, key);

	if (!room || xsp_map_set(&captured->nodes, key, name))
		captured->left_out++;
}

static const struct xsprof_rec_gpu *record_of(const struct xsprof_event *ev)
{
	return ev->type == XSPROF_REC_GPU && ev->rec &&
	       ev->rec_size >= sizeof(struct xsprof_rec_gpu) ?
	       (const struct xsprof_rec_gpu *)ev->rec : NULL;
}

void xsp_captured_event(struct xsp_captured *captured, const struct xsprof_event *ev,
			const struct xsp_track *thread)
{
	const struct xsprof_rec_gpu *rec = record_of(ev);
	const struct xsp_range *range;
	uint64_t key, *from;

	if (!rec || ev->aux != XSPROF_GPU_NODE)
		return;
	key = key_of(ev->producer, rec->graph_node);
	if (ev->value) {
		from = xsp_map_get(&captured->nodes, key_of(ev->producer, ev->value));
		set(captured, key, from ? (uint32_t)*from : 0);
	} else if (!xsp_map_get(&captured->nodes, key)) {
		range = thread && rec->thread == ev->tid ? xsp_stack_top(&thread->opens.stack) :
							   NULL;
		set(captured, key, range ? range->name : 0);
	}
}

uint32_t xsp_captured_in(const struct xsp_captured *captured, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = record_of(ev);
	const uint64_t *name;

	if (!rec || !rec->graph_node || ev->aux == XSPROF_GPU_NODE)
		return 0;
	name = xsp_map_get(&captured->nodes, key_of(ev->producer, rec->graph_node));
	return name ? (uint32_t)*name : 0;
}

void xsp_captured_free(struct xsp_captured *captured)
{
	xsp_map_free(&captured->nodes);
}
