// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reserves space for the counts of a capture: see room.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xsprof/capture.h>

#include "capture/room.h"

/* Enough for the counts of about sixty processes on eight CPUs. */
#define ACCOUNTS	(64u << 10)
/* END, and the padding of a chunk. */
#define ENDING		4096u
/*
 * Bytes to reserve at a time, by one system call: a quarter of the file, so that what a killed
 * recorder leaves after the end is in proportion.
 */
#define STEP_MIN	(64u << 10)
#define STEP_MAX	(1u << 20)

void xsp_room_init(struct xsp_room *room, int fd)
{
	struct rlimit limit;
	struct stat st;

	*room = (struct xsp_room){ .limit = UINT64_MAX };
	room->regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
	room->kept = room->regular;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		room->limit = limit.rlim_cur;
}

/* Return: bytes that a chunk of that type must leave for others. */
static uint64_t leaves(uint16_t type)
{
	switch (type) {
	case XSPROF_CHUNK_RING:
	case XSPROF_CHUNK_FTRACE:
	case XSPROF_CHUNK_ARENA:
		return ACCOUNTS;
	case XSPROF_CHUNK_END:
	case XSPROF_CHUNK_INDEX:
		return 0;
	default:
		return ENDING;
	}
}

static int keep(int fd, uint64_t from, uint64_t to)
{
	int err;

	do {
		err = fallocate(fd, FALLOC_FL_KEEP_SIZE, from, to - from) ? -errno : 0;
	} while (err == -EINTR);
	return err;
}

int xsp_room_for(struct xsp_room *room, int fd, uint64_t size, uint64_t bytes, uint16_t type)
{
	uint64_t end = size + bytes + leaves(type), step = size / 4;
	int err;

	if (!room->regular)
		return 0;
	if (end > room->limit)
		return -EFBIG;
	if (!room->kept || end <= room->end)
		return 0;
	step = step < STEP_MIN ? STEP_MIN : step > STEP_MAX ? STEP_MAX : step;
	err = end + step <= room->limit ? keep(fd, size, end + step) : -EFBIG;
	if (!err) {
		room->end = end + step;
		return 0;
	}
	err = keep(fd, size, end);
	if (!err)
		room->end = end;
	else if (err != -ENOSPC && err != -EDQUOT && err != -EFBIG)
		room->kept = false;
	return room->kept ? err : 0;
}

void xsp_room_release(struct xsp_room *room, int fd, uint64_t size)
{
	if (room->end <= size)
		return;
	/* On failure the capture is complete nevertheless. */
	if (!ftruncate(fd, size))
		room->end = size;
}
