// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reading side of `xsprof dump --live`: a drain that only reads, and a file in memory. It never
 * moves a tail, never ends a recording, and keeps only data that has not been shown.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/host.h"
#include "cli/session.h"
#include "cli/tool.h"
#include "decode/stream.h"
#include "dump/live.h"
#include "read/ring-device.h"
#include "read/ring-guard.h"

#define WALK_NS		1000000000u
/* Signals are checked at least this often. */
#define WAIT_MAX_NS	200000000u
/* Limit for a slow terminal: beyond it rings are overwritten, and losses are reported. */
#define UNREAD_MAX	(64u << 20)
#define FREE_STEP	(1u << 20)

static const struct xsp_drain_ops ops = {
	.say = tool_say,
};

/* ---- sessions ------------------------------------------------------------------------------ */

/* p.PID.START.SEQ */
static bool wanted(const struct live *live, const char *name)
{
	uint32_t i;

	if (strncmp(name, "p.", 2))
		return false;
	for (i = 0; i < live->attach.nr; i++)
		if (strtoul(name + 2, NULL, 10) == (unsigned long)live->attach.pids[i])
			return true;
	return !live->attach.nr;
}

static int walk_session(void *data, struct session_seen *seen)
{
	struct live *live = data;
	struct dirent *entry;
	DIR *dir;
	int fd, err;

	if (seen->name[0] != 's' || !seen->same_boot)
		return 0;
	live->recorders += seen->alive;
	if (!seen->files)
		return 0;
	fd = openat(seen->s.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	/* The recorder reports files that cannot be opened. */
	while ((entry = readdir(dir))) {
		if (!wanted(live, entry->d_name))
			continue;
		err = xsp_drain_peek(live->drain, seen->s.dirfd, entry->d_name);
		live->found += !err;
		live->dead += err == -ESRCH;
		live->left += err == -ESRCH && !seen->alive;
	}
	closedir(dir);
	return 0;
}

static void walk_now(struct live *live)
{
	live->walk_at = xsp_clock_ns(CLOCK_MONOTONIC) + WALK_NS;
	live->dead = live->left = live->recorders = 0;
	session_each(walk_session, live);
}

static void walk(struct live *live)
{
	if (xsp_clock_ns(CLOCK_MONOTONIC) >= live->walk_at)
		walk_now(live);
}

/* ---- the device ---------------------------------------------------------------------------- */

/* None of the processes is in a session, and there is no device that may have them. */
static int nobody(const struct attach *a, int err)
{
	for (uint32_t i = 0; i < a->nr; i++)
		tool_error("process %d: has no rings that you may read: 'xsprof list' shows the "
			   "processes that have; a process not started by 'xsprof record' has "
			   "rings only in the module's device, "
			   "and " XSPROF_DEVICE_PATH " %s", (int)a->pids[i],
			   xsp_device_strerror(err));
	return TOOL_FAILED;
}

static int add_device(struct live *live)
{
	struct xsp_device_filter filter = attach_filter(&live->attach);
	int fd = -1, err;

	filter.peek = true;
	filter.own = !live->attach.all && !live->attach.nr;
	filter.all |= filter.own;
	if (live->attach.all) {
		err = attach_device(&live->attach, &fd, false);
		if (err)
			return err;
	} else if (live->attach.nr && !live->found && !live->dead) {
		fd = xsp_device_open();
		if (fd < 0)
			return nobody(&live->attach, fd);
		close(fd);
		err = attach_device(&live->attach, &fd, false);
		if (err)
			return TOOL_FAILED;
	} else {
		/* Processes in a session are found there. */
		fd = xsp_device_open();
		if (fd < 0)
			return 0;
	}
	err = xsp_drain_add_device(live->drain, fd, &filter);
	return err ? tool_error(XSPROF_DEVICE_PATH ": %s", strerror(-err)) : 0;
}

/* ---- the capture --------------------------------------------------------------------------- */

int live_open(struct live *live)
{
	int err;

	live->fd = memfd_create("xsprof-live", MFD_CLOEXEC);
	if (live->fd < 0)
		return tool_error("out of memory for events: %s", strerror(errno));
	snprintf(live->path, sizeof(live->path), "/proc/self/fd/%d", live->fd);
	err = xsp_guard_install();
	if (!err)
		err = xsp_cap_create(&live->cap, live->fd, NULL);
	if (!err)
		err = xsp_host_store(&live->cap, NULL);
	if (!err)
		err = xsp_drain_open(-1, &live->cap, &ops, live, 0, &live->drain);
	if (err)
		return tool_error("out of memory for events: %s", strerror(-err));
	xsp_drain_set_peek(live->drain);
	walk(live);
	err = add_device(live);
	if (err)
		return err;
	xsp_drain_step(live->drain);
	if (xsp_drain_producers(live->drain))
		return 0;
	if (!live->dead)
		return tool_error("none of your processes has rings: start one with 'xsprof "
				  "record' first");
	live->nobody = true;
	live_finish(live);
	return 0;
}

/* Frees data that was shown, in whole pages; the rest next time. */
static void give_back(struct live *live, uint64_t needed)
{
	needed &= ~(uint64_t)(FREE_STEP - 1);
	if (needed <= live->freed)
		return;
	if (!fallocate(live->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, live->freed,
		       needed - live->freed))
		live->freed = needed;
}

/*
 * There is no producer and no recorder that may get one; with -p, all named processes have ended.
 */
static bool all_ended(struct live *live)
{
	const struct attach *a = &live->attach;
	uint32_t i;

	if (a->all || xsp_drain_producers(live->drain))
		return false;
	if (!a->nr) {
		/* The result of the latest walk may be a second old. */
		if (!live->recorders)
			walk_now(live);
		return !live->recorders && !xsp_drain_producers(live->drain);
	}
	for (i = 0; i < a->nr; i++)
		if (!kill(a->pids[i], 0) || errno != ESRCH)
			return false;
	return true;
}

bool live_wait(struct live *live, const struct xsprof_trace *trace, bool wait)
{
	struct pollfd fds = { .fd = xsp_drain_fd(live->drain), .events = POLLIN };
	uint64_t needed = xst_needed_from(trace), sleep;
	struct timespec ts;

	if (live->finished)
		return false;
	give_back(live, needed);
	if (live->cap.size - needed > UNREAD_MAX)
		return true;
	walk(live);
	sleep = xsp_drain_step(live->drain);
	if (live->cap.error) {
		tool_error("out of memory for events: %s", strerror(-live->cap.error));
		return false;
	}
	if (all_ended(live)) {
		live_finish(live);
		return true;
	}
	if (!wait)
		return true;
	if (sleep > WAIT_MAX_NS)
		sleep = WAIT_MAX_NS;
	ts = (struct timespec){ 0, sleep };
	ppoll(&fds, 1, &ts, NULL);
	return true;
}

/* Ended processes: their records are shown and not consumed. */
static void say_left(const struct live *live)
{
	if (live->nobody)
		tool_error("none of your running processes has rings: these records are of ended "
			   "processes");
	if (live->left)
		tool_note("%u ended process%s left rings behind: 'xsprof recover' saves and "
			  "removes them, 'xsprof snapshot' copies them", live->left,
			  live->left == 1 ? "" : "es");
}

void live_finish(struct live *live)
{
	if (live->finished)
		return;
	/* They may include processes that were read until now. */
	walk_now(live);
	say_left(live);
	live->finished = true;
	xsp_drain_finish(live->drain, 1);
}

void live_close(struct live *live)
{
	if (live->drain)
		xsp_drain_close(live->drain);
	xsp_cap_free(&live->cap);
	if (live->fd > 0)
		close(live->fd);
	attach_free(&live->attach);
}
