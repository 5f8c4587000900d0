/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the benchmark programs: real-time slices on chosen CPUs, statistics over runs, a
 * session in which a program is its own reader. It measures, and does not judge.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/xsprof.h>

/* Runs of every figure: odd, so that the median is one of them. */
#define BENCH_RUNS	15
#define BENCH_SLICES	9	/* slices of a run; the median of them is the run's figure */

/* The counter that a marker reads, with nothing around it. */
static inline uint64_t bench_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r" (v));
	return v;
#else
#error "no counter known on this machine"
#endif
}

static inline void bench_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ __volatile__("yield" ::: "memory");
#endif
}

/* ---- bench.c ---- */
uint64_t bench_ns(void);
void bench_pin(int cpu);
bool bench_realtime(bool on);
void bench_pause_us(long us);
int bench_cpu(int index);
void bench_die(const char *what, int err) __attribute__((noreturn));

/**
 * struct bench_series - a figure, run by run
 * @n: runs so far
 * @v: their values
 */
struct bench_series {
	int	n;
	double	v[BENCH_RUNS];
};

void bench_add(struct bench_series *s, double v);
double bench_median(const double *v, int n);
void bench_print(const char *id, const char *unit, const struct bench_series *s);
void bench_skip(const char *id, const char *why);

/**
 * struct bench_side - one of the things that are timed in turn
 * @fn: does @n events
 * @n: events in a slice; a sixteenth as many go before them
 * @after: called after each slice, not timed; may be NULL
 * @ns: set to the run's ns per event
 */
struct bench_side {
	void	(*fn)(long n);
	long	n;
	void	(*after)(void);
	double	ns;
};

double bench_time(void (*fn)(long n), long n);
void bench_counters(long n);
void bench_run(struct bench_side *sides, int n);

/* Keeps the other CPU quiet while a run goes on. */
void bench_hush_start(void);
void bench_hush(bool on);
void bench_change_cpu(int turn);

/* ---- quiet.c ---- */
/* The sides of a figure "where the counter is 9": counters, and what is scaled by them. */
enum { BENCH_COUNTER, BENCH_SCALED, BENCH_SCALED_SIDES };

/* Events of their slices: about forty microseconds each. */
#define BENCH_COUNTERS	4000
#define BENCH_MARKERS	20000

void bench_quiet(const char *id, struct bench_side *sides);

/* ---- session.c ---- */
void session_enter(char **argv, const char *ring_size);
void session_leave(char **argv);
void session_open(void);
void session_begin(char **argv);
void session_drain(void);
void session_check_drops(const char *figure);
uint64_t session_dropped(void);
uint64_t session_ring_slots(void);

#endif /* BENCH_H */
