/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Producers that we have finished with but that remain visible, as another process must remove
 * them.
 */
#ifndef XSP_DRAIN_ENDED_H
#define XSP_DRAIN_ENDED_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct xsp_ended - a set; all zeros is empty
 * @keys: device and inode of a file; for a producer of the device 0 and its number
 * @nr: number of keys
 * @room: capacity of @keys
 */
struct xsp_ended {
	struct xsp_ended_key {
		uint64_t	dev;
		uint64_t	ino;
	} *keys;
	uint32_t	nr;
	uint32_t	room;
};

bool xsp_ended_has(const struct xsp_ended *e, uint64_t dev, uint64_t ino);
/* Return: 0 or -ENOMEM. */
int xsp_ended_add(struct xsp_ended *e, uint64_t dev, uint64_t ino);
void xsp_ended_free(struct xsp_ended *e);

#endif /* XSP_DRAIN_ENDED_H */
