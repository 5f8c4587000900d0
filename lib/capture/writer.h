/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Writing a capture file: header, chunks, index.  It owns what the file holds up to its last
 * whole chunk, and takes back whatever of a chunk could not be written.  It never decides what
 * is recorded, and compresses only through a function it is given.
 */
#ifndef XSP_CAP_WRITER_H
#define XSP_CAP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/capture.h>

#include "capture/room.h"

/**
 * struct xsp_cap_compressor - one zstd frame out of a piece of memory
 * @compress: into @dst; sets @out.  Return: 0, or -errno (-ENOBUFS: it does not fit @room)
 * @data: passed to it
 */
struct xsp_cap_compressor {
	int	(*compress)(void *data, void *dst, size_t room, const void *src, size_t len,
			    size_t *out);
	void	*data;
};

/**
 * struct xsp_cap - a capture being written
 * @fd: the file; the caller opens and closes it
 * @error: the first error of a write, 0 while all is well; after it only chunks that are
 *	explicitly retried are written
 * @size: bytes up to the end of the last whole chunk
 * @room: what of the disk is kept for the accounts
 * @compressor: NULL for none
 * @columns: scratch memory for the COLUMNS form
 * @packed: scratch memory for what is compressed
 * @index: entries so far, NULL when there are too many for one
 * @nr_index: how many
 * @room_index: room in @index
 * @chunks: chunks in the file
 * @uuid: of the capture
 */
struct xsp_cap {
	int				fd;
	int				error;
	uint64_t			size;
	struct xsp_room			room;
	const struct xsp_cap_compressor	*compressor;
	uint8_t				*columns;
	uint8_t				*packed;
	struct xsprof_cap_index_entry	*index;
	uint32_t			nr_index;
	uint32_t			room_index;
	uint64_t			chunks;
	uint8_t				uuid[16];
};

/* The most bytes one chunk of a writer carries: its scratch memory. */
#define XSP_CAP_RAW_MAX		(256u << 10)

/**
 * xsp_cap_create - begin a capture: write the header
 * @cap: filled in
 * @fd: an empty file, or a pipe
 * @compressor: NULL for none
 */
int xsp_cap_create(struct xsp_cap *cap, int fd, const struct xsp_cap_compressor *compressor);

/**
 * xsp_cap_continue - go on with a capture that somebody else began
 * @cap: filled in
 * @fd: the file, its position at @size
 * @size: where its last whole chunk ends
 * @compressor: NULL for none
 */
int xsp_cap_continue(struct xsp_cap *cap, int fd, uint64_t size,
		     const struct xsp_cap_compressor *compressor);

/**
 * xsp_cap_chunk - write a chunk
 * @cap: capture
 * @chunk: type, producer, ring, pos, first and last are the caller's; the rest is filled in
 * @raw: payload, at most XSP_CAP_RAW_MAX bytes
 * @len: bytes of it
 *
 * Return: 0 once the kernel has all of it; else -errno, and the file is as before.
 */
int xsp_cap_chunk(struct xsp_cap *cap, struct xsprof_chunk *chunk, const void *raw, size_t len);

/* A NOTE chunk.  Tried even after an error: a few bytes may still find room. */
int xsp_cap_note(struct xsp_cap *cap, const char *text);

/* Forgets the error, so that the next chunk is tried. */
static inline void xsp_cap_retry(struct xsp_cap *cap)
{
	cap->error = 0;
}

/**
 * xsp_cap_end - write END and INDEX; what was kept behind them is given back
 * @cap: capture
 * @end: totals
 */
int xsp_cap_end(struct xsp_cap *cap, const struct xsprof_cap_end *end);

/* Frees memory; the file stays open. */
void xsp_cap_free(struct xsp_cap *cap);

#endif /* XSP_CAP_WRITER_H */
