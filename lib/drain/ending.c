// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Determines whether and how a producer has ended. Never guesses: a producer that may still live
 * has not ended, and an end without evidence is "vanished".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pidfd.h"
#include "base/proc.h"
#include "drain/producer.h"

enum life {
	ALIVE,
	UNSURE,		/* check again soon */
	REPLACED,	/* the process runs another program now */
	GONE,
};

/* A living process holds a lock on its file, unless it closed all its descriptors. */
static bool holds_lock(const struct xsp_store *st, const struct xsp_producer *p)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = p->rf.fd;
	bool held;

	/* Inside a program no descriptor is kept. */
	if (fd < 0)
		fd = openat(st->dirfd, p->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	held = !fcntl(fd, F_GETLK, &lock) && lock.l_type != F_UNLCK;
	if (fd >= 0 && fd != p->rf.fd)
		close(fd);
	return held;
}

/* For a process without a pidfd, whose pid may be another process' by now: is it gone? */
static enum life look_at_stat(const struct xsp_producer *p, int *status)
{
	struct xsp_proc_stat st;
	int err;

	err = xsp_proc_stat(p->pid, &st);
	if (err == -ENOENT || (!err && st.start_time != p->start))
		return GONE;
	if (err)
		return UNSURE;
	if (st.state == 'Z' || st.state == 'X') {
		*status = st.wstatus;
		return GONE;
	}
	return ALIVE;
}

/* A process that is visible to us and holds no lock on its file. */
static enum life look_at(const struct xsp_producer *p, bool goodbye, int *status)
{
	enum life life = p->pidfd < 0 ? look_at_stat(p, status) : ALIVE;
	int err;

	if (life != ALIVE)
		return life;
	err = xsp_proc_maps_file(p->pid, p->dev, p->ino);
	if (err == 1)
		return ALIVE;
	/* Its memory is freed but it is not a zombie yet: a moment more. */
	if (err < 0)
		return UNSURE;
	return goodbye ? GONE : REPLACED;
}

/*
 * A process without a lock and without a pid here, i.e. one in another pid namespace that closed
 * its descriptors, is found by its mapping. Only the maps of that namespace's processes are read,
 * as far as it is known: otherwise many short-lived processes would cause all maps to be read each
 * time.
 */
static bool found_by_mapping(struct xsp_producer *p)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	pid_t pid = 0;

	while (dir && !pid && (entry = readdir(dir))) {
		/*
		 * Names that are not numbers give 0. Skip ourselves: we map every producer's file.
		 */
		pid_t it = atoi(entry->d_name);

		if (it && it != getpid() &&
		    (!p->rf.ctl.pid_ns || xsp_proc_pid_ns_of(it) == p->rf.ctl.pid_ns) &&
		    xsp_producer_maps(p, it))
			pid = it;
	}
	if (dir)
		closedir(dir);
	return pid;
}

static enum life life(const struct xsp_store *st, struct xsp_producer *p, bool goodbye,
		      int *status)
{
	/* Our own lock is not reported to us: this is a program that records itself. */
	if (p->pid == getpid())
		return goodbye ? GONE : ALIVE;
	if (p->pidfd >= 0 && xsp_pidfd_ended(p->pidfd))
		return GONE;
	if (p->rf.mem.broken)
		return p->pid && !kill(p->pid, 0) ? ALIVE : GONE;
	if (holds_lock(st, p))
		return ALIVE;
	if (p->pid)
		return look_at(p, goodbye, status);
	/* Checks all processes: limited, as another user may make any number of files. */
	if (p->foreign && st->foreign_until && xsp_clock_ns(CLOCK_MONOTONIC) > st->foreign_until)
		return UNSURE;
	return found_by_mapping(p) ? ALIVE : GONE;
}

/*
 * How it ended: for a zombie from /proc, until its parent has waited for it; afterwards from the
 * pidfd. The file of another user may name any process: it is accepted only if it was seen with its
 * file, and then there is a pidfd.
 */
static int find_status(const struct xsp_store *st, const struct xsp_producer *p, int status)
{
	struct xsp_proc_stat stat;

	if (st->ops && st->ops->wait_status && p->pid &&
	    (p->pidfd >= 0 || p->owner == geteuid()))
		st->ops->wait_status(st->data, p->pid, p->start, &status);
	if (status >= 0 || p->pidfd < 0)
		return status;
	/* If the pid is gone from /proc, the pidfd has the status. */
	if (!xsp_proc_stat(p->pid, &stat) && (stat.state == 'Z' || stat.state == 'X'))
		status = stat.wstatus;
	xsp_pidfd_status(p->pidfd, &status);
	return status;
}

void xsp_producer_note_ran(struct xsp_producer *p, uint64_t ticks)
{
	struct xsp_proc_stat stat;

	if (p->pid && !xsp_proc_stat(p->pid, &stat) && !stat.exiting && ticks > p->ran)
		p->ran = ticks;
}

static void bound_lived(const struct xsp_producer *p, struct xsprof_cap_exit *exit)
{
	const struct xsprof_ctl *ctl = xsp_ring_ctl(&p->rf);
	uint64_t now = xsp_ticks(p->rf.ctl.clock.kind);
	uint64_t said = __atomic_load_n(&ctl->exit_ticks, __ATOMIC_RELAXED);
	uint64_t lived = p->lived;

	/* A time stated by the process is never later than now. */
	if (exit->how != XSPROF_HOW_EXEC && p->process_lived > lived)
		lived = p->process_lived;
	if (lived > exit->lived)
		exit->lived = lived < now ? lived : now;
	/*
	 * It existed longer than it ran: the kernel frees its memory. Destructors that run after
	 * the exit handler are recorded too.
	 */
	if (exit->how == XSPROF_HOW_EXITED && said && said <= exit->ticks) {
		if (p->wrote > said)
			said = p->wrote;
		exit->ticks = said;
		exit->lived = said;
		exit->ran = said;
	}
	if (exit->lived > exit->ticks)
		exit->ticks = exit->lived;
}

void xsp_producer_bound_end(const struct xsp_producer *p, struct xsprof_cap_exit *exit)
{
	/* A process that did not exit by itself may have taken long to end. */
	if (p->ran > exit->ran)
		exit->ran = p->ran;
	if (exit->how == XSPROF_HOW_RUNNING)
		exit->ran = exit->ticks;
	else if (!p->rf.device)
		bound_lived(p, exit);
	if (exit->how == XSPROF_HOW_EXEC)
		exit->ran = exit->lived;
	if (exit->ran > exit->ticks)
		exit->ran = exit->ticks;
}

/* The kernel reports how and when. */
static bool device_ended(const struct xsp_producer *p, struct xsprof_cap_exit *exit)
{
	const struct xsprof_ctl *ctl = xsp_ring_ctl(&p->rf);
	int status = p->info.status;
	uint64_t ticks;

	switch (p->info.state) {
	case XSPROF_STATE_LIVE:
		return false;
	case XSPROF_STATE_DETACHED:
		exit->how = XSPROF_HOW_EXEC;
		break;
	default:
		exit->how = WIFSIGNALED(status) ? XSPROF_HOW_KILLED : XSPROF_HOW_EXITED;
		exit->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	}
	ticks = __atomic_load_n(&ctl->exit_ticks, __ATOMIC_RELAXED);
	if (ticks) {
		exit->ticks = ticks;
		exit->lived = ticks;
	}
	return true;
}

bool xsp_producer_ended(struct xsp_store *st, struct xsp_producer *p,
			struct xsprof_cap_exit *exit)
{
	const struct xsprof_ctl *ctl = xsp_ring_ctl(&p->rf);
	bool goodbye = __atomic_load_n(&ctl->state, __ATOMIC_ACQUIRE) == XSPROF_STATE_EXITED;
	uint64_t before = xsp_ticks(p->rf.ctl.clock.kind);
	int status = -1;

	*exit = (struct xsprof_cap_exit){ .ticks = before, .lived = p->lived };
	if (p->rf.device)
		return device_ended(p, exit);
	switch (life(st, p, goodbye, &status)) {
	case GONE:
		break;
	case REPLACED:
		exit->how = XSPROF_HOW_EXEC;
		return true;
	case ALIVE:
		p->lived = before;
		xsp_producer_note_ran(p, before);
		return false;
	default:
		return false;
	}
	/* It may have said goodbye after the check above, and ended before the second one. */
	goodbye |= __atomic_load_n(&ctl->state, __ATOMIC_ACQUIRE) == XSPROF_STATE_EXITED;
	/* Read last: everything seen happened before. */
	exit->ticks = xsp_ticks(p->rf.ctl.clock.kind);
	status = find_status(st, p, status);
	if (status >= 0 && WIFSIGNALED(status)) {
		exit->how = XSPROF_HOW_KILLED;
		exit->status = WTERMSIG(status);
	} else if (status >= 0 && WIFEXITED(status)) {
		exit->how = XSPROF_HOW_EXITED;
		exit->status = WEXITSTATUS(status);
	} else {
		exit->how = goodbye ? XSPROF_HOW_EXITED : XSPROF_HOW_VANISHED;
	}
	xsp_producer_bound_end(p, exit);
	return true;
}
