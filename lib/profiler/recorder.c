// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Records a session: a thread of the library reads this process' rings and stores new records in an
 * unnamed file.
 *
 * It consumes nothing: a recorder of the process reads everything too.  Without a recorder the
 * process becomes a producer on tmpfs that overwrites its oldest records, until a recorder comes or
 * the program ends, and is paused between sessions.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "activity/plugin.h"
#include "activity/thread.h"
#include "base/file-name.h"
#include "base/own-fd.h"
#include "base/proc.h"
#include "capture/host.h"
#include "capture/writer.h"
#include "drain/thread.h"
#include "process/backend.h"
#include "process/join.h"
#include "process/life.h"
#include "profiler/recorder.h"
#include "read/leftover.h"
#include "read/recording.h"
#include "read/ring-device.h"
#include "ring/op-wanted.h"

/* Room for stacks and names of code, which plain markers do not need. */
#define ARENA_STACKS	(16ull << 20)

struct xsp_recorder {
	struct xsprof_profiler_config config;
	struct xsp_cap		cap;
	struct xsp_drain_thread	thread;
	struct xsp_recorder_lost before;	/* losses of the process before recording started */
	uint32_t		steps;
	int			fd;
};

/*
 * The producer that is there because of sessions alone.  It changes under the lock: a session's
 * thread makes one as well, where a recorder ends.
 */
static struct {
	pthread_mutex_t		lock;
	struct xsp_recording	session;
	struct xsp_config	before;	/* what was asked for until then */
	bool			ours;
} own = { .lock = PTHREAD_MUTEX_INITIALIZER, .session = { .dirfd = -1, .lockfd = -1 } };

/* ---- a producer of our own ------------------------------------------------------------------ */

static void set_ours(bool ours)
{
	__atomic_store_n(&own.ours, ours, __ATOMIC_RELAXED);
	xsp_ops_producer(ours);
}

/* The recorder that there was has gone, and has not told this process so. */
static bool is_left(void)
{
	int err;

	if (own.ours || xsp_kept.backend->kind != XSPROF_BACKEND_TMPFS || !xsp_config.session)
		return false;
	err = xsp_recording_live(xsp_config.session);
	return err == -ENOTCONN || err == -ENOENT;
}

/* What make_producer() has asked for is asked for no more. */
static void ask_as_before(void)
{
	xsp_config.session = own.before.session;
	xsp_config.backend = own.before.backend;
	xsp_config.mode = own.before.mode;
	xsp_config.has_mode = own.before.has_mode;
	xsp_config.ring_size = own.before.ring_size;
	xsp_config.arena_size = own.before.arena_size;
}

static int make_producer(const struct xsprof_profiler_config *config)
{
	char facts[256], boot[64] = "";
	const char *object;
	int err;

	if (xsp_config.backend == XSP_CHOICE_NONE)
		return -EPERM;
	xsp_producer_retire();
	xsp_leftover_free(false);
	xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	snprintf(facts, sizeof(facts), "pid %d\nboot %s\ncommand " XSP_PROFILED "\n",
		 (int)getpid(), boot);
	err = xsp_recording_create(&own.session, facts, false, &object);
	if (err)
		return err;
	err = xsp_recording_keep_open(&own.session);
	if (err) {
		xsp_recording_remove(&own.session);
		xsp_recording_close(&own.session);
		return err;
	}
	set_ours(true);
	own.before = xsp_config;
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
	ask_as_before();
	return err;
}

/* Return: 0; 1 it is a new one; -errno. */
static int find_producer(const struct xsprof_profiler_config *config)
{
	int err = 0;

	pthread_mutex_lock(&own.lock);
	if (!xsp_attached() || is_left())
		err = make_producer(config) ?: 1;
	pthread_mutex_unlock(&own.lock);
	return err;
}

void xsp_recorder_yield(void)
{
	pthread_mutex_lock(&own.lock);
	if (own.ours) {
		/* Before: only of a file without a name is the memory given back. */
		xsp_recording_remove(&own.session);
		xsp_producer_retire();
		xsp_recording_close(&own.session);
		set_ours(false);
		ask_as_before();
	}
	pthread_mutex_unlock(&own.lock);
}

/* The lock is held. */
static int pause_locked(bool on)
{
	bool is = own.ours && __atomic_load_n(&xsp_set.ctl->paused, __ATOMIC_SEQ_CST) &
			      XSPROF_PAUSED_RECORDER;
	int err;

	if (!own.ours || is == on)
		return 0;
	/* Ends of open ranges will not be seen: the next session must not see them as open. */
	if (!on)
		xsp_control_paused(false);
	err = xsp_kept.backend->control(0, 0, on ? XSPROF_PAUSED_RECORDER : 0,
					on ? 0 : XSPROF_PAUSED_RECORDER);
	if (on && !err) {
		xsp_control_paused(true);
		/*
		 * If the program is killed while saving, the data is in this recording
		 * (leftover.c).
		 */
		if (xsp_fd_ours(own.session.lockfd))
			xsp_recording_touch(&own.session);
	}
	return err;
}

static int pause_own(bool on)
{
	int err;

	pthread_mutex_lock(&own.lock);
	err = pause_locked(on);
	pthread_mutex_unlock(&own.lock);
	return err;
}

void xsp_recorder_saved(void)
{
	const struct timespec long_ago[2] = { { 0 } };

	if (own.ours && xsp_fd_ours(own.session.lockfd))
		/* On failure the rest is kept as long as a save may take. */
		(void)futimens(own.session.lockfd, long_ago);
}

bool xsp_recorder_is_own(void)
{
	/* While a session runs its thread may be about to make one. */
	return __atomic_load_n(&own.ours, __ATOMIC_RELAXED);
}

int xsp_recorder_prepare(const struct xsprof_profiler_config *config)
{
	int err = find_producer(config);

	return err < 0 ? err : pause_own(true);
}

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
	if (own.ours || !xsp_attached() || xsp_set.ctl->id)
		return;
	if (!(__atomic_load_n(&xsp_set.ctl->paused, __ATOMIC_RELAXED) & XSPROF_PAUSED_RECORDER) &&
	    ++r->steps % LOOKS)
		return;
	if (!is_left())
		return;
	/* They are given up, with all that is not read by then. */
	xsp_drain_flush(r->thread.drain);
	if (find_producer(&r->config) == 1)
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
	err = find_producer(config);
	if (err < 0)
		goto err_free;
	xsp_plugins_open();
	r->fd = open_file();
	err = r->fd < 0 ? r->fd : open_drain(r);
	if (!err)
		get_lost(r, &r->before);
	if (!err)
		err = pause_own(false);
	if (!err)
		err = begin_thread(r);
	if (err)
		goto err_pause;
	xsp_collectors_flush();
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
	if (xsp_fd_ours(r->fd) && find_producer(&r->config) == 1)
		(void)peek_tmpfs(r->thread.drain, xsp_set.ctl);
	(void)begin_thread(r);
}

int xsp_recorder_close(struct xsp_recorder *r, int *fd, struct xsp_recorder_lost *lost)
{
	int err;

	xsp_collectors_flush();
	(void)pause_own(true);
	xsp_drain_thread_end(&r->thread);
	/* It may have made one just now. */
	(void)pause_own(true);
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

void xsp_recorder_forget(void)
{
	pthread_mutex_init(&own.lock, NULL);
	/* The memory is not freed: its thread does not exist here, nor do the descriptors. */
	if (own.ours) {
		own.session.dirfd = -1;
		own.session.lockfd = -1;
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
