// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Handles the chunks of a capture by type: loads small ones (producers, names, clocks, ledgers),
 * and notes the offsets of ring chunks. Damaged chunks are left out and counted. Never looks at
 * records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

#define POS_MAX	(1ull << 58)	/* limit of slot numbers: arithmetic below it cannot overflow */

static const char too_much[] = "far more data than fits the file's size";

static int refuse(struct xsprof_trace *t, uint64_t off, const char *why)
{
	t->found.bad_index++;
	xst_warn(t, XST_WARN_CHUNK, "chunk at offset %llu left out: %s", (unsigned long long)off,
		 why);
	return 0;
}

/* ---- what each type of chunk means ------------------------------------------------------- */

static int add_host(struct xsprof_trace *t, const char *s, size_t len)
{
	while (len) {
		const char *nl = memchr(s, '\n', len);
		size_t n = nl ? (size_t)(nl - s) : len;
		int err = n ? xst_facts_add(&t->found.host, &t->found.pool, s, n) : 0;

		if (err == -ENOMEM)
			return err;
		t->found.lists += XST_FACT_BYTES;
		s += nl ? n + 1 : n;
		len -= nl ? n + 1 : n;
	}
	return 0;
}

static int add_note(struct xsprof_trace *t, const char *s, size_t len)
{
	const struct xst_text *text;

	if (t->found.nr_notes >= XST_MAX_NOTES)
		return 0;
	if (t->found.nr_notes == t->found.room_notes) {
		uint32_t room = t->found.room_notes ? t->found.room_notes * 2 : 16;
		void *list = realloc(t->found.notes, room * sizeof(*t->found.notes));

		if (!list)
			return -ENOMEM;
		t->found.notes = list;
		t->found.room_notes = room;
	}
	text = xst_pool_text(&t->found.pool, s, len);
	if (!text)
		return -ENOMEM;
	t->found.notes[t->found.nr_notes++] = text;
	t->found.lists += 2 * sizeof(*t->found.notes);
	return 0;
}

/*
 * While the recorder runs it may still find records older than those it has written: a ring with
 * few records waits for a second. Records older than this before a sync point are all in the file.
 */
#define FOLLOW_NS	2000000000u

/* All records before that sync point are in the file; a writer with a shorter delay states it. */
static void note_settled(struct xsprof_trace *t, const struct xsprof_chunk *chunk,
			 const struct xsprof_sync *last)
{
	uint64_t margin = chunk->pos ? chunk->pos : FOLLOW_NS;
	uint64_t settled = last->mono > margin ? last->mono - margin : 0;

	if (settled > t->found.settled)
		t->found.settled = settled;
}

/*
 * In a file that is followed for days, old sync points are not needed as densely: drop every other
 * one.
 */
#define FOLLOW_SYNCS	4096u

static void thin_out(struct xsprof_trace *t)
{
	uint32_t i, kept = 0;

	for (i = 0; i < t->found.nr_syncs; i += 2)
		t->found.syncs[kept++] = t->found.syncs[i];
	t->found.nr_syncs = kept;
}

static int add_clock(struct xsprof_trace *t, const struct xsprof_chunk *chunk, const uint8_t *raw)
{
	size_t nr = chunk->raw / sizeof(*t->found.syncs);
	struct xsprof_sync last;

	if (nr) {
		memcpy(&last, raw + (nr - 1) * sizeof(last), sizeof(last));
		note_settled(t, chunk, &last);
	}
	if (t->reading.started && t->found.nr_syncs > FOLLOW_SYNCS)
		thin_out(t);
	if (nr > XST_MAX_SYNCS - t->found.nr_syncs) {
		xst_warn(t, XST_WARN_CLOCK, "more than %u sync points: the others are left out",
			 XST_MAX_SYNCS);
		nr = XST_MAX_SYNCS - t->found.nr_syncs;
	}
	if (!nr)
		return 0;
	if (t->found.nr_syncs + nr > t->found.room_syncs) {
		uint32_t room = (t->found.nr_syncs + nr) * 2;
		struct xsprof_sync *list = realloc(t->found.syncs, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		t->found.syncs = list;
		t->found.room_syncs = room;
	}
	memcpy(t->found.syncs + t->found.nr_syncs, raw, nr * sizeof(*t->found.syncs));
	t->found.nr_syncs += nr;
	return 0;
}

static int add_producer(struct xsprof_trace *t, uint64_t off, struct xst_producer *p,
			const uint8_t *raw)
{
	struct xsprof_cap_producer found;

	if (p->known)
		return refuse(t, off, "two producers with the same number");
	memcpy(&found, raw, sizeof(found));
	p->pid = found.pid;
	p->found = found.found;
	p->ctl_at = off;
	/* Counts memory for the control page, which is read on demand. */
	t->found.lists += sizeof(*p->ctl);
	xst_producer_set_ctl(p, &found.ctl);
	return 0;
}

static int add_ledger(struct xsprof_trace *t, uint64_t off, struct xst_producer *p,
		      const uint8_t *raw, size_t len)
{
	for (; len >= sizeof(struct xsprof_cap_ledger); raw += sizeof(struct xsprof_cap_ledger),
	     len -= sizeof(struct xsprof_cap_ledger)) {
		struct xsprof_cap_ledger ledger;
		struct xst_stream *s;

		memcpy(&ledger, raw, sizeof(ledger));
		if (ledger.ring >= p->all_rings || ledger.head > POS_MAX ||
		    ledger.read > POS_MAX || ledger.skipped > POS_MAX || ledger.bad > POS_MAX)
			return refuse(t, off, "a ledger of an invalid ring");
		if (xst_full(t))
			return refuse(t, off, too_much);
		s = xst_stream_get(t, p->number, ledger.ring);
		if (!s)
			return -ENOMEM;
		s->ledger = ledger;
		s->has_ledger = true;
	}
	return 0;
}

static int add_exit(struct xsprof_trace *t, struct xst_producer *p, const uint8_t *raw,
		    size_t len)
{
	struct xsprof_cap_exit exit = { 0 };

	memcpy(&exit, raw, len < sizeof(exit) ? len : sizeof(exit));
	p->has_exit = true;
	p->how = exit.how;
	p->status = exit.status;
	p->end_ticks = exit.ticks;
	p->lived_ticks = exit.lived < exit.ticks ? exit.lived : 0;
	p->ran_ticks = exit.ran;
	p->nomem = exit.nomem;
	p->late = exit.late;
	p->unsaved = exit.unsaved;
	if (exit.arena_missed)
		xst_warn(t, XST_WARN_ARENA, "process %u: %llu names, threads or facts did not fit: "
			 "events with such names are named ?; set XSPROF_ARENA_SIZE=16M in its "
			 "environment for more, or 64M for a million, the maximum",
			 p->pid,
			 (unsigned long long)exit.arena_missed);
	/* Set even if END found no room. */
	if (exit.unsaved)
		t->found.no_room = true;
	return 0;
}

static int add_switch(struct xsprof_trace *t, struct xst_producer *p, const uint8_t *raw,
		      size_t len)
{
	struct xsprof_cap_switch change = { 0 };

	memcpy(&change, raw, len < sizeof(change) ? len : sizeof(change));
	t->found.lists += 2 * sizeof(*p->switches) + sizeof(struct xst_mark);
	return xst_producer_switch(p, change.ticks, change.enabled);
}

static int add_threads(struct xsprof_trace *t, uint64_t off, struct xst_producer *p,
		       const uint8_t *raw, size_t len)
{
	for (; len >= sizeof(struct xsprof_cap_thread); raw += sizeof(struct xsprof_cap_thread),
	     len -= sizeof(struct xsprof_cap_thread)) {
		struct xsprof_cap_thread thread;
		size_t n;

		memcpy(&thread, raw, sizeof(thread));
		n = strnlen(thread.comm, sizeof(thread.comm));
		if (xst_full(t))
			return refuse(t, off, too_much);
		if (xst_thread_comm(t, p, thread.tid, thread.comm, n))
			return -ENOMEM;
	}
	return 0;
}

/* Per clock: only a fit, made later, can compare clocks. */
static void hint(struct xst_hints *hints, const struct xsprof_chunk *chunk)
{
	if (chunk->first && (!hints->first || chunk->first < hints->first))
		hints->first = chunk->first;
	if (chunk->last > hints->last)
		hints->last = chunk->last;
}

/* Adds a chunk of a ring or of the kernel's tracer. */
static int add_ring(struct xsprof_trace *t, uint64_t off, const struct xsprof_chunk *chunk)
{
	bool kernel = chunk->type == XSPROF_CHUNK_FTRACE;
	uint64_t slots = chunk->raw >> XSPROF_SLOT_SHIFT;
	struct xst_producer *p;
	struct xst_stream *s;

	if (kernel && chunk->producer != XSPROF_NO_PRODUCER)
		return refuse(t, off, "a chunk of the tracer with a producer");
	p = kernel ? xst_kernel_producer(t) : xst_producer_get(t, chunk->producer);
	if (!p)
		return chunk->producer < XSPROF_CAP_MAX_PRODUCERS ? -ENOMEM :
			refuse(t, off, "an invalid producer number");
	if (chunk->ring >= p->all_rings || chunk->pos > POS_MAX || chunk->raw % XSPROF_SLOT_SIZE)
		return refuse(t, off, "an invalid ring or position");
	if (!slots)
		return 0;
	s = xst_stream_get(t, chunk->producer, chunk->ring);
	if (!s)
		return -ENOMEM;
	if (chunk->pos < s->index_pos)
		return refuse(t, off, "slots that appear twice");
	if (t->found.ring_chunks >= XST_MAX_CHUNKS)
		return xst_fail(t, -EFBIG, "has more than %u chunks: split it", XST_MAX_CHUNKS);
	if (s->nr_chunks == s->room_chunks) {
		uint32_t room = s->room_chunks ? s->room_chunks + s->room_chunks / 2 + 4 : 4;
		uint64_t *list = realloc(s->chunks, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		s->chunks = list;
		s->room_chunks = room;
	}
	p->rings += !s->nr_chunks;
	s->chunks[s->nr_chunks++] = off;
	s->index_pos = chunk->pos + slots;
	t->found.ring_chunks++;
	hint(kernel ? &t->found.kernel.hints : &t->found.hints[p->clock_kind], chunk);
	return 0;
}

/* ---- one chunk --------------------------------------------------------------------------- */

/* The minimum size of a payload; later minor versions append fields. */
static size_t least(uint32_t type)
{
	switch (type) {
	case XSPROF_CHUNK_PRODUCER:	return sizeof(struct xsprof_cap_producer);
	case XSPROF_CHUNK_EXIT:		return offsetof(struct xsprof_cap_exit, lived);
	case XSPROF_CHUNK_END:		return sizeof(struct xsprof_cap_end);
	case XSPROF_CHUNK_SWITCH:	return offsetof(struct xsprof_cap_switch, enabled);
	default:			return 0;
	}
}

static bool of_producer(uint32_t type)
{
	return type == XSPROF_CHUNK_PRODUCER || type == XSPROF_CHUNK_ARENA ||
	       type == XSPROF_CHUNK_LEDGER || type == XSPROF_CHUNK_EXIT ||
	       type == XSPROF_CHUNK_THREADS || type == XSPROF_CHUNK_SWITCH;
}

static int take(struct xsprof_trace *t, uint64_t off, const struct xsprof_chunk *chunk,
		const uint8_t *raw)
{
	struct xst_producer *p = NULL;
	int err;

	if (chunk->type == XSPROF_CHUNK_LEDGER && chunk->producer == XSPROF_NO_PRODUCER) {
		p = xst_kernel_producer(t);
	} else if (of_producer(chunk->type)) {
		if (chunk->producer >= XSPROF_CAP_MAX_PRODUCERS)
			return refuse(t, off, "an invalid producer number");
		p = xst_producer_get(t, chunk->producer);
		if (!p)
			return -ENOMEM;
	}
	switch (chunk->type) {
	case XSPROF_CHUNK_HOST:
		return add_host(t, (const char *)raw, chunk->raw);
	case XSPROF_CHUNK_CLOCK:
		return add_clock(t, chunk, raw);
	case XSPROF_CHUNK_PRODUCER:
		return add_producer(t, off, p, raw);
	case XSPROF_CHUNK_ARENA:
		if (chunk->pos > POS_MAX)
			return refuse(t, off, "an invalid position");
		return xst_arena_parse(t, p, chunk->pos, raw, chunk->raw);
	case XSPROF_CHUNK_LEDGER:
		return add_ledger(t, off, p, raw, chunk->raw);
	case XSPROF_CHUNK_EXIT:
		return add_exit(t, p, raw, chunk->raw);
	case XSPROF_CHUNK_THREADS:
		return add_threads(t, off, p, raw, chunk->raw);
	case XSPROF_CHUNK_SWITCH:
		return add_switch(t, p, raw, chunk->raw);
	case XSPROF_CHUNK_NOTE:
		return add_note(t, (const char *)raw, chunk->raw);
	case XSPROF_CHUNK_KERNEL:
		err = xst_kernel_add(t, raw, chunk->raw);
		if (err == -ENOSPC)
			return refuse(t, off, too_much);
		return err == -EBADMSG ? refuse(t, off, "an invalid section") : err;
	case XSPROF_CHUNK_END:
		memcpy(&t->found.end, raw, sizeof(t->found.end));
		t->found.has_end = true;
		return 0;
	}
	return 0;
}

int xst_chunk_add(struct xsprof_trace *t, uint64_t off, const struct xsprof_chunk *chunk)
{
	const uint8_t *raw;
	int err;

	t->found.chunks++;
	t->found.seen = off + sizeof(*chunk) + chunk->stored;
	if (chunk->type == XSPROF_CHUNK_RING || chunk->type == XSPROF_CHUNK_FTRACE)
		return add_ring(t, off, chunk);
	if (chunk->type == XSPROF_CHUNK_INDEX)
		return 0;
	if (!chunk->type || chunk->type > XSPROF_CHUNK_SWITCH) {
		t->found.unknown++;
		xst_warn(t, XST_WARN_UNKNOWN, "unknown chunk type %u at offset %llu",
			 chunk->type, (unsigned long long)off);
		return 0;
	}
	if (chunk->raw < least(chunk->type))
		return refuse(t, off, "it is too short");
	if (xst_full(t) && chunk->type != XSPROF_CHUNK_END)
		return refuse(t, off, too_much);
	err = xst_chunk_load(&t->file, off, chunk, &raw);
	if (err == -EBADMSG)
		return refuse(t, off, "its checksum or contents are wrong");
	return err ? err : take(t, off, chunk, raw);
}
