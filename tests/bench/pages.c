// SPDX-License-Identifier: GPL-2.0-only
/*
 * pages IN OUT BYTES: writes a capture of any length: repeats the tracer's sub-buffers in IN with
 * later times, and copies the rest once. The cost of reading gigabytes does not depend on their
 * contents, and recording them would take an hour.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "capture/writer.h"

#define SUBBUF	4096

static void put(struct xsp_cap *cap, struct xsprof_chunk *chunk, const void *raw, size_t len)
{
	int err = xsp_cap_chunk(cap, chunk, raw, len);

	if (err)
		bench_die("writing", -err);
}

static bool wanted_once(uint32_t type)
{
	return type != XSPROF_CHUNK_FTRACE && type != XSPROF_CHUNK_END &&
	       type != XSPROF_CHUNK_INDEX && type != XSPROF_CHUNK_LEDGER;
}

/* Walks @data once. Return: the latest time in it, from the headers of sub-buffers. */
static uint64_t walk(struct xsp_cap *cap, const uint8_t *data, size_t size, bool tracer,
		     uint64_t shift, uint64_t *pos)
{
	static uint8_t copy[XSPROF_FTRACE_CHUNK_MAX];
	uint64_t last = 0, ts;
	size_t at = sizeof(struct xsprof_cap_header);

	while (at + sizeof(struct xsprof_chunk) <= size) {
		struct xsprof_chunk chunk;
		const uint8_t *raw = data + at + sizeof(chunk);

		memcpy(&chunk, data + at, sizeof(chunk));
		at += sizeof(chunk) + ((chunk.stored + 7) & ~(size_t)7);
		if (chunk.flags || chunk.stored > sizeof(copy))
			bench_die("IN: compressed, or of another kind", EINVAL);
		if (!tracer && wanted_once(chunk.type))
			put(cap, &chunk, raw, chunk.stored);
		if (!tracer || chunk.type != XSPROF_CHUNK_FTRACE || chunk.ring >= 64)
			continue;
		memcpy(copy, raw, chunk.stored);
		for (size_t page = 0; page < chunk.stored; page += SUBBUF) {
			memcpy(&ts, copy + page, sizeof(ts));
			if (ts > last)
				last = ts;
			ts += shift;
			memcpy(copy + page, &ts, sizeof(ts));
		}
		chunk.first += shift;
		chunk.last += shift;
		chunk.pos = pos[chunk.ring];
		pos[chunk.ring] += chunk.stored / XSPROF_SLOT_SIZE;
		put(cap, &chunk, copy, chunk.stored);
	}
	return last;
}

static uint64_t first_time(const uint8_t *data, size_t size)
{
	size_t at = sizeof(struct xsprof_cap_header);
	uint64_t first = UINT64_MAX;

	while (at + sizeof(struct xsprof_chunk) <= size) {
		struct xsprof_chunk chunk;

		memcpy(&chunk, data + at, sizeof(chunk));
		if (chunk.type == XSPROF_CHUNK_FTRACE && chunk.first < first)
			first = chunk.first;
		at += sizeof(chunk) + ((chunk.stored + 7) & ~(size_t)7);
	}
	return first;
}

int main(int argc, char **argv)
{
	struct xsprof_cap_end end = { 0 };
	uint64_t pos[64] = { 0 }, bytes, shift = 0, first, last;
	const uint8_t *data;
	struct xsp_cap cap;
	struct stat st;
	int in, out;

	if (argc != 4)
		return 2;
	bytes = strtoull(argv[3], NULL, 10);
	in = open(argv[1], O_RDONLY);
	out = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (in < 0 || out < 0 || fstat(in, &st))
		bench_die(in < 0 ? argv[1] : argv[2], errno);
	data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, in, 0);
	if (data == MAP_FAILED || xsp_cap_create(&cap, out, NULL))
		bench_die(argv[2], errno);
	walk(&cap, data, st.st_size, false, 0, pos);
	first = first_time(data, st.st_size);
	do {
		last = walk(&cap, data, st.st_size, true, shift, pos);
		if (!last)
			bench_die("IN: nothing of the tracer in it", EINVAL);
		/* After the last event of the previous round, wherever that was. */
		shift += last - first + 1000000000;
	} while (cap.size < bytes);
	if (xsp_cap_end(&cap, &end))
		bench_die(argv[2], EIO);
	xsp_cap_free(&cap);
	return 0;
}
