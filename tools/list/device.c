// SPDX-License-Identifier: GPL-2.0-only
/*
 * The producers of /dev/xsprof in `xsprof list`, as the kernel describes them. It opens none.
 */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/signal-name.h"
#include "cli/tool.h"
#include "list/list.h"
#include "read/ring-device.h"

static const struct list_session *session_of(const struct list_options *opts, uint64_t cookie)
{
	unsigned int i;

	for (i = 0; cookie && i < opts->nr_sessions; i++)
		if (opts->sessions[i].cookie == cookie)
			return &opts->sessions[i];
	return NULL;
}

static void format_state(char *buf, size_t size, const struct xsprof_info *info)
{
	const char *name;

	switch (info->state) {
	case XSPROF_STATE_LIVE:
		snprintf(buf, size, "live");
		break;
	case XSPROF_STATE_DETACHED:
		snprintf(buf, size, "exec");
		break;
	default:
		if (!WIFSIGNALED(info->status)) {
			snprintf(buf, size, "exited %d", WEXITSTATUS(info->status));
			break;
		}
		name = signal_name(WTERMSIG(info->status));
		if (name)
			snprintf(buf, size, "SIG%s", name);
		else
			snprintf(buf, size, "signal %d", WTERMSIG(info->status));
	}
}

/* Its reader: a recorder known by its session, or an unknown one. */
static void format_recorder(char *buf, size_t size, const struct list_options *opts,
			    const struct xsprof_info *info)
{
	const struct list_session *s = session_of(opts, info->session);

	if (s && !s->alive)
		snprintf(buf, size, "%u, dead", s->recorder);
	else if (s)
		snprintf(buf, size, "%u", s->recorder);
	else
		snprintf(buf, size, "%s", info->flags & XSPROF_INFO_CONSUMED ? "yes" : "-");
}

static void format_user(char *buf, size_t size, uint32_t uid)
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(buf, size, "%s", pw->pw_name);
	else
		snprintf(buf, size, "%u", uid);
}

/* The time if it is of today, else the date. */
static void format_started(char *buf, size_t size, uint64_t mono)
{
	uint64_t ago = xsp_clock_ns(CLOCK_MONOTONIC) - mono;
	time_t now = time(NULL), then = now - (time_t)(ago / 1000000000u);
	struct tm a, b;

	buf[0] = '\0';
	if (!localtime_r(&now, &a) || !localtime_r(&then, &b))
		return;
	strftime(buf, size, a.tm_yday == b.tm_yday && a.tm_year == b.tm_year ? "%H:%M:%S" :
		 "%Y-%m-%d", &b);
}

static void print_head(void)
{
	printf(XSPROF_DEVICE_PATH ":\n  %-16s %-16s %-10s %-10s %-8s %9s %-10s %-12s %s\n", "PID",
	       "COMM", "STATE", "USER", "STARTED", "MEMORY", "MODE", "RECORDER", "EXE");
}

static int print_one(void *data, const struct xsprof_info *given)
{
	char pid[32], state[32], user[33], started[32], memory[32], recorder[32];
	struct list_options *opts = data;
	struct xsprof_info info = *given;
	const struct list_session *s = session_of(opts, info.session);

	if (opts->dead_only && (!s || s->alive))
		return 0;
	if (info.pid == info.own_pid)
		snprintf(pid, sizeof(pid), "%u", info.pid);
	else
		snprintf(pid, sizeof(pid), "%u (there %u)", info.pid, info.own_pid);
	format_state(state, sizeof(state), &info);
	format_user(user, sizeof(user), info.uid);
	format_started(started, sizeof(started), info.attached);
	tool_format_bytes(memory, sizeof(memory), info.bytes);
	format_recorder(recorder, sizeof(recorder), opts, &info);
	if (!opts->device_shown++)
		print_head();
	opts->shown++;
	printf("  %-16s ", pid);
	tool_print_name(info.comm, 16);
	printf(" %-10s %-10s %-8s %9s %-10s %-12s ", state, user, started, memory,
	       info.mode == XSPROF_MODE_OVERWRITE ? "overwrite" : "discard", recorder);
	tool_print_name(info.exe[0] ? info.exe : "-", 0);
	putchar('\n');
	return 0;
}

int list_device(struct list_options *opts)
{
	int fd, err;

	fd = xsp_device_open();
	/* Without the module there are no producers, which is not an error. */
	err = fd < 0 ? fd : xsp_device_each(fd, 0, print_one, opts);
	if (fd >= 0)
		close(fd);
	free(opts->sessions);
	opts->sessions = NULL;
	opts->nr_sessions = 0;
	if (err == -EACCES || (err && fd >= 0))
		return tool_error(XSPROF_DEVICE_PATH ": %s", xsp_device_strerror(err));
	return 0;
}
