// SPDX-License-Identifier: GPL-2.0-only
/*
 * -p without the module: loads our library into each process, which joins this recording; see
 * lib/collect/python/attach.c.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xsprof/ioctl.h>

#include "base/clock.h"
#include "base/proc.h"
#include "cli/library.h"
#include "cli/tool.h"
#include "inject/inject.h"
#include "record/load.h"

#define PYTHON_HZ	100u
#define ARENA		(16ull << 20)	/* bytes: names of functions, and stacks */
#define LEAVE_NS	5000000000u
#define NEW_NS		2000000000u
#define THREAD		"xsprof-python"	/* name of the library's thread */

bool load_wanted(const struct record_options *opts)
{
	return opts->attach.nr && !opts->flight.on &&
	       (opts->python_hz || (opts->backend && !strcmp(opts->backend, "tmpfs")) ||
		access(XSPROF_DEVICE_PATH, F_OK));
}

/* Processes are restored before we end. */
static bool is_asked(void *data)
{
	struct launch *l = data;

	launch_serve(l);
	return l->asked;
}

/* Did the process start just now? It may be about to start Python. */
static bool is_new(pid_t pid)
{
	struct xsp_proc_stat st;
	uint64_t start;

	if (xsp_proc_stat(pid, &st))
		return false;
	start = st.start_time * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
	return xsp_clock_ns(CLOCK_BOOTTIME) < start + NEW_NS;
}

/* Is it worth trying again in a moment? */
static bool is_early(pid_t pid, int err)
{
	return err == -EAGAIN || ((err == -ENXIO || err == -ENOEXEC) && is_new(pid));
}

static int load(struct recording *r, pid_t pid, const char *library)
{
	uint32_t hz = r->opts.python_hz ? r->opts.python_hz : PYTHON_HZ;
	uint64_t until = xsp_clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;
	const struct timespec pause = { 0, 50000000 };
	char options[PATH_MAX + 64], why[INJECT_WHY];
	uint64_t now;
	int err;
	struct inject what = {
		.pid = pid,
		.library = library,
		.symbol = "xsprof_python_attach",
		.options = options,
		.asked = is_asked,
		.data = &r->launch,
	};

	snprintf(options, sizeof(options), "%u %llu %s", hz, ARENA, r->session.path);
	do {
		err = inject(&what, why);
		now = xsp_clock_ns(CLOCK_MONOTONIC);
		if (!is_early(pid, err) || now > until)
			break;
		nanosleep(&pause, NULL);
		/* A machine that stood still meanwhile took none of its time. */
		until += xsp_clock_ns(CLOCK_MONOTONIC) - now - (uint64_t)pause.tv_nsec;
	} while (!is_asked(&r->launch));
	if (!err)
		return 0;
	if (r->launch.asked)
		return tool_error("process %d: not recorded: xsprof received signal %d before "
				  "recording began", (int)pid, r->launch.last_signal),
		       128 + r->launch.last_signal;
	return tool_error("process %d: %s", (int)pid, why), TOOL_USAGE;
}

int load_all(struct recording *r)
{
	struct attach *a = &r->opts.attach;
	struct xsp_proc_stat st;
	char library[PATH_MAX];
	uint32_t i;
	int status = 0;

	if (!library_find(LIBRARY_PYTHON, library, sizeof(library)))
		return tool_error("-p: %s was not found beside xsprof; without the module, xsprof "
				  "loads it into the process", LIBRARY_PYTHON), TOOL_USAGE;
	for (i = 0; i < a->nr && !status; i++) {
		if (!xsp_proc_stat(a->pids[i], &st))
			a->starts[i] = st.start_time;
		status = load(r, a->pids[i], library);
	}
	if (!status && !r->opts.quiet)
		tool_note("-p: Python's stacks, its garbage collections and the program's markers "
			  "are recorded; waits for the GIL are recorded only in programs started "
			  "by 'xsprof record'");
	return status;
}

static bool has_thread(pid_t pid)
{
	char path[64], comm[16];
	struct dirent *entry;
	bool busy = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !busy && (entry = readdir(dir)))
		busy = atoi(entry->d_name) && !xsp_proc_comm(pid, atoi(entry->d_name), comm) &&
		       !strcmp(comm, THREAD);
	if (dir)
		closedir(dir);
	return busy;
}

/* Does it have our thread? During a fork it briefly does not. */
static bool is_busy(pid_t pid)
{
	const struct timespec pause = { 0, 5000000 };

	for (int i = 0; i < 4; i++) {
		if (has_thread(pid))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

void load_end(const struct recording *r)
{
	const struct timespec pause = { 0, 20000000 };
	uint64_t until = xsp_clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;
	const struct attach *a = &r->opts.attach;
	uint32_t i;

	for (i = 0; i < a->nr; i++) {
		while (is_busy(a->pids[i]) && xsp_clock_ns(CLOCK_MONOTONIC) < until) {
			inject_settle();
			nanosleep(&pause, NULL);
		}
		if (r->opts.quiet)
			continue;
		if (is_busy(a->pids[i]))
			tool_note("process %d: xsprof's thread in it waits for the GIL, and ends "
				  "when it gets it", (int)a->pids[i]);
		else if (r->opts.verbose && !kill(a->pids[i], 0))
			tool_note("process %d: runs as before; xsprof's libraries stay mapped and "
				  "inactive", (int)a->pids[i]);
	}
}
