// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of markers in concurrent threads: 2 threads on 2 CPUs compared with 1
 * (real-time, in slices, the slower one counts), and 64 threads on 2 CPUs compared with 1 (ordinary
 * threads that the kernel preempts, CPU time).
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"
#include "markers.h"

#define EVENTS		60000
#define CROWD		64
#define CROWD_EVENTS	500000	/* a thread's: some milliseconds, so that it is preempted */

static void start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	int err = pthread_create(t, NULL, fn, arg);

	if (err)
		bench_die("pthread_create", err);
}

/* ---- two threads on two CPUs ---------------------------------------------------------------- */

/**
 * struct pair - two threads that go through a run in step
 * @there: the second is on its CPU; until then the first sleeps, as it could be in its way
 * @met: times that either came to the meeting point
 * @alone: ns of each thread while the other only waits on its CPU, slice by slice
 * @both: ns of each while both are at it
 */
struct pair {
	bool	there;
	int	met;
	double	alone[2][BENCH_SLICES];
	double	both[2][BENCH_SLICES];
};

/* Not on a stack: the second thread would read a cache line that the first's calls write to. */
static struct pair pair __attribute__((aligned(128)));

static void meet(struct pair *p)
{
	int until = (__atomic_fetch_add(&p->met, 1, __ATOMIC_ACQ_REL) / 2 + 1) * 2;

	while (__atomic_load_n(&p->met, __ATOMIC_ACQUIRE) < until)
		bench_relax();
}

/* The first, the second, both, the first, ... */
static void slices(struct pair *p, int me)
{
	for (int i = 0; i < BENCH_SLICES; i++) {
		for (int turn = 0; turn < 2; turn++) {
			meet(p);
			if (turn == me)
				p->alone[me][i] = bench_time(markers, EVENTS);
		}
		meet(p);
		/* Each has had a slice: make room for another in its ring. */
		if (!me)
			session_drain();
		meet(p);
		p->both[me][i] = bench_time(markers, EVENTS);
		meet(p);
		if (!me)
			session_drain();
	}
}

static void *second(void *arg)
{
	struct pair *p = arg;

	bench_pin(bench_cpu(1));
	bench_realtime(true);
	__atomic_store_n(&p->there, true, __ATOMIC_RELEASE);
	slices(p, 1);
	return NULL;
}

/*
 * Measures both threads: the one that suffered more counts. Each thread is compared with itself on
 * the same CPU: two CPUs are not always equally fast, whatever they run.
 */
static void pair_run(double *one, double *both, double *ratio)
{
	struct pair *p = &pair;
	pthread_t t;

	*p = (struct pair){ .there = false };
	start(&t, second, p);
	while (!__atomic_load_n(&p->there, __ATOMIC_ACQUIRE))
		bench_pause_us(100);
	slices(p, 0);
	pthread_join(t, NULL);
	bench_pause_us(5000);
	*ratio = 0;
	for (int k = 0; k < 2; k++) {
		double a = bench_median(p->alone[k], BENCH_SLICES);
		double b = bench_median(p->both[k], BENCH_SLICES);

		if (b / a > *ratio) {
			*one = a;
			*both = b;
			*ratio = b / a;
		}
	}
}

static void two(void)
{
	struct bench_series one = { 0 }, both = { 0 }, ratio = { 0 };
	double a, b, r;

	bench_pin(bench_cpu(0));
	bench_realtime(true);
	pair_run(&a, &b, &r);
	for (int i = 0; i < BENCH_RUNS; i++) {
		pair_run(&a, &b, &r);
		bench_add(&one, a);
		bench_add(&both, b);
		bench_add(&ratio, r);
	}
	bench_realtime(false);
	bench_print("threads_one", "ns", &one);
	bench_print("threads_two", "ns", &both);
	bench_print("threads_two_ratio", "ratio", &ratio);
}

/* ---- a crowd on two CPUs -------------------------------------------------------------------- */

static bool reading;

/* Empties the rings; has a higher priority than the crowd, and mostly sleeps. */
static void *reader(void *arg)
{
	(void)arg;
	bench_realtime(true);
	while (__atomic_load_n(&reading, __ATOMIC_RELAXED)) {
		session_drain();
		bench_pause_us(500);
	}
	return NULL;
}

static void *member(void *arg)
{
	struct timespec a, b;

	markers(100);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	markers(CROWD_EVENTS);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	*(double *)arg = (b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec);
	return NULL;
}

/* Return: CPU time per event with @n threads. */
static double crowd_run(int n)
{
	double ns[CROWD], sum = 0;
	pthread_t t[CROWD];

	for (int i = 0; i < n; i++)
		start(&t[i], member, &ns[i]);
	for (int i = 0; i < n; i++) {
		pthread_join(t[i], NULL);
		sum += ns[i];
	}
	return sum / n / CROWD_EVENTS;
}

/* Repeats a run in which the reader came too late. */
static double crowd_run_whole(int n)
{
	for (int tries = 0; tries < 10; tries++) {
		uint64_t before = session_dropped();
		double ns = crowd_run(n);

		if (session_dropped() == before)
			return ns;
	}
	fprintf(stderr, "bench: threads: the reader does not get the CPU in time\n");
	exit(1);
}

static void crowd(void)
{
	struct bench_series one = { 0 }, many = { 0 }, ratio = { 0 };
	cpu_set_t cpus;
	pthread_t t;

	CPU_ZERO(&cpus);
	CPU_SET(bench_cpu(0), &cpus);
	CPU_SET(bench_cpu(1), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		bench_die("sched_setaffinity", errno);
	reading = true;
	start(&t, reader, NULL);
	crowd_run(CROWD);
	for (int r = 0; r < BENCH_RUNS; r++) {
		double few[BENCH_SLICES], a, b;

		/* One thread is done in milliseconds: several times, for a steady figure. */
		for (int i = 0; i < BENCH_SLICES; i++)
			few[i] = crowd_run_whole(1);
		a = bench_median(few, BENCH_SLICES);
		b = crowd_run_whole(CROWD);
		bench_add(&one, a);
		bench_add(&many, b);
		bench_add(&ratio, b / a);
	}
	__atomic_store_n(&reading, false, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	bench_print("crowd_one", "ns", &one);
	bench_print("crowd_many", "ns", &many);
	bench_print("crowd_ratio", "ratio", &ratio);
}

int main(int argc, char **argv)
{
	(void)argc;
	if (bench_cpu(1) < 0) {
		bench_skip("threads_two_ratio", "one CPU");
		bench_skip("crowd_ratio", "one CPU");
		return 0;
	}
	session_enter(argv, "16M");
	session_open();
	name = xsprof_name("bench");
	two();
	session_check_drops("two threads");
	crowd();
	return 0;
}
