/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The file being read, and single chunks: header and unpacked payload.
 */
#ifndef XST_CHUNK_H
#define XST_CHUNK_H

#include <stdint.h>

#include <xsprof/capture.h>

#include "decode/source.h"

/* A buffer that grows to the size of the largest chunk. */
struct xst_scratch {
	uint8_t	*mem;
	size_t	size;
};

/**
 * struct xst_file - the file and the buffers to unpack its chunks
 * @src: source of bytes
 * @stored: buffer for stored payloads
 * @middle: buffer between two steps of unpacking
 * @raw: buffer for unpacked payloads
 * @zstd: created by the first chunk that needs it
 */
struct xst_file {
	struct xst_source	src;
	struct xst_scratch	stored;
	struct xst_scratch	middle;
	struct xst_scratch	raw;
	void			*zstd;
};

/*
 * Return: 1: a valid header, whose payload may still lie beyond the end of the file; 0: none;
 * -ENODATA: the file ends inside it; or -errno.
 */
int xst_chunk_header(const struct xst_file *file, uint64_t off, struct xsprof_chunk *chunk);
/* The offset of the next valid header at or after @off; 0 if there is none. */
uint64_t xst_chunk_search(const struct xst_file *file, uint64_t off);
/*
 * Loads the unpacked payload; valid until the next call. Return: 0; -EBADMSG: wrong checksum or
 * content (counted by the caller); -ENOMEM; or another -errno.
 */
int xst_chunk_load(struct xst_file *file, uint64_t off, const struct xsprof_chunk *chunk,
		   const uint8_t **raw);
/* The same into @dst, which has @chunk->raw bytes. */
int xst_chunk_load_to(struct xst_file *file, uint64_t off, const struct xsprof_chunk *chunk,
		      uint8_t *dst);

static inline uint64_t xst_chunk_next(uint64_t off, const struct xsprof_chunk *chunk)
{
	return off + sizeof(*chunk) + (((uint64_t)chunk->stored + 7) & ~7ull);
}

/* Frees the buffers and closes the file. */
void xst_file_close(struct xst_file *file);

#endif /* XST_CHUNK_H */
