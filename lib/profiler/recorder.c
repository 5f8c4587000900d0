// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What records a session: a thread of the library's own that looks at this process' rings and
 * stores what is new in them in a file without a name.
 *
 * It consumes nothing: a recorder of the process reads all of it too.  Without a recorder the
 * process becomes a producer on tmpfs that overwrites its oldest records, for as long as it lives,
 * and is paused between sessions.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file-name.h"
#include "base/proc.h"
#include "capture/host.h"
#include "capture/writer.h"
#include "drain/drain.h"
#include "process/backend.h"
#include "profiler/recorder.h"
#include "read/ring-device.h"
#include "read/recording.h"
#include "ring/op-wanted.h"

#define STACK_SIZE	(256u << 10)
/* Stacks and the names of their code take room that markers alone do not. */
#define ARENA_STACKS	(16ull << 20)

struct xsp_recorder {
	struct xsp_cap		cap;
	struct xsp_drain	*drain;
	struct xsp_fd_id	file;
	pthread_t		thread;
	int			fd;
	int			wake;
	bool			stop;
	bool			runs;	/* there is @thread */
};

/* The producer that is there because of sessions alone. */
static struct {
	struct xsp_recording	session;
	bool			ours;
} own = { .session = { .dirfd = -1, .lockfd = -1 } };

/* ---- a producer of our own ------------------------------------------------------------------ */

static void set_ours(bool ours)
{
	own.ours = ours;
	xsp_ops_producer(ours);
}

static int make_producer(const struct xsprof_profiler_config *config)
{
	struct xsp_config before = xsp_config;
	char facts[256], boot[64] = "";
	const char *object;
	int err;

	if (xsp_config.backend == XSP_CHOICE_NONE)
		return -EPERM;
	xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	snprintf(facts, sizeof(facts), "pid %d\nboot %s\ncommand (a profiling session)\n",
		 (int)getpid(), boot);
	err = xsp_recording_create(&own.session, facts, &object);
	if (err)
		return err;
	own.session.dirfd = xsp_fd_high(own.session.dirfd);
	own.session.lockfd = xsp_fd_high(own.session.lockfd);
	set_ours(true);
	xsp_config.session = own.session.path;
	xsp_config.backend = XSP_CHOICE_TMPFS;
	xsp_config.mode = XSPROF_MODE_OVERWRITE;
	xsp_config.has_mode = true;
	if (config->buffer_size)
		xsp_config.ring_size = config->buffer_size;
	if (config->with_stack && xsp_config.arena_size < ARENA_STACKS)
		xsp_config.arena_size = ARENA_STACKS;
	__atomic_store_n(&xsp_set.state, XSP_DETACHED, __ATOMIC_RELEASE);
	err = xsp_attach_now();
	if (!err)
		return 0;
	xsp_recording_remove(&own.session);
	xsp_recording_close(&own.session);
	set_ours(false);
	xsp_config = before;
	return err;
}

static int pause_own(bool on)
{
	bool is = own.ours && __atomic_load_n(&xsp_set.ctl->paused, __ATOMIC_SEQ_CST) &
			      XSPROF_PAUSED_RECORDER;
	int err;

	if (!own.ours || is == on)
		return 0;
	/* Ends of what is open now are not seen: it is not open for the next session. */
	if (!on)
		xsp_control_paused(false);
	err = xsp_kept.backend->control(0, 0, on ? XSPROF_PAUSED_RECORDER : 0,
					on ? 0 : XSPROF_PAUSED_RECORDER);
	if (on && !err)
		xsp_control_paused(true);
	return err;
}

bool xsp_recorder_is_own(void)
{
	return own.ours;
}

int xsp_recorder_prepare(const struct xsprof_profiler_config *config)
{
	int err = xsp_attached() ? 0 : make_producer(config);

	return err ? err : pause_own(true);
}

/* ---- looking at it -------------------------------------------------------------------------- */

/* By its name: the program may have closed our descriptor of it. */
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
	int fd = xsp_fd_high(xsp_device_open()), err;

	if (fd < 0)
		return fd;
	err = xsp_drain_add_device(drain, fd, &filter);
	if (!err)
		(void)xsp_drain_step(drain);
	if (!err && !xsp_drain_producers(drain))
		err = -ESRCH;
	return err;
}

static void *look(void *data)
{
	struct xsp_recorder *r = data;
	struct pollfd fds[2] = {
		{ .fd = r->wake, .events = POLLIN },
		{ .fd = xsp_drain_fd(r->drain), .events = POLLIN },
	};

	while (!__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE)) {
		struct timespec ts = { 0, 0 };

		/* A program may have closed ours: do not write to another file. */
		if (!xsp_fd_is(&r->file, r->fd))
			return NULL;
		ts.tv_nsec = xsp_drain_step(r->drain) % 1000000000u;
		if (ts.tv_nsec)
			ppoll(fds, 2, &ts, NULL);
	}
	return NULL;
}

/* The thread has ended: the drain is the caller's. */
static void end_thread(struct xsp_recorder *r)
{
	const uint64_t one = 1;

	__atomic_store_n(&r->stop, true, __ATOMIC_RELEASE);
	/* Where it cannot be woken it wakes by itself, 50 ms later. */
	if (write(r->wake, &one, sizeof(one)) != sizeof(one))
		usleep(1000);
	pthread_join(r->thread, NULL);
	r->runs = false;
}

static int begin_thread(struct xsp_recorder *r)
{
	uint64_t value;
	int err;

	__atomic_store_n(&r->stop, false, __ATOMIC_RELEASE);
	/* What woke the one before: there may be nothing. */
	if (read(r->wake, &value, sizeof(value)) < 0 && errno != EAGAIN)
		return -errno;
	err = xsp_thread_start(&r->thread, "xsprof-session", STACK_SIZE, look, r);
	r->runs = !err;
	return err;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int open_file(void)
{
	const char *dir = secure_getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = memfd_create("xsprof-session", MFD_CLOEXEC);
	return fd < 0 ? -errno : xsp_fd_high(fd);
}

static void free_recorder(struct xsp_recorder *r)
{
	if (r->drain)
		xsp_drain_close(r->drain);
	xsp_shm_relock();
	if (r->cap.fd >= 0)
		xsp_cap_free(&r->cap);
	if (r->fd >= 0)
		close(r->fd);
	if (r->wake >= 0)
		close(r->wake);
	free(r);
}

static int open_drain(struct xsp_recorder *r)
{
	int err = xsp_cap_create(&r->cap, r->fd, NULL);

	if (!err)
		err = xsp_host_store(&r->cap, "command=(a profiling session)\n");
	if (!err)
		err = xsp_drain_open(-1, &r->cap, NULL, NULL, 0, &r->drain);
	if (err)
		return err;
	return (xsp_set.ctl->id ? peek_device : peek_tmpfs)(r->drain, xsp_set.ctl);
}

int xsp_recorder_open(const struct xsprof_profiler_config *config, struct xsp_recorder **out)
{
	struct xsp_recorder *r = calloc(1, sizeof(*r));
	int err = 0;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->fd = r->wake = r->cap.fd = -1;
	if (!xsp_attached())
		err = make_producer(config);
	if (err)
		goto err_free;
	r->fd = open_file();
	r->wake = xsp_fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (r->fd < 0 || r->wake < 0) {
		err = r->fd < 0 ? r->fd : -errno;
		goto err_free;
	}
	err = xsp_fd_note(&r->file, r->fd);
	if (!err)
		err = open_drain(r);
	if (!err)
		err = pause_own(false);
	if (!err)
		err = begin_thread(r);
	if (err)
		goto err_pause;
	*out = r;
	return 0;

err_pause:
	(void)pause_own(true);
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
		/* Another file system, or a kernel that cannot: by hand. */
		n = pread(from, buf, want, at);
		if (n > 0)
			n = write(to, buf, (size_t)n);
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
	}
	return 0;
}

int xsp_recorder_copy(struct xsp_recorder *r, int *fd)
{
	uint64_t size;
	int err;

	*fd = -1;
	if (r->runs)
		end_thread(r);
	if (!xsp_fd_is(&r->file, r->fd))
		return -EBADF;
	xsp_drain_flush(r->drain);
	/* Whole chunks up to here: the file only grows. */
	size = r->cap.size;
	err = begin_thread(r);
	if (err)
		return err;
	*fd = open_file();
	if (*fd < 0)
		return *fd;
	err = copy_file(r->fd, *fd, size);
	if (err) {
		close(*fd);
		*fd = -1;
	}
	return err;
}

void xsp_recorder_catch_up(struct xsp_recorder *r)
{
	if (!r->runs)
		return;
	end_thread(r);
	if (xsp_fd_is(&r->file, r->fd))
		(void)xsp_drain_step(r->drain);
	/* Where there can be no thread the rest is read at the end, as far as it is there then. */
	(void)begin_thread(r);
}

int xsp_recorder_close(struct xsp_recorder *r, int *fd)
{
	int err;

	(void)pause_own(true);
	if (r->runs)
		end_thread(r);
	err = xsp_fd_is(&r->file, r->fd) ? xsp_drain_finish(r->drain, 0) : -EBADF;
	*fd = -1;
	/* Where the descriptor is another's by now it is not ours to close. */
	if (err != -EBADF)
		*fd = r->fd;
	r->fd = -1;
	free_recorder(r);
	return err;
}

void xsp_recorder_forget(struct xsp_recorder *r)
{
	/* Its memory stays as it was: the thread that used it is not here. */
	if (r) {
		if (xsp_fd_is(&r->file, r->fd))
			close(r->fd);
		if (xsp_drain_fd(r->drain) >= 0)
			close(xsp_drain_fd(r->drain));
		close(r->wake);
	}
	if (own.ours) {
		xsp_recording_close(&own.session);
		set_ours(false);
		/* A child has no session and no recorder: without a directory it stays detached. */
		xsp_config.session = NULL;
		xsp_config.backend = XSP_CHOICE_TMPFS;
	}
}

void xsp_recorder_exit(void)
{
	if (own.ours)
		xsp_recording_remove(&own.session);
}
