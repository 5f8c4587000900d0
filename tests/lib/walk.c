// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader keeps a table of a ring's threads, by ids that the program writes: no choice of ids
 * makes each lookup search through the table.
 */
#include <string.h>

#include "common/tap.h"
#include "read/walk.h"

static struct xsprof_rec slots[XSPROF_BLOCK_SLOTS];

/* Each of @nr threads writes a record. */
static void walk(struct xsp_tids *tids, uint32_t nr, uint32_t (*id)(uint32_t i))
{
	struct xsp_walk seen;

	for (uint32_t i = 0; i < nr; i += XSPROF_BLOCK_SLOTS) {
		for (uint32_t k = 0; k < XSPROF_BLOCK_SLOTS; k++) {
			slots[k].tid = id(i + k);
			slots[k].size = 1;
			slots[k].type = XSPROF_REC_INSTANT;
		}
		CHECK_EQ(xsp_walk(slots, i, XSPROF_BLOCK_SLOTS, &seen, tids), XSPROF_BLOCK_SLOTS);
		CHECK_EQ(seen.records, XSPROF_BLOCK_SLOTS);
	}
}

/* Returns the longest run of used places: the most that a lookup visits. */
static uint32_t longest(const struct xsp_tids *tids)
{
	uint32_t run = 0, most = 0;

	for (uint32_t i = 0; i < tids->room; i++) {
		run = tids->tab[i].tid ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

static uint32_t in_order(uint32_t i)
{
	return i + 1;
}

/* Ids that all map to one place by the product with the golden ratio, folded. */
static uint32_t folded(uint32_t i)
{
	return ((i + 1) * 0x10001u) * 0x0e8b2f51u;
}

static uint32_t low_bits(uint32_t i)
{
	return (i + 1) << 17;
}

static void check(const char *name, uint32_t (*id)(uint32_t i))
{
	struct xsp_tids tids = { 0 };

	walk(&tids, XSP_TIDS_MAX, id);
	CHECK_EQ(tids.nr, XSP_TIDS_MAX);
	CHECK(longest(&tids) < XSP_TIDS_MAX / 16);
	xsp_tids_free(&tids);
	tap_result("%s", name);
}

int main(void)
{
	check("ids in order", in_order);
	check("ids that one hash folds together", folded);
	check("ids without low bits", low_bits);
	return tap_done();
}
