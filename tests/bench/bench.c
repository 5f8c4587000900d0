// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices, runs and figures of the benchmark programs. A slice lasts about half a millisecond
 * and a run some ten of them, at real-time priority where that is permitted: too short for the
 * kernel's throttling of real-time tasks, and for anybody else to notice. What is compared is
 * timed in turn, slice by slice, so that a change of the machine's speed meets both.
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

/* A line for run.sh: id, unit, min, median, max; and one of how many runs it took. */
void bench_print(const char *id, const char *unit, const struct bench_series *s)
{
	double min = s->v[0], max = s->v[0];

	for (int i = 1; i < s->n; i++) {
		min = s->v[i] < min ? s->v[i] : min;
		max = s->v[i] > max ? s->v[i] : max;
	}
	printf("%s\t%s\t%.4f\t%.4f\t%.4f\n", id, unit, min, bench_median(s->v, s->n), max);
	if (s->tried)
		printf("%s_tried\truns\t%d\t%d\t%d\n", id, s->tried, s->tried, s->tried);
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

/* On a machine with many CPUs the neighbours have room elsewhere; with two they do not. */
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

/* Go to the other CPU, and let it be quiet where we were. */
static void change_cpu(int turn)
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
			uint64_t t;

			sides[s].fn(sides[s].n / 16);	/* caches, predictors */
			if (sides[s].after)
				sides[s].after();
			t = bench_ns();
			sides[s].fn(sides[s].n);
			slice[s][i] = (double)(bench_ns() - t) / sides[s].n;
			if (sides[s].after)
				sides[s].after();
		}
	}
	bench_hush(false);
	for (int s = 0; s < n; s++)
		sides[s].ns = bench_median(slice[s], BENCH_SLICES);
	bench_pause_us(5000);
}

/* ---- runs in which the core was ours -------------------------------------------------------- */

#define QUIET_TRIES	200
#define QUIET_SPAN_NS	1500000000ull
#define FIRST_SPAN_NS	5000000000ull	/* where no quiet core was seen before */
#define QUIET_MARGIN	1.10
#define CONTROL_SLOTS	65536ul

/*
 * What a thread's own ring does, less the clock: a word read, raised and stored back, four stores
 * beside it. Nothing of the library is in it; a neighbour of the core's other hardware thread,
 * whom a virtual machine cannot see, makes it slow as he makes a marker slow. The clock's own
 * time does not show him.
 */
static void control(long n)
{
	static uint64_t (*ring)[4], head;

	if (!ring) {
		ring = calloc(CONTROL_SLOTS, sizeof(*ring));
		if (!ring)
			bench_die("calloc", ENOMEM);
		memset(ring, 1, CONTROL_SLOTS * sizeof(*ring));
	}
	for (long i = 0; i < n; i++) {
		volatile uint64_t *s = ring[head & (CONTROL_SLOTS - 1)];

		s[0] = i;
		s[1] = 0;
		s[2] = n;
		s[3] = 0;
		__atomic_store_n(&head, head + 1, __ATOMIC_RELEASE);
		__asm__ __volatile__("" : : : "memory");
	}
}

/*
 * The best that any program of this benchmark saw, in a file that run.sh names: a neighbour may
 * be there for all of a program's life.
 */
static double best_control(double ns)
{
	const char *path = getenv("BENCH_CONTROL");
	double best = ns, known;
	FILE *f;

	if (!path)
		return ns;
	f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%lf", &known) == 1 && known > 0 && (!ns || known < ns))
			best = known;
		fclose(f);
	}
	if (!ns || best < ns)
		return best;
	f = fopen(path, "we");
	if (!f)
		bench_die(path, errno);
	fprintf(f, "%.6f\n", best);
	fclose(f);
	return best;
}

/**
 * bench_quiet_runs() - runs in which a control loop was as fast as at its best
 * @sides: what to time
 * @n: how many, at most 7
 * @figure: makes a run's figure of the sides' ns
 * @s: filled with BENCH_RUNS figures; where so many quiet runs cannot be had, with the ones
 *	that were least disturbed
 */
void bench_quiet_runs(struct bench_side *sides, int n,
		      double (*figure)(const struct bench_side *sides), struct bench_series *s)
{
	static double value[QUIET_TRIES], control_ns[QUIET_TRIES];
	double best = best_control(0), limit, sorted[QUIET_TRIES];
	uint64_t end = bench_ns() + (best ? QUIET_SPAN_NS : FIRST_SPAN_NS);
	int tries, quiet = 0;
	struct bench_side all[8];

	memcpy(all, sides, n * sizeof(*sides));
	all[n] = (struct bench_side){ .fn = control, .n = sides[0].n };
	for (int turn = 0; turn < 2; turn++) {
		change_cpu(turn);
		bench_run(all, n + 1);
	}
	for (tries = 0; tries < QUIET_TRIES; tries++) {
		if (quiet >= BENCH_RUNS && bench_ns() >= end)
			break;
		/* Of two cores one may be free of neighbours. */
		change_cpu(tries);
		bench_run(all, n + 1);
		value[tries] = figure(all);
		control_ns[tries] = all[n].ns;
		best = !best || all[n].ns < best ? all[n].ns : best;
		quiet = 0;
		for (int i = 0; i <= tries; i++)
			quiet += control_ns[i] <= best * QUIET_MARGIN;
		/* Neighbours come and go in fractions of a second. */
		bench_pause_us(30000);
	}
	change_cpu(0);
	best_control(best);
	s->tried = tries;
	limit = best * QUIET_MARGIN;
	if (quiet < BENCH_RUNS) {
		memcpy(sorted, control_ns, tries * sizeof(*sorted));
		qsort(sorted, tries, sizeof(*sorted), compare);
		limit = sorted[BENCH_RUNS - 1];
	}
	for (int i = 0; i < tries && s->n < BENCH_RUNS; i++)
		if (control_ns[i] <= limit)
			bench_add(s, value[i]);
}
