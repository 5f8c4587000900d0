// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof record`: starts the command, drains what it writes while it runs, ends with its exit
 * status.  It never stops the command, and never stands in its way.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compress.h"
#include "flush.h"
#include "launch.h"
#include "output.h"
#include "progress.h"
#include "record-env.h"
#include "record.h"
#include "session.h"
#include "tool.h"
#include "trace/cap-drain.h"
#include "trace/cap-host.h"
#include "trace/cap-proc.h"
#include "trace/cap-session.h"
#include "trace/ring-clock.h"
#include "trace/ring-guard.h"

/* How long processes that outlive the command may take to end before they are let go. */
#define GRACE_NS	1000000000u
/* Asked this often to end, we end, whatever the command does. */
#define ASKED_MAX	3

/* struct xsprof_cap_end.why */
enum {
	WHY_ENDED,
	WHY_SIGNAL,
	WHY_DURATION,
};

/**
 * struct recording - everything of one run
 * @opts: what was asked for
 * @session: where producers put their rings
 * @launch: the command
 * @fd: the capture's file
 * @cap: the capture
 * @zstd: its compressor
 * @drain: reads into it; NULL once the recording has ended
 * @flush: sends the file to the disk
 * @progress: what is shown of it
 * @stats: how it ended
 * @file_error: the capture could not be written as it should
 */
struct recording {
	struct record_options		opts;
	struct xsp_session		session;
	struct launch			launch;
	int				fd;
	struct xsp_cap			cap;
	struct xsp_cap_compressor	zstd;
	struct xsp_drain		*drain;
	struct flush			flush;
	struct progress			progress;
	struct xsp_drain_stats		stats;
	int				file_error;
};

/* ---- questions of the drain ---------------------------------------------------------------- */

static bool wait_status(void *data, pid_t pid, uint64_t start_time, int *status)
{
	struct recording *r = data;

	return launch_status(&r->launch, pid, start_time, status);
}

static void say(void *data, bool note, const char *text)
{
	struct recording *r = data;

	if (r->opts.quiet || (!note && !r->opts.verbose))
		return;
	progress_clear(&r->progress);
	tool_note("%s", text);
}

static const struct xsp_drain_ops ops = {
	.wait_status = wait_status,
	.say = say,
};

/* ---- setting up ---------------------------------------------------------------------------- */

static int check_command(const struct record_options *opts)
{
	char path[PATH_MAX];
	int err;

	err = launch_find(opts->argv[0], path, sizeof(path));
	if (!err)
		return 0;
	if (err == -ENOENT) {
		tool_error("%s: command not found", opts->argv[0]);
		return 127;
	}
	tool_error("%s: cannot be executed: %s", path, strerror(-err));
	return 126;
}

/* Is somebody recording us already? */
static int check_not_recorded(void)
{
	const char *path = getenv("XSPROF_SESSION");
	char pid[32] = "?", output[PATH_MAX] = "?";
	struct xsp_session s;
	int alive;

	if (!path || !*path || xsp_session_open(&s, path))
		return 0;
	alive = xsp_session_alive(&s);
	if (alive == 1) {
		xsp_session_fact(&s, "pid", pid, sizeof(pid));
		xsp_session_fact(&s, "output", output, sizeof(output));
	}
	xsp_session_close(&s);
	if (alive != 1)
		return 0;
	tool_error("already being recorded by process %s into %s: a command has one recorder; "
		   "leave out the inner 'xsprof record', or unset XSPROF_SESSION", pid, output);
	return TOOL_USAGE;
}

static void join_command(char **argv, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (; *argv && at < size - 1; argv++)
		at += snprintf(buf + at, size - at, "%s%s", at ? " " : "", *argv);
	for (; *buf; buf++)
		if (*buf == '\n')
			*buf = ' ';
}

static int make_session(struct recording *r)
{
	char command[2048], output[PATH_MAX], cwd[PATH_MAX], boot[64] = "";
	const char *object;
	char *facts;
	int err;

	join_command(r->opts.argv, command, sizeof(command));
	/* Others see it from other folders. */
	if (r->opts.output[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		snprintf(output, sizeof(output), "%s", r->opts.output);
	else if (snprintf(output, sizeof(output), "%s/%s", cwd, r->opts.output) >=
		 (int)sizeof(output))
		return tool_error("%s: the path is too long", r->opts.output);
	xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	if (asprintf(&facts, "pid %d\noutput %s\nboot %s\ncommand %s\n", (int)getpid(), output,
		     boot, command) < 0)
		return tool_error("out of memory");
	err = xsp_session_create(&r->session, facts, &object);
	free(facts);
	if (!err)
		return 0;
	session_error(object, err);
	return TOOL_USAGE;
}

/* Rings take memory as they fill: say beforehand what there will not be enough of. */
static void check_room(const struct recording *r)
{
	uint64_t want, cpus = sysconf(_SC_NPROCESSORS_CONF);
	char need[32], have[32];
	struct statvfs vfs;

	if (!r->opts.buffer || fstatvfs(r->session.dirfd, &vfs))
		return;
	want = r->opts.buffer * (cpus + 1);
	if (want <= (uint64_t)vfs.f_bavail * vfs.f_frsize)
		return;
	tool_format_bytes(need, sizeof(need), want);
	tool_format_bytes(have, sizeof(have), (uint64_t)vfs.f_bavail * vfs.f_frsize);
	tool_note("--buffer-size: full rings of one process may take %s, %s are free in the tmpfs "
		  "of %s: what finds no room there is lost and counted", need, have,
		  r->session.path);
}

static int write_host(struct recording *r)
{
	const struct passwd *pw = getpwuid(getuid());
	char command[4096], cwd[PATH_MAX];
	char *more;
	int err;

	join_command(r->opts.argv, command, sizeof(command));
	if (asprintf(&more, "user=%s\ncommand=%s\ncwd=%s\nmode=%s\n", pw ? pw->pw_name : "",
		     command, getcwd(cwd, sizeof(cwd)) ? cwd : "",
		     r->opts.mode ? r->opts.mode : "discard") < 0)
		return -ENOMEM;
	err = xsp_host_store(&r->cap, more);
	free(more);
	return err;
}

static int make_capture(struct recording *r)
{
	int err;

	r->fd = output_open(r->opts.output);
	if (r->fd < 0)
		return TOOL_USAGE;
	err = r->opts.level ? compress_open(&r->zstd, r->opts.level) : 0;
	if (!err)
		err = xsp_cap_create(&r->cap, r->fd, r->opts.level ? &r->zstd : NULL);
	if (!err)
		err = xsp_session_add_capture(&r->session, r->cap.uuid);
	if (!err)
		err = write_host(r);
	if (!err)
		err = xsp_drain_open(r->session.dirfd, &r->cap, &ops, r, 0, &r->drain);
	if (!err && r->cap.error)
		err = r->cap.error;
	if (err) {
		tool_error("%s: cannot be written: %s: name another file with -o", r->opts.output,
			   strerror(-err));
		output_drop(r->opts.output, r->fd);
		return TOOL_USAGE;
	}
	return 0;
}

static int start_command(struct recording *r)
{
	char *env[RECORD_ENV_MAX + 1];
	int i, err;

	err = record_env(&r->opts, r->session.path, env);
	if (!err)
		err = launch_start(&r->launch, r->opts.argv, env);
	for (i = 0; env[i]; i++)
		free(env[i]);
	if (!err)
		return 0;
	tool_error("%s: cannot be executed: %s", r->opts.argv[0], strerror(-err));
	return err == -ENOENT ? 127 : 126;
}

/* ---- running ------------------------------------------------------------------------------- */

static void sleep_until(struct recording *r, uint64_t ns)
{
	struct pollfd fds[2] = {
		{ .fd = r->launch.sigfd, .events = POLLIN },
		{ .fd = r->drain ? xsp_drain_fd(r->drain) : -1, .events = POLLIN },
	};
	struct timespec ts = { ns / 1000000000u, ns % 1000000000u };

	ppoll(fds, 2, ns == UINT64_MAX ? NULL : &ts, NULL);
}

/* The command has ended: how long is it worth to wait for what it left running? */
static bool over(struct recording *r, uint64_t now, uint64_t *grace)
{
	if (!r->launch.ended)
		return false;
	if (r->opts.wait_all)
		return !r->launch.children && !xsp_drain_producers(r->drain);
	if (!*grace)
		*grace = now + GRACE_NS;
	return now >= *grace || !xsp_drain_producers(r->drain);
}

static uint32_t run(struct recording *r)
{
	uint64_t start = xsp_clock_ns(CLOCK_MONOTONIC), grace = 0;
	uint64_t end = r->opts.duration ? start + r->opts.duration : UINT64_MAX;

	for (;;) {
		uint64_t sleep = xsp_drain_step(r->drain);
		uint64_t shown = progress_show(&r->progress, r->drain);
		uint64_t now = xsp_clock_ns(CLOCK_MONOTONIC);

		if (launch_serve(&r->launch)) {
			xsp_drain_look(r->drain);
			continue;
		}
		if (over(r, now, &grace))
			return r->launch.asked ? WHY_SIGNAL : WHY_ENDED;
		if (now >= end)
			return WHY_DURATION;
		if (r->launch.asked >= ASKED_MAX)
			return WHY_SIGNAL;
		if (sleep > shown)
			sleep = shown;
		if (sleep > end - now)
			sleep = end - now;
		/* Processes on their way out are asked after soon. */
		if (grace && sleep > 5000000)
			sleep = 5000000;
		if (grace)
			xsp_drain_look(r->drain);
		if (sleep)
			sleep_until(r, sleep);
	}
}

static void finish(struct recording *r, uint32_t why)
{
	r->file_error = xsp_drain_finish(r->drain, why);
	xsp_drain_get_stats(r->drain, &r->stats);
	xsp_drain_close(r->drain);
	r->drain = NULL;
	xsp_cap_free(&r->cap);
	flush_stop(&r->flush);
	/* Errors that a file system keeps until now, NFS and quotas among them. */
	if (close(r->fd) && !r->file_error)
		r->file_error = -errno;
	if (r->zstd.data)
		compress_close(&r->zstd);
	xsp_session_remove(&r->session);
	xsp_session_close(&r->session);
}

static void explain_nothing(const struct recording *r)
{
	if (r->stats.refused)
		tool_note("nothing was recorded: the processes that tried could not, see above");
	else if (r->stats.producers)
		tool_note("nothing was recorded: the command is ready for it but passed no "
			  "marker%s",
			  r->opts.categories ? " of these categories" : "");
	else
		tool_note("nothing was recorded: no process of the command loaded libxsprof-user%s",
			  r->opts.itt ? ", and none made ITT calls" : "");
}

static void sum_up(struct recording *r, uint32_t why)
{
	progress_clear(&r->progress);
	if (r->file_error)
		tool_error("%s: %s: the capture holds what was written before, %" PRIu64
			   " events are not in it", r->opts.output, strerror(-r->file_error),
			   r->stats.lost_records);
	if (r->opts.quiet)
		return;
	if (!r->stats.records)
		explain_nothing(r);
	if (why == WHY_DURATION && !r->launch.ended)
		tool_note("the recording is over, the command goes on");
	progress_summary("record", &r->stats, r->opts.output);
}

/* After a recording that was shorter than the command. */
static void wait_command(struct recording *r)
{
	while (!r->launch.ended && r->launch.asked < ASKED_MAX) {
		sleep_until(r, UINT64_MAX);
		launch_serve(&r->launch);
	}
}

static int exit_status(const struct recording *r)
{
	int status = r->launch.status;

	if (!r->launch.ended) {
		tool_error("%s: still runs as process %d: not waited for any longer",
			   r->opts.argv[0], (int)r->launch.pid);
		return 128 + r->launch.last_signal;
	}
	if (WIFSIGNALED(status)) {
		tool_note("%s: killed by signal %d (%s)%s", r->opts.argv[0], WTERMSIG(status),
			  strsignal(WTERMSIG(status)),
			  WCOREDUMP(status) ? ", core dumped" : "");
		return 128 + WTERMSIG(status);
	}
	if (!WEXITSTATUS(status) && r->file_error)
		return TOOL_FAILED;
	return WEXITSTATUS(status);
}

int cmd_record(int argc, char **argv)
{
	static struct recording r;
	uint32_t why;
	int status;

	status = record_parse(argc, argv, &r.opts);
	if (status >= 0)
		return status;
	status = check_not_recorded();
	if (!status)
		status = check_command(&r.opts);
	if (status)
		return status;
	if (r.opts.flight.on)
		return flight_record(&r.opts);
	session_clean();
	status = make_session(&r);
	if (status)
		return status;
	check_room(&r);
	if (launch_prepare(&r.launch) || xsp_guard_install()) {
		status = tool_error("signals: %s", strerror(errno));
		goto err_session;
	}
	status = make_capture(&r);
	if (status)
		goto err_session;
	progress_begin(&r.progress, r.opts.quiet);
	status = start_command(&r);
	if (status) {
		xsp_drain_close(r.drain);
		output_drop(r.opts.output, r.fd);
		goto err_session;
	}
	/* A thread only now: what forks is better alone. */
	flush_start(&r.flush, r.fd, &r.cap.size);
	why = run(&r);
	finish(&r, why);
	sum_up(&r, why);
	wait_command(&r);
	return exit_status(&r);

err_session:
	xsp_session_remove(&r.session);
	xsp_session_close(&r.session);
	return status;
}
