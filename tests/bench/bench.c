// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices, runs and figures of the benchmark programs. A slice lasts about half a millisecond and a
 * run some ten of them, at real-time priority where that is permitted: too short for the kernel's
 * throttling of real-time tasks, and to disturb other programs. Compared code is timed alternately,
 * slice by slice, so that a change of the machine's speed affects both.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

void bench_die(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

uint64_t bench_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The @index-th CPU that this process may use, -1 when there are fewer. */
int bench_cpu(int index)
{
	static cpu_set_t allowed;
	static bool known;

	/* Read once: pinning narrows what the kernel would answer later. */
	if (!known && sched_getaffinity(0, sizeof(allowed), &allowed))
		bench_die("sched_getaffinity", errno);
	known = true;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && !index--)
			return cpu;
	return -1;
}

void bench_pin(int cpu)
{
	cpu_set_t set;

	bench_cpu(0);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		bench_die("sched_setaffinity", errno);
}

/* Return: whether it is so; without the right to it the figures are only more noisy. */
bool bench_realtime(bool on)
{
	struct sched_param sp = { .sched_priority = on ? 50 : 0 };

	return !sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &sp);
}

void bench_pause_us(long us)
{
	const struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* ---- figures -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double bench_median(const double *v, int n)
{
	double s[BENCH_RUNS > BENCH_SLICES ? BENCH_RUNS : BENCH_SLICES];

	memcpy(s, v, n * sizeof(*s));
	qsort(s, n, sizeof(*s), compare);
	return s[n / 2];
}

void bench_add(struct bench_series *s, double v)
{
	s->v[s->n++] = v;
}

/* A line for run.sh: id, unit, min, median, max. */
void bench_print(const char *id, const char *unit, const struct bench_series *s)
{
	double min = s->v[0], max = s->v[0];

	for (int i = 1; i < s->n; i++) {
		min = s->v[i] < min ? s->v[i] : min;
		max = s->v[i] > max ? s->v[i] : max;
	}
	printf("%s\t%s\t%.4f\t%.4f\t%.4f\n", id, unit, min, bench_median(s->v, s->n), max);
	fflush(stdout);
}

void bench_skip(const char *id, const char *why)
{
	printf("%s\tskip\t%s\n", id, why);
	fflush(stdout);
}

/* ---- quiet on the other CPU ----------------------------------------------------------------- */

static int hush_wanted;
static int hush_cpu = -1;	/* changed only while none is wanted */

static void *hush(void *arg)
{
	int cpu = -1;

	(void)arg;
	bench_realtime(true);
	for (;;) {
		if (cpu != __atomic_load_n(&hush_cpu, __ATOMIC_RELAXED)) {
			cpu = __atomic_load_n(&hush_cpu, __ATOMIC_RELAXED);
			bench_pin(cpu);
		}
		while (__atomic_load_n(&hush_wanted, __ATOMIC_RELAXED))
			bench_relax();
		bench_pause_us(200);
	}
	return NULL;
}

/* With many CPUs other programs have room elsewhere; with two they do not. */
void bench_hush_start(void)
{
	pthread_t t;
	int err;

	if (bench_cpu(1) < 0 || bench_cpu(4) >= 0)
		return;
	hush_cpu = bench_cpu(1);
	err = pthread_create(&t, NULL, hush, NULL);
	if (err)
		bench_die("pthread_create", err);
}

void bench_hush(bool on)
{
	__atomic_store_n(&hush_wanted, on, __ATOMIC_RELAXED);
	if (on)
		bench_pause_us(400);
}

/**
 * bench_change_cpu() - go to the first CPU or the second, and let it be quiet on the other
 * @turn: even or odd
 *
 * Nobody may be keeping the other CPU quiet just now.
 */
void bench_change_cpu(int turn)
{
	if (bench_cpu(1) < 0)
		return;
	bench_pin(bench_cpu(turn & 1));
	if (hush_cpu >= 0)
		__atomic_store_n(&hush_cpu, bench_cpu(~turn & 1), __ATOMIC_RELAXED);
	/* It looks every 200 microseconds. */
	bench_pause_us(600);
}

/* ---- a run ---------------------------------------------------------------------------------- */

/* Return: ns of each of @n events, after a sixteenth as many to warm caches and predictors. */
double bench_time(void (*fn)(long n), long n)
{
	uint64_t t;

	fn(n / 16);
	t = bench_ns();
	fn(n);
	return (double)(bench_ns() - t) / n;
}

/* What markers are compared with: the counter that they read, and nothing else. */
void bench_counters(long n)
{
	for (long i = 0; i < n; i++) {
		uint64_t v = bench_counter();

		__asm__ __volatile__("" : : "r" (v));
	}
}

/**
 * bench_run() - time several things in turn, slice by slice
 * @sides: what to time; their ns are set
 * @n: how many
 */
void bench_run(struct bench_side *sides, int n)
{
	double slice[8][BENCH_SLICES];

	bench_hush(true);
	for (int i = 0; i < BENCH_SLICES; i++) {
		for (int s = 0; s < n; s++) {
			slice[s][i] = bench_time(sides[s].fn, sides[s].n);
			if (sides[s].after)
				sides[s].after();
		}
	}
	bench_hush(false);
	for (int s = 0; s < n; s++)
		sides[s].ns = bench_median(slice[s], BENCH_SLICES);
	bench_pause_us(5000);
}
