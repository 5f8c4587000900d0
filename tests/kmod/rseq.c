// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exact ledger of the library's own rings on the device: threads that hop between CPUs write
 * through restartable sequences into the rings of the CPUs they are on, and each record is read
 * once, whole, or counted as lost.  The writers are this program, executed again with the
 * library's settings in its environment; the walk over a ring is ring.h's.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include <xsprof/xsprof.h>

#include "ring/stream.h"
#include "ring.h"

#define THREADS	8

/* Descriptors of the writers' process. */
#define GO_FD	3	/* closed when all may begin */

static uint64_t each;

static void *write_stream(void *arg)
{
	unsigned int id = (unsigned int)(uintptr_t)arg;

	for (uint64_t i = 0; i < each; i++) {
		if (i % 997 == 0)
			env_on_cpu(env_mix(i + id) & 0xff);
		if (i % 1499 == 0)
			sched_yield();
		stream_emit(id, i, XSPROF_RECORD_SLOTS);
	}
	return NULL;
}

/* The writers' process: attach by a first record, wait, write, end. */
static void writers(const char *records)
{
	pthread_t thread[THREADS];
	char c;

	each = strtoull(records, NULL, 0) / THREADS;
	stream_init();
	stream_emit(THREADS, 0, 1);
	if (read(GO_FD, &c, 1))
		_exit(10);
	for (uintptr_t t = 0; t < THREADS; t++)
		if (pthread_create(&thread[t], NULL, write_stream, (void *)t))
			_exit(11);
	for (unsigned int t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	_exit(0);
}

/* After the library's own, before the harness. */
__attribute__((constructor(1000))) static void maybe_writers(void)
{
	const char *records = getenv("XSPROF_TEST_RECORDS");

	if (records)
		writers(records);
}

static pid_t start(uint64_t records, const char *mode, const char *size, int *go)
{
	char text[24];
	int p[2];
	pid_t pid;

	if (pipe(p))
		return -1;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)records);
	pid = fork();
	if (!pid) {
		setenv("XSPROF_TEST_RECORDS", text, 1);
		setenv("XSPROF_BACKEND", "device", 1);
		setenv("XSPROF_MODE", mode, 1);
		setenv("XSPROF_BUFFER_SIZE", size, 1);
		close(p[1]);
		if (p[0] != GO_FD)
			dup2(p[0], GO_FD);
		execl("/proc/self/exe", "rseq", NULL);
		_exit(12);
	}
	close(p[0]);
	*go = p[1];
	return pid;
}

/* The producer that @pid has become.  Return: 0, or -errno when it ended before it was one. */
static int find(int fd, pid_t pid, struct xsprof_info *info)
{
	for (;;) {
		uint64_t after = 0;
		int n;

		while ((n = dev_list(fd, info, 1, after, NULL)) == 1) {
			if (info->pid == (uint32_t)pid)
				return 0;
			after = info->id;
		}
		if (n < 0)
			return n;
		if (waitpid(pid, NULL, WNOHANG))
			return -ECHILD;
		sched_yield();
	}
}

struct tally {
	uint64_t	*seen;		/* a bit a record, stream by stream */
	uint64_t	each;
	uint64_t	twice;
	uint64_t	strange;
	uint64_t	firsts;		/* the record that attached */
};

static bool whole(const uint64_t *s, unsigned int n)
{
	unsigned int id;
	uint64_t seq;

	return stream_check(s, n, &id, &seq);
}

static void take(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct tally *t = arg;
	unsigned int id;
	uint64_t seq, bit;

	(void)k, (void)at;
	if (ring_rec_type(s) == XSPROF_REC_PAD || ring_rec_type(s) == XSPROF_REC_LOST)
		return;
	stream_check(s, n, &id, &seq);
	if (id == THREADS) {
		t->firsts++;
		return;
	}
	if (id > THREADS || seq >= t->each) {
		t->strange++;
		return;
	}
	bit = id * t->each + seq;
	t->twice += t->seen[bit / 64] >> (bit % 64) & 1;
	t->seen[bit / 64] |= 1ull << (bit % 64);
}

/* The writers' names, from their arena: what their records are compared with. */
static int read_names(const struct dev *r)
{
	static const char *const text[] = { "stream.one", "stream.two", "stream.key",
					    "stream.span" };
	const char *at = r->base + r->arena_off, *end;
	unsigned int found = 0;

	end = at + sizeof(struct xsprof_arena) + ((const struct xsprof_arena *)at)->used;
	for (at += sizeof(struct xsprof_arena); at < end;
	     at += ((const struct xsprof_entry *)at)->size) {
		const struct xsprof_entry *e = (const struct xsprof_entry *)at;

		for (unsigned int i = 0; i < 4 && e->type == XSPROF_ENTRY_NAME; i++)
			if (strlen(text[i]) == e->text_len &&
			    !memcmp(e + 1, text[i], e->text_len)) {
				stream_name[i] = e->id;
				found |= 1u << i;
			}
	}
	return found == 15 ? 0 : -ENOENT;
}

static int drain(struct dev *r, struct ring_cursor *c, bool *open, struct tally *t)
{
	for (uint32_t k = 0; k < r->nr + r->nl; k++) {
		if (!dev_ready(r, k))
			continue;
		if (!open[k] && dev_tail_open(r, k))
			return -EIO;
		open[k] = true;
		ring_take(r, k, &c[k], UINT64_MAX, take, t);
		if (r->mode == XSPROF_MODE_DISCARD)
			ring_tail_set(r, k, c[k].at);
	}
	return 0;
}

/* Has the record that attached been published?  The names are there before it. */
static bool any_head(const struct dev *r)
{
	for (uint32_t k = 0; k < r->nr + r->nl; k++)
		if (dev_ready(r, k) && __atomic_load_n(&dev_writer(r, k)->head, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

FIXTURE(rseq)
{
	int	fd;
};

FIXTURE_VARIANT(rseq)
{
	const char	*mode;
	const char	*size;
	uint64_t	records;
	uint64_t	debug;
};

FIXTURE_VARIANT_ADD(rseq, discard)
{
	.mode = "discard",
	.size = "256k",
	.records = 10000000,
	.debug = 200000,
};

FIXTURE_VARIANT_ADD(rseq, overwrite)
{
	.mode = "overwrite",
	.size = "64k",
	.records = 2000000,
	.debug = 50000,
};

FIXTURE_SETUP(rseq)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ring_check = whole;
}

FIXTURE_TEARDOWN(rseq)
{
	dev_drop_ended(self->fd);
	close(self->fd);
}

TEST_F(rseq, exact)
{
	uint64_t records = env_figure(variant->records, variant->debug) / THREADS / 64 * 64 *
			   THREADS;
	uint64_t have = 0, drops = 0, torn = 0, back = 0, unread = 0, skipped = 0, by_cpu = 0;
	uint64_t drops_by_cpu = 0;
	struct tally t = { .each = records / THREADS };
	struct xsprof_arena *arena;
	struct ring_cursor *c;
	struct xsprof_info info;
	int go, status;
	struct dev r, own;
	bool *open;
	bool last;
	pid_t pid;

	t.seen = calloc(records / 64, 8);
	ASSERT_NE(NULL, t.seen);
	pid = start(records, variant->mode, variant->size, &go);
	ASSERT_GT(pid, 0);
	ASSERT_EQ(0, find(self->fd, pid, &info));
	ASSERT_EQ(0, dev_read_id(&r, self->fd, info.id, XSPROF_OPEN_CONSUME));
	c = calloc(r.nr + r.nl, sizeof(*c));
	open = calloc(r.nr + r.nl, sizeof(*open));
	while (!any_head(&r))
		sched_yield();
	ASSERT_EQ(0, read_names(&r));
	close(go);
	do {
		last = __atomic_load_n(&r.ctl->state, __ATOMIC_ACQUIRE) != XSPROF_STATE_LIVE;
		ASSERT_EQ(0, drain(&r, c, open, &t));
		sched_yield();
	} while (!last);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	for (uint64_t i = 0; i < records / 64; i++)
		have += __builtin_popcountll(t.seen[i]);
	arena = (struct xsprof_arena *)(r.base + r.arena_off);
	for (uint32_t k = 0; k < r.nr + r.nl; k++) {
		if (!open[k])
			continue;
		torn += c[k].torn;
		back += c[k].back;
		skipped += c[k].skipped;
		unread += dev_writer(&r, k)->head - c[k].at;
		drops += ring_drops(&r, k);
		drops_by_cpu += k < r.nr ? ring_drops(&r, k) : 0;
		by_cpu += k < r.nr ? c[k].records : 0;
	}
	drops += arena->nomem + arena->late;
	EXPECT_EQ(0, t.twice);
	EXPECT_EQ(0, t.strange);
	EXPECT_EQ(0, torn);
	EXPECT_EQ(0, back);
	EXPECT_EQ(0, unread);
	EXPECT_LT(0, have);
	if (r.mode == XSPROF_MODE_DISCARD) {
		EXPECT_EQ(records, have + drops);
		EXPECT_EQ(1, t.firsts);
		EXPECT_EQ(0, skipped);
	} else {
		/* A ring that is never full drops nothing; a lock that stays taken may cost. */
		EXPECT_EQ(0, drops_by_cpu);
		/* Records are of 1 to 8 slots: what was skipped held at most one each. */
		EXPECT_LE(records, have + skipped + drops);
	}
	/* Rings by CPU wherever the kernel gives them to a program that asks for no less. */
	ASSERT_EQ(0, dev_attach(&own, XSPROF_MODE_DISCARD, 16 << 10, 1));
	EXPECT_EQ(own.nr, r.nr);
	EXPECT_EQ(own.clock, r.clock);
	if (own.nr) {
		EXPECT_LT(have / 2, by_cpu);
	}
	dev_close(&own);
	TH_LOG("%s: %llu written, %llu read, %llu of them in rings by CPU; %llu lost, %llu slots "
	       "overwritten", variant->mode, (unsigned long long)records,
	       (unsigned long long)have, (unsigned long long)by_cpu, (unsigned long long)drops,
	       (unsigned long long)skipped);
	EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_DROP, NULL));
	dev_close(&r);
	free(c);
	free(open);
	free(t.seen);
}

TEST_HARNESS_MAIN
