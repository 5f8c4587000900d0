/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Graph nodes and the range in which the program created each: a graph is launched long after it
 * was captured, and its kernels belong to the call that launched it.
 */
#ifndef XSP_CAPTURED_H
#define XSP_CAPTURED_H

#include <xsprof/trace.h>

#include "base/map.h"
#include "ranges/tracks.h"

/* Limit of nodes; kernels of further nodes have no range. */
#define XSP_CAPTURED_NODES	(1u << 20)

/**
 * struct xsp_captured - nodes; all zeros is empty
 * @nodes: by producer and node: name of the range, 0: unknown
 * @left_out: nodes beyond XSP_CAPTURED_NODES, or without memory
 */
struct xsp_captured {
	struct xsp_map	nodes;
	uint64_t	left_out;
};

/*
 * Handles a record of a node (XSPROF_GPU_NODE); ignores others. @thread: thread of the event, with
 * its open ranges.
 */
void xsp_captured_event(struct xsp_captured *captured, const struct xsprof_event *ev,
			const struct xsp_track *thread);

/* The name of the range in which an activity's node was captured; 0: none, or unknown. */
uint32_t xsp_captured_in(const struct xsp_captured *captured, const struct xsprof_event *ev);

void xsp_captured_free(struct xsp_captured *captured);

#endif /* XSP_CAPTURED_H */
