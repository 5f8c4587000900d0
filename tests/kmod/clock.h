/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for tests of clocks: read the conversion in the control page and the sync points, convert
 * ticks as abi.h defines it, and compare with clock_gettime() within stated bounds.
 */
#ifndef KMOD_CLOCK_H
#define KMOD_CLOCK_H

#include "ring.h"

/* The rate of a conversion is at most so far off: twice what adjtimex() can slew, and more. */
#define CLOCK_PPM	2000

static inline uint64_t clock_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static inline struct xsprof_clock clock_read(const struct dev *d)
{
	volatile struct xsprof_clock *c = &d->ctl->clock;
	struct xsprof_clock copy;
	uint32_t seq;

	do {
		seq = __atomic_load_n(&c->seq, __ATOMIC_ACQUIRE);
		copy.kind = c->kind;
		copy.mult = c->mult;
		copy.shift = c->shift;
		copy.base_ticks = c->base_ticks;
		copy.base_ns = c->base_ns;
		copy.freq = c->freq;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || seq != c->seq);
	return copy;
}

static inline uint64_t clock_to_ns(const struct xsprof_clock *c, uint64_t ticks)
{
	__int128 delta = (__int128)(int64_t)(ticks - c->base_ticks) * c->mult;

	return c->base_ns + (int64_t)(delta >> c->shift);
}

/* Is @ticks, taken between @before and @after of CLOCK_MONOTONIC, converted to lie there? */
static inline bool clock_agrees(const struct xsprof_clock *c, uint64_t before, uint64_t ticks,
				uint64_t after, uint64_t window_ns)
{
	uint64_t ns = clock_to_ns(c, ticks);
	uint64_t age = ns > c->base_ns ? ns - c->base_ns : c->base_ns - ns;
	uint64_t slack = window_ns + age / 1000000 * CLOCK_PPM + 1000;

	return ns + slack >= before && ns <= after + slack;
}

/* Return: how many of @times readings of both clocks are converted wrongly. */
__attribute__((unused)) static uint64_t clock_wrong(const struct dev *d, uint64_t times)
{
	uint64_t wrong = 0, window = d->ctl->attach.window;

	/* In ns; a tick may be longer than one. */
	if (d->ctl->clock.freq)
		window = window * 1000000000ull / d->ctl->clock.freq + 1;
	for (uint64_t i = 0; i < times; i++) {
		struct xsprof_clock c = clock_read(d);
		uint64_t before, ticks, after;

		before = clock_now(CLOCK_MONOTONIC);
		ticks = ring_ticks(d->clock);
		after = clock_now(CLOCK_MONOTONIC);
		if (clock_agrees(&c, before, ticks, after, window) || wrong++)
			continue;
		printf("# %lld ns off, %lld ns after the base, window %llu ns\n",
		       (long long)(clock_to_ns(&c, ticks) - before),
		       (long long)(before - c.base_ns), (unsigned long long)window);
		fflush(stdout);
	}
	return wrong;
}

/* Wait for a later base: it ends by the tick of a second. */
__attribute__((unused)) static void clock_next_base(const struct dev *d)
{
	uint64_t base = clock_read(d).base_ticks;

	while (clock_read(d).base_ticks == base)
		env_nap(1000);
}

__attribute__((unused)) static int clock_syncs(int fd, struct xsprof_sync *to, uint32_t max,
					       uint32_t *generation)
{
	struct xsprof_syncs s = { .size = sizeof(s), .syncs = (uintptr_t)to, .count = max };
	int err = dev_call(fd, XSPROF_IOC_SYNCS, &s);

	*generation = s.generation;
	return err < 0 ? err : (int)s.count;
}

#endif /* KMOD_CLOCK_H */
