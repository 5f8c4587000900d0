// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracer's instance: creates, configures, starts, reads and removes it. It changes nothing else
 * in tracefs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "cli/tool.h"
#include "ftrace/local.h"

#define BUFFER_DEFAULT	(4u << 20)
#define TRACEFS_MAGIC	0x74726163

/* Bounds of the period of reads, which depends on how fast the buffers fill. */
#define PERIOD_MIN	1000000u
#define PERIOD_MAX	100000000u
#define SWEEP_NS	1000000000u

/* Retries, each after another process removed it between its creation and open. */
#define MAKE_TRIES	10

static char why_not[256];
static struct ftrace_stats last_stats;

const char *ftrace_why_not(void)
{
	return *why_not ? why_not : NULL;
}

const struct ftrace_stats *ftrace_last_stats(void)
{
	return &last_stats;
}

/* ---- instances of the dead ------------------------------------------------------------------ */

static bool is_tracefs(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && fs.f_type == TRACEFS_MAGIC;
}

/* The mount point of tracefs, if it is mounted; this mounts nothing. */
static const char *mounted(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (int i = 0; i < 2; i++)
		if (is_tracefs(places[i]))
			return places[i];
	return NULL;
}

void ftrace_clean(void)
{
	const char *dir = mounted();
	struct dirent *entry;
	char path[512];
	DIR *d;

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/instances", dir);
	d = opendir(path);
	if (!d)
		return;
	while ((entry = readdir(d))) {
		struct xsp_proc_stat st;
		uint64_t start;
		int pid, end = 0;

		if (sscanf(entry->d_name, "xsprof-%d-%" SCNu64 "%n", &pid, &start, &end) != 2 ||
		    entry->d_name[end])
			continue;
		if (!xsp_proc_stat(pid, &st) && st.start_time == start)
			continue;
		snprintf(path, sizeof(path), "%s/instances/%s", dir, entry->d_name);
		/*
		 * If it is in use, its recorder lives, in another pid namespace; or another
		 * recorder that starts now removed it first.
		 */
		if (rmdir(path) && errno != EBUSY && errno != ENOENT && errno != ENODEV)
			tool_note("%s: left by an ended recorder; cannot be removed: %s", path,
				  strerror(errno));
	}
	closedir(d);
}

/* ---- making one ---------------------------------------------------------------------------- */

static int not_to_be_had(int err, const char *object)
{
	const char *what;

	switch (err < 0 ? -err : err) {
	case EACCES:
	case EPERM:
		what = geteuid() ?
			"needs root (CAP_DAC_OVERRIDE, or a tracefs that you own)" :
			"denied to root: this is a container without CAP_SYS_ADMIN, or the kernel "
			"is locked down";
		break;
	case ENOENT:
	case ENODEV:
		what = "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing";
		break;
	case EROFS:
		what = "tracefs is mounted read-only";
		break;
	case ENOMEM:
		what = "no memory for its buffers: use a smaller --trace-buffer";
		break;
	default:
		what = strerror(err < 0 ? -err : err);
	}
	snprintf(why_not, sizeof(why_not), "no kernel events are recorded: %s: %s", object,
		 what);
	tool_note("%s", why_not);
	return 0;
}

static bool has_clock(const char *clocks, const char *name)
{
	size_t len = strlen(name);
	const char *at = clocks;

	while ((at = strstr(at, name)) != NULL) {
		bool begins = at == clocks || at[-1] == ' ' || at[-1] == '[';
		char after = at[len];

		if (begins && (after == ' ' || after == ']' || after == '\n' || !after))
			return true;
		at += len;
	}
	return false;
}

/* The markers' own counter if the tracer has it, else the clock with the smallest error. */
static int set_clock(struct ftrace *ft, const char *wanted)
{
	const char *order[] = { "x86-tsc", "mono_raw", "mono", "boot" };
	char *clocks = tracefs_instance_file_read(ft->instance, "trace_clock", NULL);
	int err = -ENOENT;

	if (!clocks)
		return -errno;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && !ft->clock; i++) {
		if (wanted ? strcmp(order[i], wanted) != 0 :
		    !i && xsp_clock_kind() != XSPROF_CLOCK_TSC)
			continue;
		if (has_clock(clocks, order[i]))
			ft->clock = order[i];
	}
	free(clocks);
	if (ft->clock)
		err = tracefs_instance_file_write(ft->instance, "trace_clock", ft->clock) < 0 ?
		      -errno : 0;
	if (!ft->clock && wanted)
		tool_error("--trace-clock %s: this kernel's tracer has no such clock", wanted);
	return err;
}

static int set_option(struct ftrace *ft, const char *name, const char *value)
{
	char file[64];

	snprintf(file, sizeof(file), "options/%s", name);
	return tracefs_instance_file_write(ft->instance, file, value) < 0 ? -errno : 0;
}

/*
 * Recorders in other pid namespaces cannot see this process: an open file of the instance keeps
 * them from removing it. If one removed it before that, create another.
 */
static int make_instance(struct ftrace *ft)
{
	struct xsp_proc_stat st;
	char name[64];
	int err = 0;

	if (xsp_proc_stat(getpid(), &st))
		st.start_time = 0;
	snprintf(name, sizeof(name), "xsprof-%d-%" PRIu64, (int)getpid(), st.start_time);
	for (int i = 0; i < MAKE_TRIES; i++) {
		errno = 0;
		ft->instance = tracefs_instance_create(name);
		if (!ft->instance)
			return errno ? -errno : -EPERM;
		ft->held = tracefs_instance_file_open(ft->instance, "tracing_on",
						      O_RDONLY | O_CLOEXEC);
		if (ft->held >= 0)
			return 0;
		err = errno ? -errno : -EPERM;
		if (err != -ENOENT && err != -ENODEV)
			return err;
		tracefs_instance_free(ft->instance);
		ft->instance = NULL;
	}
	return err;
}

/* In a pid namespace only the command's own mark reveals its pid in the kernel. */
static int open_mark(struct ftrace *ft)
{
	static const char *const other_text[] = { "bin", "fields", "hex", "latency-format", "raw" };

	if (!ft->tree || !ftrace_namespaced())
		return 0;
	/* An instance inherits the options of the top instance; a kernel may lack some. */
	(void)set_option(ft, "context-info", "1");
	for (size_t i = 0; i < sizeof(other_text) / sizeof(other_text[0]); i++)
		(void)set_option(ft, other_text[i], "0");
	ft->mark = tracefs_instance_file_open(ft->instance, "trace_marker", O_WRONLY | O_CLOEXEC);
	if (ft->mark < 0 || tracefs_trace_on(ft->instance) < 0)
		return -errno;
	return 0;
}

static int set_up(struct ftrace *ft, const struct ftrace_options *opts)
{
	int err;

	if (tracefs_trace_off(ft->instance) < 0)
		return -errno;
	err = set_clock(ft, opts->clock);
	if (err)
		return err;
	ft->buffer = opts->buffer ? opts->buffer : BUFFER_DEFAULT;
	if (tracefs_instance_set_buffer_size(ft->instance, ft->buffer >> 10, -1) < 0)
		return errno ? -errno : -ENOMEM;
	/* Optional: a kernel may have no record-tgid in instances. */
	(void)set_option(ft, "record-tgid", "1");
	if (ft->tree && set_option(ft, "event-fork", "1"))
		return -errno;
	err = ftrace_read_layout(ft);
	if (!err)
		err = open_mark(ft);
	return err ? err : ftrace_open_cpus(ft);
}

static void destroy(struct ftrace *ft)
{
	ftrace_close_cpus(ft);
	if (ft->mark >= 0)
		close(ft->mark);
	if (ft->held >= 0)
		close(ft->held);
	if (ft->instance) {
		/* Without an open file others may have removed it already. */
		if (tracefs_instance_destroy(ft->instance) < 0 && errno != ENOENT &&
		    errno != ENODEV)
			tool_note("%s: cannot be removed: %s",
				  tracefs_instance_get_name(ft->instance), strerror(errno));
		tracefs_instance_free(ft->instance);
	}
	ftrace_list_free(&ft->events);
	free(ft);
}

int ftrace_open(const struct ftrace_options *opts, struct ftrace **out)
{
	struct ftrace *ft;
	int err;

	*out = NULL;
	why_not[0] = '\0';
	memset(&last_stats, 0, sizeof(last_stats));
	tracefs_set_loglevel(TEP_LOG_NONE);
	ft = calloc(1, sizeof(*ft));
	if (!ft)
		return not_to_be_had(-ENOMEM, "tracefs");
	ft->pipe[0] = ft->pipe[1] = ft->mark = ft->held = -1;
	ft->tree = opts->tree;
	ft->period = PERIOD_MAX / 2;
	/* The library mounts it if needed and permitted. */
	ft->dir = tracefs_tracing_dir();
	if (!ft->dir) {
		free(ft);
		return not_to_be_had(-ENOENT, "/sys/kernel/tracing");
	}
	if (access(ft->dir, R_OK | X_OK)) {
		err = -errno;
		free(ft);
		return not_to_be_had(err, "/sys/kernel/tracing");
	}
	err = ftrace_choose(opts, ft->dir, &ft->events);
	if (err) {
		destroy(ft);
		return err > 0 ? err : not_to_be_had(err, "/sys/kernel/tracing/events");
	}
	err = make_instance(ft);
	if (!err)
		err = set_up(ft, opts);
	if (err) {
		bool usage = err == -ENOENT && opts->clock && !ft->clock;

		destroy(ft);
		return usage ? TOOL_USAGE :
			       not_to_be_had(err, "an instance in /sys/kernel/tracing/instances");
	}
	*out = ft;
	return 0;
}

/* ---- running ------------------------------------------------------------------------------- */

int ftrace_mark(const struct ftrace *ft)
{
	return ft->mark;
}

int ftrace_start(struct ftrace *ft, struct xsp_cap *cap, const pid_t *processes, uint32_t nr)
{
	int err = ft->tree ? ftrace_set_tasks(ft, processes, nr) : 0;
	uint64_t ticks = ftrace_ticks(ft);

	if (!err)
		err = ftrace_enable(ft, cap);
	/* Formats of the enabled events; none is recorded before tracing is on. */
	if (!err)
		err = ftrace_write_meta(ft, cap);
	/* Written once early, in case the recorder is killed. */
	if (!err)
		ftrace_write_until(cap, ticks);
	if (!err && tracefs_trace_on(ft->instance) < 0)
		err = -errno;
	/* It stays, idle, until no other process has its files open. */
	if (err)
		(void)tracefs_instance_file_write(ft->instance, "events/enable", "0");
	ft->next = ft->swept = xsp_clock_ns(CLOCK_MONOTONIC);
	return err;
}

uint64_t ftrace_step(struct ftrace *ft, struct xsp_cap *cap)
{
	uint64_t now = xsp_clock_ns(CLOCK_MONOTONIC), most;
	bool sweep = now - ft->swept >= SWEEP_NS;
	uint64_t ticks;

	if (now < ft->next)
		return ft->next - now;
	/*
	 * Taken before the buffers are read: events with an earlier time are in them by then. An
	 * event that a CPU is writing now is read the next time, with a later such time.
	 */
	ticks = ftrace_ticks(ft);
	most = ftrace_read_cpus(ft, cap, sweep);
	if (sweep)
		ft->swept = now;
	if (sweep && !ft->behind)
		ftrace_write_until(cap, ticks);
	/* Reading at a quarter full is early enough, at a sixteenth too often. */
	if (most > ft->buffer / 4 && ft->period > PERIOD_MIN)
		ft->period /= 2;
	else if (most < ft->buffer / 16 && ft->period < PERIOD_MAX)
		ft->period *= 2;
	now = xsp_clock_ns(CLOCK_MONOTONIC);
	ft->next = now + ft->period;
	return ft->period;
}

void ftrace_drop(struct ftrace *ft)
{
	if (ft)
		destroy(ft);
}

/* The tracer counts unread events as lost; only this process knows the reason. */
static void tell_errors(const struct ftrace *ft, struct xsp_cap *cap)
{
	for (uint32_t i = 0; i < ft->nr_cpus; i++) {
		char text[128];

		if (!ft->cpus[i].err)
			continue;
		snprintf(text, sizeof(text), "CPU %u: some kernel events could not be read: %s",
			 ft->cpus[i].cpu, strerror(-ft->cpus[i].err));
		tool_note("%s", text);
		xsp_cap_note(cap, text);
	}
}

void ftrace_finish(struct ftrace *ft, struct xsp_cap *cap)
{
	uint64_t ticks = ftrace_ticks(ft);

	tracefs_trace_off(ft->instance);
	ftrace_read_cpus(ft, cap, true);
	if (!ft->behind)
		ftrace_write_until(cap, ticks);
	ftrace_write_tasks(ft, cap);
	ftrace_write_ledgers(ft, cap, &last_stats);
	tell_errors(ft, cap);
	destroy(ft);
}
