/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a capture that was cut off already holds of each producer, so that a recovery can go on
 * where it ends.
 */
#ifndef XSPROF_SCAN_H
#define XSPROF_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/capture.h>

/**
 * struct scan_ring - of one ring
 * @end: the slot after the last that is stored
 * @slots: slots stored
 */
struct scan_ring {
	uint64_t	end;
	uint64_t	slots;
};

/**
 * struct scan_producer - of one producer
 * @number: in the capture
 * @known: its PRODUCER chunk was read
 * @ended: it has an EXIT chunk
 * @arena_end: bytes of its arena that are stored
 * @last: ticks of the last of its records that are stored
 * @ctl: its control page
 * @rings: @nr_rings of them
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
 * struct scan - of the whole
 * @uuid: of the capture
 * @size: up to the end of the last whole chunk
 * @chunks: whole chunks
 * @ended: it has an END chunk: its recorder ended in order
 * @producers: by number, @nr of them
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
 * scan_capture - read a capture's chunk headers to its last whole chunk
 * @fd: file
 * @scan: filled in
 *
 * Return: 0; -ENOEXEC it is no capture; -EPROTONOSUPPORT one of another version; -errno.
 */
int scan_capture(int fd, struct scan *scan);
void scan_free(struct scan *scan);

#endif /* XSPROF_SCAN_H */
