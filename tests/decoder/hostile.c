// SPDX-License-Identifier: GPL-2.0-only
/*
 * Truncated, damaged and crafted captures: the decoder terminates, reports the damage, and returns
 * no record that was not written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/sample.h"
#include "common/crc32c.h"
#include "common/tap.h"

static const char *path;
static int fd;

/* Opens the file that cap_path() made, to change it in place. */
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

/* Continuation records of arguments are no events, and the decoder does not count them. */
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

/* Cut after every byte: the decoder returns the records of the remaining whole chunks. */
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
			/* Without the events that the decoder makes from ledgers and EXIT. */
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
 * Flips every bit of the first @bytes, or every @step-th; @step is odd, so that every bit of a byte
 * is flipped. Each change must be reported, and no record made up.
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
	/* 8 reserved bytes per chunk, and the padding; everything else has a checksum. */
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

/* Changes words of a chunk's header and payload, one at a time. */
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

			/* The reserved half of a control page is large: test only some of it. */
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

/* A frame that is larger or smaller than the chunk says, or no frame. */
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
		r.pos += how == 1;	/* without the slots that it falsely claims */
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

/* A damaged chunk leaves a hole in the stream, and the hole is counted. */
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

int main(void)
{
	unsigned int cut = CHECKED ? 300 : 500;
	bool full = getenv("XSPROF_TIER") && !strcmp(getenv("XSPROF_TIER"), "full");
	unsigned int step = full ? 1 : CHECKED ? 9 : 3;

	test_headers();
	test_options();
	test_zstd();
	test_hole();
	test_cut(0, full ? 1500 : cut);
	test_cut(CAP_ZSTD | CAP_COLUMNS, full ? 1500 : cut);
	test_flip(0, full ? 300 : 50, full ? ~0u : 4600, step);
	test_flip(CAP_ZSTD | CAP_COLUMNS, full ? 300 : 50, full ? ~0u : 4600, step);
	test_lies(0);
	test_lies(CAP_ZSTD | CAP_COLUMNS);
	return tap_done();
}
