/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A producer of a trace: what the capture says of it, and its account.
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

/* A thread has the number of one that had ended. */
struct xst_renewed {
	uint64_t	ticks;
	uint32_t	tid;
};

/* Losses of one producer or of all. */
struct xst_account {
	uint64_t	turn;		/* it was added up in, + 1; 0: it was not */
	uint64_t	lost_records;
	uint64_t	unsaved;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
};

struct xst_producer {
	uint32_t	number;
	uint32_t	pid;
	uint32_t	own_pid;	/* as it knows itself */
	bool		nameless;	/* of another namespace: it had no number here */
	bool		known;		/* its PRODUCER chunk was there */
	bool		has_exit;
	uint8_t		clock_kind;
	uint32_t	mode;
	uint32_t	nr_rings;	/* those bound to a CPU */
	uint32_t	own_rings;	/* those that the program writes; the kernel's follow */
	uint32_t	all_rings;
	uint64_t	ctl_at;		/* where its control page is in the file */
	struct xsprof_ctl *ctl;		/* read when somebody asks */
	bool		began;		/* its PRODUCER event has been yielded */
	bool		exited;		/* ... and its EXIT */
	uint64_t	found;		/* ticks of the recorder's clock, 0 when not known */
	uint64_t	end_ticks;	/* the same */
	uint64_t	lived_ticks;	/* it ended after this; 0: at end_ticks */
	uint64_t	ran_ticks;	/* what was open in it ended after this; 0: as above */
	uint64_t	exit_ns;	/* its end, where the kernel saw it; 0: not */
	bool		followed;	/* another of its process came before that */
	struct xst_switch *switches;	/* of its categories, by other processes */
	uint32_t	nr_switches;
	uint32_t	said_switches;	/* of them, yielded */
	struct xst_renewed *renewed;	/* in the order of time */
	uint32_t	nr_renewed;
	uint32_t	said_renewed;	/* of them, yielded */
	uint32_t	how;
	int32_t		status;
	uint64_t	nomem;
	uint64_t	late;
	uint64_t	unsaved;	/* records that found no room in the file */
	uint64_t	records;	/* yielded */
	uint64_t	arena_pos;	/* bytes of entries seen */
	char		*carry;		/* an entry cut by the end of a chunk */
	uint32_t	carried;
	uint32_t	room_carry;
	uint32_t	rings;		/* with chunks */
	uint32_t	holes;		/* of them, those that are in a hole (holes.c) */
	struct xst_stream *streams;
	const struct xst_stream *asked;		/* whose ledger was asked for last, */
	const struct xst_stream *asked_of;	/* ... with this one in front, */
	uint32_t	asked_index;		/* ... by this index */
	struct xst_account account;
	struct xst_facts facts;
	struct xst_lines maps;
	struct xsprof_sync attach;
	struct xsprof_clock clock;
	const struct xst_fit *fit;
};

/* The producer of that number, made when it is new; NULL: no memory, or a number too large. */
struct xst_producer *xst_producer_get(struct xsprof_trace *t, uint32_t number);
struct xst_producer *xst_producer_find(const struct xsprof_trace *t, uint32_t number);
/* When it ended, as far as that is known; 0: it is not. */
uint64_t xst_producer_end_ns(const struct xst_producer *p);
/* Does END count more losses than the ledgers do?  The rest found no room in the file. */
bool xst_found_no_room(const struct xsprof_trace *t);
/* Another process changed its categories to @enabled then.  Return: 0 or -ENOMEM. */
int xst_producer_switch(struct xst_producer *p, uint64_t ticks, uint64_t enabled);
void xst_producers_free(struct xsprof_trace *t);
void xst_producer_set_ctl(struct xst_producer *p, const struct xsprof_ctl *ctl);

#endif /* XST_PRODUCER_H */
