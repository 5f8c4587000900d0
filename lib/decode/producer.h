/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A producer of a trace, and its losses.
 */
#ifndef XST_PRODUCER_H
#define XST_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/abi.h>

#include "decode/clockfit.h"
#include "decode/facts.h"
#include "decode/texts.h"

struct xsprof_trace;
struct xst_stream;

/* Another process changed the set of categories to @enabled. */
struct xst_switch {
	uint64_t	ticks;
	uint64_t	enabled;
};

/* A thread got the number of one that had ended. */
struct xst_renewed {
	uint64_t	ticks;
	uint32_t	tid;
};

/* Losses of one producer or of all. */
struct xst_account {
	uint64_t	turn;		/* turn at which it was computed, + 1; 0: never */
	uint64_t	lost_records;
	uint64_t	unsaved;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
};

struct xst_producer {
	uint32_t	number;
	uint32_t	pid;
	uint32_t	own_pid;	/* pid in its own namespace */
	bool		nameless;	/* of another namespace: no pid here */
	bool		known;		/* it had a PRODUCER chunk */
	bool		has_exit;
	uint8_t		clock_kind;
	uint32_t	mode;
	uint32_t	nr_rings;	/* per-CPU rings */
	uint32_t	own_rings;	/* rings that the program writes; the kernel's follow */
	uint32_t	all_rings;
	uint64_t	ctl_at;		/* offset of its control page in the file */
	struct xsprof_ctl *ctl;		/* read on demand */
	bool		began;		/* its PRODUCER event was yielded */
	bool		exited;		/* ... and its EXIT */
	uint64_t	found;		/* ticks of the recorder's clock, 0 if unknown */
	uint64_t	end_ticks;	/* the same */
	uint64_t	lived_ticks;	/* it ended after this; 0: at end_ticks */
	uint64_t	ran_ticks;	/* its open ranges ended after this; 0: as above */
	uint64_t	exit_ns;	/* its end as seen by the kernel; 0: not seen */
	bool		followed;	/* a later producer of its process came before that */
	struct xst_switch *switches;	/* of its categories, by other processes */
	uint32_t	nr_switches;
	uint32_t	said_switches;	/* number yielded */
	struct xst_renewed *renewed;	/* in order of time */
	uint32_t	nr_renewed;
	uint32_t	said_renewed;	/* number yielded */
	uint32_t	how;
	int32_t		status;
	uint64_t	nomem;
	uint64_t	late;
	uint64_t	unsaved;	/* records without room in the file */
	uint64_t	records;	/* yielded */
	uint64_t	arena_pos;	/* bytes of entries processed */
	char		*carry;		/* an entry cut by the end of a chunk */
	uint32_t	carried;
	uint32_t	room_carry;
	uint32_t	rings;		/* rings with chunks */
	uint32_t	holes;		/* of these, rings in a hole (holes.c) */
	struct xst_stream *streams;
	const struct xst_stream *asked;		/* stream of the last ledger query, ... */
	const struct xst_stream *asked_of;	/* ... with this stream first, ... */
	uint32_t	asked_index;		/* ... at this index */
	struct xst_account account;
	struct xst_facts facts;
	struct xst_lines maps;
	struct xsprof_sync attach;
	struct xsprof_clock clock;
	const struct xst_fit *fit;
};

/* The producer with that number, created if new; NULL: no memory, or the number is too large. */
struct xst_producer *xst_producer_get(struct xsprof_trace *t, uint32_t number);
struct xst_producer *xst_producer_find(const struct xsprof_trace *t, uint32_t number);
/* When it ended; 0: unknown. */
uint64_t xst_producer_end_ns(const struct xst_producer *p);
/* Does END count more losses than the ledgers? The difference found no room in the file. */
bool xst_found_no_room(const struct xsprof_trace *t);
/* Another process changed its categories to @enabled at @ticks. Return: 0 or -ENOMEM. */
int xst_producer_switch(struct xst_producer *p, uint64_t ticks, uint64_t enabled);
void xst_producers_free(struct xsprof_trace *t);
void xst_producer_set_ctl(struct xst_producer *p, const struct xsprof_ctl *ctl);

#endif /* XST_PRODUCER_H */
