// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof list`: lists the sessions of this user with their processes, and the producers of the
 * device. It changes nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctl-check.h"
#include "base/proc.h"
#include "cli/session.h"
#include "cli/tool.h"
#include "list/list.h"
#include "read/ring-device.h"
#include "read/ring-file.h"
#include "read/ring-guard.h"

/**
 * struct account - counts of the rings of a producer
 * @written: slots published
 * @unread: of these not yet taken by a recorder
 * @lost: records dropped
 */
struct account {
	uint64_t	written;
	uint64_t	unread;
	uint64_t	lost;
};

static void take_account(const struct xsp_ring_file *rf, struct account *a)
{
	const struct xsprof_arena *arena = xsp_ring_arena(rf);
	uint32_t k;

	memset(a, 0, sizeof(*a));
	a->lost = __atomic_load_n(&arena->nomem, __ATOMIC_RELAXED) +
		  __atomic_load_n(&arena->late, __ATOMIC_RELAXED);
	for (k = 0; k < rf->rings; k++) {
		const struct xsprof_ring_writer *writer = xsp_ring_writer(rf, k);
		uint64_t head, tail;

		if (!xsp_ring_ready(rf, k))
			continue;
		head = xsp_ring_head(rf, k);
		tail = __atomic_load_n(&xsp_ring_reader(rf, k)->tail, __ATOMIC_RELAXED);
		a->written += head;
		if (head > tail)
			a->unread += head - tail < xsp_ring_slots(rf, k) ? head - tail :
				     xsp_ring_slots(rf, k);
		a->lost += __atomic_load_n(&writer->drops, __ATOMIC_RELAXED) +
			   __atomic_load_n(&writer->busy, __ATOMIC_RELAXED);
	}
}

static const char *state_of(const struct xsp_ring_file *rf)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };

	if (!fcntl(rf->fd, F_GETLK, &lock) && lock.l_type != F_UNLCK)
		return "running";
	return __atomic_load_n(&xsp_ring_ctl(rf)->state, __ATOMIC_RELAXED) ==
	       XSPROF_STATE_EXITED ? "exited" : "ended";
}

static void print_producer(int dirfd, const char *name)
{
	char comm[16] = "-", exe[PATH_MAX] = "-", memory[32];
	struct xsp_ring_file rf;
	struct account account;
	struct stat st;
	const char *state;
	int err;

	err = xsp_ring_file_open(&rf, dirfd, name);
	if (err) {
		fputs("  ", stdout);
		tool_print_name(name, 0);
		printf(": %s\n", xsp_ctl_strerror(err));
		return;
	}
	state = state_of(&rf);
	if (!strcmp(state, "running") && rf.ctl.pid_ns == xsp_proc_pid_ns()) {
		xsp_proc_comm(rf.ctl.pid, rf.ctl.pid, comm);
		xsp_proc_exe(rf.ctl.pid, exe, sizeof(exe));
	}
	take_account(&rf, &account);
	tool_format_bytes(memory, sizeof(memory),
			  fstat(rf.fd, &st) ? 0 : (uint64_t)st.st_blocks * 512);
	printf("  %-8u ", rf.ctl.pid);
	tool_print_name(comm, 16);
	printf(" %-8s %-10s %9s %12" PRIu64 " %10" PRIu64 " %10" PRIu64 "  ", state,
	       rf.ctl.mode == XSPROF_MODE_OVERWRITE ? "overwrite" : "discard", memory,
	       account.written, account.unread, account.lost);
	tool_print_name(exe, 0);
	putchar('\n');
	xsp_ring_file_close(&rf);
}

static void print_producers(const struct session_seen *seen)
{
	struct dirent *entry;
	DIR *dir;
	int fd;

	printf("  %-8s %-16s %-8s %-10s %9s %12s %10s %10s  %s\n", "PID", "COMM", "STATE", "MODE",
	       "MEMORY", "SLOTS", "UNREAD", "LOST", "EXE");
	fd = openat(seen->s.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, "p.", 2))
			print_producer(seen->s.dirfd, entry->d_name);
	closedir(dir);
}

/* To find the session of a device producer. */
static void remember(struct list_options *opts, const struct session_seen *seen, const char *pid)
{
	struct list_session *more;

	more = realloc(opts->sessions, (opts->nr_sessions + 1) * sizeof(*more));
	if (!more)
		return;
	opts->sessions = more;
	more[opts->nr_sessions++] = (struct list_session){
		.cookie = xsp_recording_cookie(seen->name),
		.recorder = atoi(pid),
		.alive = seen->alive,
	};
}

static int print_session(void *data, struct session_seen *seen)
{
	struct list_options *opts = data;
	char pid[32] = "?", output[PATH_MAX] = "memory", command[2048] = "?";

	if (seen->name[0] != 's')
		return 0;
	xsp_recording_fact(&seen->s, "pid", pid, sizeof(pid));
	remember(opts, seen, pid);
	if (opts->dead_only && seen->alive)
		return 0;
	opts->shown++;
	xsp_recording_fact(&seen->s, "output", output, sizeof(output));
	xsp_recording_fact(&seen->s, "command", command, sizeof(command));
	tool_print_name(seen->s.path, 0);
	printf(": %s, recorder ", seen->alive ? "recording" : "recorder is dead");
	tool_print_name(pid, 0);
	fputs(", into ", stdout);
	tool_print_name(output, 0);
	fputs(", ", stdout);
	tool_print_name(command, 0);
	putchar('\n');
	if (seen->files)
		print_producers(seen);
	return 0;
}

int list_sessions(struct list_options *opts)
{
	char user[XSP_RECORDING_PATH];
	const char *object;
	int err;

	opts->shown = 0;
	xsp_guard_install();
	err = xsp_recording_user_dir(user, false, &object);
	/* The first recording creates the directory: before that there are no sessions. */
	if (err && !(err == -ENOENT && object == user))
		return session_error(object, err);
	if (!err)
		err = session_each(print_session, opts);
	else
		err = 0;
	if (err)
		tool_error("%s: %s", user, strerror(-err));
	return list_device(opts) || err ? TOOL_FAILED : 0;
}

static void help(void)
{
	puts("usage: xsprof list\n"
	     "\n"
	     "Lists your running recordings, and those that a killed recorder left in\n"
	     "memory, with their processes: slots written (32 bytes each), slots not yet\n"
	     "read, and records lost. With the kernel module also lists processes that\n"
	     "have rings in it, which 'xsprof record -p' can read: how they ended, and\n"
	     "their recorders.\n"
	     "\n"
	     "  -h, --help      this text\n"
	     "  -V, --version   the version");
}

int cmd_list(int argc, char **argv)
{
	static const struct option options[] = {
		TOOL_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct list_options opts = { 0 };
	int c, status;

	while ((c = getopt_long(argc, argv, "+:hV", options, NULL)) != -1) {
		switch (c) {
		default:
			return tool_option("list", c, argv, options, help);
		}
	}
	if (optind < argc)
		return tool_usage("list", "%s: takes no arguments", argv[optind]);
	status = list_sessions(&opts);
	if (!status && !opts.shown) {
		puts("no recording is running, no killed recorder has left one, and no process has "
		     "rings in the kernel");
		session_say_sudo();
	}
	return status;
}
