// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof record --flight`: starts the command with rings that overwrite the oldest records, or
 * peeks at running processes, and sleeps until something happens. Processes only pay for their
 * markers.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tool.h"
#include "read/ring-guard.h"
#include "record/device.h"
#include "record/env.h"
#include "record/flight-local.h"
#include "record/program.h"

#define MS		1000000u
/* How long to wait for processes that outlive the command. */
#define GRACE_NS	1000000000u
#define GRACE_STEP_NS	(5 * MS)
/* The folder is scanned in steps with this interval. */
#define STEP_NS		1000000u
/* Limit of reads of inotify events at a time. */
#define READS		256u
/* End at this number of requests, whatever the command does. */
#define ASKED_MAX	3
#define ASK_NS		(100 * MS)
#define WATCH_MIN_NS	(10 * MS)
#define WATCH_MAX_NS	(500 * MS)

static bool wait_status(void *data, pid_t pid, uint64_t start_time, int *status)
{
	struct flight *f = data;

	return launch_status(&f->launch, pid, start_time, status);
}

static const struct xsp_drain_ops ops = {
	.wait_status = wait_status,
};

/* ---- setting up ---------------------------------------------------------------------------- */

static int make_session(struct flight *f)
{
	char output[PATH_MAX], cwd[PATH_MAX], command[1024], boot[64] = "";
	const char *object;
	char *facts;
	int err;

	/* Make it absolute: others see it from other folders. */
	if (f->opts->output[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		snprintf(output, sizeof(output), "%s", f->opts->output);
	else if (snprintf(output, sizeof(output), "%s/%s", cwd, f->opts->output) >=
		 (int)sizeof(output))
		return tool_error("%s: the path is too long", f->opts->output);
	xsp_recording_one_line(output);
	snprintf(command, sizeof(command), "%s", f->opts->argv[0]);
	xsp_recording_one_line(command);
	xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	if (asprintf(&facts, "pid %d\noutput %s\nboot %s\ncommand %s (flight recorder)\n",
		     (int)getpid(), output, boot, command) < 0)
		return tool_error("out of memory");
	err = xsp_recording_create(&f->session, facts, true, &object);
	free(facts);
	if (!err && !f->opts->quiet)
		session_say_place(&f->session);
	if (!err)
		return 0;
	session_error(object, err);
	return TOOL_USAGE;
}

static int start_command(struct flight *f, struct record_options *opts)
{
	char *env[RECORD_ENV_MAX + 1];
	int i, err;

	if (attach_on(&opts->attach)) {
		f->launch.ended = true;
		return 0;
	}
	opts->mode = "overwrite";
	if (opts->flight.size)
		opts->buffer = opts->flight.size;
	err = record_env(opts, f->session.path, env);
	if (!err)
		err = launch_start(&f->launch, opts->argv, env);
	for (i = 0; env[i]; i++)
		free(env[i]);
	if (!err)
		return 0;
	tool_error("%s: cannot be executed: %s", opts->argv[0], strerror(-err));
	return err == -ENOENT ? 127 : 126;
}

static int add_fd(const struct flight *f, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(f->epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Adds all wake-up sources to one descriptor. */
static int set_wait(struct flight *f)
{
	char path[64];

	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (f->epoll < 0 || add_fd(f, f->launch.sigfd))
		return tool_error("epoll: %s", strerror(errno));
	if (f->device >= 0 && add_fd(f, f->device))
		return tool_error(XSPROF_DEVICE_PATH ": %s", strerror(errno));
	f->inotify = -1;
	if (f->session.dirfd < 0)
		return 0;
	if (!xsp_notices_open(&f->notices, f->session.path) && add_fd(f, f->notices.fd))
		xsp_notices_close(&f->notices);
	f->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->session.dirfd);
	/* A message file is created before it is written: wait for its closing. */
	if (f->inotify >= 0 &&
	    (inotify_add_watch(f->inotify, path, IN_MOVED_TO | IN_CLOSE_WRITE) < 0 ||
	     add_fd(f, f->inotify))) {
		close(f->inotify);
		f->inotify = -1;
	}
	return 0;
}

static void set_watch(struct flight *f)
{
	f->watch.globs = f->opts->flight.watch;
	f->watch.nr = f->opts->flight.nr_watch;
	f->watch.met = f->met;
	f->watch.stall_ns = f->opts->flight.stall_ns ? f->opts->flight.stall_ns : FLIGHT_STALL_NS;
}

/* ---- waiting ------------------------------------------------------------------------------- */

/* Four checks within the stall time: it is detected at most a quarter late. */
static uint64_t watch_period(const struct flight *f)
{
	uint64_t ns = f->watch.stall_ns / 4;

	if (!f->watch.nr || !f->live)
		return UINT64_MAX;
	return ns < WATCH_MIN_NS ? WATCH_MIN_NS : ns > WATCH_MAX_NS ? WATCH_MAX_NS : ns;
}

static void sleep_for(struct flight *f, uint64_t ns)
{
	struct pollfd fd = { .fd = f->epoll, .events = POLLIN };
	struct timespec ts = { ns / 1000000000u, ns % 1000000000u };
	struct epoll_event events[16];

	if (ppoll(&fd, 1, ns == UINT64_MAX ? NULL : &ts, NULL) > 0)
		/* Clears ends of processes, which are reported once; the checks detect them. */
		epoll_wait(f->epoll, events, 16, 0);
}

/* Only the existence of events matters. */
static bool appeared(struct flight *f)
{
	char buf[4096] __attribute__((aligned(8)));
	uint32_t reads = READS;

	while (f->inotify >= 0 && reads-- && read(f->inotify, buf, sizeof(buf)) > 0)
		f->appeared = true;
	return f->appeared || f->folder || f->inotify < 0 || f->device >= 0;
}

/* The command has ended: how long to wait for its remaining processes? */
static bool over(const struct flight *f, uint64_t now, uint64_t *grace)
{
	if (attach_on(&f->opts->attach))
		return f->launch.asked || (!f->opts->attach.all && !f->live && f->first);
	if (f->launch.asked >= ASKED_MAX)
		return true;
	if (!f->launch.ended)
		return false;
	if (f->opts->wait_all)
		return !f->launch.children && !f->live;
	if (!*grace)
		*grace = now + GRACE_NS;
	/* A process without a producer may be about to load the library. */
	return now >= *grace || (!f->launch.children && !f->live);
}

static void run(struct flight *f)
{
	uint64_t grace = 0, watch_at = 0;

	for (;;) {
		uint64_t now, sleep = UINT64_MAX, period;

		flight_save_clocks(f);
		if (appeared(f))
			flight_processes_scan(f);
		flight_processes_hear(f, false);
		launch_serve(&f->launch);
		flight_processes_look(f);
		now = xsp_clock_ns(CLOCK_MONOTONIC);
		period = watch_period(f);
		if (period != UINT64_MAX && now >= watch_at) {
			flight_processes_watch(f);
			watch_at = now + period;
		}
		if (over(f, now, &grace))
			return;
		flight_save_due(f, now);
		if (period != UINT64_MAX)
			sleep = watch_at > now ? watch_at - now : 0;
		if (*f->reason && f->due_ns - now < sleep)
			sleep = f->due_ns > now ? f->due_ns - now : 0;
		/* Check ending processes soon. */
		if (grace && sleep > GRACE_STEP_NS)
			sleep = GRACE_STEP_NS;
		/* Without notification, new and ended processes are found by polling. */
		if (((f->inotify < 0 && f->session.dirfd >= 0) || f->asking) && sleep > ASK_NS)
			sleep = ASK_NS;
		if ((f->folder || f->appeared) && sleep > STEP_NS)
			sleep = STEP_NS;
		sleep_for(f, sleep);
	}
}

/* ---- the end ------------------------------------------------------------------------------- */

static int exit_status(const struct flight *f)
{
	int status = f->launch.status;

	if (attach_on(&f->opts->attach))
		return f->failed ? TOOL_FAILED : 0;
	if (!f->launch.ended) {
		tool_error("%s: still runs as process %d: not waiting any longer",
			   f->opts->argv[0], (int)f->launch.pid);
		return 128 + f->launch.last_signal;
	}
	if (WIFSIGNALED(status)) {
		tool_note("%s: killed by signal %d (%s)%s", f->opts->argv[0], WTERMSIG(status),
			  strsignal(WTERMSIG(status)),
			  WCOREDUMP(status) ? ", core dumped" : "");
		return 128 + WTERMSIG(status);
	}
	if (!WEXITSTATUS(status) && f->failed)
		return TOOL_FAILED;
	return WEXITSTATUS(status);
}

/* Where rings will be: in a session of ours, in the device, or both. */
static int set_place(struct flight *f, struct record_options *opts)
{
	int status;

	f->session.dirfd = -1;
	f->session.lockfd = -1;
	f->notices.fd = -1;
	f->notices.conn = -1;
	f->began = xsp_clock_ns(CLOCK_MONOTONIC);
	/* Only peek: another reader may consume them. */
	if (attach_on(&opts->attach)) {
		status = attach_device(&opts->attach, &f->device, false);
		f->filter = attach_filter(&opts->attach);
		return status;
	}
	status = record_device_open(opts, &f->device);
	if (status)
		return status;
	session_clean(opts->quiet);
	status = make_session(f);
	if (!status)
		f->filter.session = xsp_recording_cookie(f->session.path);
	return status;
}

static void explain_nothing(const struct flight *f)
{
	const char *refusal = NULL;

	if (f->first || f->opts->quiet)
		return;
	if (!attach_on(&f->opts->attach) && !f->messages.nr)
		refusal = program_refusal(f->opts->argv[0]);
	if (refusal)
		tool_note("nothing was recorded: %s is %s", f->opts->argv[0], refusal);
	else if (attach_on(&f->opts->attach))
		tool_note("nothing was recorded: no process with libxsprof-user joined");
	else if (f->messages.nr)
		tool_note("nothing was recorded: all processes that tried to join failed, see "
			  "above");
	else
		tool_note("nothing was recorded: no process of the command with libxsprof-user "
			  "reached the recorder (a container needs the recorder's /dev/shm)");
}

int flight_record(struct record_options *opts)
{
	static struct flight f;
	int status;

	f.opts = opts;
	f.st.ops = &ops;
	f.st.data = &f;
	f.st.pid_ns = xsp_proc_pid_ns();
	set_watch(&f);
	/* Check now: the command may run for days before the first write. */
	if (output_check(opts->output))
		return TOOL_USAGE;
	/* Before the first file is written: exceeding a file size limit raises a signal. */
	if (launch_prepare(&f.launch) || xsp_guard_install())
		return tool_error("signals: %s", strerror(errno));
	status = set_place(&f, opts);
	if (status)
		return status;
	f.filter.ended = &f.ended;
	status = set_wait(&f);
	if (!status)
		status = start_command(&f, opts);
	if (!status) {
		run(&f);
		flight_processes_scan_last(&f);
		flight_processes_hear(&f, true);
		flight_processes_look(&f);
		flight_processes_switch_off(&f);
		if (flight_save_last(&f))
			f.failed = true;
		else
			flight_processes_drop(&f);
		explain_nothing(&f);
		if (!opts->quiet)
			flight_processes_unmet(&f);
		status = exit_status(&f);
	}
	flight_processes_unscan(&f);
	flight_processes_free(&f);
	xsp_notices_close(&f.notices);
	if (f.session.dirfd >= 0) {
		xsp_recording_remove(&f.session);
		xsp_recording_close(&f.session);
	}
	return status;
}
