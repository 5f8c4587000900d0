// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder's memory use: for captures that decompress to much more than their size, that use ids
 * far apart, or that have thousands of rings.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decoder/sample.h"
#include "common/tap.h"

/* Text that decompresses to thousands of times its size: only part of it is read. */
static void test_bombs(void)
{
	static const uint16_t types[] = { XSPROF_CHUNK_NOTE, XSPROF_CHUNK_KERNEL,
					  XSPROF_CHUNK_HOST };
	const size_t size = 4u << 20;
	char *text = malloc(size);

	memset(text, 'a', size);
	memcpy(text, (uint32_t[]){ XSPROF_SECTION_SYMBOLS, size - 8 }, 8);
	text[8] = '=';
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct xsprof_chunk chunk = { .type = types[i],
					      .producer = XSPROF_NO_PRODUCER };
		struct ring r = { 0 };
		struct drained d;
		struct cap cap;

		cap_begin(&cap);
		/* Each is a few hundred bytes compressed. */
		for (int n = 0; n < 200; n++)
			cap_chunk(&cap, chunk, CAP_ZSTD, text, size);
		CHECK(cap.len < 2 * size);
		ring_rec(&r, XSPROF_REC_INSTANT, 1, 2000, 1, 1000);
		cap_ring(&cap, 0, 0, 0, &r);
		cap_end(&cap, 5000);
		drain(&d, cap_path(cap.data, cap.len), NULL, 64);
		CHECK_EQ(d.info.records, 1);
		if (d.info.bad_chunks < 100 || d.info.bad_chunks >= 200)
			tap_wrong("type %u: %llu of 200 left out", types[i],
				  (unsigned long long)d.info.bad_chunks);
		drained_free(&d);
		ring_free(&r);
		cap_free(&cap);
	}
	free(text);
	tap_result("text that takes no room in the file takes little memory");
}

/* Returns the largest resident size of a process that reads @cap, in KiB. */
static long memory_of(const struct cap *cap)
{
	struct rusage use;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		struct drained d;

		drain(&d, cap_path(cap->data, cap->len), NULL, 64);
		_exit(d.open || d.end || !d.info.producers);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
		tap_bail("fork");
	CHECK_EQ(status, 0);
	return use.ru_maxrss;
}

/* Bytes that make the decoder keep much more data: all kinds share one limit. */
static void grow_ledgers(struct cap *cap, uint32_t n)
{
	static struct xsprof_cap_ledger list[2000];

	for (uint32_t i = 0; i < 2000; i++)
		list[i].ring = i;
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_LEDGER, .producer = n },
		  CAP_ZSTD, list, sizeof(list));
}

static void grow_arenas(struct cap *cap, uint32_t n)
{
	uint8_t part[4] = { 1 };

	for (uint32_t i = 0; i < 64; i++)
		cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_ARENA,
						      .producer = n * 64 + i }, 0, part, 4);
}

static void grow_producers(struct cap *cap, uint32_t n)
{
	struct xsprof_ctl ctl = ctl_make(64, 2, 1 << 20, XSPROF_MODE_DISCARD);
	static struct xsprof_cap_producer p;

	p.ctl = ctl;
	for (uint32_t i = 0; i < 64; i++)
		cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_PRODUCER,
						      .producer = n * 64 + i }, CAP_ZSTD, &p,
			  sizeof(p));
}

static void grow_tasks(struct cap *cap, uint32_t n)
{
	static char text[1 << 20];
	size_t used = 8;

	for (uint32_t i = 0; used < sizeof(text) - 32; i++)
		used += sprintf(text + used, "%u\n", n * 4000 + i % 100000);
	memcpy(text, (uint32_t[]){ XSPROF_SECTION_TASKS, used - 8 }, 8);
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_KERNEL,
					      .producer = XSPROF_NO_PRODUCER }, CAP_ZSTD, text,
		  used);
}

static void grow_clock(struct cap *cap, uint32_t n)
{
	static struct xsprof_sync list[4000];

	for (uint32_t i = 0; i < 4000; i++)
		list[i] = sync_at(1000 + n * 4000 + i, 500);
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_CLOCK,
					      .producer = XSPROF_NO_PRODUCER }, CAP_ZSTD, list,
		  sizeof(list));
}

static void test_budget(void)
{
	static const struct {
		const char	*name;
		void		(*grow)(struct cap *cap, uint32_t n);
		uint32_t	times;
	} cases[] = {
		{ "nothing", NULL, 0 },
		{ "packed ledgers", grow_ledgers, 400 },
		{ "cut arenas", grow_arenas, 300 },
		{ "packed producers", grow_producers, 400 },
		{ "packed tasks", grow_tasks, 60 },
		{ "packed clocks", grow_clock, 200 },
	};
	long none = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ring r = { 0 };
		struct cap cap;
		long kib, most;

		cap_begin(&cap);
		for (uint32_t n = 0; n < cases[i].times; n++)
			cases[i].grow(&cap, n);
		ring_rec(&r, XSPROF_REC_INSTANT, 1, 2000, 1, 1000);
		cap_ring(&cap, 0, 0, 0, &r);
		cap_end(&cap, 5000);
		kib = memory_of(&cap);
		if (!i)
			none = kib;
		/* The events that the test's reader keeps, and free memory, are added to that. */
		most = none + (16 << 10) + (long)(cap.len >> 10) * 20;
#if !CHECKED
		if (kib > most)
			tap_wrong("%ld KiB, at most %ld", kib, most);
#endif
		tap_result("memory for %zu KiB of %s: %ld KiB, %ld without", cap.len >> 10,
			   cases[i].name, kib, none);
		ring_free(&r);
		cap_free(&cap);
	}
}

/* The largest possible ids cost as much as small ones. */
static void test_large_ids(void)
{
	struct xsprof_ctl ctl = ctl_make(8192, 64, 1 << 20, XSPROF_MODE_DISCARD);
	struct cap cap, arena = { 0 };
	struct rusage use;
	struct drained d;

	cap_begin(&cap);
	for (uint32_t i = 1; i < 2000; i++) {
		cap_entry(&arena, XSPROF_ENTRY_NAME, i * 523, 0, "x");
		cap_entry(&arena, XSPROF_ENTRY_THREAD, i * 2147483647u, 0, "y");
	}
	for (uint32_t i = 0; i < 100; i++) {
		struct ring r = { 0 };

		cap_producer(&cap, 65535 - 601 * i, 1, &ctl);
		cap_arena(&cap, 65535 - 601 * i, 0, &arena);
		ring_rec(&r, XSPROF_REC_INSTANT, ~0u, 2000, ~0u, 0);
		cap_ring(&cap, 65535 - 601 * i, 8255, 0, &r);
		cap_ledger(&cap, 65535 - 601 * i, (struct xsprof_cap_ledger){ .ring = 8000 });
		ring_free(&r);
	}
	cap_end(&cap, 5000);
	drain(&d, cap_path(cap.data, cap.len), NULL, 64);
	CHECK_EQ(d.info.records, 100);
	if (d.warnings)
		tap_wrong("%s", d.text);
	getrusage(RUSAGE_SELF, &use);
#if !CHECKED
	CHECK(use.ru_maxrss < 96 << 10);
#endif
	tap_result("large ids: %ld KiB for a capture of %zu KiB", use.ru_maxrss, cap.len >> 10);
	drained_free(&d);
	cap_free(&arena);
	cap_free(&cap);
}

/* Thousands of rings in progress at once, with the smallest memory limit. */
static void test_many_streams(unsigned int flags)
{
	enum { PRODUCERS = 50, RINGS = 60, EACH = 130 };
	struct xsprof_trace_options opts = { .size = sizeof(opts), .memory = 1 };
	struct xsprof_ctl ctl = ctl_make(RINGS, 1, 1 << 20, XSPROF_MODE_DISCARD);
	uint64_t next = 0;
	struct drained d;
	struct cap cap;

	cap_begin(&cap);
	for (uint32_t p = 0; p < PRODUCERS; p++)
		cap_producer(&cap, p, p, &ctl);
	for (uint32_t p = 0; p < PRODUCERS; p++) {
		for (uint32_t k = 0; k < RINGS; k++) {
			struct ring r = { 0 };

			for (uint32_t i = 0; i < EACH; i++) {
				uint64_t v = (uint64_t)i * PRODUCERS * RINGS + p * RINGS + k;

				ring_put(&r, (struct xsprof_rec){ .type = XSPROF_REC_INSTANT,
					 .ts = 2000 + v, .value = v },
					 "payload that makes it longer than a slot", 41);
			}
			cap_ring(&cap, p, k, flags, &r);
			ring_free(&r);
		}
	}
	cap_end(&cap, 1 << 30);
	drain(&d, cap_path(cap.data, cap.len), &opts, 100);
	for (size_t i = 0; i < d.nr; i++) {
		if (!d.list[i].ev.rec)
			continue;
		CHECK_EQ(d.list[i].ev.value, next);
		next++;
	}
	CHECK_EQ(next, PRODUCERS * RINGS * EACH);
	tap_result("%d rings at once in 16 MiB, %s", PRODUCERS * RINGS,
		   flags ? "zstd and columns" : "plain");
	drained_free(&d);
	cap_free(&cap);
}

int main(void)
{
	test_bombs();
	test_budget();
	test_large_ids();
	test_many_streams(0);
	test_many_streams(CAP_ZSTD | CAP_COLUMNS);
	return tap_done();
}
