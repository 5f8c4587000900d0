// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads one chunk of a capture: validates its header, finds the next one, unpacks its payload.
 * Memory is limited by XSPROF_CHUNK_MAX whatever the header says. Does not interpret payloads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/columns.h"
#include "base/crc32c.h"
#include "decode/chunk.h"

#define SEARCH_PIECE	(64u << 10)

static bool sound(const struct xsprof_chunk *chunk)
{
	if (chunk->magic != XSPROF_CHUNK_MAGIC)
		return false;
	if (xsp_crc32c(0, chunk, offsetof(struct xsprof_chunk, header_crc)) != chunk->header_crc)
		return false;
	if (chunk->stored > XSPROF_CHUNK_MAX || chunk->raw > XSPROF_CHUNK_MAX)
		return false;
	return chunk->flags || chunk->stored == chunk->raw;
}

int xst_chunk_header(const struct xst_file *file, uint64_t off, struct xsprof_chunk *chunk)
{
	int err;

	if (off > file->src.size || file->src.size - off < sizeof(*chunk))
		return -ENODATA;
	err = xst_source_read(&file->src, off, chunk, sizeof(*chunk));
	if (err)
		return err;
	return sound(chunk);
}

uint64_t xst_chunk_search(const struct xst_file *file, uint64_t off)
{
	struct xsprof_chunk chunk;
	uint64_t found = 0;
	uint8_t *piece;

	piece = malloc(SEARCH_PIECE);
	if (!piece)
		return 0;
	for (off = (off + 7) & ~7ull; !found && off + sizeof(chunk) <= file->src.size;) {
		uint64_t left = file->src.size - off;
		size_t len = left < SEARCH_PIECE ? left : SEARCH_PIECE;

		if (xst_source_read(&file->src, off, piece, len))
			break;
		for (size_t i = 0; i + sizeof(uint32_t) <= len && !found; i += 8) {
			uint32_t magic;

			memcpy(&magic, piece + i, sizeof(magic));
			if (magic == XSPROF_CHUNK_MAGIC &&
			    xst_chunk_header(file, off + i, &chunk) == 1)
				found = off + i;
		}
		off += (len + 7) & ~(size_t)7;
	}
	free(piece);
	return found;
}

static uint8_t *scratch(struct xst_scratch *s, size_t size)
{
	if (s->size < size) {
		free(s->mem);
		s->mem = malloc(size);
		s->size = s->mem ? size : 0;
	}
	return s->mem;
}

static int read_stored(struct xst_file *file, uint64_t off, const struct xsprof_chunk *chunk,
		       uint8_t *dst)
{
	int err = xst_source_read(&file->src, off + sizeof(*chunk), dst, chunk->stored);

	if (err)
		return err == -ENODATA ? -EBADMSG : err;
	return xsp_crc32c(0, dst, chunk->stored) == chunk->crc ? 0 : -EBADMSG;
}

static int inflate(struct xst_file *file, uint8_t *dst, size_t raw, const uint8_t *src,
		   size_t stored)
{
	size_t n;

	if (!file->zstd)
		file->zstd = ZSTD_createDCtx();
	if (!file->zstd)
		return -ENOMEM;
	n = ZSTD_decompressDCtx(file->zstd, dst, raw, src, stored);
	return ZSTD_isError(n) || n != raw ? -EBADMSG : 0;
}

int xst_chunk_load_to(struct xst_file *file, uint64_t off, const struct xsprof_chunk *chunk,
		      uint8_t *dst)
{
	bool columns = chunk->flags & XSPROF_CHUNKF_COLUMNS;
	bool zstd = chunk->flags & XSPROF_CHUNKF_ZSTD;
	uint8_t *src, *middle;
	int err;

	if (!columns && !zstd)
		return chunk->flags ? -EBADMSG : read_stored(file, off, chunk, dst);
	if (chunk->flags & ~(XSPROF_CHUNKF_COLUMNS | XSPROF_CHUNKF_ZSTD))
		return -EBADMSG;
	if (columns && chunk->raw % XSPROF_SLOT_SIZE)
		return -EBADMSG;
	if (!zstd && chunk->stored != chunk->raw)
		return -EBADMSG;
	src = scratch(&file->stored, chunk->stored + 1);
	middle = columns && zstd ? scratch(&file->middle, chunk->raw + 1) : dst;
	if (!src || !middle)
		return -ENOMEM;
	err = read_stored(file, off, chunk, src);
	if (!err && zstd)
		err = inflate(file, middle, chunk->raw, src, chunk->stored);
	if (!err && columns)
		xsp_columns_decode(dst, zstd ? middle : src, chunk->raw >> XSPROF_SLOT_SHIFT);
	return err;
}

int xst_chunk_load(struct xst_file *file, uint64_t off, const struct xsprof_chunk *chunk,
		   const uint8_t **raw)
{
	*raw = scratch(&file->raw, chunk->raw + 1);
	if (!*raw)
		return -ENOMEM;
	return xst_chunk_load_to(file, off, chunk, file->raw.mem);
}

void xst_file_close(struct xst_file *file)
{
	free(file->stored.mem);
	free(file->middle.mem);
	free(file->raw.mem);
	ZSTD_freeDCtx(file->zstd);
	xst_source_close(&file->src);
}
