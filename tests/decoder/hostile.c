// SPDX-License-Identifier: GPL-2.0-only
/*
 * Truncated, damaged and crafted captures: the decoder terminates, reports the damage, and yields
 * no record that was not written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decoder/sample.h"
#include "common/crc32c.h"
#include "common/tap.h"

/* Checked memory takes several times as long; every byte is cut all the same. */
#ifdef __has_feature
#define CHECKED	__has_feature(address_sanitizer)
#else
#define CHECKED	0
#endif

static const char *path;
static int fd;

/* The file that cap_path() made, to change it in place. */
static void use(const struct cap *cap)
{
	path = cap_path(cap->data, cap->len);
	fd = atoi(strrchr(path, '/') + 1);
}

static void poke(size_t at, const void *data, size_t len)
{
	if (pwrite(fd, data, len, at) != (ssize_t)len)
		tap_bail("pwrite");
}

/* Those in which arguments go on are no events, and not in the decoder's count. */
static uint64_t records_of(const struct drained *d)
{
	uint64_t n = 0;

	for (size_t i = 0; i < d->nr; i++)
		n += d->list[i].ev.rec != NULL;
	return n;
}

static const char *name_of(unsigned int flags)
{
	return flags ? "zstd and columns" : "plain";
}

/* Cut off after every byte: what is left is what its whole chunks hold. */
static void test_cut(unsigned int flags, unsigned int records)
{
	struct drained full, d;
	size_t before, len;
	struct cap cap;

	sample_make(&cap, records, flags, 1500);
	use(&cap);
	drain(&full, path, NULL, 64);
	CHECK_EQ(full.warnings, 0);
	CHECK_EQ(records_of(&full), records);
	before = full.nr;
	for (len = cap.len - 1; len != (size_t)-1; len--) {
		if (ftruncate(fd, len))
			tap_bail("ftruncate");
		drain(&d, path, NULL, 64);
		if (len < sizeof(struct xsprof_cap_header)) {
			CHECK(d.open < 0);
		} else {
			CHECK_EQ(d.open, 0);
			CHECK_EQ(d.end, 0);
			CHECK(d.info.truncated && d.warnings);
			/* All but what the decoder makes of ledgers and EXIT. */
			CHECK(d.info.records <= before);
			before = d.info.records;
			sample_subset(&d, &full, "cut");
		}
		drained_free(&d);
	}
	tap_result("cut after every byte of %zu, %s", cap.len, name_of(flags));
	drained_free(&full);
	cap_free(&cap);
}

static bool same(const struct drained *a, const struct drained *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (a->list[i].ev.ns != b->list[i].ev.ns ||
		    a->list[i].ev.type != b->list[i].ev.type ||
		    a->list[i].ev.value != b->list[i].ev.value ||
		    memcmp(a->list[i].rec, b->list[i].rec, sizeof(a->list[i].rec)))
			return false;
	return true;
}

/*
 * Every bit of the first @bytes, or every @step-th, which is odd, so that each bit of a byte has
 * its turn: whatever it changes, it is said, and nothing is made up.
 */
static void test_flip(unsigned int flags, unsigned int records, size_t bytes, unsigned int step)
{
	unsigned int silent = 0, kept = 0, tried = 0;
	struct drained full, d;
	struct cap cap;

	sample_make(&cap, records, flags, 700);
	use(&cap);
	drain(&full, path, NULL, 64);
	if (bytes > cap.len)
		bytes = cap.len;
	for (size_t bit = 0; bit < bytes * 8; bit += step, tried++) {
		uint8_t byte = cap.data[bit / 8] ^ 1 << bit % 8;

		poke(bit / 8, &byte, 1);
		drain(&d, path, NULL, 64);
		if (d.open) {
			tap_wrong("bit %zu: not even opened: %s", bit, d.error);
		} else {
			bool equal = same(&d, &full);

			sample_subset(&d, &full, "flipped");
			/* Padding and reserved fields have no checksum and no meaning. */
			silent += equal && !d.warnings;
			kept += d.info.records >= full.info.records / 2;
			if (!equal && !d.warnings)
				tap_wrong("bit %zu changed what is read, and nothing was said",
					  bit);
		}
		drained_free(&d);
		poke(bit / 8, &cap.data[bit / 8], 1);
	}
	/* 8 reserved bytes a chunk and the padding; all else has a checksum. */
	CHECK(silent * step < 30 * 15 * 8);
	CHECK(kept > tried / 10 * 8);
	tap_result("%u bits of the first %zu bytes flipped, %s", tried, bytes, name_of(flags));
	drained_free(&full);
	cap_free(&cap);
}

/* ---- lies with the right checksum -------------------------------------------------------- */

static const uint64_t lies[] = { 0, 1, 3, 0x7f, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0xffffffffffull, 0x7fffffffffffffffull, 0x8000000000000000ull, ~0ull };

static void try(const struct cap *cap, struct cap *copy, size_t chunk, size_t at, size_t size,
		uint64_t lie)
{
	struct drained d;

	memcpy(copy->data, cap->data, cap->len);
	memcpy(copy->data + at, &lie, size);
	if (chunk)
		cap_reseal(copy, chunk);
	use(copy);
	drain(&d, path, NULL, 64);
	if (!d.open && d.end < 0)
		tap_wrong("chunk at %zu, byte %zu, lie %llx: %s", chunk, at,
			  (unsigned long long)lie, d.error);
	drained_free(&d);
}

/* Words of a chunk's header, and of its payload, one at a time. */
static void test_lies(unsigned int flags)
{
	struct cap cap, copy;
	size_t tried = 0;

	sample_make(&cap, 120, flags, 900);
	copy = (struct cap){ malloc(cap.len), cap.len, cap.len };
	if (!copy.data)
		tap_bail("no memory");
	for (size_t at = sizeof(struct xsprof_cap_header); at < cap.len;) {
		const struct xsprof_chunk *chunk = (const void *)(cap.data + at);
		size_t end = at + sizeof(*chunk) + ((chunk->stored + 7) & ~7u);
		size_t step = end - at > 1000 ? 8 : 4;

		for (size_t word = at; word + 8 <= end; word += step) {
			size_t size = word - at < 24 ? 4 : 8;

			/* The reserved half of a control page is a desert. */
			if (word > at + 500 && chunk->type == XSPROF_CHUNK_PRODUCER &&
			    word % 256)
				continue;
			for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++, tried++)
				try(&cap, &copy, at, word, size, lies[i]);
		}
		at = end;
	}
	tap_result("%zu lies with the right checksum, %s", tried, name_of(flags));
	cap_free(&copy);
	cap_free(&cap);
}

/* ---- what is no capture, or not one of ours ---------------------------------------------- */

static void test_headers(void)
{
	struct xsprof_cap_header *header;
	struct drained d;
	struct cap cap;

	sample_make(&cap, 50, 0, 500);
	header = (struct xsprof_cap_header *)cap.data;
	header->major = 2;
	header->crc = crc32c(header, offsetof(struct xsprof_cap_header, crc));
	drain(&d, cap_path(cap.data, cap.len), NULL, 64);
	CHECK_EQ(d.open, -EPROTONOSUPPORT);
	CHECK(strstr(d.error, "has format 2."));
	tap_result("a newer major version is refused");
	drained_free(&d);

	header->major = 1;
	header->minor = 77;
	header->crc = crc32c(header, offsetof(struct xsprof_cap_header, crc));
	drain(&d, cap_path(cap.data, cap.len), NULL, 64);
	CHECK_EQ(records_of(&d), 50);
	CHECK_EQ(d.warnings, 0);
	tap_result("a newer minor version is read");
	drained_free(&d);

	header->minor = 0;
	header->header_size = 7;
	header->crc = crc32c(header, offsetof(struct xsprof_cap_header, crc));
	drain(&d, cap_path(cap.data, cap.len), NULL, 64);
	CHECK(d.open < 0);
	tap_result("a header size that cannot be is refused");
	drained_free(&d);
	cap_free(&cap);

	drain(&d, cap_path("", 0), NULL, 64);
	CHECK(d.open < 0 && strstr(d.error, "empty"));
	drain(&d, cap_path("#!/bin/sh\necho hello, this is a script\n", 40), NULL, 64);
	CHECK(d.open < 0 && strstr(d.error, "neither"));
	drain(&d, "/nonexistent/file", NULL, 64);
	CHECK(d.open == -ENOENT && strstr(d.error, "/nonexistent/file"));
	drain(&d, "/tmp", NULL, 64);
	CHECK(d.open == -EISDIR);
	tap_result("empty, no capture, missing, a directory");
}

static void test_options(void)
{
	struct { struct xsprof_trace_options opts; uint64_t more; } wide = {
		.opts.size = sizeof(wide),
	};
	struct xsprof_trace_options opts = { .size = sizeof(opts), .flags = 0x80 };
	struct xsprof_trace *t;
	struct drained d;
	struct cap cap;

	sample_make(&cap, 50, 0, 500);
	use(&cap);
	CHECK_EQ(xsprof_trace_open(path, &wide.opts, &t), 0);
	xsprof_trace_close(t);
	wide.more = 1;
	CHECK_EQ(xsprof_trace_open(path, &wide.opts, &t), -E2BIG);
	CHECK(!t && strstr(xsprof_trace_error(NULL), "options"));
	drain(&d, cap_path(cap.data, cap.len), &opts, 64);
	CHECK_EQ(d.open, -EINVAL);
	tap_result("options of other versions");
	cap_free(&cap);
}

/* ---- chunks ------------------------------------------------------------------------------ */

/* A frame that is larger or smaller than the chunk says, or none at all. */
static void test_zstd(void)
{
	for (int how = 0; how < 4; how++) {
		struct xsprof_chunk *chunk;
		struct ring r = { 0 };
		struct drained d;
		struct cap cap;
		size_t at;

		cap_begin(&cap);
		for (int i = 0; i < 1000; i++)
			ring_rec(&r, XSPROF_REC_INSTANT, 1, 2000 + i, 1, i);
		at = cap.len;
		cap_ring(&cap, 0, 0, how == 3 ? CAP_COLUMNS | CAP_ZSTD : CAP_ZSTD, &r);
		chunk = (struct xsprof_chunk *)(cap.data + at);
		if (how == 0)
			chunk->raw -= 32;
		else if (how == 1)
			chunk->raw += 32;
		else if (how == 2)
			memset(cap.data + at + sizeof(*chunk), 0x5a, chunk->stored);
		else
			chunk->raw -= 1;
		cap_reseal(&cap, at);
		r.pos += how == 1;	/* not the slots that it lies about */
		ring_rec(&r, XSPROF_REC_INSTANT, 1, 4000, 1, 1000);
		cap_ring(&cap, 0, 0, 0, &r);
		cap_end(&cap, 5000);
		drain(&d, cap_path(cap.data, cap.len), NULL, 64);
		CHECK_EQ(d.info.records, 1);
		CHECK_EQ(d.info.bad_chunks, 1);
		CHECK(d.warnings);
		drained_free(&d);
		ring_free(&r);
		cap_free(&cap);
	}
	tap_result("zstd frames that are not what the chunk says");
}

/* Text that unpacks to thousands of times what is stored: some of it is taken, the rest is not. */
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
		/* Each is a few hundred bytes here. */
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

/* The largest resident size of a process that reads @cap, in KiB. */
static long memory_of(const struct cap *cap)
{
	struct rusage use;
	int status;
	pid_t pid;

	path = cap_path(cap->data, cap->len);
	pid = fork();
	if (!pid) {
		struct drained d;

		drain(&d, path, NULL, 64);
		_exit(d.open || d.end || !d.info.producers);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
		tap_bail("fork");
	CHECK_EQ(status, 0);
	return use.ru_maxrss;
}

/* Bytes that make the decoder keep much more: all of it has one bound, whatever it is. */
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
		/* What the test's reader itself keeps of events, and what is free, come on top. */
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

/* The hole that a damaged chunk leaves is in the stream, and counted. */
static void test_hole(void)
{
	const struct taken *lost;
	struct ring r = { 0 };
	struct drained d;
	struct cap cap;
	size_t at = 0;

	cap_begin(&cap);
	for (int i = 0; i < 30; i++) {
		ring_rec(&r, XSPROF_REC_INSTANT, 1, 2000 + i, 1, i);
		if (i == 19)
			at = cap.len + sizeof(struct xsprof_chunk) + 40;
		if (i % 10 == 9)
			cap_ring(&cap, 0, 0, 0, &r);
	}
	cap_end(&cap, 5000);
	cap.data[at] ^= 1;
	drain(&d, cap_path(cap.data, cap.len), NULL, 64);
	CHECK_EQ(d.info.records, 20);
	CHECK_EQ(d.info.bad_slots, 10);
	CHECK_EQ(d.lost_slots, 10);
	lost = drained_at(&d, XSPROF_EV_LOST, 0);
	CHECK(lost && lost[-1].ev.value == 9 && lost->ev.value == 10 && lost[1].ev.value == 20);
	tap_result("the hole of a damaged chunk");
	drained_free(&d);
	ring_free(&r);
	cap_free(&cap);
}

/* Ids as large as they can be cost what small ones cost. */
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

/* Thousands of rings under way at once, in the least memory there is. */
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
	tap_result("%d rings at once in 16 MiB, %s", PRODUCERS * RINGS, name_of(flags));
	drained_free(&d);
	cap_free(&cap);
}

int main(void)
{
	unsigned int cut = CHECKED ? 300 : 500;
	bool full = getenv("XSPROF_TIER") && !strcmp(getenv("XSPROF_TIER"), "full");
	unsigned int step = full ? 1 : CHECKED ? 9 : 3;

	test_headers();
	test_options();
	test_zstd();
	test_bombs();
	test_budget();
	test_hole();
	test_large_ids();
	test_many_streams(0);
	test_many_streams(CAP_ZSTD | CAP_COLUMNS);
	test_cut(0, full ? 1500 : cut);
	test_cut(CAP_ZSTD | CAP_COLUMNS, full ? 1500 : cut);
	test_flip(0, full ? 300 : 50, full ? ~0u : 4600, step);
	test_flip(CAP_ZSTD | CAP_COLUMNS, full ? 300 : 50, full ? ~0u : 4600, step);
	test_lies(0);
	test_lies(CAP_ZSTD | CAP_COLUMNS);
	return tap_done();
}
