// SPDX-License-Identifier: GPL-2.0-only
/*
 * Single-steps a writer through every way to write a record, and checks the ring at each
 * instruction boundary: it is what a reader, or a process that finds it after a kill -9 there, may
 * see. Nothing published is incomplete, nothing unread is overwritten, no drop goes without its
 * LOST record, and what is not yet published lies in the margin.
 *
 *	session XSPROF_BUFFER_SIZE=16k [XSPROF_MODE=overwrite] step-noarm [kill=1] [whole=1]
 *		[from=OFFSET] [margin=SLOTS] [watermark=SLOTS]
 *
 * Built with a library that does not arm its sequences: each stop would abort an armed one, so the
 * inside would not be seen. With GLIBC_TUNABLES=glibc.pthread.rseq=0 it steps through the lock
 * rings.
 */
#include "tracee.h"

static struct rd rd;
static struct rd_ring *ring;
static uint64_t *before;
static uint64_t states, cases, touched_most, kills;
static bool overwrite, lock_ring;
static bool kill_each, whole;
static uint64_t margin, watermark;

/* The state at the start of the case. */
static struct {
	uint64_t		head;
	uint64_t		tail;
	uint64_t		drops;
	uint64_t		lost;		/* sum in the latest LOST record */
	struct tracee_want	want;
	unsigned int		n;
	uint64_t		boundary;
} start;

#define wrong(fmt, ...) \
	tap_wrong("offset %u, %u slots, boundary %llu: " fmt, \
		  (unsigned int)(start.head & (XSPROF_BLOCK_SLOTS - 1)), start.n, \
		  (unsigned long long)start.boundary, ##__VA_ARGS__)

/* Checks how far beyond head the writer has written, and whether it may. */
static void look_at_touched(uint64_t published)
{
	for (uint64_t i = 0; i < ring->size; i++) {
		uint64_t pos = start.head + i, at = pos & (ring->size - 1);

		if (!memcmp(ring->data + at * 4, before + at * 4, XSPROF_SLOT_SIZE))
			continue;
		if (!overwrite && pos - start.tail >= ring->size)
			wrong("a slot that the reader still holds was touched");
		if (i < published)
			continue;
		if (i + 1 > touched_most)
			touched_most = i + 1;
		/* A full ring's reader must free a slot for LOST too; OVERWRITE needs none. */
		if (i + 1 > margin + !overwrite)
			wrong("%llu slots past head were touched", (unsigned long long)i + 1);
		if (published)
			wrong("slot %llu was touched beyond what was published",
			      (unsigned long long)i);
	}
}

static void look_at_records(void)
{
	uint64_t pos = start.head, seq, drops = start.drops;
	const uint64_t *slot = rd_slot(ring, pos);
	unsigned int id;

	if (start.want.lost) {
		if (slot[0] != ((uint64_t)XSPROF_REC_LOST << 32 | 1ull << 40) || slot[2] ||
		    slot[3] != drops)
			wrong("no LOST record, or not its sum");
		slot = rd_slot(ring, ++pos);
	}
	if (start.want.pad) {
		if (slot[0] != ((uint64_t)XSPROF_REC_PAD << 32 |
				(uint64_t)start.want.pad << 40) || slot[2] || slot[3])
			wrong("no PAD record");
		pos += start.want.pad;
		slot = rd_slot(ring, pos);
	}
	if (rd_slots(slot) != start.n || !stream_check(slot, start.n, &id, &seq) || id != 1 ||
	    seq != tracee->seq)
		wrong("published and not complete");
}

/* Checks the ring: its state here is what a kill here would leave. */
static void look(void)
{
	uint64_t head = rd_head(ring), drops = rd_drops(ring);
	bool rseq = ring->w->kind == XSPROF_RING_RSEQ;

	states++;
	start.boundary++;
	if (head == start.head) {
		look_at_touched(0);
	} else if (head == start.head + start.want.slots && start.want.fits) {
		look_at_records();
		look_at_touched(start.want.slots);
	} else if (overwrite && start.want.lost && head == start.head + 1) {
		/* LOST may be published alone. */
		if (rd_type(rd_slot(ring, start.head)) != XSPROF_REC_LOST)
			wrong("published and not LOST");
	} else {
		wrong("head went from %llu to %llu", (unsigned long long)start.head,
		      (unsigned long long)head);
	}
	if (drops != start.drops && (drops != start.drops + 1 || start.want.fits))
		wrong("drops went from %llu to %llu", (unsigned long long)start.drops,
		      (unsigned long long)drops);
	/* While a drop has no LOST record yet, the fast path must be closed. */
	if (rseq && (drops != start.drops || (start.want.lost && head == start.head)) &&
	    (ring->w->mark != head + 1 || ring->w->bound > head))
		wrong("a drop, and the next record would go in before its LOST");
	if (rseq && !overwrite && ring->w->bound > ring->r->tail + ring->size)
		wrong("the bound is beyond the reader's tail");
	if (rseq && ring->w->bound > ring->w->grown)
		wrong("the bound is beyond the ring's memory");
	/* Set before the first case, whose preparation writes more than a lap. */
	if (rseq && watermark && ring->w->bound > (head / watermark + 1) * watermark)
		wrong("the bound is beyond the next watermark");
}

static void begin_case(void)
{
	start.head = rd_head(ring);
	start.tail = ring->r->tail;
	start.drops = rd_drops(ring);
	start.n = tracee->now.slots;
	start.boundary = 0;
	start.want = tracee_expect(ring, overwrite, start.n,
				   tracee->now.pending &&
				   !(overwrite && ring->w->kind == XSPROF_RING_RSEQ));
	memcpy(before, ring->data, ring->size * XSPROF_SLOT_SIZE);
	cases++;
}

static void end_case(void)
{
	if (start.want.fits)
		CHECK_EQ(rd_head(ring), start.head + start.want.slots);
	else
		CHECK_EQ(rd_drops(ring), start.drops + 1);
}

/* Steps through one case, @stop_after boundaries at most; leaves the child there. */
static bool step_case(pid_t pid, uint64_t stop_after)
{
	tracee_continue(pid, 0);
	begin_case();
	while (tracee->phase != TRACEE_DONE) {
		tracee_step(pid, 0);
		if (tracee->phase == TRACEE_SETUP)
			continue;
		look();
		if (start.boundary >= stop_after)
			return false;
		if (start.boundary > 100000)
			tap_bail("it does not end");
	}
	tracee_continue(pid, 0);
	end_case();
	return true;
}

/* Reads all that a killed writer left. */
static void look_at_remains(void)
{
	uint64_t head = rd_head(ring), room;

	room = head > ring->size ? head - ring->size : 0;
	ring->at = overwrite ? (room + XSPROF_OVERWRITE_MARGIN + XSPROF_BLOCK_SLOTS - 1) &
			       ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1) : start.tail;
	ring->last_ts = 0;
	rd_drain(&rd, ring->k, UINT64_MAX, NULL, NULL);
	CHECK_EQ(ring->at, head);
	kills++;
}

/* Starts a new child for each instruction, and kills it there. */
static void kill_case(const struct tracee_case *c)
{
	bool done = false;

	for (uint64_t k = 1; !done; k++) {
		pid_t pid = tracee_start(&rd);

		ring = &rd.ring[tracee->ring];
		tracee->now = *c;
		done = step_case(pid, k);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, WNOHANG) > 0)
			;
		look_at_remains();
		tracee_end(pid, &rd);
	}
}

static void each_case(unsigned int from, void (*fn)(const struct tracee_case *c))
{
	for (unsigned int offset = from; offset < XSPROF_BLOCK_SLOTS; offset++)
		for (int n = 1; n <= (int)XSPROF_RECORD_SLOTS; n++) {
			struct tracee_case c = { .offset = offset, .slots = n };
			const int rooms[] = { 0, -1, n - 1, n, n + 1, n + 7, n + 8 };
			unsigned int most = kill_each ? 4 : 14;

			/* A child for every instruction is slow: only the most different cases. */
			if (kill_each && n != 1 && n != 2 && n != 8)
				continue;

			fn(&c);
			c.pending = true;
			if (overwrite && lock_ring)
				fn(&c);
			c.full = true;
			for (unsigned int i = 0; !overwrite && i < most; i++) {
				c.pending = i & 1;
				c.room = rooms[i / 2];
				fn(&c);
			}
			c.pending = false;
			c.never = true;
			for (c.room = 0; !overwrite && c.room <= n; c.room++)
				fn(&c);
		}
}

static pid_t child;

static void one_case(const struct tracee_case *c)
{
	/* Stop at the first wrong case: in an emulated machine the others would take minutes. */
	if (tap_bad)
		return;
	tracee->now = *c;
	tracee->whole = whole;
	step_case(child, UINT64_MAX);
}

int main(int argc, char **argv)
{
	unsigned int from = arg_number(argc, argv, "from", 100);
	const char *kind, *mode;

	kill_each = arg_number(argc, argv, "kill", 0);
	whole = arg_number(argc, argv, "whole", 0);
	margin = arg_number(argc, argv, "margin", XSPROF_OVERWRITE_MARGIN);
	watermark = arg_number(argc, argv, "watermark", 0);
	stream_init();
	child = tracee_start(&rd);
	ring = &rd.ring[tracee->ring];
	overwrite = rd.ctl->mode == XSPROF_MODE_OVERWRITE;
	lock_ring = ring->w->kind == XSPROF_RING_LOCK;
	kind = lock_ring ? "lock ring" : "sequences";
	mode = overwrite ? "OVERWRITE" : "DISCARD";
	before = malloc(rd.ctl->ring_size);
	rd.ctl->watermark = watermark;
	if (kill_each) {
		tracee_end(child, &rd);
		each_case(from, kill_case);
		tap_note("%llu kills", (unsigned long long)kills);
		tap_result("%s, %s: killed at every instruction", mode, kind);
		return tap_done();
	}
	each_case(from, one_case);
	tracee_end(child, &rd);
	tap_note("%llu instruction boundaries of %llu cases; at most %llu slots past head touched",
		 (unsigned long long)states, (unsigned long long)cases,
		 (unsigned long long)touched_most);
	tap_result("%s, %s: what every instruction leaves", mode, kind);
	/* The margin is needed in full: a test that never sees this sees nothing. */
	if (overwrite)
		CHECK_EQ(touched_most, XSPROF_OVERWRITE_MARGIN);
	tap_result("%s, %s: the margin is what is needed", mode, kind);
	return tap_done();
}
