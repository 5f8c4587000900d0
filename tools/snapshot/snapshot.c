// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof snapshot`: copies the present contents of the rings of this user's processes, live or
 * ended, into a capture. It consumes nothing, and does not affect recorders and programs.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/ctl-check.h"
#include "cli/output.h"
#include "cli/find.h"
#include "cli/tool.h"
#include "read/ring-guard.h"
#include "snapshot/snapshot.h"

/**
 * struct asked - the request
 * @snap: the snapshot
 * @opts: its options
 * @who: the processes
 * @quiet: errors only
 * @allow_lost: exit with status 0 if records were lost
 * @left_out: files that could not be read
 */
struct asked {
	struct snapshot		snap;
	struct snapshot_options	opts;
	struct attach		who;
	bool			quiet;
	bool			allow_lost;
	unsigned int		left_out;
};

#define LEFT_OUT_SAID	5u

static void help(void)
{
	puts("usage: xsprof snapshot [options]\n"
	     "\n"
	     "Copies the current contents of your processes' rings into a capture: of running\n"
	     "processes, and of ended ones that no recorder has read yet. Consumes nothing,\n"
	     "stops no process, and does not disturb a recorder.\n"
	     "\n"
	     "  -o, --output FILE       write FILE (default xsprof.data; an existing one is\n"
	     "                          renamed to FILE.old); - is standard output\n"
	     "  -p, --pid PID[,PID...]  only these processes\n"
	     "  -a, --all               also those processes of other users that you may read\n"
	     "                          (needs the module)\n"
	     "  -l, --last TIME         only the last TIME: 5, 2.5, 500ms, 2m\n"
	     "  -z, --compress[=LEVEL]  compress with zstd, LEVEL 1 to 19 (default 3)\n"
	     "      --allow-lost        exit with status 0 if records were lost\n"
	     "  -q, --quiet             print only errors\n"
	     "  -h, --help              this text\n"
	     "  -V, --version           the version\n"
	     "\n"
	     "'xsprof report FILE' shows which ranges were open at that moment.");
}

static int add(void *data, const struct found *found)
{
	struct asked *asked = data;
	int err;

	if (found->info)
		err = snapshot_add_device(&asked->snap, found->device, found->info->id);
	else
		err = snapshot_add_file(&asked->snap, found->dirfd, found->name, NULL);
	/* If its recorder removed it meanwhile, its records are in the recorder's file. */
	if (err && err != -ENOENT && asked->left_out++ < LEFT_OUT_SAID)
		tool_note("%s/%s: left out: %s", found->path, found->name, xsp_ctl_strerror(err));
	return 0;
}

static int run(struct asked *asked)
{
	int status;
	bool lost;

	/* Failed writes are reported as errors, not by a signal. */
	signal(SIGXFSZ, SIG_IGN);
	if (xsp_guard_install())
		return tool_error("signals: %s", strerror(errno));
	status = snapshot_begin(&asked->snap, &asked->opts);
	if (status)
		return status;
	status = find_producers(&asked->who, add, asked);
	if (asked->left_out > LEFT_OUT_SAID)
		tool_note("%u more are left out", asked->left_out - LEFT_OUT_SAID);
	if (!status)
		status = attach_check_met(&asked->who);
	if (!status && !asked->snap.number)
		status = tool_error("none of your processes has rings: start one with 'xsprof "
				    "record'");
	if (status) {
		snapshot_drop(&asked->snap);
		return status;
	}
	if (asked->snap.old && !asked->quiet)
		tool_note("--last: %u of %u processes wrote nothing in that time: their latest "
			  "records before it are saved", asked->snap.old, asked->snap.number);
	lost = asked->snap.lost_records || asked->snap.bad_slots;
	status = snapshot_end(&asked->snap, "snapshot", asked->quiet);
	return status || !lost || asked->allow_lost ? status : TOOL_LOST;
}

static int take(struct asked *asked, int c, char **argv, const struct option *options)
{
	switch (c) {
	case 'o':
		if (!*optarg)
			return tool_usage("snapshot", "--output: a file name is missing");
		asked->opts.path = optarg;
		if (strcmp(optarg, "-"))
			return output_name("snapshot", optarg);
		if (isatty(STDOUT_FILENO))
			return tool_usage("snapshot", "--output: standard output is a terminal: "
					  "name a file, or use a pipe");
		asked->opts.path = "/dev/stdout";
		break;
	case 'p':
		return attach_take(&asked->who, "snapshot", optarg);
	case 'a':
		asked->who.all = true;
		break;
	case 'l':
		if (tool_parse_time(optarg, &asked->opts.last_ns) || !asked->opts.last_ns)
			return tool_usage("snapshot", "--last: '%s' is not a time: e.g. 5, 2.5, "
					  "500ms, 2m", optarg);
		break;
	case 'z':
		return compress_level("snapshot", argv, &asked->opts.level);
	case 'q':
		asked->quiet = true;
		break;
	case TOOL_OPT_ALLOW_LOST:
		asked->allow_lost = true;
		break;
	default:
		return tool_option("snapshot", c, argv, options, help);
	}
	return -1;
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output",   required_argument, NULL, 'o' },
		{ "pid",      required_argument, NULL, 'p' },
		{ "all",      no_argument,	 NULL, 'a' },
		{ "last",     required_argument, NULL, 'l' },
		{ "compress", optional_argument, NULL, 'z' },
		{ "quiet",    no_argument,	 NULL, 'q' },
		TOOL_ALLOW_LOST,
		TOOL_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	static struct asked asked = {
		.opts = { .path = "xsprof.data", .command = "xsprof snapshot" },
	};
	int c, status;

	while ((c = getopt_long(argc, argv, "+:o:p:al:z::qhV", options, NULL)) != -1) {
		status = take(&asked, c, argv, options);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return tool_usage("snapshot", "%s: takes no arguments", argv[optind]);
	status = run(&asked);
	attach_free(&asked.who);
	return status;
}
