// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof snapshot`: what the rings of this user's processes hold now, live or ended, into a
 * capture.  It never consumes: recorders and programs do not notice.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compress.h"
#include "session.h"
#include "snapshot.h"
#include "tool.h"
#include "trace/ring-guard.h"

/**
 * struct asked - what was asked for
 * @snap: the snapshot
 * @pid: of this process only, 0 for all
 * @err: the first error of a producer
 */
struct asked {
	struct snapshot		snap;
	struct snapshot_options	opts;
	uint32_t		pid;
	bool			quiet;
};

static void help(void)
{
	puts("usage: xsprof snapshot [options]\n"
	     "\n"
	     "Writes what the rings of your processes hold now into a capture: of those that run\n"
	     "under a recorder, and of ended ones that nobody has read yet. Nothing is consumed\n"
	     "and nobody is stopped; a recorder goes on as if it had not been done.\n"
	     "\n"
	     "  -o, --output FILE       write FILE (default xsprof.data; one that is there\n"
	     "                          becomes FILE.old)\n"
	     "  -p, --pid PID           of this process only\n"
	     "  -l, --last TIME         only the last part: 5, 2.5, 500ms, 2m\n"
	     "  -z, --compress[=LEVEL]  compress with zstd, LEVEL 1 to 19 (default 3)\n"
	     "  -q, --quiet             say nothing but errors\n"
	     "\n"
	     "What was open when, 'xsprof report' tells of the file.");
}

/* The process id is the one in its name, p.PID.START.SEQ, and that in its control page. */
static bool is_wanted(const struct asked *asked, const char *name)
{
	return !strncmp(name, "p.", 2) &&
	       (!asked->pid || strtoul(name + 2, NULL, 10) == asked->pid);
}

static int add_session(void *data, struct session_seen *seen)
{
	struct asked *asked = data;
	struct dirent *entry;
	DIR *dir;
	int fd, err;

	if (seen->name[0] != 's' || !seen->producers || !seen->same_boot)
		return 0;
	fd = openat(seen->s.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((entry = readdir(dir))) {
		if (!is_wanted(asked, entry->d_name))
			continue;
		err = snapshot_add_file(&asked->snap, seen->s.dirfd, entry->d_name, NULL);
		/* One that its recorder took away meanwhile is in the recorder's file. */
		if (err && err != -ENOENT)
			tool_note("%s/%s: left out: %s", seen->s.path, entry->d_name,
				  xsp_ctl_strerror(err));
	}
	closedir(dir);
	return 0;
}

static int add_sessions(struct asked *asked)
{
	char user[XSP_SESSION_PATH];
	const char *object;
	int err;

	err = xsp_session_user_dir(user, false, &object);
	/* The folder is made by the first recording: before it there are no sessions. */
	if (err == -ENOENT && object == user)
		return 0;
	if (err)
		return session_error(object, err);
	err = session_each(add_session, asked);
	return err ? tool_error("%s: %s", user, strerror(-err)) : 0;
}

static int run(struct asked *asked)
{
	int status;

	if (xsp_guard_install())
		return tool_error("signals: %s", strerror(errno));
	status = snapshot_begin(&asked->snap, &asked->opts);
	if (status)
		return status;
	status = add_sessions(asked);
	if (!status && !asked->snap.number) {
		if (asked->pid)
			status = tool_error("process %u: holds no rings: 'xsprof list' shows who "
					    "does", asked->pid);
		else
			status = tool_error("no process of yours holds rings: start one under "
					    "'xsprof record'");
	}
	if (status) {
		snapshot_drop(&asked->snap);
		return status;
	}
	return snapshot_end(&asked->snap, "snapshot", asked->quiet);
}

static int take(struct asked *asked, int c, char **argv, const struct option *options)
{
	uint64_t value = COMPRESS_LEVEL_DEFAULT;

	switch (c) {
	case 'o':
		if (!*optarg)
			return tool_usage("snapshot", "--output: needs the name of a file");
		asked->opts.path = optarg;
		break;
	case 'p':
		if (tool_parse_u64(optarg, &value) || !value || value > UINT32_MAX)
			return tool_usage("snapshot", "--pid: '%s' is no process id", optarg);
		asked->pid = value;
		break;
	case 'l':
		if (tool_parse_time(optarg, &asked->opts.last_ns) || !asked->opts.last_ns)
			return tool_usage("snapshot", "--last: '%s' is no time: e.g. 5, 2.5, "
					  "500ms, 2m", optarg);
		break;
	case 'z':
		if (optarg && (tool_parse_u64(optarg, &value) || !value ||
			       value > COMPRESS_LEVEL_MAX))
			return tool_usage("snapshot", "--compress: '%s' is no level: 1 to %d",
					  optarg, COMPRESS_LEVEL_MAX);
		asked->opts.level = value;
		break;
	case 'q':
		asked->quiet = true;
		break;
	case 'h':
		help();
		return 0;
	default:
		return tool_bad_option("snapshot", c, argv, options);
	}
	return -1;
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output",   required_argument, NULL, 'o' },
		{ "pid",      required_argument, NULL, 'p' },
		{ "last",     required_argument, NULL, 'l' },
		{ "compress", optional_argument, NULL, 'z' },
		{ "quiet",    no_argument,	 NULL, 'q' },
		{ "help",     no_argument,	 NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	static struct asked asked = {
		.opts = { .path = "xsprof.data", .command = "xsprof snapshot" },
	};
	int c, status;

	while ((c = getopt_long(argc, argv, "+:o:p:l:z::qh", options, NULL)) != -1) {
		status = take(&asked, c, argv, options);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return tool_usage("snapshot", "%s: takes no arguments", argv[optind]);
	return run(&asked);
}
