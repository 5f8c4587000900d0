/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps a file that is being written out of the page cache: data older than a few megabytes is
 * written to the disk at once and its pages are reused.  A recording must not evict the recorded
 * program's own files from memory, and reused pages are faster: in a virtual machine, the first
 * touch of a page costs several times the copy into it.
 */
#ifndef XSPROF_FLUSH_H
#define XSPROF_FLUSH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * struct flush - a thread that follows the writer of a file
 * @fd: the file
 * @size: bytes written, updated by the writer
 * @done: bytes written to the disk
 * @stop: the writer has ended
 * @running: @thread exists
 * @thread: the thread
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
 * Follows @fd as @size grows; without it (a pipe, no thread) writing works as well, only with more
 * page cache.
 */
void flush_start(struct flush *f, int fd, const uint64_t *size);
void flush_stop(struct flush *f);

#endif /* XSPROF_FLUSH_H */
