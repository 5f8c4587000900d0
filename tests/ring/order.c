// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lock ring's writer reads the clock under the lock: whatever another writer does between a
 * marker's begin and its lock, time in the ring never goes back. The library's injection point
 * before the lock runs the other writer, so the test does not depend on the processor.
 *
 *	session GLIBC_TUNABLES=glibc.pthread.rseq=0 XSPROF_LOCK_RINGS=1 XSPROF_BUFFER_SIZE=16k
 *		order-points
 */
#include "reader.h"
#include "stream.h"

#define ROUNDS		50
#define BEFORE_LOCK	5

enum { OUTER, INNER };

void xsp_test_point(int point);

static struct rd rd;
static uint64_t seq[2], next[2];
static bool armed;

void xsp_test_point(int point)
{
	uint64_t begin;

	if (point != BEFORE_LOCK || !armed)
		return;
	armed = false;
	/* Wait for a slow counter: two readings in one tick have no order. */
	begin = xsprof_now();
	while (xsprof_now() == begin)
		;
	stream_emit(INNER, seq[INNER]++, XSPROF_RECORD_SLOTS);
	begin = xsprof_now();
	while (xsprof_now() == begin)
		;
}

static void take(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg)
{
	unsigned int id;
	uint64_t s;

	(void)arg;
	if (!stream_check(slot, n, &id, &s) || id > INNER) {
		rd_wrong(r, "no record of ours");
		return;
	}
	if (s != next[id]++ || next[INNER] - next[OUTER] != (id == INNER))
		rd_wrong(r, "stream %u record %llu is not where it was written", id,
			 (unsigned long long)s);
}

int main(void)
{
	stream_init();
	if (rd_open_pid(&rd, getpid()))
		tap_bail("not attached: run it under session");
	if (rd.ctl->nr_rings || rd.ctl->nr_lock_rings != 1)
		tap_bail("not one lock ring: run it without rseq, with XSPROF_LOCK_RINGS=1");
	rd_drain_all(&rd, NULL, NULL);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		armed = true;
		stream_emit(OUTER, seq[OUTER]++, XSPROF_RECORD_SLOTS);
		rd_drain_all(&rd, take, NULL);
	}
	CHECK_EQ(next[OUTER], ROUNDS);
	CHECK_EQ(next[INNER], ROUNDS);
	tap_result("a writer before the lock of another: its record is first, by place and time");
	return tap_done();
}
