// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of lock rings that are never released: by the thread itself (it runs a handler over its own
 * marker), by threads that are dead or parked. No writer waits for ever, and each record is written
 * to another ring or counted as lost. When all locks are held, one record waits, not each one.
 *
 *	session GLIBC_TUNABLES=glibc.pthread.rseq=0 XSPROF_BUFFER_SIZE=16k locks
 */
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "reader.h"
#include "stream.h"

#define RECORDS		100
#define DEAD_TID	0x3ffffffe
#define WAITS		64	/* waits of one record */

static struct rd rd;
static uint64_t records, waits;
static const char *step = "the first record";

/* Replaces the C library's, to count how the library waits. */
int sched_yield(void)
{
	waits++;
	return (int)syscall(SYS_sched_yield);
}

static void hung(int sig)
{
	(void)sig;
	printf("# wrong: hung with %s\nnot ok 1 %s\n1..1\n", step, step);
	fflush(stdout);
	_exit(1);
}

static void take(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg)
{
	unsigned int id;
	uint64_t seq;

	(void)arg;
	if (rd_type(slot) == XSPROF_REC_LOST)
		return;
	if (!stream_check(slot, n, &id, &seq))
		rd_wrong(r, "torn record");
	if (!(slot[0] >> 44 & XSPROF_RECF_CPU))
		rd_wrong(r, "no CPU in a record of a lock ring");
	records++;
}

/* @tid holds the first @held locks; then @want records get in, and the rest are counted. */
static void held_by(const char *who, uint32_t tid, unsigned int held, uint64_t want)
{
	uint64_t drops = rd_all_drops(&rd);
	static uint64_t seq;

	step = who;
	waits = 0;
	alarm(20);
	for (uint32_t k = 0; k < held; k++)
		__atomic_store_n(&rd.ring[k].w->lock, tid, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < RECORDS; i++, seq++)
		stream_emit(0, seq, XSPROF_RECORD_SLOTS);
	for (uint32_t k = 0; k < held; k++)
		__atomic_store_n(&rd.ring[k].w->lock, 0, __ATOMIC_SEQ_CST);
	alarm(0);
	records = 0;
	rd_drain_all(&rd, take, NULL);
	CHECK_EQ(records, want);
	CHECK_EQ(rd_all_drops(&rd) - drops, RECORDS - want);
	tap_result("%s", who);
}

int main(void)
{
	uint32_t me = syscall(SYS_gettid), all;

	signal(SIGALRM, hung);
	stream_init();
	if (rd_open_pid(&rd, getpid()))
		tap_bail("not attached: run it under session");
	if (rd.ctl->nr_rings)
		tap_bail("not all rings are lock rings: run it without rseq");
	all = rd.nr;
	CHECK(all >= 4);
	tap_result("four lock rings or more");
	held_by("nobody holds a lock", 0, 0, RECORDS);
	held_by("its own thread holds one", me, 1, RECORDS);
	held_by("its own thread holds all but one", me, all - 1, RECORDS);
	held_by("its own thread holds all", me, all, 0);
	held_by("a dead thread holds one", DEAD_TID, 1, RECORDS);
	held_by("a dead thread holds all but one", DEAD_TID, all - 1, RECORDS);
	held_by("a dead thread holds all", DEAD_TID, all, 0);
	CHECK(waits > 0 && waits <= WAITS);
	tap_result("one record waited for it, and the others did not");
	held_by("nobody again", 0, 0, RECORDS);
	held_by("another dead thread holds all", DEAD_TID - 1, all, 0);
	CHECK(waits > 0 && waits <= WAITS);
	held_by("the one before again, with nothing recorded between", DEAD_TID, all, 0);
	CHECK(waits > 0 && waits <= WAITS);
	held_by("nobody at last", 0, 0, RECORDS);
	/* The LOST record of the earlier drops went before the first record. */
	for (uint32_t k = 0; k < all; k++)
		if (rd.ring[k].records)
			CHECK_EQ(rd.ring[k].lost, rd_drops(&rd.ring[k]));
	tap_result("a LOST record told of each");
	return tap_done();
}
