/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Writes a capture file: header, chunks, index. Owns the file's contents up to its last complete
 * chunk, and removes parts of a chunk that could not be written completely. The caller decides what
 * is recorded; compression is a callback.
 */
#ifndef XSP_CAP_WRITER_H
#define XSP_CAP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/capture.h>

#include "capture/room.h"

/**
 * struct xsp_cap_compressor - compresses a buffer into one zstd frame
 * @compress: compress into @dst; sets @out. Return: 0, or -errno (-ENOBUFS: it does not fit @room)
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
 * @error: first write error, 0: none; after it only explicitly retried chunks are written
 * @size: end of the last complete chunk
 * @room: reserved space on the disk
 * @compressor: NULL for none
 * @columns: scratch memory for the COLUMNS form
 * @packed: scratch memory for compression
 * @index: entries so far, NULL if there are too many
 * @nr_index: number of entries
 * @room_index: capacity of @index
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

/* Maximum payload of a chunk: the size of the scratch memory. */
#define XSP_CAP_RAW_MAX		(256u << 10)

/**
 * xsp_cap_create - start a capture: write the header
 * @cap: filled in
 * @fd: an empty file, or a pipe
 * @compressor: NULL for none
 */
int xsp_cap_create(struct xsp_cap *cap, int fd, const struct xsp_cap_compressor *compressor);

/**
 * xsp_cap_continue - append to an existing capture
 * @cap: filled in
 * @fd: the file, positioned at @size
 * @size: end of its last complete chunk
 * @compressor: NULL for none
 */
int xsp_cap_continue(struct xsp_cap *cap, int fd, uint64_t size,
		     const struct xsp_cap_compressor *compressor);

/**
 * xsp_cap_chunk - write a chunk
 * @cap: capture
 * @chunk: the caller sets type, producer, ring, pos, first and last; the rest is filled in
 * @raw: payload, at most XSP_CAP_RAW_MAX bytes
 * @len: bytes of it
 *
 * Return: 0 when the kernel has accepted all bytes; else -errno, and the file is unchanged.
 */
int xsp_cap_chunk(struct xsp_cap *cap, struct xsprof_chunk *chunk, const void *raw, size_t len);

/* Writes a NOTE chunk. Tried even after an error: a few bytes may still fit. */
int xsp_cap_note(struct xsp_cap *cap, const char *text);

/* Clears the error, so that the next chunk is tried. */
static inline void xsp_cap_retry(struct xsp_cap *cap)
{
	cap->error = 0;
}

/**
 * xsp_cap_end - write END and INDEX; release reserved space
 * @cap: capture
 * @end: totals
 */
int xsp_cap_end(struct xsp_cap *cap, const struct xsprof_cap_end *end);

/* Frees memory; the file stays open. */
void xsp_cap_free(struct xsp_cap *cap);

#endif /* XSP_CAP_WRITER_H */
