/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resources used by ranges: usage.c counts them while the trace is read, usage-print.c prints them.
 */
#ifndef XSPROF_REPORT_USAGE_H
#define XSPROF_REPORT_USAGE_H

#include "export/scan.h"
#include "report/local.h"

#define USAGE_FAILED	8u	/* allocations that failed, which are listed */

/**
 * struct usage_failed - a failed allocation
 * @mem: requested and available memory
 * @producer: of its thread
 * @pid: likewise
 * @tid: likewise
 * @name: name of the range around it, 0: none
 */
struct usage_failed {
	struct xsr_mem	mem;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	tid;
	uint32_t	name;
};

/* Allocations and frees that are in no row, and the bytes of both. */
struct usage_apart {
	uint64_t	allocs;
	uint64_t	frees;
	int64_t		bytes[XSP_USED_KINDS];
};

/**
 * struct usage_slot - usage of an open range
 * @used: by itself and by ended ranges inside; @flops are its own
 * @all_flops: of both
 * @formula: FLOP formula of its name, until its inputs are known
 * @unknown: it has a formula, but no suitable inputs
 * @note: records of its inputs so far
 * @note_len: length of @note
 * @next: index + 1 of the next free slot
 */
struct usage_slot {
	struct xsp_used	used;
	uint64_t	all_flops;
	char		*note;
	uint32_t	note_len;
	uint32_t	formula;
	bool		unknown;
	uint32_t	next;
};

/**
 * struct report_usage - usage of ranges
 * @report: the report
 * @pairer: has the open ranges
 * @rows: usage is kept for rows
 * @slots: of open ranges: each range's tag is the index
 * @nr: number of @slots
 * @room: capacity of @slots
 * @unused: index + 1 of the first free slot
 * @expecting: slots with a note
 * @notes: bytes of all notes
 * @memory: number of allocations and frees
 * @apart: of these, those outside of ranges
 * @doubt: usage of ranges whose times are in no row, because of losses; @self of each
 * @doubtful: there are such ranges
 * @crowded: allocations in ranges that did not fit
 * @counted: ops with FLOPs, of those in rows or in doubt
 * @said: an op had arguments
 * @uncounted: of the same, those with a formula, but no suitable inputs
 * @failed: the first failed allocations
 * @nr_failed: number of all failed allocations
 * @memo: cache of formulas by name
 */
struct report_usage {
	struct report		*report;
	struct xsprof_pairer	*pairer;
	bool			rows;
	struct usage_slot	*slots;
	uint32_t		nr;
	uint32_t		room;
	uint32_t		unused;
	uint32_t		expecting;
	size_t			notes;
	uint64_t		memory;
	struct usage_apart	apart;
	struct xsp_used		doubt;
	bool			doubtful;
	uint64_t		crowded;
	uint64_t		counted;
	uint64_t		uncounted;
	bool			said;
	struct usage_failed	failed[USAGE_FAILED];
	uint64_t		nr_failed;
	struct {
		uint64_t	key;
		uint32_t	formula;
	} memo[1024];
};

#endif /* XSPROF_REPORT_USAGE_H */
