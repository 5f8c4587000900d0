// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exact ledger of DISCARD rings: every numbered record is received once or is a counted drop,
 * and every drop lies in the hole whose LOST record counts it.
 *
 *	session XSPROF_BUFFER_SIZE=16k ledger [threads=N] [records=N] [most=SLOTS] [timer=US]
 *		[reader=fast|slow|stopped|killed] [place=1] [room=1]
 *
 * place: check each drop's place, by the times before and after it. room: writers wait for the
 * reader, and nothing may be lost.
 */
#include <sys/wait.h>

#include "holes.h"
#include "writers.h"

enum style { FAST, SLOW, STOPPED, KILLED };

static struct rd rd;
static uint64_t *got;			/* a bit per record; shared with readers that are killed */
static uint64_t stream_bits;		/* bits of one stream */
static uint64_t again[XSPROF_MAX_RINGS]; /* a killed reader may have read up to here */
static uint64_t kills;

static void take(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg)
{
	unsigned int id;
	uint64_t seq, bit;

	(void)arg;
	if (rd_type(slot) == XSPROF_REC_LOST) {
		holes_add(r->k, r->last_ts, slot[1], r->lost, slot[3]);
		return;
	}
	if (!stream_check(slot, n, &id, &seq) || id >= 2 * writers.threads ||
	    seq >= writers.records) {
		rd_wrong(r, "torn record, header %llx", (unsigned long long)slot[0]);
		return;
	}
	bit = id * stream_bits + seq;
	if (got[bit / 64] >> (bit % 64) & 1 && r->at >= again[r->k])
		rd_wrong(r, "stream %u record %llu twice", id, (unsigned long long)seq);
	got[bit / 64] |= 1ull << (bit % 64);
}

static void nap(long us)
{
	const struct timespec ts = { .tv_nsec = us * 1000 };

	nanosleep(&ts, NULL);
}

/* Reads until all writers are done; @slow: little at a time, with pauses. */
static void read_along(bool slow)
{
	uint64_t x = 1;

	while (writers_running()) {
		for (uint32_t k = 0; k < rd.nr; k++)
			rd_drain(&rd, k, slow ? 1 + (x = stream_mix(x + k)) % 600 : UINT64_MAX,
				 take, NULL);
		if (slow ? !(x & 3) : true)
			nap(slow ? 50 : 20);
	}
}

/* Runs readers that are killed one after the other; each continues at the tail that it finds. */
static void read_and_die(void)
{
	uint64_t x = 3;

	while (writers_running()) {
		pid_t pid;

		for (uint32_t k = 0; k < rd.nr; k++) {
			rd.ring[k].at = __atomic_load_n(&rd.ring[k].r->tail, __ATOMIC_ACQUIRE);
			rd.ring[k].last_ts = 0;
			again[k] = rd_head(&rd.ring[k]);
		}
		pid = fork();
		if (pid < 0)
			tap_bail("fork: %s", strerror(errno));
		if (!pid)
			for (;;)
				for (uint32_t k = 0; k < rd.nr; k++)
					rd_drain(&rd, k, 1 + (x = stream_mix(x)) % 600, take, NULL);
		nap(200 + (x = stream_mix(x + kills)) % 2000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		kills++;
	}
	for (uint32_t k = 0; k < rd.nr; k++) {
		rd.ring[k].at = __atomic_load_n(&rd.ring[k].r->tail, __ATOMIC_ACQUIRE);
		rd.ring[k].last_ts = 0;
		rd.ring[k].lost = 0;
		again[k] = rd_head(&rd.ring[k]);
	}
}

static bool received(unsigned int id, uint64_t seq)
{
	uint64_t bit = id * stream_bits + seq;

	return got[bit / 64] >> (bit % 64) & 1;
}

static void check_places(void)
{
	uint64_t lock_drops = 0;

	for (uint32_t k = 0; k < rd.nr; k++) {
		struct rd_ring *r = &rd.ring[k];

		if (!rd_ready(&rd, k))
			continue;
		/* The hole at the end has no LOST record. */
		holes_add(k, r->last_ts, UINT64_MAX, r->lost, rd_drops(r));
		if (k >= rd.ctl->nr_rings)
			lock_drops += rd_drops(r);
	}
	for (unsigned int id = 0; id < 2 * writers.threads; id++)
		for (uint64_t seq = 0; seq < writers.emitted[id]; seq++) {
			struct writers_log *l = &writers.log[id][seq];

			if (!received(id, seq))
				holes_drop(l->begin, l->end, l->cpu_begin, l->cpu_end);
		}
	holes_check(lock_drops);
}

static void check_sums(uint64_t emitted, enum style style)
{
	uint64_t have = 0, records = 0, pads = 0, losts = 0, empty = 0, locked = 0;
	uint64_t drops = rd_all_drops(&rd);

	for (unsigned int id = 0; id < 2 * writers.threads; id++)
		for (uint64_t i = 0; i < stream_bits / 64; i++)
			have += __builtin_popcountll(got[id * stream_bits / 64 + i]);
	for (uint32_t k = 0; k < rd.nr; k++) {
		struct rd_ring *r = &rd.ring[k];

		if (!rd_ready(&rd, k))
			continue;
		records += r->records;
		pads += r->pads;
		losts += r->losts;
		empty += r->empty;
		CHECK_EQ(r->at, rd_head(r));
		CHECK_EQ(r->r->tail, rd_head(r));
		CHECK(r->lost <= rd_drops(r));
		CHECK_EQ(r->w->kind, k < rd.ctl->nr_rings ? XSPROF_RING_RSEQ : XSPROF_RING_LOCK);
		if (k >= rd.ctl->nr_rings)
			locked += rd_head(r);
	}
	CHECK_EQ(have + drops, emitted);
	if (style != KILLED)
		CHECK_EQ(records, have);
	tap_note("%llu written, %llu received, %llu dropped; %llu LOST (%llu empty), %llu PAD, "
		 "%llu slots in lock rings, %llu readers killed",
		 (unsigned long long)emitted, (unsigned long long)have,
		 (unsigned long long)drops, (unsigned long long)losts,
		 (unsigned long long)empty, (unsigned long long)pads,
		 (unsigned long long)locked, (unsigned long long)kills);
	if (writers.room)
		CHECK_EQ(drops, 0);
	else if (style == STOPPED)
		CHECK(drops > 0);
	CHECK(have > 0);
}

int main(int argc, char **argv)
{
	const char *name = arg_text(argc, argv, "reader");
	enum style style = FAST;
	uint64_t emitted;

	if (name)
		style = !strcmp(name, "slow") ? SLOW : !strcmp(name, "stopped") ? STOPPED :
			!strcmp(name, "killed") ? KILLED : FAST;
	writers_setup(argc, argv);
	stream_init();
	if (rd_open_pid(&rd, getpid()))
		tap_bail("not attached: run it under session");
	if (arg_number(argc, argv, "room", 0))
		writers.room = &rd;
	stream_bits = (writers.records + 63) & ~63ull;
	got = mmap(NULL, 2 * writers.threads * stream_bits / 8, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (got == MAP_FAILED)
		tap_bail("no memory");
	writers_start();
	switch (style) {
	case FAST:
	case SLOW:
		read_along(style == SLOW);
		break;
	case STOPPED:
		break;
	case KILLED:
		read_and_die();
		break;
	}
	emitted = writers_join();
	rd_drain_all(&rd, take, NULL);
	check_sums(emitted, style);
	if (writers.keep_log && style != KILLED)
		check_places();
	tap_result("%u threads, ring of %llu KiB, reader %s, records of up to %u slots%s",
		   writers.threads, (unsigned long long)rd.ctl->ring_size >> 10,
		   name ? name : "fast", writers.most, writers.room ? ", room for all" : "");
	return tap_done();
}
