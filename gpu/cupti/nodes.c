// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Nodes of CUDA graphs: who made each.  A kernel of a graph has the call of the launch; the op that
 * captured it is found by the node.  CUPTI calls back when a node is made, and when it is copied
 * into an executable graph, in the thread of the program that does it, which writes a record at
 * once.  A launch costs nothing more: these callbacks come only while graphs are captured and
 * instantiated.
 *
 * A kernel of CUDA 13.4 and newer names the node that its own is a copy of, also when the graph was
 * updated since.  That is written when it is another than before.
 */
#include "gpu/cupti/local.h"

#define SOURCES		4096u	/* a power of two */

static xsprof_name_t name;

/* The latest sources that were written: of two nodes in one place the newer one is known. */
static struct {
	uint64_t	node;
	uint64_t	source;
} sources[SOURCES];

void cupti_nodes_init(void)
{
	name = xsprof_name_in(cupti_category(), "graph node");
}

static void put(uint64_t node, uint64_t source)
{
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_NODE, .begin = xsprof_now(),
		.end = xsprof_now(), .name = name, .correlation = source, .graph_node = node,
		.thread = xsprof_thread_id(),
	};

	xsprof_device_activity(&a, NULL, 0);
}

void cupti_nodes_call(uint32_t id, const void *info)
{
	const struct cupti_resource *resource = info;
	const struct cupti_graph_data *graph = resource->descriptor;
	uint64_t node = 0, source = 0;

	if (!graph || !graph->node || cupti.get_node_id(graph->node, &node) || !node)
		return;
	if (id == CUPTI_NODE_CLONED &&
	    (!graph->source || cupti.get_node_id(graph->source, &source) || !source))
		return;
	put(node, source);
}

/* Of graphs as a whole there are no nodes to tell apart.  The callbacks end with the subscriber. */
void cupti_nodes_on(void *subscriber)
{
	if (cupti_detail(CUPTI_DETAIL_GRAPHS) || !cupti.enable_callback || !cupti.get_node_id)
		return;
	(void)cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CREATED);
	(void)cupti.enable_callback(1, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_CLONED);
}

void cupti_nodes_source(uint64_t node, uint64_t source)
{
	uint32_t i = (uint32_t)(node * 0x9e3779b97f4a7c15ull >> 40) & (SOURCES - 1);

	if (!node || !source || (sources[i].node == node && sources[i].source == source))
		return;
	sources[i].node = node;
	sources[i].source = source;
	put(node, source);
}
