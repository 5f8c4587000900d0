/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A table: what table.c adds up and table-text.c writes.
 */
#ifndef XSR_TABLE_H
#define XSR_TABLE_H

#include "result/handle.h"

/**
 * struct xsr_row - a row, and what it is found by besides the texts of it
 * @row: what users see
 * @class: events of other kinds are other rows, of whatever name
 * @device: BY_DEVICE: of them
 * @open: events of it around where the walk is
 * @next: another one with the same key
 */
struct xsr_row {
	struct xsprof_table_row	row;
	uint32_t		class;
	uint32_t		device;
	uint32_t		open;
	uint32_t		next;
};

/**
 * struct xsprof_table - a table
 * @result: of which
 * @rows: sorted
 * @nr: how many
 * @room: for so many there is memory
 * @by: XSPROF_BY_*
 * @depth: frames of stacks
 * @index: from a mix of what makes a row to its number, while rows are added
 * @total: of all
 * @elapsed_ns: on devices, of ops that were measured there by themselves
 * @before: another table of the result
 * @after: the same
 */
struct xsprof_table {
	struct xsprof_result	*result;
	struct xsr_row		*rows;
	uint32_t		nr;
	uint32_t		room;
	uint32_t		by;
	uint32_t		depth;
	struct xsp_map		index;
	struct xsprof_table_row	total;
	uint64_t		elapsed_ns;
	struct xsprof_table	*before;
	struct xsprof_table	*after;
};

#endif /* XSR_TABLE_H */
