// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel polls ring heads for readers that watch.  The rate is limited per account for readers
 * without CAP_SYS_ADMIN, and still every reader is woken for heads that moved without a kick.
 */
#include <pthread.h>

#include "ring.h"
#include "user.h"

#define USER		1000
#define PRODUCERS	120		/* at most */
#define LOCK_RINGS	64
#define PERIOD_NS	1000000		/* the shortest allowed */
#define POLL_NS		10000		/* average interval of polls of one account, per ring */
#define TICK_NS		10000000	/* the kernel's timers are rounded down by up to so much */
#define LONG_NS		1000000000ull

struct watched {
	unsigned int	n;		/* producers, and readers */
	struct dev	d[PRODUCERS];
	struct dev	r[PRODUCERS];
	uint64_t	rings;		/* of all */
	bool		stop;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t kicks(const struct dev *r)
{
	struct xsprof_events e = { .size = sizeof(e) };

	return dev_call(r->fd, XSPROF_IOC_EVENTS, &e) ? 0 : e.kicks;
}

/* Move all heads all the time, without kicks: each poll finds a change. */
static void *write_always(void *arg)
{
	struct watched *w = arg;

	for (uint64_t i = 0; !__atomic_load_n(&w->stop, __ATOMIC_RELAXED); i++) {
		for (unsigned int k = 0; k < w->n; k++)
			ring_put(&w->d[k], w->d[k].nr, 0, i, 1);
		env_nap(200);
	}
	return NULL;
}

/* As many as show that the limit is one of all of them; a debug kernel takes seconds for each. */
static unsigned int producers(void)
{
	if (env_full())
		return env_debug() ? PRODUCERS / 2 : PRODUCERS;
	return env_debug() ? PRODUCERS / 6 : PRODUCERS / 2;
}

static int watch(const struct dev *r)
{
	struct xsprof_watch w = { .size = sizeof(w), .period = PERIOD_NS };

	return dev_call(r->fd, XSPROF_IOC_WATCH, &w);
}

static int begin(struct watched *w)
{
	int fd = dev_open(), err = fd < 0 ? fd : 0;

	for (unsigned int k = 0; k < w->n && !err; k++) {
		struct xsprof_attach a = dev_attach_defaults();

		a.mode = XSPROF_MODE_OVERWRITE;
		a.ring_size = 1;
		a.kernel_size = 1;
		a.nr_lock_rings = LOCK_RINGS;
		err = dev_attach_as(&w->d[k], &a);
		if (!err)
			err = dev_ring_open(&w->d[k], w->d[k].nr);
		if (!err)
			err = dev_read_id(&w->r[k], fd, w->d[k].id, XSPROF_OPEN_CONSUME);
		if (!err)
			w->rings += w->d[k].nr + w->d[k].nl + w->d[k].ctl->nr_kernel_rings;
		if (!err)
			err = watch(&w->r[k]);
	}
	return err;
}

/* Wait for two polls of each: the interval of the second takes all rings into account. */
static void settle(const struct watched *w)
{
	for (unsigned int k = 0; k < w->n; k++) {
		uint64_t from = kicks(&w->r[k]);

		while (kicks(&w->r[k]) < from + 2)
			env_nap(1000);
	}
}

/* As an unprivileged user.  Return: 0, or which check failed. */
static int count_polls(void *arg)
{
	static uint64_t from[PRODUCERS], since[PRODUCERS];
	static struct watched w;
	uint64_t most = 0, wrong = 0;
	pthread_t thread;

	(void)arg;
	w.n = producers();
	if (begin(&w))
		return 1;
	if (pthread_create(&thread, NULL, write_always, &w))
		return 2;
	settle(&w);
	for (unsigned int k = 0; k < w.n; k++) {
		since[k] = now_ns();
		from[k] = kicks(&w.r[k]);
	}
	env_nap(LONG_NS / 1000);
	for (unsigned int k = 0; k < w.n; k++) {
		uint64_t n = kicks(&w.r[k]) - from[k], ns = now_ns() - since[k];

		most = n > most ? n : most;
		/* An upper bound: a slow machine makes fewer polls. */
		wrong += n > ns / (w.rings * POLL_NS - TICK_NS) + 2;
	}
	printf("# %llu rings: at most %llu polls in %llu ms\n", (unsigned long long)w.rings,
	       (unsigned long long)most, LONG_NS / 1000000);
	/* Polling continues. */
	settle(&w);
	__atomic_store_n(&w.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	fflush(stdout);
	return wrong ? 3 : 0;
}

/* ---- requests in a loop ---------------------------------------------------------------------- */

/* Ask for a poll again, by the descriptor @reader or a new one.  Return: 0 or -errno. */
static int ask_again(struct dev *reader, int fd, uint64_t id, bool reopen)
{
	struct xsprof_open o = { .size = sizeof(o), .flags = XSPROF_OPEN_CONSUME, .id = id };

	if (reopen) {
		close(reader->fd);
		reader->fd = dev_call(fd, XSPROF_IOC_OPEN, &o);
		if (reader->fd < 0)
			return reader->fd;
	}
	return watch(reader);
}

static uint64_t all_kicks(const struct watched *w, const struct dev *plain)
{
	uint64_t sum = 0;

	for (unsigned int k = 0; k < w->n; k++)
		sum += kicks(&plain[k]);
	return sum;
}

/*
 * Each first poll finds a head that is not 0, and so is a kick.  As an unprivileged user.
 * Return: 0, or which check failed.
 */
static int count_first_polls(void *arg)
{
	static struct dev plain[PRODUCERS];
	static struct watched w;
	uint64_t from, since, ns, polled;
	bool reopen = *(bool *)arg;
	int fd = dev_open();

	w.n = producers();
	if (begin(&w))
		return 1;
	for (unsigned int k = 0; k < w.n; k++) {
		ring_put(&w.d[k], w.d[k].nr, 0, 0, 1);
		if (dev_read_id(&plain[k], fd, w.d[k].id, 0))
			return 2;
		/* A mapping would hold the descriptor open. */
		munmap(w.r[k].base, w.r[k].len);
		w.r[k].base = NULL;
	}
	since = now_ns();
	from = all_kicks(&w, plain);
	do {
		for (unsigned int k = 0; k < w.n; k++)
			if (ask_again(&w.r[k], fd, w.d[k].id, reopen))
				return 3;
		env_nap(TICK_NS / 1000);
		ns = now_ns() - since;
	} while (ns < LONG_NS);
	polled = (all_kicks(&w, plain) - from) * (w.rings / w.n);
	ns = now_ns() - since;
	printf("# %llu rings polled in %llu ms\n", (unsigned long long)polled,
	       (unsigned long long)ns / 1000000);
	fflush(stdout);
	/* What was due when this began is polled besides, and timers are rounded down. */
	if (polled > (ns + 2 * TICK_NS) / POLL_NS + w.rings)
		return 4;
	/* The requests that were replaced do not count: readers are polled; an eighth are asked. */
	for (unsigned int k = 0; k < w.n; k += env_full() ? 1 : 8) {
		from = kicks(&plain[k]);
		if (ask_again(&w.r[k], fd, w.d[k].id, reopen))
			return 5;
		while (kicks(&plain[k]) == from)
			env_nap(1000);
	}
	return 0;
}

TEST(asking_again_is_limited)
{
	bool reopen = false;

	EXPECT_EQ(0, user_as(USER, 0, count_first_polls, &reopen));
}

TEST(reopening_is_limited)
{
	bool reopen = true;

	EXPECT_EQ(0, user_as(USER, 0, count_first_polls, &reopen));
}

TEST(polls_are_limited)
{
	EXPECT_EQ(0, user_as(USER, 0, count_polls, NULL));
}

TEST_HARNESS_MAIN
