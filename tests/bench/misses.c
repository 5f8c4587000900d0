// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a marker for a caller whose stores miss the caches: a case that a tight loop
 * hides, because an atomic operation would wait for those stores. The reference is a thread-local
 * ring, which needs no synchronization: clock, 32 bytes, published head.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"

#define EVENTS		30000
#define STORES		4
#define LEAST_NS	1.0	/* differences below it are the machine's noise */
#define AREA		(256ul << 20)
#define RING_SLOTS	65536ul	/* 2 MiB, as the rings of the library here */

static xsprof_name_t name;
static char *area;
static uint64_t seed = 1;

struct own_ring {
	uint64_t	head;
	uint64_t	(*slot)[4];
};

static __thread struct own_ring own;

/* Called, as the library's markers are. */
static __attribute__((noinline)) void own_put(uint64_t type, uint64_t what)
{
	uint64_t *s = own.slot[own.head & (RING_SLOTS - 1)];

	s[0] = type;
	s[1] = bench_counter();
	s[2] = what;
	s[3] = 0;
	__atomic_store_n(&own.head, own.head + 1, __ATOMIC_RELEASE);
}

static inline __attribute__((always_inline)) uint64_t miss(uint64_t x)
{
	for (int i = 0; i < STORES; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		*(volatile uint64_t *)(area + (x & (AREA - 1) & ~63ul)) = x;
	}
	return x;
}

static void stores(long n)
{
	uint64_t x = seed;

	for (long i = 0; i < n; i++)
		x = miss(x);
	seed = x;
}

static void with_own(long n)
{
	uint64_t x = seed;

	for (long i = 0; i < n; i += 2) {
		x = miss(x);
		own_put(XSPROF_REC_BEGIN, name);
		x = miss(x);
		own_put(XSPROF_REC_END, 0);
	}
	seed = x;
}

static void with_markers(long n)
{
	uint64_t x = seed;

	for (long i = 0; i < n; i += 2) {
		x = miss(x);
		xsprof_begin(name);
		x = miss(x);
		xsprof_end();
	}
	seed = x;
}

static void *memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		bench_die("mmap", errno);
	/* Huge pages if there are any: caches must miss, not only the TLB. */
	madvise(p, size, MADV_HUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)p)[i] = 1;
	return p;
}

int main(int argc, char **argv)
{
	struct bench_side sides[] = {
		{ .fn = stores, .n = EVENTS },
		{ .fn = with_own, .n = EVENTS },
		{ .fn = with_markers, .n = EVENTS, .after = session_drain },
	};
	struct bench_series ours = { 0 }, theirs = { 0 }, ratio = { 0 };

	(void)argc;
	session_begin(argv);
	area = memory(AREA);
	own.slot = memory(RING_SLOTS * sizeof(*own.slot));
	name = xsprof_name("bench");
	bench_run(sides, 3);
	for (int r = 0; r < BENCH_RUNS; r++) {
		bench_run(sides, 3);
		bench_add(&theirs, sides[1].ns - sides[0].ns);
		bench_add(&ours, sides[2].ns - sides[0].ns);
		bench_add(&ratio, (sides[2].ns - sides[0].ns) / (sides[1].ns - sides[0].ns));
	}
	session_check_drops("markers between stores");
	bench_print("miss_own", "ns", &theirs);
	bench_print("miss_marker", "ns", &ours);
	bench_print("miss_ratio", "ratio", &ratio);
	/* A processor that continues during the misses does both for free: 0 / 0 is no ratio. */
	if (bench_median(theirs.v, theirs.n) < LEAST_NS || bench_median(ours.v, ours.n) < LEAST_NS)
		printf("miss_ratio\tdoubt\tbeside the missing stores a marker takes no time\n");
	return 0;
}
