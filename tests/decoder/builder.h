/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds captures and ring files in memory for the decoder's tests, from the structures of the
 * public headers alone. Shares no writing code with the library, so that an error made on both
 * sides does not cancel out.
 */
#ifndef TESTS_DECODER_BUILDER_H
#define TESTS_DECODER_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/capture.h>

/* A capture under construction. No call fails: without memory the program ends. */
struct cap {
	uint8_t	*data;
	size_t	len;
	size_t	room;
};

/* Records of one ring under construction; they never cross blocks. */
struct ring {
	uint8_t		*data;
	size_t		len;
	size_t		room;
	uint64_t	pos;		/* slot number of data[0] */
	uint64_t	first;
	uint64_t	last;
};

#define CAP_ZSTD	XSPROF_CHUNKF_ZSTD
#define CAP_COLUMNS	XSPROF_CHUNKF_COLUMNS

void cap_begin(struct cap *cap);
/* Adds a chunk; @chunk gives type, producer, ring, pos, first and last, the rest is computed. */
void cap_chunk(struct cap *cap, struct xsprof_chunk chunk, unsigned int flags, const void *data,
	       size_t len);
/* Adds the begin of a capture: a host, a clock, producer 0 with @rings rings, and a few names. */
void cap_head(struct cap *cap, uint32_t rings);
void cap_producer(struct cap *cap, uint32_t number, uint32_t pid, const struct xsprof_ctl *ctl);
void cap_entry(struct cap *arena, uint16_t type, uint32_t id, uint32_t aux, const char *text);
void cap_arena(struct cap *cap, uint32_t number, uint64_t pos, const struct cap *arena);
void cap_clock(struct cap *cap, const struct xsprof_sync *syncs, size_t nr);
void cap_ring(struct cap *cap, uint32_t number, uint32_t ring, unsigned int flags, struct ring *r);
void cap_ledger(struct cap *cap, uint32_t number, struct xsprof_cap_ledger ledger);
void cap_exit(struct cap *cap, uint32_t number, struct xsprof_cap_exit exit);
void cap_end(struct cap *cap, uint64_t ticks);
void cap_text(struct cap *cap, uint16_t type, const char *text);
void cap_free(struct cap *cap);
/* Recomputes the checksums of the chunk at @off, after a test changed it. */
void cap_reseal(struct cap *cap, size_t off);
/* Writes it to a file without a name. Return: "/proc/self/fd/N", valid until the next call. */
const char *cap_path(const void *data, size_t len);

/* Adds a record of 1 slot, or of more if @extra bytes of payload are given. */
void ring_put(struct ring *r, struct xsprof_rec rec, const void *extra, size_t len);
void ring_rec(struct ring *r, uint8_t type, uint32_t tid, uint64_t ts, uint32_t name,
	      uint64_t value);
/* Adds raw bytes. */
void ring_raw(struct ring *r, const void *data, size_t len);
void ring_reset(struct ring *r);	/* for the next chunk: empty, at the following slot */
void ring_free(struct ring *r);

/* Returns a control page as the library makes it. */
struct xsprof_ctl ctl_make(uint32_t rings, uint32_t lock_rings, uint64_t ring_size, uint32_t mode);
/* One tick is a nanosecond; the counter had the value @offset when CLOCK_MONOTONIC was 0. */
struct xsprof_sync sync_at(uint64_t mono, uint64_t offset);

#endif /* TESTS_DECODER_BUILDER_H */
