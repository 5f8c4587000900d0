/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ranges use besides time: usage.c counts it while the trace is read, usage-print.c prints it.
 */
#ifndef XSPROF_REPORT_USAGE_H
#define XSPROF_REPORT_USAGE_H

#include "export/scan.h"
#include "report/local.h"

#define USAGE_FAILED	8u	/* allocations that failed, which are listed */

/**
 * struct usage_failed - an allocation that found no memory
 * @mem: what was asked for, and what there was
 * @producer: of its thread
 * @pid: likewise
 * @tid: likewise
 * @name: of the range that it was in, 0 for none
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
 * struct usage_slot - what a range that is open has used
 * @used: by itself and by what was inside and is over; @flops are its own
 * @all_flops: of both
 * @formula: of its name, until its inputs are known
 * @unknown: it has a formula, and no inputs that it takes
 * @note: records of these, as far as they came
 * @note_len: bytes
 * @next: the next one that is free, + 1
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
 * struct report_usage - what ranges have used
 * @report: the report
 * @pairer: it knows what is open
 * @rows: it is kept for rows
 * @slots: of ranges that are open: the tag of each says which
 * @nr: how many there are
 * @room: room for them
 * @unused: the first that is free, + 1
 * @expecting: slots with a note
 * @notes: bytes of all notes
 * @memory: allocations, frees
 * @apart: of these, those in no range
 * @doubt: used by ranges whose times are in no row, because of losses; @self of each
 * @doubtful: there were such
 * @crowded: allocations in ranges for which there was no room
 * @counted: ops with FLOPs, of those that are in rows or in doubt
 * @said: an op had arguments
 * @uncounted: of the same, those that have a formula, and no inputs that it takes
 * @failed: the first that found no memory
 * @nr_failed: how many did not, in all
 * @memo: formulas by names
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
