// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof record`: starts the command, drains its rings while it runs, and exits with its status;
 * or drains running processes. Never stops or delays a process.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/host.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tool.h"
#include "cli/why.h"
#include "inject/inject.h"
#include "read/ring-guard.h"
#include "record/device.h"
#include "record/env.h"
#include "record/flight.h"
#include "record/load.h"
#include "record/local.h"
#include "record/realtime.h"

/* How long to wait for late GPU records. */
#define GPU_LATE_NS	300000000u
#define GRACE_NS	1000000000u
/* Kernel events of this size make a JSON file of some times as much. */
#define LARGE_BYTES	(32u << 20)
/* End at this number of requests, whatever the command does. */
#define ASKED_MAX	3

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

/* ---- the kernel's events ------------------------------------------------------------------- */

static void start_tracing(struct recording *r, const pid_t *tasks, uint32_t nr)
{
	int err = ftrace_start(r->ftrace, &r->cap, tasks, nr);

	if (!err) {
		xsp_drain_set_clocks(r->drain);
		return;
	}
	tool_note("no kernel events are recorded: cannot start the tracer: %s",
		  strerror(-err));
	xsp_cap_note(&r->cap, "no kernel events: the tracer did not start");
	/*
	 * The held command has inherited the tracer's files, which cannot be removed until it
	 * executes.
	 */
	r->untraced = r->ftrace;
	r->ftrace = NULL;
}

/* Called when the process exists and has not executed the command yet. */
static void held(void *data, pid_t pid)
{
	struct recording *r = data;
	char fact[48];

	realtime_begin(r->opts.realtime);
	if (!r->ftrace)
		return;
	start_tracing(r, &pid, 1);
	/*
	 * Reports tell its threads from others by this pid of the kernel; a full disk is reported
	 * elsewhere.
	 */
	snprintf(fact, sizeof(fact), "command_pid=%d\n", (int)pid);
	if (!ftrace_namespaced())
		(void)xsp_host_add(&r->cap, fact);
}

static int open_tracing(struct recording *r)
{
	if (!ftrace_wanted(&r->opts.kernel))
		return 0;
	if (r->opts.kernel.tree && attach_on(&r->opts.attach) && ftrace_namespaced())
		return tool_error("--filter-tree: in a pid namespace, the kernel's ids of running "
				  "processes are unknown: leave it out, or record from "
				  "outside"), TOOL_USAGE;
	return ftrace_open(&r->opts.kernel, &r->ftrace);
}

/* Notes in the capture why tracing is not available, as printed before. */
static void note_no_tracing(struct recording *r)
{
	if (ftrace_wanted(&r->opts.kernel) && ftrace_why_not())
		xsp_cap_note(&r->cap, ftrace_why_not());
}

/* Formats for viewers are several times larger: how to convert a part, and to record less. */
static void explain_tracing(const struct recording *r, const struct ftrace_stats *stats)
{
	char bytes[32];

	if (stats->bytes < LARGE_BYTES)
		return;
	tool_note("%s of kernel events: to convert a part, 'xsprof dump' with --from and --to; to "
		  "record less, --duration, %sor fewer events (-e)",
		  tool_format_bytes(bytes, sizeof(bytes), stats->bytes),
		  r->opts.kernel.tree ? "" : "--filter-tree (without switches between other "
		  "programs) ");
}

static void sum_up_tracing(const struct recording *r)
{
	const struct ftrace_stats *stats = ftrace_last_stats();
	char unsaved[32];

	if (!stats->cpus || r->opts.quiet)
		return;
	fprintf(stderr, "[ xsprof record: %" PRIu64 " kernel events on %u CPUs, %" PRIu64
		" lost ]\n", stats->events, stats->cpus, stats->lost);
	if (stats->lost)
		tool_note("kernel events were lost: its buffers filled up before they were read: "
			  "use a larger --trace-buffer (4M), fewer events (-e), or --filter-tree");
	explain_tracing(r, stats);
	if (stats->unsaved)
		tool_note("%s of kernel events did not fit into the file",
			  tool_format_bytes(unsaved, sizeof(unsaved), stats->unsaved));
}

/* ---- running -------------------------------------------------------------------------------- */

/* Output there would mix with the capture. */
static bool is_same_file(int fd, int std)
{
	struct stat out, data;

	return !fstat(std, &out) && !fstat(fd, &data) && !S_ISCHR(data.st_mode) &&
	       out.st_dev == data.st_dev && out.st_ino == data.st_ino;
}

static int start_command(struct recording *r)
{
	char *env[RECORD_ENV_MAX + 1];
	int i, err;

	if (attach_on(&r->opts.attach)) {
		r->launch.ended = true;
		realtime_begin(r->opts.realtime);
		if (r->ftrace)
			start_tracing(r, r->opts.attach.pids, r->opts.attach.nr);
		return r->opts.load ? load_all(r) : 0;
	}
	r->launch.held = held;
	r->launch.held_data = r;
	if (r->ftrace) {
		r->launch.mark = ftrace_mark(r->ftrace);
	}
	if (is_same_file(r->fd, STDERR_FILENO))
		return tool_error("%s: is standard error, where messages go: name a file, or "
				  "redirect one of the two", r->opts.output), TOOL_USAGE;
	r->launch.data_out = is_same_file(r->fd, STDOUT_FILENO);
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

static void sleep_until(struct recording *r, uint64_t ns)
{
	struct pollfd fds[2] = {
		{ .fd = r->launch.sigfd, .events = POLLIN },
		{ .fd = r->drain ? xsp_drain_fd(r->drain) : -1, .events = POLLIN },
	};
	struct timespec ts = { ns / 1000000000u, ns % 1000000000u };

	ppoll(fds, 2, ns == UINT64_MAX ? NULL : &ts, NULL);
}

/* Polling interval without notifications: a process without a producer may end. */
#define ATTACH_NS	200000000u

static bool attach_over(struct recording *r, uint64_t *sleep)
{
	if (!r->opts.attach.all && !xsp_drain_producers(r->drain) && *sleep > ATTACH_NS)
		*sleep = ATTACH_NS;
	return r->launch.asked || attach_ended(&r->opts.attach, r->drain);
}

/* The command has ended: how long to wait for its remaining processes? */
static bool over(struct recording *r, uint64_t now, uint64_t *grace)
{
	if (!r->launch.ended)
		return false;
	if (attach_on(&r->opts.attach))
		return false;
	if (r->opts.wait_all)
		return !r->launch.children && !xsp_drain_producers(r->drain);
	if (!*grace)
		*grace = now + GRACE_NS;
	/* A process without a producer may be about to load the library. */
	return now >= *grace || (!r->launch.children && !xsp_drain_producers(r->drain));
}

/* The backend is known when the first rings exist. */
static void say_where(struct recording *r, bool ended)
{
	struct xsp_drain_stats stats;

	if (r->opts.quiet)
		return;
	if (!ended)
		xsp_drain_get_stats(r->drain, &stats);
	record_device_say(ended ? &r->stats : &stats, r->opts.verbose, &r->said);
}

static uint32_t run(struct recording *r)
{
	uint64_t start = xsp_clock_ns(CLOCK_MONOTONIC), grace = 0;
	uint64_t end = r->opts.duration ? start + r->opts.duration : UINT64_MAX;

	/* Records of the devices' last activities come this much later. */
	if (r->opts.duration && r->opts.gpu)
		end += GPU_LATE_NS;

	for (;;) {
		uint64_t sleep = xsp_drain_step(r->drain);
		uint64_t shown = progress_show(&r->progress, r->drain);
		uint64_t traced = r->ftrace ? ftrace_step(r->ftrace, &r->cap) : UINT64_MAX;
		uint64_t now = xsp_clock_ns(CLOCK_MONOTONIC);

		say_where(r, false);
		record_look_at_room(r);
		if (r->opts.load)
			inject_settle();
		if (launch_serve(&r->launch)) {
			xsp_drain_look(r->drain);
			continue;
		}
		if (over(r, now, &grace))
			return r->launch.asked ? WHY_SIGNAL : WHY_ENDED;
		if (attach_on(&r->opts.attach) && attach_over(r, &sleep))
			return r->launch.asked ? WHY_SIGNAL : WHY_ENDED;
		if (now >= end)
			return WHY_DURATION;
		if (r->launch.asked >= ASKED_MAX)
			return WHY_SIGNAL;
		if (sleep > shown)
			sleep = shown;
		if (sleep > traced)
			sleep = traced;
		if (sleep > end - now)
			sleep = end - now;
		/* Check ending processes soon. */
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
	if (r->ftrace)
		ftrace_finish(r->ftrace, &r->cap);
	r->ftrace = NULL;
	ftrace_drop(r->untraced);
	r->file_error = xsp_drain_finish(r->drain, why);
	xsp_drain_get_stats(r->drain, &r->stats);
	xsp_drain_close(r->drain);
	r->drain = NULL;
	xsp_cap_free(&r->cap);
	flush_stop(&r->flush);
	/* Some file systems report errors only here, e.g. NFS and quotas. */
	if (close(r->fd) && !r->file_error)
		r->file_error = -errno;
	if (r->zstd.data)
		compress_close(&r->zstd);
	xsp_recording_remove(&r->session);
	xsp_recording_close(&r->session);
}

static void sum_up(struct recording *r, uint32_t why)
{
	progress_clear(&r->progress);
	if (r->file_error)
		tool_error("%s: %s: the capture ends there, %" PRIu64 " events are missing%s",
			   r->opts.output, strerror(-r->file_error), r->stats.lost_records,
			   r->file_error == -ENOSPC ? ": free some space, or use -o" : "");
	if (r->opts.quiet)
		return;
	say_where(r, true);
	if (!r->stats.records && !r->stats.lost_records)
		record_explain_nothing(r);
	record_explain_python(r);
	record_explain_gpu(r, why == WHY_DURATION && !r->launch.ended);
	record_explain_modules(r);
	if (why == WHY_DURATION && !r->launch.ended)
		tool_note("the recording has ended, the command continues");
	else if (why == WHY_ENDED && r->launch.children)
		tool_note("recording stopped, processes of the command still run: --wait-all waits "
			  "for them");
	progress_summary("record", &r->stats, "wrote", r->opts.output);
	record_explain_losses(r);
	sum_up_tracing(r);
}

/* For a recording that was shorter than the command. */
static void wait_command(struct recording *r)
{
	while (!r->launch.ended && r->launch.asked < ASKED_MAX) {
		sleep_until(r, UINT64_MAX);
		launch_serve(&r->launch);
	}
}

static bool lost(const struct recording *r)
{
	const struct ftrace_stats *kernel = ftrace_last_stats();

	return progress_lost(&r->stats) || kernel->lost || kernel->unsaved;
}

/* The command's own status counts, as with perf and strace: also 0 if records were lost. */
static int exit_status(const struct recording *r)
{
	int status = r->launch.status;

	if (attach_on(&r->opts.attach) && r->file_error)
		return TOOL_FAILED;
	/* Each of the processes has given a reason, unless it ended. */
	if (attach_on(&r->opts.attach) && !r->stats.producers && r->stats.refused)
		return tool_error("nothing was recorded: all processes failed%s",
				  r->opts.quiet ? ": leave out --quiet to see why" : "");
	if (attach_on(&r->opts.attach))
		return lost(r) && !r->opts.allow_lost ? TOOL_LOST : 0;
	if (!r->launch.ended) {
		tool_error("%s: still runs as process %d: not waiting any longer",
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
	status = record_check_not_recorded(&r.opts);
	if (!status)
		status = record_check_command(&r.opts);
	if (!status)
		status = realtime_check(r.opts.realtime);
	if (status)
		return status;
	if (r.opts.flight.on)
		return flight_record(&r.opts);
	session_clean(r.opts.quiet);
	ftrace_clean();
	status = record_device_open(&r.opts, &r.device);
	if (!status)
		status = open_tracing(&r);
	if (status)
		return status;
	/* Before the first file is written: exceeding a file size limit raises a signal. */
	if (launch_prepare(&r.launch) || xsp_guard_install())
		status = tool_error("signals: %s", strerror(errno));
	if (!status)
		status = record_make_session(&r);
	if (status) {
		ftrace_drop(r.ftrace);
		return status;
	}
	status = record_check_room(&r);
	if (status)
		goto err_session;
	status = record_make_capture(&r, &ops);
	if (status)
		goto err_session;
	note_no_tracing(&r);
	progress_begin(&r.progress, r.opts.quiet, !attach_on(&r.opts.attach));
	status = start_command(&r);
	if (status) {
		xsp_drain_close(r.drain);
		output_drop(r.opts.output, r.fd);
		goto err_session;
	}
	/* Start the thread only now: a process should fork while it is single-threaded. */
	flush_start(&r.flush, r.fd, &r.cap.size);
	why = run(&r);
	finish(&r, why);
	if (r.opts.load)
		load_end(&r);
	sum_up(&r, why);
	wait_command(&r);
	return exit_status(&r);

err_session:
	ftrace_drop(r.ftrace);
	ftrace_drop(r.untraced);
	xsp_recording_remove(&r.session);
	xsp_recording_close(&r.session);
	return status;
}
