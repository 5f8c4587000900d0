// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks over the chunks of a capture. It never decodes records, and trusts nothing in the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/crc32c.h"
#include "base/pread.h"
#include "recover/scan.h"

static struct scan_producer *producer(struct scan *scan, uint32_t number)
{
	struct scan_producer *more;

	if (number >= XSPROF_CAP_MAX_PRODUCERS)
		return NULL;
	if (number >= scan->nr) {
		/*
		 * A tiny file may contain the highest number: the memory is bounded by the number
		 * of chunks.
		 */
		if (number > scan->nr + scan->chunks)
			return NULL;
		more = realloc(scan->producers, (number + 1) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + scan->nr, 0, (number + 1 - scan->nr) * sizeof(*more));
		scan->producers = more;
		scan->nr = number + 1;
	}
	scan->producers[number].number = number;
	return &scan->producers[number];
}

static struct scan_ring *ring(struct scan_producer *p, uint32_t k)
{
	struct scan_ring *more;

	if (k >= XSPROF_MAX_RINGS)
		return NULL;
	if (k >= p->nr_rings) {
		more = realloc(p->rings, (k + 1) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + p->nr_rings, 0, (k + 1 - p->nr_rings) * sizeof(*more));
		p->rings = more;
		p->nr_rings = k + 1;
	}
	return &p->rings[k];
}

/* Reads the payload of a PRODUCER chunk, which may be compressed. */
static int read_producer(const struct xsprof_chunk *chunk, const void *stored,
			 struct scan_producer *p)
{
	struct xsprof_cap_producer found;

	if (chunk->raw != sizeof(found))
		return -EINVAL;
	if (chunk->flags & XSPROF_CHUNKF_ZSTD) {
		size_t n = ZSTD_decompress(&found, sizeof(found), stored, chunk->stored);

		if (ZSTD_isError(n) || n != sizeof(found))
			return -EINVAL;
	} else if (chunk->stored == sizeof(found)) {
		memcpy(&found, stored, sizeof(found));
	} else {
		return -EINVAL;
	}
	p->ctl = found.ctl;
	p->known = true;
	return 0;
}

static void note_ring(const struct xsprof_chunk *chunk, struct scan_producer *p)
{
	struct scan_ring *r = ring(p, chunk->ring);
	uint64_t slots = chunk->raw >> XSPROF_SLOT_SHIFT;

	if (chunk->last > p->last)
		p->last = chunk->last;
	if (!r)
		return;
	r->slots += slots;
	if (chunk->pos + slots > r->end)
		r->end = chunk->pos + slots;
}

static void note(struct scan *scan, const struct xsprof_chunk *chunk, const void *stored)
{
	struct scan_producer *p;

	if (chunk->type == XSPROF_CHUNK_END)
		scan->ended = true;
	p = producer(scan, chunk->producer);
	if (!p)
		return;
	switch (chunk->type) {
	case XSPROF_CHUNK_PRODUCER:
		read_producer(chunk, stored, p);
		break;
	case XSPROF_CHUNK_ARENA:
		if (chunk->pos + chunk->raw > p->arena_end)
			p->arena_end = chunk->pos + chunk->raw;
		break;
	case XSPROF_CHUNK_RING:
		note_ring(chunk, p);
		break;
	case XSPROF_CHUNK_EXIT:
		p->ended = true;
		break;
	}
}

/* Return: 1: a whole chunk; 0: no further whole chunk; -errno. */
static int next(int fd, uint64_t file_size, struct scan *scan, uint8_t *buf)
{
	struct xsprof_chunk chunk;
	uint64_t whole;
	int err;

	if (file_size - scan->size < sizeof(chunk))
		return 0;
	err = xsp_pread(fd, &chunk, sizeof(chunk), scan->size);
	if (err)
		return err;
	if (chunk.magic != XSPROF_CHUNK_MAGIC || chunk.stored > XSPROF_CHUNK_MAX ||
	    chunk.raw > XSPROF_CHUNK_MAX ||
	    chunk.header_crc != xsp_crc32c(0, &chunk, offsetof(struct xsprof_chunk, header_crc)))
		return 0;
	whole = sizeof(chunk) + ((chunk.stored + 7ull) & ~7ull);
	if (file_size - scan->size < whole)
		return 0;
	err = xsp_pread(fd, buf, chunk.stored, scan->size + sizeof(chunk));
	if (err)
		return err;
	if (chunk.crc != xsp_crc32c(0, buf, chunk.stored))
		return 0;
	note(scan, &chunk, buf);
	scan->chunks++;
	scan->size += whole;
	return 1;
}

int scan_capture(int fd, struct scan *scan)
{
	struct xsprof_cap_header header;
	struct stat st;
	uint8_t *buf;
	int err;

	memset(scan, 0, sizeof(*scan));
	if (fstat(fd, &st))
		return -errno;
	err = xsp_pread(fd, &header, sizeof(header), 0);
	if (err == -ENODATA || (!err && header.magic != XSPROF_CAP_MAGIC))
		return -ENOEXEC;
	if (err)
		return err;
	if (header.crc != xsp_crc32c(0, &header, offsetof(struct xsprof_cap_header, crc)) ||
	    header.header_size < sizeof(header) || header.header_size % 8 ||
	    header.header_size > (uint64_t)st.st_size)
		return -ENOEXEC;
	if (header.major != XSPROF_CAP_MAJOR)
		return -EPROTONOSUPPORT;
	memcpy(scan->uuid, header.uuid, sizeof(scan->uuid));
	scan->size = header.header_size;
	buf = malloc(XSPROF_CHUNK_MAX);
	if (!buf)
		return -ENOMEM;
	do {
		err = next(fd, st.st_size, scan, buf);
	} while (err > 0);
	free(buf);
	if (err)
		scan_free(scan);
	return err;
}

void scan_free(struct scan *scan)
{
	uint32_t i;

	for (i = 0; i < scan->nr; i++)
		free(scan->producers[i].rings);
	free(scan->producers);
	*scan = (struct scan){ 0 };
}
