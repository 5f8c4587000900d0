// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes capture files. Never seeks, so that a pipe works too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/columns.h"
#include "base/crc32c.h"
#include "base/write-all.h"
#include "capture/writer.h"

/* zstd's bound for incompressible data, with a margin. */
#define PACKED_ROOM	(XSP_CAP_RAW_MAX + (XSP_CAP_RAW_MAX >> 7) + 1024)

/* Smaller payloads do not gain from compression. */
#define COMPRESS_MIN	256u

/* The index is a single chunk; a longer one is left out, as it is only an optimisation. */
#define INDEX_MIN_SIZE	(1u << 20)	/* smaller files are read as fast without one */
#define INDEX_MAX	(XSPROF_CHUNK_MAX / sizeof(struct xsprof_cap_index_entry))

static int init(struct xsp_cap *cap, int fd, const struct xsp_cap_compressor *compressor)
{
	memset(cap, 0, sizeof(*cap));
	cap->fd = fd;
	xsp_room_init(&cap->room, fd);
	cap->compressor = compressor;
	if (!compressor)
		return 0;
	cap->columns = malloc(XSP_CAP_RAW_MAX);
	cap->packed = malloc(PACKED_ROOM);
	if (cap->columns && cap->packed)
		return 0;
	xsp_cap_free(cap);
	return -ENOMEM;
}

static void make_uuid(uint8_t *uuid)
{
	struct timespec ts;

	/* Early in the boot the random pool is not ready: use the time. */
	if (getrandom(uuid, 16, GRND_NONBLOCK) != 16) {
		clock_gettime(CLOCK_REALTIME, &ts);
		memcpy(uuid, &ts, 16);
	}
	uuid[6] = (uuid[6] & 0x0f) | 0x40;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

int xsp_cap_create(struct xsp_cap *cap, int fd, const struct xsp_cap_compressor *compressor)
{
	struct xsprof_cap_header header;
	struct timespec ts;
	struct iovec iov = { &header, sizeof(header) };
	int err;

	err = init(cap, fd, compressor);
	if (err)
		return err;
	memset(&header, 0, sizeof(header));
	header.magic = XSPROF_CAP_MAGIC;
	header.major = XSPROF_CAP_MAJOR;
	header.minor = XSPROF_CAP_MINOR;
	header.header_size = sizeof(header);
	clock_gettime(CLOCK_REALTIME, &ts);
	header.created = (uint64_t)ts.tv_sec * 1000000000u + ts.tv_nsec;
	make_uuid(header.uuid);
	header.crc = xsp_crc32c(0, &header, offsetof(struct xsprof_cap_header, crc));
	err = xsp_writev_all(fd, &iov, 1);
	if (err) {
		xsp_cap_free(cap);
		return err;
	}
	cap->size = sizeof(header);
	memcpy(cap->uuid, header.uuid, sizeof(cap->uuid));
	return 0;
}

int xsp_cap_continue(struct xsp_cap *cap, int fd, uint64_t size,
		     const struct xsp_cap_compressor *compressor)
{
	int err = init(cap, fd, compressor);

	if (err)
		return err;
	cap->size = size;
	/* Earlier chunks are unknown here: an index would be incomplete. */
	cap->nr_index = INDEX_MAX + 1;
	return 0;
}

void xsp_cap_free(struct xsp_cap *cap)
{
	free(cap->columns);
	free(cap->packed);
	free(cap->index);
	cap->columns = NULL;
	cap->packed = NULL;
	cap->index = NULL;
}

static void index_add(struct xsp_cap *cap, const struct xsprof_chunk *chunk)
{
	struct xsprof_cap_index_entry *entry;

	if (cap->nr_index > INDEX_MAX)
		return;
	if (cap->nr_index == cap->room_index) {
		uint32_t room = cap->room_index ? 2 * cap->room_index : 256;
		void *more = NULL;

		if (cap->nr_index < INDEX_MAX)
			more = realloc(cap->index, room * sizeof(*entry));
		if (!more) {
			free(cap->index);
			cap->index = NULL;
			cap->nr_index = INDEX_MAX + 1;
			return;
		}
		cap->index = more;
		cap->room_index = room;
	}
	entry = &cap->index[cap->nr_index++];
	memset(entry, 0, sizeof(*entry));
	entry->offset = cap->size;
	entry->first = chunk->first;
	entry->last = chunk->last;
	entry->type = chunk->type;
	entry->producer = chunk->producer;
	entry->ring = chunk->ring;
}

/* Writes header, payload and padding with one system call; nothing of them stays on failure. */
static int put(struct xsp_cap *cap, struct xsprof_chunk *chunk, const void *stored)
{
	static const uint8_t zeros[8];
	size_t pad = -chunk->stored & 7;
	struct iovec iov[] = {
		{ chunk, sizeof(*chunk) },
		{ (void *)stored, chunk->stored },
		{ (void *)zeros, pad },
	};
	int err;

	err = xsp_room_for(&cap->room, cap->fd, cap->size, sizeof(*chunk) + chunk->stored + pad,
			   chunk->type);
	if (err) {
		cap->error = err;
		return err;
	}
	chunk->magic = XSPROF_CHUNK_MAGIC;
	chunk->reserved = 0;
	chunk->crc = xsp_crc32c(0, stored, chunk->stored);
	chunk->header_crc = xsp_crc32c(0, chunk, offsetof(struct xsprof_chunk, header_crc));
	err = xsp_writev_all(cap->fd, iov, pad ? 3 : 2);
	if (err) {
		cap->error = err;
		/* A pipe keeps what it got; its reader detects the cut. */
		if (!ftruncate(cap->fd, cap->size))
			lseek(cap->fd, cap->size, SEEK_SET);
		cap->room.end = 0;
		return err;
	}
	index_add(cap, chunk);
	/* Single writer; a thread that follows the file may read the size at any time. */
	__atomic_store_n(&cap->size, cap->size + sizeof(*chunk) + chunk->stored + pad,
			 __ATOMIC_RELAXED);
	cap->chunks++;
	return 0;
}

/* Return: the bytes to store; sets @chunk's flags and stored size accordingly. */
static const void *pack(struct xsp_cap *cap, struct xsprof_chunk *chunk, const void *raw,
			size_t len)
{
	const void *src = raw;
	uint16_t flags = 0;
	size_t out;

	chunk->raw = len;
	chunk->stored = len;
	chunk->flags = 0;
	if (!cap->compressor || len < COMPRESS_MIN)
		return raw;
	if (chunk->type == XSPROF_CHUNK_RING) {
		xsp_columns_encode(cap->columns, raw, len >> XSPROF_SLOT_SHIFT);
		src = cap->columns;
		flags |= XSPROF_CHUNKF_COLUMNS;
	}
	if (cap->compressor->compress(cap->compressor->data, cap->packed, PACKED_ROOM, src, len,
				      &out) || out >= len)
		return raw;
	chunk->flags = flags | XSPROF_CHUNKF_ZSTD;
	chunk->stored = out;
	return cap->packed;
}

int xsp_cap_chunk(struct xsp_cap *cap, struct xsprof_chunk *chunk, const void *raw, size_t len)
{
	if (cap->error)
		return cap->error;
	if (len > XSP_CAP_RAW_MAX)
		return -EINVAL;
	return put(cap, chunk, pack(cap, chunk, raw, len));
}

int xsp_cap_note(struct xsp_cap *cap, const char *text)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_NOTE,
		.producer = XSPROF_NO_PRODUCER,
	};
	int saved = cap->error;
	int err;

	cap->error = 0;
	err = xsp_cap_chunk(cap, &chunk, text, strnlen(text, 4096));
	if (saved)
		cap->error = saved;
	return err;
}

static int put_index(struct xsp_cap *cap)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_INDEX,
		.producer = XSPROF_NO_PRODUCER,
	};
	uint32_t nr = cap->nr_index;

	if (!nr || nr > INDEX_MAX || cap->size < INDEX_MIN_SIZE)
		return 0;
	if (nr * sizeof(*cap->index) <= XSP_CAP_RAW_MAX)
		return xsp_cap_chunk(cap, &chunk, cap->index, nr * sizeof(*cap->index));
	/* Not compressed or rearranged: a long index exceeds the scratch memory. */
	chunk.raw = nr * sizeof(*cap->index);
	chunk.stored = chunk.raw;
	return put(cap, &chunk, cap->index);
}

int xsp_cap_end(struct xsp_cap *cap, const struct xsprof_cap_end *end)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_END,
		.producer = XSPROF_NO_PRODUCER,
		.last = end->ticks,
	};
	int err = xsp_cap_chunk(cap, &chunk, end, sizeof(*end));

	if (!err)
		err = put_index(cap);
	xsp_room_release(&cap->room, cap->fd, cap->size);
	return err;
}
