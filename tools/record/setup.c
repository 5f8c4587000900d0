// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prepares a recording: looks up the command, creates the session and the capture. Starts nothing.
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/env-limits.h"
#include "base/proc.h"
#include "capture/host.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tool.h"
#include "record/cgroup.h"
#include "record/device.h"
#include "record/local.h"

/* "--flight 30s": a separate value would be taken for the command. */
static bool is_flight_value(const struct record_options *opts)
{
	const struct flight_options *flight = &opts->flight;
	uint64_t value;

	return flight->on && !flight->size && !flight->last_ns &&
	       (!tool_parse_time(opts->argv[0], &value) || !tool_parse_size(opts->argv[0], &value));
}

/* "--python 100" likewise. */
static bool is_python_value(const struct record_options *opts)
{
	uint64_t value;

	return opts->python_hz && !tool_parse_u64(opts->argv[0], &value);
}

static bool is_script(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".py");
}

int record_check_command(const struct record_options *opts)
{
	char path[PATH_MAX];
	int err;

	if (attach_on(&opts->attach))
		return 0;
	err = launch_find(opts->argv[0], path, sizeof(path));
	if (!err)
		return 0;
	if (err == -ENOENT) {
		if (is_flight_value(opts))
			tool_error("%s: command not found, did you mean --flight=%s?",
				   opts->argv[0], opts->argv[0]);
		else if (is_python_value(opts))
			tool_error("%s: command not found, did you mean --python=%s?",
				   opts->argv[0], opts->argv[0]);
		else if (!strchr(opts->argv[0], '/') && !access(opts->argv[0], F_OK))
			tool_error("%s: command not found, did you mean '%s%s'?", opts->argv[0],
				   is_script(opts->argv[0]) ? "python3 " : "./", opts->argv[0]);
		else
			tool_error("%s: command not found", opts->argv[0]);
		return 127;
	}
	tool_error("%s: cannot be executed: %s%s", path, strerror(-err),
		   err == -EACCES ? ": make it executable, or name its interpreter" : "");
	return 126;
}

/* Is another recorder recording this process already? */
int record_check_not_recorded(const struct record_options *opts)
{
	const char *path = getenv("XSPROF_SESSION");
	char pid[32] = "?", output[PATH_MAX] = "?";
	struct xsp_recording s;
	int alive;

	if (attach_on(&opts->attach) || !path || !*path || xsp_recording_open(&s, path))
		return 0;
	alive = xsp_recording_alive(&s);
	if (alive == 1) {
		xsp_recording_fact(&s, "pid", pid, sizeof(pid));
		xsp_recording_fact(&s, "output", output, sizeof(output));
	}
	xsp_recording_close(&s);
	if (alive != 1)
		return 0;
	tool_error("already being recorded by process %s into %s: a command has one recorder; "
		   "leave out the inner 'xsprof record', or unset XSPROF_SESSION", pid, output);
	return TOOL_USAGE;
}

static void join_command(const struct record_options *opts, char *buf, size_t size)
{
	char **argv = opts->argv;
	size_t at = 0;

	buf[0] = '\0';
	if (attach_on(&opts->attach))
		attach_text(&opts->attach, buf, size);
	for (; *argv && at < size - 1; argv++)
		at += snprintf(buf + at, size - at, "%s%s", at ? " " : "", *argv);
	xsp_recording_one_line(buf);
}

static int cannot_write(const struct recording *r, int err)
{
	tool_error("%s: cannot be written: %s: %s", r->opts.output, strerror(-err),
		   err == -EFBIG ? "raise the file size limit (ulimit -f)" :
		   "name another file with -o");
	return TOOL_USAGE;
}

int record_make_session(struct recording *r)
{
	char command[2048], output[PATH_MAX], cwd[PATH_MAX], boot[64] = "";
	const char *object;
	char *facts;
	int err;

	join_command(&r->opts, command, sizeof(command));
	/* Make it absolute: others see it from other folders. */
	if (r->opts.output[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		snprintf(output, sizeof(output), "%s", r->opts.output);
	else if (snprintf(output, sizeof(output), "%s/%s", cwd, r->opts.output) >=
		 (int)sizeof(output))
		return tool_error("%s: the path is too long", r->opts.output);
	xsp_recording_one_line(output);
	xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	if (asprintf(&facts, "pid %d\noutput %s\nboot %s\n%scommand %s\n", (int)getpid(), output,
		     boot, attach_on(&r->opts.attach) ? "attached yes\n" : "", command) < 0)
		return tool_error("out of memory");
	err = xsp_recording_create(&r->session, facts, true, &object);
	free(facts);
	if (!err && !r->opts.quiet)
		session_say_place(&r->session);
	if (!err)
		return 0;
	/* No room for a line means no room for a capture. */
	if (err == -EFBIG)
		return cannot_write(r, err);
	session_error(object, err);
	return TOOL_USAGE;
}

/* Free space is shared by a process and, as much again, its children. */
#define ROOM_SHARE	2
/* Share of a memory cgroup, most of which the program itself needs. */
#define CGROUP_SHARE	8
#define RING_LEAST	(64u << 10)

/* Memory of a process' full rings, rounded as by the library; with --prefault those of all CPUs. */
static uint64_t rings_of(const struct record_options *opts, uint64_t ring)
{
	cpu_set_t usable;
	uint64_t cpus = sysconf(_SC_NPROCESSORS_CONF), page = sysconf(_SC_PAGESIZE), rounded = page;

	while (rounded < ring)
		rounded *= 2;
	if (!opts->prefault && !sched_getaffinity(0, sizeof(usable), &usable))
		cpus = CPU_COUNT(&usable);
	return (rounded + 2 * page) * (cpus + 1);
}

/* The requested ring size, 0 for none. */
static uint64_t asked_ring(const struct record_options *opts)
{
	const char *text = getenv("XSPROF_BUFFER_SIZE");
	uint64_t size;

	if (opts->buffer)
		return opts->buffer;
	if (text && !tool_parse_size(text, &size) && size && size <= XSP_RING_MAX)
		return size;
	return 0;
}

/* Chooses the largest rings that take at most @room, up to the usual size. */
static void fit_rings(struct recording *r, uint64_t room)
{
	if (!r->opts.buffer)
		r->opts.buffer = XSP_RING_DEFAULT;
	while (r->opts.buffer > RING_LEAST && rings_of(&r->opts, r->opts.buffer) > room)
		r->opts.buffer /= 2;
}

/*
 * Ring memory is charged to a memory cgroup. No call allocates from a full cgroup and fails
 * instead: the kernel kills a process. The group checked is our own, which need not be the
 * program's but usually is.
 */
static void check_cgroup(struct recording *r, bool asked)
{
	uint64_t limit = cgroup_memory_limit(), ring = asked_ring(&r->opts);
	char have[32], size[32];

	if (rings_of(&r->opts, ring ? ring : XSP_RING_DEFAULT) <=
	    limit / (asked ? 1 : CGROUP_SHARE))
		return;
	tool_format_bytes(have, sizeof(have), limit);
	if (asked) {
		tool_format_bytes(size, sizeof(size), rings_of(&r->opts, ring));
		if (!r->opts.quiet)
			tool_note("--buffer-size: full rings of one process take up to %s, the "
				  "limit of its memory cgroup is %s: the kernel kills processes "
				  "above it", size, have);
		return;
	}
	fit_rings(r, limit / CGROUP_SHARE);
	tool_format_bytes(size, sizeof(size), r->opts.buffer);
	if (!r->opts.quiet)
		tool_note("the limit of the memory cgroup is %s, rings included: using rings of "
			  "%s; --buffer-size (-b) sets another size", have, size);
}

/* No size was requested: use the largest rings that fit. */
static void choose_ring(struct recording *r, uint64_t room, const char *have)
{
	char size[32];

	fit_rings(r, room / ROOM_SHARE);
	r->small = true;
	tool_format_bytes(size, sizeof(size), r->opts.buffer);
	if (!r->opts.quiet)
		tool_note("%s are free in the tmpfs of %s: using rings of %s; for larger ones use "
			  "a larger tmpfs, or set XSPROF_SHM_DIR to another", have,
			  r->session.path, size);
}

/* The largest rings that take at most @room, as --buffer-size takes it. */
static void largest_ring(const struct recording *r, uint64_t room, char *buf, size_t size)
{
	uint64_t ring = XSP_RING_MAX;

	while (ring > RING_LEAST && rings_of(&r->opts, ring) > room)
		ring /= 2;
	if (ring >> 20)
		snprintf(buf, size, "%lluM", (unsigned long long)(ring >> 20));
	else
		snprintf(buf, size, "%lluk", (unsigned long long)(ring >> 10));
}

/*
 * Rings take memory as they fill: warn in advance if it will not suffice. A ring that finds no room
 * stays small. Allocated at once it would use up what others need.
 */
int record_check_room(struct recording *r)
{
	bool asked = asked_ring(&r->opts);
	char need[32], have[32], fits[32];
	struct statvfs vfs;
	uint64_t ring, room;

	if (r->device >= 0 || fstatvfs(r->session.dirfd, &vfs))
		return 0;
	check_cgroup(r, asked);
	ring = asked_ring(&r->opts);
	room = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	if (rings_of(&r->opts, ring ? ring : XSP_RING_DEFAULT) <= room)
		return 0;
	tool_format_bytes(have, sizeof(have), room);
	if (!asked) {
		choose_ring(r, room, have);
		ring = r->opts.buffer;
		if (rings_of(&r->opts, ring) <= room)
			return 0;
	}
	tool_format_bytes(need, sizeof(need), rings_of(&r->opts, ring));
	largest_ring(r, room, fits, sizeof(fits));
	if (r->opts.prefault)
		return tool_error("--prefault: the rings of one process take %s, %s are free in "
				  "the tmpfs of %s: use a --buffer-size of at most %s", need, have,
				  r->session.path, fits), TOOL_USAGE;
	if (!r->opts.quiet)
		tool_note("--buffer-size: full rings of one process take up to %s, %s are free in "
			  "the tmpfs of %s, enough for rings of %s: records that do not fit are "
			  "lost and counted", need, have, r->session.path, fits);
	return 0;
}

void record_look_at_room(struct recording *r)
{
	struct statvfs vfs;

	if (r->device < 0 && !fstatvfs(r->session.dirfd, &vfs) &&
	    (uint64_t)vfs.f_bavail * vfs.f_frsize < RING_LEAST)
		r->full = true;
}

static int write_host(struct recording *r)
{
	const struct passwd *pw = getpwuid(getuid());
	char command[4096], cwd[PATH_MAX];
	char *more;
	int err;

	join_command(&r->opts, command, sizeof(command));
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = '\0';
	xsp_recording_one_line(cwd);
	if (asprintf(&more, "user=%s\ncommand=%s\ncwd=%s\nmode=%s\n", pw ? pw->pw_name : "",
		     command, cwd,
		     r->opts.mode ? r->opts.mode : "discard") < 0)
		return -ENOMEM;
	err = xsp_host_store(&r->cap, more);
	free(more);
	return err;
}

static void add_notices(struct recording *r)
{
	int err = xsp_drain_add_notices(r->drain, r->session.path);

	if (err && !r->opts.quiet)
		tool_note("processes that change their user or root directory and execute a "
			  "program cannot report that they are not recorded: no socket: "
			  "%s", strerror(-err));
}

int record_make_capture(struct recording *r, const struct xsp_drain_ops *ops)
{
	int err;

	r->fd = output_open(r->opts.output);
	if (r->fd < 0)
		return TOOL_USAGE;
	err = r->opts.level ? compress_open(&r->zstd, r->opts.level) : 0;
	if (!err)
		err = xsp_cap_create(&r->cap, r->fd, r->opts.level ? &r->zstd : NULL);
	if (!err)
		err = xsp_recording_add_capture(&r->session, r->cap.uuid);
	if (!err)
		err = write_host(r);
	if (!err)
		err = xsp_drain_open(r->session.dirfd, &r->cap, ops, r, 0, &r->drain);
	if (!err)
		add_notices(r);
	if (!err)
		err = record_device_add(&r->opts, r->session.path, r->device, r->drain);
	if (!err && r->cap.error)
		err = r->cap.error;
	if (err) {
		cannot_write(r, err);
		output_drop(r->opts.output, r->fd);
		return TOOL_USAGE;
	}
	return 0;
}
