/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Nodes of graphs, and the range in which the program made each: a graph is launched long after it
 * was captured, and its kernels have the call of the launch.
 */
#ifndef XSP_CAPTURED_H
#define XSP_CAPTURED_H

#include <xsprof/trace.h>

#include "base/map.h"
#include "ranges/tracks.h"

/* So many nodes are known; kernels of later ones have no range. */
#define XSP_CAPTURED_NODES	(1u << 20)

/**
 * struct xsp_captured - nodes; all zeros is none
 * @nodes: by producer and node: the name of the range, 0: it is not known
 * @left_out: nodes beyond XSP_CAPTURED_NODES, or beyond the memory
 */
struct xsp_captured {
	struct xsp_map	nodes;
	uint64_t	left_out;
};

/*
 * Takes a record of a node (XSPROF_GPU_NODE); others are ignored.  @thread: that of the event, with
 * what is open on it.
 */
void xsp_captured_event(struct xsp_captured *captured, const struct xsprof_event *ev,
			const struct xsp_track *thread);

/* The name of the range that the activity of a node was captured in; 0: none, or not known. */
uint32_t xsp_captured_in(const struct xsp_captured *captured, const struct xsprof_event *ev);

void xsp_captured_free(struct xsp_captured *captured);

#endif /* XSP_CAPTURED_H */
