// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU hotplug while threads write at full rate: every lost record is counted, and no record appears
 * twice. Switches CPUs; ring.h walks over rings.
 */
#include <pthread.h>

#include "ring.h"

#define WRITERS	4
#define MAX_CPU	64

struct writer {
	struct dev	*d;
	unsigned int	stream;
	uint64_t	put;
	uint32_t	*stop;
};

struct order {
	uint64_t	next;
	uint64_t	gaps;
	uint64_t	wrong;
};

static void take(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct order *o = arg;
	uint64_t seq = s[3] & RING_SEQ_MASK;

	(void)k, (void)at, (void)n;
	if (ring_rec_type(s) != XSPROF_REC_INSTANT)
		return;
	o->wrong += seq < o->next;
	o->gaps += seq - o->next;
	o->next = seq + 1;
}

static void *write_all(void *arg)
{
	struct writer *w = arg;

	while (!__atomic_load_n(w->stop, __ATOMIC_RELAXED)) {
		ring_put(w->d, w->d->nr + w->stream, w->stream, w->put, 1 + w->put % 8);
		w->put++;
		/* To a CPU that is there, or is not. */
		if (w->put % 5000 == 0)
			env_on_cpu(env_mix(w->put) & 7);
	}
	return NULL;
}

static int cpu_switch(unsigned int cpu, bool on)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return env_file_put(path, on ? "1" : "0");
}

/* CPUs other than the first that can be switched. */
static unsigned int switchable(unsigned int *cpus)
{
	unsigned int n = 0;

	for (unsigned int cpu = 1; cpu < MAX_CPU; cpu++)
		if (!cpu_switch(cpu, true))
			cpus[n++] = cpu;
	return n;
}

TEST(cycles)
{
	uint64_t cycles = env_figure(10, 3), emitted = 0, read = 0, lost = 0, wrong = 0;
	unsigned int cpus[MAX_CPU], n = switchable(cpus);
	struct ring_cursor c[WRITERS] = { 0 };
	struct order o[WRITERS] = { 0 };
	struct writer w[WRITERS];
	pthread_t thread[WRITERS];
	uint32_t stop = 0;
	struct dev d, r, during;

	if (!n)
		SKIP(return, "no CPU here can be switched off");
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, WRITERS));
	ASSERT_EQ(0, dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME));
	for (unsigned int i = 0; i < WRITERS; i++) {
		ASSERT_EQ(0, dev_ring_open(&d, d.nr + i));
		ASSERT_EQ(0, dev_tail_open(&r, d.nr + i));
		w[i] = (struct writer){ &d, i, 0, &stop };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, write_all, &w[i]));
	}
	for (uint64_t i = 0; i < 2 * cycles; i++) {
		unsigned int cpu = cpus[i / 2 % n];

		EXPECT_EQ(0, cpu_switch(cpu, i & 1));
		/* An attach and rings for all possible CPUs, whichever are there. */
		ASSERT_EQ(0, dev_attach(&during, XSPROF_MODE_OVERWRITE, 16 << 10, 1));
		for (uint32_t k = 0; k < during.nr + during.nl; k++)
			EXPECT_EQ(0, dev_ring_open(&during, k));
		dev_close(&during);
		for (unsigned int k = 0; k < WRITERS; k++) {
			ring_take(&r, r.nr + k, &c[k], UINT64_MAX, take, &o[k]);
			ring_tail_set(&r, r.nr + k, c[k].at);
		}
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < WRITERS; i++) {
		pthread_join(thread[i], NULL);
		ring_take(&r, r.nr + i, &c[i], UINT64_MAX, take, &o[i]);
		emitted += w[i].put;
		read += c[i].records;
		lost += ring_drops(&d, d.nr + i);
		wrong += o[i].wrong + c[i].torn + c[i].back;
		EXPECT_EQ(w[i].put - o[i].next + o[i].gaps, ring_drops(&d, d.nr + i));
	}
	EXPECT_EQ(emitted, read + lost);
	EXPECT_EQ(0, wrong);
	TH_LOG("%llu cycles of %u CPUs: %llu written, %llu read, %llu lost",
	       (unsigned long long)cycles, n, (unsigned long long)emitted,
	       (unsigned long long)read, (unsigned long long)lost);
	dev_close(&r);
	dev_close(&d);
}

TEST_HARNESS_MAIN
