/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reserves space at the end of a capture for the counts (which process lost how much) and the END
 * chunk. Without it a full disk would leave a random number of bytes.
 */
#ifndef XSP_CAP_ROOM_H
#define XSP_CAP_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct xsp_room - space known to be available for a file
 * @limit: maximum file size of the process (RLIMIT_FSIZE)
 * @end: bytes below it are allocated on the disk
 * @regular: false for a fifo or a device, which reserve nothing
 * @kept: the file system supports allocation in advance
 */
struct xsp_room {
	uint64_t	limit;
	uint64_t	end;
	bool		regular;
	bool		kept;
};

void xsp_room_init(struct xsp_room *room, int fd);

/**
 * xsp_room_for - may a chunk of this type be written?
 * @room: of the file
 * @fd: the file
 * @size: offset at which it begins
 * @bytes: its size
 * @type: XSPROF_CHUNK_*; data leaves room for counts, and all but END leave room for END
 *
 * Return: 0; -EFBIG, -ENOSPC, -EDQUOT: only types that come later in this order may be written.
 */
int xsp_room_for(struct xsp_room *room, int fd, uint64_t size, uint64_t bytes, uint16_t type);

/* Releases what is reserved beyond @size, the end of the file. */
void xsp_room_release(struct xsp_room *room, int fd, uint64_t size);

#endif /* XSP_CAP_ROOM_H */
