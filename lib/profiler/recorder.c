// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Records a session: a thread of the library reads this process' rings and stores new records in an
 * unnamed file.
 *
 * It consumes nothing: a recorder of the process reads everything too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "activity/plugin.h"
#include "activity/thread.h"
#include "base/file-name.h"
#include "base/own-fd.h"
#include "capture/host.h"
#include "capture/writer.h"
#include "drain/thread.h"
#include "process/backend.h"
#include "profiler/own-producer.h"
#include "profiler/recorder.h"
#include "read/recording.h"
#include "read/ring-device.h"

struct xsp_recorder {
	struct xsprof_profiler_config config;
	struct xsp_cap		cap;
	struct xsp_drain_thread	thread;
	struct xsp_recorder_lost before;	/* losses of the process before recording started */
	uint32_t		steps;
	int			fd;
};

/* ---- looking at it -------------------------------------------------------------------------- */

/* By name: the program may have closed our descriptor. */
static int peek_tmpfs(struct xsp_drain *drain, const struct xsprof_ctl *ctl)
{
	char name[XSP_FILE_NAME];
	int dir, err;

	xsp_file_name(name, 'p', ctl->pid, ctl->start_time, ctl->seq);
	dir = open(xsp_config.session, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	xsp_drain_set_peek(drain);
	err = xsp_drain_peek(drain, dir, name);
	close(dir);
	return err;
}

static int peek_device(struct xsp_drain *drain, const struct xsprof_ctl *ctl)
{
	uint64_t id = ctl->id;
	struct xsp_device_filter filter = { .ids = &id, .nr_ids = 1, .peek = true };
	int fd = xsp_device_open(), err;

	if (fd < 0)
		return fd;
	err = xsp_drain_add_device(drain, fd, &filter);
	if (!err)
		(void)xsp_drain_step(drain);
	if (!err && !xsp_drain_producers(drain))
		err = -ESRCH;
	return err;
}

#define LOOKS	16u	/* steps from one look whether a recorder lives to the next */

/*
 * The rings that are read are a recorder's: has that one ended?  When it ends in order it switches
 * them off; one that was killed does not.
 */
static void follow(struct xsp_recorder *r)
{
	if (xsp_own_producer_exists() || !xsp_attached() || xsp_set.ctl->id)
		return;
	if (!(__atomic_load_n(&xsp_set.ctl->paused, __ATOMIC_RELAXED) & XSPROF_PAUSED_RECORDER) &&
	    ++r->steps % LOOKS)
		return;
	if (!xsp_own_producer_needed())
		return;
	/* They are given up, with all that is not read by then. */
	xsp_drain_flush(r->thread.drain);
	if (xsp_own_producer_find(&r->config) == 1)
		(void)peek_tmpfs(r->thread.drain, xsp_set.ctl);
}

static bool ready(void *data)
{
	struct xsp_recorder *r = data;

	/* The file has no name to open it by again. */
	if (!xsp_fd_ours(r->fd))
		return false;
	follow(r);
	return true;
}

static int begin_thread(struct xsp_recorder *r)
{
	return xsp_drain_thread_begin(&r->thread, "xsprof-session");
}

static void closed(void *unused)
{
	(void)unused;
	xsp_shm_relock();
}

static const struct xsp_drain_ops ops = {
	.closed = closed,
};

/* ---- the file ------------------------------------------------------------------------------- */

static int open_file(void)
{
	const char *dir = secure_getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = memfd_create("xsprof-session", MFD_CLOEXEC);
	return fd < 0 ? -errno : xsp_fd_keep(fd);
}

static void free_recorder(struct xsp_recorder *r)
{
	if (r->thread.drain)
		xsp_drain_close(r->thread.drain);
	if (r->cap.fd >= 0)
		xsp_cap_free(&r->cap);
	xsp_fd_close(r->fd);
	free(r);
}

static int open_drain(struct xsp_recorder *r)
{
	int err = xsp_cap_create(&r->cap, r->fd, NULL);

	if (!err)
		err = xsp_host_store(&r->cap, "command=" XSP_PROFILED "\n");
	if (!err)
		err = xsp_drain_open(-1, &r->cap, &ops, NULL, 0, &r->thread.drain);
	if (err)
		return err;
	return (xsp_set.ctl->id ? peek_device : peek_tmpfs)(r->thread.drain, xsp_set.ctl);
}

/* A producer counts from its own start: subtract what was lost before the session. */
static void get_lost(const struct xsp_recorder *r, struct xsp_recorder_lost *lost)
{
	struct xsp_drain_stats stats;

	if (!lost)
		return;
	xsp_drain_get_stats(r->thread.drain, &stats);
	lost->records = stats.lost_records - r->before.records;
	lost->slots = stats.lost_slots - r->before.slots;
	lost->bad_slots = stats.bad_slots - r->before.bad_slots;
}

int xsp_recorder_open(const struct xsprof_profiler_config *config, struct xsp_recorder **out)
{
	struct xsp_recorder *r = calloc(1, sizeof(*r));
	int err;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->fd = r->cap.fd = -1;
	r->thread.ready = ready;
	r->thread.data = r;
	r->config = *config;
	err = xsp_own_producer_find(config);
	if (err < 0)
		goto err_free;
	xsp_plugins_open();
	r->fd = open_file();
	err = r->fd < 0 ? r->fd : open_drain(r);
	if (!err)
		get_lost(r, &r->before);
	if (!err)
		err = xsp_own_producer_pause(false);
	if (!err)
		err = begin_thread(r);
	if (err)
		goto err_pause;
	xsp_collectors_flush();
	*out = r;
	return 0;

err_pause:
	(void)xsp_own_producer_pause(true);
err_free:
	free_recorder(r);
	return err;
}

static int copy_file(int from, int to, uint64_t size)
{
	loff_t at = 0;
	char buf[4096];
	ssize_t n;

	while ((uint64_t)at < size) {
		size_t want = size - (uint64_t)at < sizeof(buf) ? size - (uint64_t)at : sizeof(buf);

		n = copy_file_range(from, &at, to, NULL, size - (uint64_t)at, 0);
		if (n > 0)
			continue;
		/* Not supported by the file system or the kernel: copy by hand. */
		n = pread(from, buf, want, at);
		if (n > 0)
			n = write(to, buf, (size_t)n);
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
	}
	return 0;
}

int xsp_recorder_copy(struct xsp_recorder *r, int *fd, struct xsp_recorder_lost *lost)
{
	uint64_t size;
	int err;

	*fd = -1;
	xsp_collectors_flush();
	xsp_drain_thread_end(&r->thread);
	if (!xsp_fd_ours(r->fd))
		return -EBADF;
	xsp_drain_flush(r->thread.drain);
	/* Whole chunks up to here, as the file only grows. */
	size = r->cap.size;
	get_lost(r, lost);
	err = begin_thread(r);
	if (err)
		return err;
	*fd = open_file();
	if (*fd < 0)
		return *fd;
	err = copy_file(r->fd, *fd, size);
	xsp_fd_release(*fd);
	if (err) {
		close(*fd);
		*fd = -1;
	}
	return err;
}

void xsp_recorder_catch_up(struct xsp_recorder *r)
{
	if (!r->thread.runs)
		return;
	xsp_drain_thread_end(&r->thread);
	if (xsp_fd_ours(r->fd))
		(void)xsp_drain_step(r->thread.drain);
	/* Without a thread everything is read at the end, as far as it still exists. */
	(void)begin_thread(r);
}

void xsp_recorder_leaves(struct xsp_recorder *r)
{
	xsp_drain_thread_end(&r->thread);
	if (xsp_fd_ours(r->fd))
		xsp_drain_flush(r->thread.drain);
}

void xsp_recorder_left(struct xsp_recorder *r)
{
	if (xsp_fd_ours(r->fd) && xsp_own_producer_find(&r->config) == 1)
		(void)peek_tmpfs(r->thread.drain, xsp_set.ctl);
	(void)begin_thread(r);
}

int xsp_recorder_close(struct xsp_recorder *r, int *fd, struct xsp_recorder_lost *lost)
{
	int err;

	xsp_collectors_flush();
	(void)xsp_own_producer_pause(true);
	xsp_drain_thread_end(&r->thread);
	/* It may have made one just now. */
	(void)xsp_own_producer_pause(true);
	err = xsp_fd_ours(r->fd) ? xsp_drain_finish(r->thread.drain, 0) : -EBADF;
	get_lost(r, lost);
	*fd = -1;
	if (err != -EBADF) {
		xsp_fd_release(r->fd);
		*fd = r->fd;
		r->fd = -1;
	}
	free_recorder(r);
	return err;
}
