/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps a file that is being written out of the page cache: what is older than a few megabytes
 * goes to the disk at once and its memory is used again.  A recording must not push the
 * recorded program's own files out of memory, and memory that is used again is warm: pages
 * fresh from a hypervisor cost several times what the copy into them does.
 */
#ifndef XSPROF_FLUSH_H
#define XSPROF_FLUSH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct flush - a thread that follows the writer of a file
 * @fd: the file
 * @size: bytes written, which the writer tells
 * @done: bytes that are on the disk
 * @stop: the writer has ended
 * @running: there is a thread
 * @thread: it
 */
struct flush {
	int		fd;
	const uint64_t	*size;
	uint64_t	done;
	bool		stop;
	bool		running;
	pthread_t	thread;
};

/*
 * Follows @fd as @size grows; without it (a pipe, no thread to be had) writing is as good, only
 * not as considerate.
 */
void flush_start(struct flush *f, int fd, const uint64_t *size);
void flush_stop(struct flush *f);

#endif /* XSPROF_FLUSH_H */
