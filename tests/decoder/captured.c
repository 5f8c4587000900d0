// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graph nodes and the ranges that captured them: a copy gets the range of its original, whatever
 * the order of their records, and a node that does not fit is counted.
 */
#include "common/tap.h"
#include "ranges/captured.h"

/* Adds a node captured by thread 100, whose innermost range is @name; 0: no range. */
static void node(struct xsp_captured *c, uint32_t producer, uint64_t number, uint64_t copy_of,
		 uint32_t name)
{
	struct xsprof_rec_gpu rec = { .graph_node = number, .thread = 100 };
	struct xsprof_event ev = {
		.type = XSPROF_REC_GPU, .producer = producer, .tid = 100, .aux = XSPROF_GPU_NODE,
		.value = copy_of, .rec = (const struct xsprof_rec *)&rec, .rec_size = sizeof(rec),
	};
	struct xsp_range range = { .name = name };
	struct xsp_track thread = {
		.opens.stack = { .v = &range, .n = name != 0, .open = name != 0 },
	};

	xsp_captured_event(c, &ev, &thread);
}

static uint32_t ran(const struct xsp_captured *c, uint32_t producer, uint64_t number)
{
	struct xsprof_rec_gpu rec = { .graph_node = number };
	struct xsprof_event ev = {
		.type = XSPROF_REC_GPU, .producer = producer, .aux = XSPROF_GPU_KERNEL,
		.rec = (const struct xsprof_rec *)&rec, .rec_size = sizeof(rec),
	};

	return xsp_captured_in(c, &ev);
}

int main(void)
{
	struct xsp_captured c = { 0 };

	node(&c, 0, 1, 0, 7);
	node(&c, 0, 2, 1, 8);		/* a copy, made inside another range */
	node(&c, 0, 3, 0, 8);		/* first reported as a node of its own */
	node(&c, 0, 3, 1, 8);
	node(&c, 0, 4, 0, 0);
	node(&c, 1, 1, 0, 9);
	CHECK_EQ(ran(&c, 0, 1), 7);
	CHECK_EQ(ran(&c, 0, 2), 7);
	CHECK_EQ(ran(&c, 0, 3), 7);
	CHECK_EQ(ran(&c, 0, 4), 0);
	CHECK_EQ(ran(&c, 0, 5), 0);
	CHECK_EQ(ran(&c, 1, 1), 9);
	tap_result("a node and its copies have the range that made it");

	for (uint64_t i = 0; c.nodes.used < XSP_CAPTURED_NODES; i++)
		node(&c, 2, i + 1, 0, 10);
	CHECK_EQ(c.left_out, 0);
	node(&c, 3, 1, 0, 11);
	node(&c, 3, 2, 1, 11);
	node(&c, 0, 2, 3, 11);		/* an existing node keeps its place */
	CHECK_EQ(c.left_out, 2);
	CHECK_EQ(ran(&c, 3, 1), 0);
	CHECK_EQ(ran(&c, 0, 2), 7);
	tap_result("a node without a place is counted");
	xsp_captured_free(&c);
	return tap_done();
}
