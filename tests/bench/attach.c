// SPDX-License-Identifier: GPL-2.0-only
/*
 * attach: the time that the device takes until a program's first marker is in kernel memory: open,
 * attach, map everything, memory for this CPU's ring, one record published. Uses only the ABI, so
 * that the library's own work is not included. Prints "attach MS MS": the first time in this
 * process, with cold code, and the median of the next ones.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../kmod/dev.h"

#define TIMES	15
#define FIRST	(8u << 10)	/* bytes of a ring's first step, as the library has it */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A lock ring, which any thread may write to; alone here, so that the lock is not needed. */
static int first_marker(struct dev *d)
{
	struct xsprof_ring_writer *w = dev_writer(d, d->nr);
	uint64_t off = dev_ring_off(d, d->nr);
	uint64_t *slot = dev_data(d, d->nr);
	int err;

	err = dev_populate(d->fd, off, 2 * d->page + FIRST);
	if (!err)
		err = dev_overlay(d, off, d->page);
	if (!err)
		err = dev_overlay(d, off + 2 * d->page, d->ring_size);
	if (err)
		return err;
	slot[0] = (uint64_t)XSPROF_REC_INSTANT << 32;
	slot[1] = 1;
	__atomic_store_n(&w->head, 1, __ATOMIC_RELEASE);
	return 0;
}

static int attach(struct dev *d)
{
	struct xsprof_attach a = dev_attach_defaults();
	void *ctl;
	int err;

	a.ring_size = 1 << 20;
	a.nr_lock_rings = 1;
	err = dev_attach_as(d, &a);
	if (!err)
		err = dev_arena_open(d);
	if (err)
		return err;
	/* The page that markers test. */
	ctl = mmap(NULL, d->page, PROT_READ, MAP_SHARED, d->fd, 0);
	if (ctl == MAP_FAILED || !((volatile struct xsprof_ctl *)ctl)->enabled)
		return -EIO;
	err = first_marker(d);
	munmap(ctl, d->page);
	return err;
}

int main(void)
{
	double ms[TIMES];

	for (int i = 0; i < TIMES; i++) {
		struct dev d;
		int err;

		ms[i] = now();
		err = attach(&d);
		ms[i] = now() - ms[i];
		if (err) {
			fprintf(stderr, "attach: %s\n", strerror(-err));
			return 1;
		}
		dev_close(&d);
	}
	qsort(ms + 1, TIMES - 1, sizeof(ms[0]), by_size);
	printf("attach %.4f %.4f\n", ms[0], ms[TIMES / 2]);
	return 0;
}
