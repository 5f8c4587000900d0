/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A table: computed by table.c, formatted by table-text.c.
 */
#ifndef XSR_TABLE_H
#define XSR_TABLE_H

#include "result/handle.h"

/**
 * struct xsr_row - a row with its key
 * @row: the public part
 * @class: events of different kinds have different rows, even with the same name
 * @device: BY_DEVICE: their device
 * @open: number of its events around the current position of the walk
 * @next: next row with the same hash
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
 * @result: its result
 * @rows: sorted
 * @nr: number of rows
 * @room: capacity of @rows
 * @by: XSPROF_BY_*
 * @depth: frames of stacks to compare
 * @index: hash of a row's key to its number, while rows are added
 * @total: sum of all
 * @elapsed_ns: device time of ops that were measured individually
 * @before: previous table of the result
 * @after: next table of the result
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
