/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The end of a capture's room, kept for the accounts: which process lost how much, and the chunk
 * that ends the file.  Without it a full disk leaves by chance a few bytes or none.
 */
#ifndef XSP_CAP_ROOM_H
#define XSP_CAP_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct xsp_room - what of a file is known to be there
 * @limit: the size that the process may give a file (RLIMIT_FSIZE)
 * @end: bytes before it have their place on the disk
 * @regular: a pipe or a device has nothing to keep
 * @kept: the file system gives places ahead of their use
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
 * @size: where it would begin
 * @bytes: its size
 * @type: XSPROF_CHUNK_*; data leaves room for accounts, and all but END room for END
 *
 * Return: 0; -EFBIG, -ENOSPC, -EDQUOT: only what comes after it in this order may be.
 */
int xsp_room_for(struct xsp_room *room, int fd, uint64_t size, uint64_t bytes, uint16_t type);

/* Gives back what is kept behind @size, the end of the file. */
void xsp_room_release(struct xsp_room *room, int fd, uint64_t size);

#endif /* XSP_CAP_ROOM_H */
