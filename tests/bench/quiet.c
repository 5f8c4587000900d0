// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures figures that another thread on the same core would distort, in slices with a control
 * loop between the timed parts, which reveals such a thread. It prints every slice; quiet.py
 * chooses, when the best of all controls is known.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define CONTROL_EVENTS	20000L
#define CONTROL_SLOTS	65536ul
#define TURNS		12	/* on this CPU or on that one */
#define TURN_SLICES	48
#define SLICES		(TURNS * TURN_SLICES)

/**
 * struct quiet_slice - a slice, as it is noted
 * @control: ns of the slowest control loop of those around its sides
 * @figure: ns of an event where the counter is 9
 */
struct quiet_slice {
	double	control;
	double	figure;
};

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

/* Each side has a control before it and one after it: whoever came and went is seen. */
static struct quiet_slice one_slice(struct bench_side *sides)
{
	struct quiet_slice slice = { .control = bench_time(control, CONTROL_EVENTS) };

	for (int s = 0; s < BENCH_SCALED_SIDES; s++) {
		double ns;

		sides[s].ns = bench_time(sides[s].fn, sides[s].n);
		if (sides[s].after)
			sides[s].after();
		ns = bench_time(control, CONTROL_EVENTS);
		slice.control = ns > slice.control ? ns : slice.control;
	}
	slice.figure = sides[BENCH_SCALED].ns * 9 / sides[BENCH_COUNTER].ns;
	return slice;
}

/* Other rounds of the same run of run.sh have noted theirs before. */
static void note(const char *id, const struct quiet_slice *slices)
{
	const char *dir = getenv("BENCH_SLICES");
	char path[4096];
	FILE *f;

	if (!dir) {
		fprintf(stderr, "bench: BENCH_SLICES names no folder for slices: run run.sh\n");
		exit(1);
	}
	snprintf(path, sizeof(path), "%s/%s.tsv", dir, id);
	f = fopen(path, "ae");
	if (!f)
		bench_die(path, errno);
	for (int i = 0; i < SLICES; i++)
		fprintf(f, "%.4f\t%.4f\n", slices[i].control, slices[i].figure);
	if (fclose(f))
		bench_die(path, errno);
}

/**
 * bench_quiet() - note slices of a figure, each with its control
 * @id: the figure's
 * @sides: the counter, and what is scaled by it; a slice of both should take little more than a
 *	tenth of a millisecond, as some visits of neighbours are short
 *
 * What rings and caches must be on the first two CPUs is the caller's to prepare.
 */
void bench_quiet(const char *id, struct bench_side *sides)
{
	static struct quiet_slice slices[SLICES];

	control(CONTROL_SLOTS);
	for (int turn = 0; turn < TURNS; turn++) {
		/*
		 * Of two cores one may be free of neighbours. Nobody keeps the other CPU quiet
		 * while we move to it: at our priority it would never let us in.
		 */
		bench_change_cpu(turn);
		bench_hush(true);
		for (int i = 0; i < TURN_SLICES; i++) {
			slices[turn * TURN_SLICES + i] = one_slice(sides);
			bench_pause_us(100);
		}
		bench_hush(false);
		/* The rest of the machine wants to live, too. */
		bench_pause_us(20000);
	}
	bench_change_cpu(0);
	note(id, slices);
}
