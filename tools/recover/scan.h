/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an incomplete capture already holds of each producer, so that a recovery can continue at its
 * end.
 */
#ifndef XSPROF_SCAN_H
#define XSPROF_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/capture.h>

/**
 * struct scan_ring - a ring in the capture
 * @end: slot number after the last one stored
 * @slots: number of slots stored
 */
struct scan_ring {
	uint64_t	end;
	uint64_t	slots;
};

/**
 * struct scan_producer - a producer in the capture
 * @number: its number in the capture
 * @known: it has a PRODUCER chunk
 * @ended: it has an EXIT chunk
 * @arena_end: bytes of its arena stored
 * @last: ticks of its last record stored
 * @ctl: its control page
 * @rings: its rings, @nr_rings
 */
struct scan_producer {
	uint32_t		number;
	bool			known;
	bool			ended;
	uint64_t		arena_end;
	uint64_t		last;
	struct xsprof_ctl	ctl;
	struct scan_ring	*rings;
	uint32_t		nr_rings;
};

/**
 * struct scan - contents of a capture
 * @uuid: the capture's UUID
 * @size: offset of the end of the last whole chunk
 * @chunks: number of whole chunks
 * @ended: it has an END chunk: its recorder ended normally
 * @producers: by number, @nr
 */
struct scan {
	uint8_t			uuid[16];
	uint64_t		size;
	uint64_t		chunks;
	bool			ended;
	struct scan_producer	*producers;
	uint32_t		nr;
};

/**
 * scan_capture - read the chunk headers of a capture up to the last whole chunk
 * @fd: file
 * @scan: set
 *
 * Return: 0; -ENOEXEC: not a capture; -EPROTONOSUPPORT: another version; -errno.
 */
int scan_capture(int fd, struct scan *scan);
void scan_free(struct scan *scan);

#endif /* XSPROF_SCAN_H */
