// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that writes a capture's dirty pages to the disk while it is being written. Never delays
 * the writer.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "record/flush.h"

/* A capture up to this size stays in the page cache for its next reader. */
#define KEEP		(16u << 20)
#define STEP		(2u << 20)
#define PERIOD_NS	10000000

static void *follow(void *data)
{
	const struct timespec period = { 0, PERIOD_NS };
	struct flush *f = data;
	uint64_t size;

	while (!__atomic_load_n(&f->stop, __ATOMIC_ACQUIRE)) {
		size = __atomic_load_n(f->size, __ATOMIC_RELAXED);
		if (size < KEEP || size - f->done < STEP) {
			nanosleep(&period, NULL);
			continue;
		}
		size -= size % STEP;
		/* Disk errors are detected by the writer at close(). */
		sync_file_range(f->fd, f->done, size - f->done,
				SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
		posix_fadvise(f->fd, f->done, size - f->done, POSIX_FADV_DONTNEED);
		f->done = size;
	}
	return NULL;
}

void flush_start(struct flush *f, int fd, const uint64_t *size)
{
	sigset_t all, old;
	struct stat st;

	memset(f, 0, sizeof(*f));
	f->fd = fd;
	f->size = size;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	/* Signals are handled by the main thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	f->running = !pthread_create(&f->thread, NULL, follow, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void flush_stop(struct flush *f)
{
	if (!f->running)
		return;
	__atomic_store_n(&f->stop, true, __ATOMIC_RELEASE);
	pthread_join(f->thread, NULL);
	f->running = false;
}
