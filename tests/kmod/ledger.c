// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exact ledger: threads that hop between CPUs write numbered records through mapped rings, a
 * reader in another process takes them, and written == read + lost to the unit.  Owns both sides
 * and the sum; the walk over a ring is ring.h's.  These are lock rings; rseq.c has the library's.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "ring.h"

#define THREADS	8

/**
 * struct board - what writers and the reader's process share
 * @done: all records are written
 * @twice: records that came a second time
 * @strange: records of no stream of ours
 * @torn: see struct ring_cursor
 * @back: see struct ring_cursor
 * @read: records taken
 * @unread: slots that nobody took at the end
 * @err: what stopped the reader
 * @seen: a bit a record, stream by stream
 */
struct board {
	uint32_t	done;
	int		err;
	uint64_t	twice;
	uint64_t	strange;
	uint64_t	torn;
	uint64_t	back;
	uint64_t	read;
	uint64_t	unread;
	uint64_t	each;
	uint64_t	seen[];
};

struct writer {
	struct dev	*d;
	uint64_t	records;
	unsigned int	stream;
	bool		wait;
	uint64_t	waited;
};

FIXTURE(ledger)
{
	struct board	*board;
	struct dev	d;
	uint64_t	each;
};

FIXTURE_VARIANT(ledger)
{
	bool		wait;		/* for room: then nothing may be lost */
	uint32_t	lock_rings;
	uint64_t	ring_size;
};

/* Fewer rings than threads: they meet at the locks. */
FIXTURE_VARIANT_ADD(ledger, losing)
{
	.wait = false,
	.lock_rings = 3,
	.ring_size = 64 << 10,
};

FIXTURE_VARIANT_ADD(ledger, room)
{
	.wait = true,
	.lock_rings = THREADS,
	.ring_size = 256 << 10,
};

FIXTURE_SETUP(ledger)
{
	size_t size;

	self->each = env_figure(2000000, 100000) / THREADS / 64 * 64;
	size = sizeof(*self->board) + THREADS * self->each / 8;
	self->board = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->board);
	self->board->each = self->each;
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, variant->ring_size,
				variant->lock_rings));
	for (uint32_t k = self->d.nr; k < self->d.nr + self->d.nl; k++)
		ASSERT_EQ(0, dev_ring_open(&self->d, k));
}

FIXTURE_TEARDOWN(ledger)
{
	dev_close(&self->d);
}

static void take(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct board *b = arg;
	uint64_t stream, seq, bit;

	(void)k, (void)at, (void)n;
	if (ring_rec_type(s) != XSPROF_REC_INSTANT)
		return;
	stream = (s[3] >> RING_SEQ_BITS) - 1;
	seq = s[3] & RING_SEQ_MASK;
	if (stream >= THREADS || seq >= b->each) {
		b->strange++;
		return;
	}
	bit = stream * b->each + seq;
	b->twice += b->seen[bit / 64] >> (bit % 64) & 1;
	b->seen[bit / 64] |= 1ull << (bit % 64);
}

/* The reader's process: until all is written and taken. */
static int reader(struct board *b, uint64_t id)
{
	struct ring_cursor cursor[XSPROF_MAX_LOCK_RINGS] = { 0 };
	int fd = dev_open(), err;
	struct dev d;
	bool last;

	err = fd < 0 ? fd : dev_read_id(&d, fd, id, XSPROF_OPEN_CONSUME);
	for (uint32_t i = 0; !err && i < d.nl; i++)
		err = dev_tail_open(&d, d.nr + i);
	if (err)
		return err;
	do {
		last = __atomic_load_n(&b->done, __ATOMIC_ACQUIRE);
		for (uint32_t i = 0; i < d.nl; i++) {
			ring_take(&d, d.nr + i, &cursor[i], UINT64_MAX, take, b);
			ring_tail_set(&d, d.nr + i, cursor[i].at);
		}
		sched_yield();
	} while (!last);
	for (uint32_t i = 0; i < d.nl; i++) {
		b->torn += cursor[i].torn;
		b->back += cursor[i].back;
		b->read += cursor[i].records;
		b->unread += dev_writer(&d, d.nr + i)->head - cursor[i].at;
	}
	return 0;
}

static bool half_full(const struct dev *d, uint32_t k)
{
	return dev_writer(d, k)->head - __atomic_load_n(&dev_reader(d, k)->tail, __ATOMIC_ACQUIRE) >
	       d->ring_size / XSPROF_SLOT_SIZE / 2;
}

static void *write_stream(void *arg)
{
	struct writer *w = arg;

	for (uint64_t i = 0; i < w->records; i++) {
		uint64_t x = env_mix(i + w->stream);

		if (i % 997 == 0)
			env_on_cpu(x >> 8 & 0xff);
		while (w->wait && i % 64 == 0 && half_full(w->d, w->d->nr + w->stream)) {
			w->waited++;
			sched_yield();
		}
		ring_put_locked(w->d, w->stream, w->stream, i, x & 15 ? 1 : 1 + (x >> 4 & 7));
	}
	return NULL;
}

TEST_F(ledger, exact)
{
	uint64_t emitted = THREADS * self->each, have = 0, drops = 0, waited = 0;
	struct writer w[THREADS];
	pthread_t thread[THREADS];
	struct board *b = self->board;
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		b->err = reader(b, self->d.id);
		_exit(0);
	}
	for (unsigned int t = 0; t < THREADS; t++) {
		w[t] = (struct writer){ &self->d, self->each, t, variant->wait, 0 };
		ASSERT_EQ(0, pthread_create(&thread[t], NULL, write_stream, &w[t]));
	}
	for (unsigned int t = 0; t < THREADS; t++) {
		pthread_join(thread[t], NULL);
		waited += w[t].waited;
	}
	__atomic_store_n(&b->done, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, b->err);

	for (uint64_t i = 0; i < emitted / 64; i++)
		have += __builtin_popcountll(b->seen[i]);
	for (uint32_t k = self->d.nr; k < self->d.nr + self->d.nl; k++)
		drops += ring_drops(&self->d, k);
	TH_LOG("%llu written, %llu read, %llu lost, %llu waits", (unsigned long long)emitted,
	       (unsigned long long)have, (unsigned long long)drops, (unsigned long long)waited);
	EXPECT_EQ(emitted, have + drops);
	EXPECT_EQ(have, b->read);
	EXPECT_EQ(0, b->twice);
	EXPECT_EQ(0, b->strange);
	EXPECT_EQ(0, b->torn);
	EXPECT_EQ(0, b->back);
	EXPECT_EQ(0, b->unread);
	EXPECT_NE(0, have);
	if (variant->wait) {
		EXPECT_EQ(0, drops);
	}
}

TEST_HARNESS_MAIN
