// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile memory: threads write garbage into every word that user space can write, their own writer
 * pages, data, arena and (as a reader) tails, while others list, open, poll, map and copy rings.
 * The kernel survives and keeps its own state consistent, and another producer's ledger stays
 * exact.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>

#include "ring.h"

#define SCRIBBLERS	4

struct scribbler {
	struct dev	*d;
	struct dev	*r;
	uint64_t	writes;
	uint64_t	seed;
	uint32_t	*stop;
};

/* A value that is likely to hurt: small, huge, near a power of two, or near what was there. */
static uint64_t nasty(uint64_t r, uint64_t was)
{
	switch (r & 7) {
	case 0:
		return r >> 60;
	case 1:
		return ~(r >> 60);
	case 2:
		return (1ull << (r >> 58)) - (r >> 8 & 1);
	case 3:
		return was + (r >> 8 & 255) - 128;
	case 4:
		return was ^ 1ull << (r >> 58);
	default:
		return r;
	}
}

static uint64_t *place(struct scribbler *s, uint64_t r)
{
	struct dev *d = s->d;
	uint32_t k = d->nr + (r & 3) % d->nl;

	switch (r >> 2 & 7) {
	case 0:
	case 1:
		return (uint64_t *)dev_writer(d, k) + (r >> 8) % 16;
	case 2:
		return (uint64_t *)dev_writer(d, k) + (r >> 8) % (d->page / 8);
	case 3:
	case 4:
		return dev_data(d, k) + (r >> 8) % (d->ring_size / 8);
	case 5:
		return (uint64_t *)(d->base + d->arena_off) + (r >> 8) % (d->arena_size / 8);
	case 6:
		return (uint64_t *)dev_reader(s->r, k) + (r >> 8) % 2;
	default:
		return (uint64_t *)dev_reader(s->r, k) + (r >> 8) % (d->page / 8);
	}
}

static void *scribble(void *arg)
{
	struct scribbler *s = arg;

	for (uint64_t i = 0; i < s->writes; i++) {
		uint64_t r = env_random(&s->seed), *at = place(s, r);

		__atomic_store_n(at, nasty(env_random(&s->seed), *at), __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Everything that a reader does, on a producer that lies. */
static void *look(void *arg)
{
	struct scribbler *s = arg;
	char *copy = malloc(s->d->len);
	uint64_t rounds = 0;

	/* On a slow kernel the writers may be done first: their garbage stays where it is. */
	while (copy && (rounds < 3 || !__atomic_load_n(s->stop, __ATOMIC_RELAXED))) {
		struct xsprof_watch w = { .size = sizeof(w), .slots = rounds % 7 * 100,
					  .period = 1000000 };
		struct pollfd p = { .fd = s->r->fd, .events = POLLIN };
		struct xsprof_events e = { .size = sizeof(e) };
		struct xsprof_info info;
		struct dev again;

		dev_call(s->r->fd, XSPROF_IOC_WATCH, &w);
		ioctl(s->d->fd, XSPROF_IOC_KICK, rounds & 1);
		poll(&p, 1, 1);
		dev_call(s->r->fd, XSPROF_IOC_EVENTS, &e);
		if (pread(s->r->fd, copy, s->d->len, 0) != (ssize_t)s->d->len ||
		    dev_info(s->d->fd, s->d->id, &info) || info.state != XSPROF_STATE_LIVE ||
		    info.total_size != s->d->len ||
		    ((struct xsprof_ctl *)copy)->magic != XSPROF_MAGIC ||
		    dev_read_id(&again, s->d->fd, s->d->id, 0)) {
			s->writes = UINT64_MAX;
			break;
		}
		dev_close(&again);
		rounds++;
	}
	free(copy);
	return (void *)rounds;
}

struct other {
	uint32_t	stop;
	uint64_t	put;
	uint64_t	got;
	uint64_t	lost;
	uint64_t	torn;
	int		err;
};

/* Another process' producer and its own reader: nothing of the above is seen here. */
static int honest(struct other *o)
{
	struct ring_cursor c = { 0 };
	struct dev d, r;
	uint64_t i = 0;
	int err;

	err = dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 1);
	if (!err)
		err = dev_ring_open(&d, d.nr);
	if (!err)
		err = dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME);
	if (!err)
		err = dev_tail_open(&r, r.nr);
	if (err)
		return err;
	while (!__atomic_load_n(&o->stop, __ATOMIC_ACQUIRE)) {
		for (int n = 0; n < 300; n++, i++)
			ring_put(&d, d.nr, 1, i, 1 + i % 8);
		ring_take(&r, r.nr, &c, UINT64_MAX, NULL, NULL);
		ring_tail_set(&r, r.nr, c.at);
		sched_yield();
	}
	o->put = i;
	o->got = c.records;
	o->lost = ring_drops(&d, d.nr);
	o->torn = c.torn + c.back;
	return 0;
}

TEST(garbage)
{
	uint64_t writes = env_figure(10000000, 1000000) / SCRIBBLERS, seed = env_seed();
	struct scribbler s[SCRIBBLERS + 1];
	pthread_t thread[SCRIBBLERS + 1];
	struct ring_cursor c = { 0 };
	uint32_t stop = 0;
	struct other *o;
	struct dev d, r;
	void *rounds;
	int status;
	pid_t pid;

	o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, o);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		o->err = honest(o);
		_exit(0);
	}
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 3));
	ASSERT_EQ(0, dev_arena_open(&d));
	ASSERT_EQ(0, dev_populate(d.fd, d.arena_off, d.arena_size));
	ASSERT_EQ(0, dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME));
	for (uint32_t i = 0; i < d.nl; i++) {
		ASSERT_EQ(0, dev_ring_open(&d, d.nr + i));
		ASSERT_EQ(0, dev_tail_open(&r, d.nr + i));
	}
	for (unsigned int i = 0; i <= SCRIBBLERS; i++) {
		s[i] = (struct scribbler){ &d, &r, writes, env_random(&seed), &stop };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, i == SCRIBBLERS ? look : scribble,
					    &s[i]));
	}
	for (unsigned int i = 0; i < SCRIBBLERS; i++)
		pthread_join(thread[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread[SCRIBBLERS], &rounds);
	/* A walk of ours over what is left: it ends. */
	ring_take(&r, r.nr, &c, d.ring_size / XSPROF_SLOT_SIZE, NULL, NULL);
	__atomic_store_n(&o->stop, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, o->err);
	EXPECT_EQ(o->put, o->got + o->lost);
	EXPECT_EQ(0, o->torn);
	EXPECT_LT(0, o->got);
	EXPECT_LT(0, (intptr_t)rounds);
	EXPECT_NE(UINT64_MAX, s[SCRIBBLERS].writes);
	/* What the kernel says of itself is what it was. */
	EXPECT_EQ(XSPROF_MAGIC, d.ctl->magic);
	EXPECT_EQ(d.ring_size, d.ctl->ring_size);
	EXPECT_EQ(d.len, d.ctl->total_size);
	EXPECT_EQ(XSPROF_STATE_LIVE, d.ctl->state);
	TH_LOG("%llu writes of garbage, %ld rounds of looking, %llu records beside them",
	       (unsigned long long)(SCRIBBLERS * writes), (long)rounds,
	       (unsigned long long)o->put);
	dev_close(&r);
	dev_close(&d);
}

TEST_HARNESS_MAIN
