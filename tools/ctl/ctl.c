// SPDX-License-Identifier: GPL-2.0-only
/*
 * `xsprof ctl`: requests a listening process to start, stop or save a trace, or to report its
 * state. It formats requests and answers; page.c transports them, and the process records.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tool.h"
#include "ctl/local.h"

#define DAY_MS		86400000u

static void help(void)
{
	puts("usage: xsprof ctl start    -p PID [options]\n"
	     "       xsprof ctl stop     -p PID\n"
	     "       xsprof ctl snapshot -p PID [-o FILE]\n"
	     "       xsprof ctl status   -p PID\n"
	     "       xsprof ctl list\n"
	     "\n"
	     "Starts, stops or saves a trace of PyTorch ops in a running process, as PyTorch's\n"
	     "profiler would. The process must listen: start it with XSPROF_ONDEMAND=1, or call\n"
	     "xsprof_ondemand_init() in it. 'list' shows the processes that listen.\n"
	     "\n"
	     "  -p, --pid PID           the process\n"
	     "  -o, --output FILE       the trace, a path in the file system of the process\n"
	     "                          (default ./xsprof-PID.json); .json.gz is compressed\n"
	     "  -d, --duration TIME     stop after TIME: 5, 2.5, 500ms, 2m (default: at 'stop')\n"
	     "  -n, --iterations N      trace N steps, starting with the program's next one\n"
	     "      --shapes            also record the inputs of ops\n"
	     "      --memory            also record allocations\n"
	     "      --stack             also record stacks\n"
	     "      --flops             also record FLOPs\n"
	     "      --modules           also record modules\n"
	     "      --memory-snapshot   write a file for PyTorch's memory viewer, not a trace\n"
	     "                          (default xsprof-PID.pickle)\n"
	     "  -s, --set KEY=VALUE     add a line to the Kineto configuration of the request\n"
	     "  -w, --wait              wait until the trace has ended, and print its file name\n"
	     "  -t, --timeout TIME      how long to wait for an answer (default 10)\n"
	     "      --allow-lost        exit with status 0 if records were lost\n"
	     "  -h, --help              this text\n"
	     "  -V, --version           the version\n"
	     "\n"
	     "'stop', 'snapshot' and 'start --wait' print the name of the file.");
}

/* ---- what is asked for ---- */

/* A line of the request.  Return: 0, or TOOL_FAILED where there is no room. */
static int add(struct ctl_asked *a, const char *key, const char *value)
{
	size_t at = strlen(a->text);
	int n = snprintf(a->text + at, sizeof(a->text) - at, "%s=%s\n", key, value);

	if (n < 0 || (size_t)n >= sizeof(a->text) - at)
		return tool_error("%s: the request is longer than %zu bytes", key,
				  sizeof(a->text) - 1);
	return 0;
}

static int add_number(struct ctl_asked *a, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return add(a, key, text);
}

/* The directory with symbolic links resolved: the process follows none. */
static int name_file(struct ctl_asked *a, const char *otherwise)
{
	const char *file = a->output ? a->output : otherwise;
	const char *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	char dir[PATH_MAX], real[PATH_MAX];

	if (!*name)
		return tool_usage("ctl", "--output: '%s' is not the name of a file", file);
	if (slash && slash - file >= (ptrdiff_t)sizeof(dir))
		return tool_usage("ctl", "--output: the name is too long");
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - file) + 1 : 1,
		 slash ? file : ".");
	/* A directory missing here may exist there: the process can have other mounts. */
	if (!realpath(dir, real)) {
		if (*file != '/')
			return tool_error("%s: %s", dir, strerror(errno));
		snprintf(real, sizeof(real), "%s", dir);
	}
	if ((size_t)snprintf(a->file, sizeof(a->file), "%s%s%s", real,
			     real[strlen(real) - 1] == '/' ? "" : "/", name) >= sizeof(a->file))
		return tool_usage("ctl", "--output: the name is too long");
	/* Kineto's configuration cannot have these in a value. */
	if (strpbrk(a->file, "#\n\r") || isspace((unsigned char)a->file[strlen(a->file) - 1]))
		return tool_usage("ctl", "--output: '%s': a request cannot name a file with '#' or "
				  "a line end in its name, or a blank at the end: use another "
				  "name", a->file);
	return add(a, "ACTIVITIES_LOG_FILE", a->file);
}

static int add_times(struct ctl_asked *a)
{
	uint64_t ms = a->duration_ns ? (a->duration_ns + 999999) / 1000000 : DAY_MS;
	int err;

	if (a->iterations) {
		err = add_number(a, "ACTIVITIES_ITERATIONS", a->iterations);
		return err ? err : add(a, "PROFILE_START_ITERATION", "0");
	}
	if (!a->memory_snapshot)
		return add_number(a, "ACTIVITIES_DURATION_MSECS", ms);
	err = add(a, "PROFILE_MEMORY", "true");
	return err ? err : add_number(a, "PROFILE_MEMORY_DURATION_MSECS", ms);
}

static int add_all(struct ctl_asked *a)
{
	char otherwise[40];
	uint32_t i;
	int err;

	snprintf(otherwise, sizeof(otherwise), "xsprof-%d.%s", (int)a->pid,
		 a->memory_snapshot ? "pickle" : "json");
	err = name_file(a, otherwise);
	if (!err)
		err = add_times(a);
	for (i = 0; i < a->nr_flags && !err; i++)
		err = add(a, a->flags[i], "true");
	for (i = 0; i < a->nr_lines && !err; i++) {
		char key[128];
		const char *eq = strchr(a->lines[i], '=');

		snprintf(key, sizeof(key), "%.*s", (int)(eq - a->lines[i]), a->lines[i]);
		err = add(a, key, eq + 1);
	}
	return err;
}

/* ---- verbs ---- */

/* Does a line of --set define the end? */
static bool ends_by_itself(const struct ctl_asked *a)
{
	for (size_t i = 0; i < a->nr_lines; i++)
		if (!strncmp(a->lines[i], "ACTIVITIES_DURATION_", 20) ||
		    !strncmp(a->lines[i], "ACTIVITIES_ITERATIONS=", 22))
			return true;
	return false;
}

static void tell_begun(const struct ctl_asked *a, const struct ctl_page *cp, const char *file)
{
	if (a->iterations)
		tool_note("process %d (%s): will record %" PRIu64 " iteration%s into %s",
			  (int)a->pid, cp->comm, a->iterations, a->iterations == 1 ? "" : "s",
			  file);
	else if (a->duration_ns)
		tool_note("process %d (%s): records for %g s into %s", (int)a->pid, cp->comm,
			  (double)a->duration_ns / 1e9, file);
	else if (ends_by_itself(a))
		tool_note("process %d (%s): records into %s, for as long as --set says",
			  (int)a->pid, cp->comm, file);
	else
		tool_note("process %d (%s): records into %s until 'xsprof ctl stop -p %d'",
			  (int)a->pid, cp->comm, file, (int)a->pid);
}

/* Prints its name, even if the trace is incomplete. */
static int tell_file(const struct ctl_asked *a, const char *file,
		     const struct xsp_demand_lost *lost)
{
	tool_print_name(file, 0);
	putchar('\n');
	return ctl_losses(a, file, lost);
}

static int wait_end(const struct ctl_asked *a, const struct ctl_page *cp, uint32_t number)
{
	static struct xsp_demand_now now;
	int err = ctl_wait_end(cp, number, &now);

	if (err == -ESTALE)
		return tool_error("process %d: the trace has ended, and another has started since: "
				  "the file should be %s", (int)a->pid, a->file);
	if (err)
		return tool_error("process %d: has ended, and left no trace", (int)a->pid);
	if (now.err)
		return ctl_refused(a, now.err, now.why);
	return tell_file(a, now.file, &now.lost);
}

static int do_start(struct ctl_asked *a, struct ctl_page *cp)
{
	static struct ctl_answer answer;
	int status = add_all(a);

	if (!status)
		status = ctl_request(a, cp, XSP_DEMAND_START, &answer);
	if (status)
		return status;
	if (answer.err)
		return ctl_refused(a, answer.err, answer.why);
	tell_begun(a, cp, answer.file);
	return a->wait ? wait_end(a, cp, answer.number) : 0;
}

static int do_stop(struct ctl_asked *a, struct ctl_page *cp)
{
	static struct ctl_answer answer;
	int status = ctl_request(a, cp, XSP_DEMAND_STOP, &answer);

	if (status)
		return status;
	if (answer.err)
		return ctl_refused(a, answer.err, answer.why);
	return tell_file(a, answer.file, &answer.lost);
}

static int do_snapshot(struct ctl_asked *a, struct ctl_page *cp)
{
	static struct ctl_answer answer;
	char otherwise[48];
	int status;

	snprintf(otherwise, sizeof(otherwise), "xsprof-%d-snapshot.json", (int)a->pid);
	status = name_file(a, otherwise);
	if (!status)
		status = ctl_request(a, cp, XSP_DEMAND_SNAPSHOT, &answer);
	if (status)
		return status;
	if (answer.err == -ENOENT && ctl_has_rings(a->pid))
		return tool_error("process %d: does not trace on demand, but has rings: 'xsprof "
				  "snapshot --pid %d' saves their contents", (int)a->pid,
				  (int)a->pid);
	if (answer.err)
		return ctl_refused(a, answer.err, answer.why);
	return tell_file(a, answer.file, &answer.lost);
}

static const struct ctl_verb {
	const char	*name;
	int		(*run)(struct ctl_asked *a, struct ctl_page *cp);
	const char	*options;	/* that it takes besides -p, -t and -h */
} verbs[] = {
	{ "start", do_start, "odnwsSMTFLPA" },
	{ "stop", do_stop, "A" },
	{ "snapshot", do_snapshot, "oA" },
	{ "status", ctl_status, "A" },
	{ "list", NULL, "" },
};

#define NR_VERBS	(sizeof(verbs) / sizeof(verbs[0]))

static int run(struct ctl_asked *a, const struct ctl_verb *verb)
{
	static struct ctl_page cp;
	int status;

	status = ctl_reach(a, &cp, verb->run == do_snapshot);
	if (status)
		return status;
	status = verb->run(a, &cp);
	ctl_close(&cp);
	return status;
}

/* ---- options ---- */

static int take_line(struct ctl_asked *a, const char *line)
{
	const char *eq = strchr(line, '=');

	if (!eq || eq == line || eq - line > 100 || strpbrk(line, "#\n\r"))
		return tool_usage("ctl", "--set: '%s' is not KEY=VALUE", line);
	if (a->nr_lines == CTL_LINES)
		return tool_usage("ctl", "--set: more than %u lines", CTL_LINES);
	a->lines[a->nr_lines++] = line;
	return -1;
}

static int take_time(const char *option, const char *text, uint64_t *ns)
{
	if (tool_parse_time(text, ns) || !*ns || *ns > DAY_MS * 1000000ull)
		return tool_usage("ctl", "--%s: '%s' is not a time up to a day: e.g. 5, 2.5, "
				  "500ms, 2m", option, text);
	return -1;
}

static int take(struct ctl_asked *a, int c, char **argv, const struct option *options)
{
	switch (c) {
	case 'p':
		return tool_take_pid("ctl", optarg, &a->pid);
	case 'o':
		if (!*optarg)
			return tool_usage("ctl", "--output: a file name is missing");
		a->output = optarg;
		break;
	case 'd':
		return take_time("duration", optarg, &a->duration_ns);
	case 't':
		return take_time("timeout", optarg, &a->timeout_ns);
	case 'n':
		if (tool_parse_u64(optarg, &a->iterations) || !a->iterations ||
		    a->iterations > INT32_MAX)
			return tool_usage("ctl", "--iterations: '%s' is not a number of iterations",
					  optarg);
		break;
	case 's':
		return take_line(a, optarg);
	case 'w':
		a->wait = true;
		break;
	case 'S':
		a->flags[a->nr_flags++ % CTL_FLAGS] = "PROFILE_REPORT_INPUT_SHAPES";
		break;
	case 'M':
		a->flags[a->nr_flags++ % CTL_FLAGS] = "PROFILE_PROFILE_MEMORY";
		break;
	case 'T':
		a->flags[a->nr_flags++ % CTL_FLAGS] = "PROFILE_WITH_STACK";
		break;
	case 'F':
		a->flags[a->nr_flags++ % CTL_FLAGS] = "PROFILE_WITH_FLOPS";
		break;
	case 'L':
		a->flags[a->nr_flags++ % CTL_FLAGS] = "PROFILE_WITH_MODULES";
		break;
	case 'P':
		a->memory_snapshot = true;
		break;
	case 'A':
		a->allow_lost = true;
		break;
	default:
		return tool_option("ctl", c, argv, options, help);
	}
	return -1;
}

static const struct ctl_verb *find_verb(const char *name)
{
	const char *names[NR_VERBS + 1] = { NULL }, *near;
	size_t i;

	for (i = 0; i < NR_VERBS; i++) {
		names[i] = verbs[i].name;
		if (!strcmp(names[i], name))
			return &verbs[i];
	}
	near = tool_closest(name, names);
	tool_usage("ctl", near ? "%s: no such request, did you mean '%s'?" :
		   "%s: no such request: start, stop, snapshot, status or list", name, near);
	return NULL;
}

static const char *long_name(int c, const struct option *options)
{
	while (options->name && options->val != c)
		options++;
	return options->name;
}

int cmd_ctl(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pid",	     required_argument, NULL, 'p' },
		{ "output",	     required_argument, NULL, 'o' },
		{ "duration",	     required_argument, NULL, 'd' },
		{ "iterations",	     required_argument, NULL, 'n' },
		{ "shapes",	     no_argument,	NULL, 'S' },
		{ "memory",	     no_argument,	NULL, 'M' },
		{ "stack",	     no_argument,	NULL, 'T' },
		{ "flops",	     no_argument,	NULL, 'F' },
		{ "modules",	     no_argument,	NULL, 'L' },
		{ "memory-snapshot", no_argument,	NULL, 'P' },
		{ "set",	     required_argument, NULL, 's' },
		{ "wait",	     no_argument,	NULL, 'w' },
		{ "timeout",	     required_argument, NULL, 't' },
		{ "allow-lost",	     no_argument,	NULL, 'A' },
		TOOL_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	static struct ctl_asked a = { .timeout_ns = 10000000000ull };
	const struct ctl_verb *verb = NULL;
	int c, at, status;

	if (argc < 2)
		return tool_usage("ctl", "ctl: a request is missing: start, stop, snapshot, status "
				  "or list");
	if (argv[1][0] != '-') {
		verb = find_verb(argv[1]);
		if (!verb)
			return TOOL_USAGE;
		argc--;
		argv++;
	}
	while ((c = getopt_long(argc, argv, "+:p:o:d:n:s:wt:hV", options, &at)) != -1) {
		if (verb && isalpha(c) && !strchr("pthV", c) && !strchr(verb->options, c))
			return tool_usage("ctl", "--%s: cannot be used with '%s'",
					  long_name(c, options), verb->name);
		status = take(&a, c, argv, options);
		if (status >= 0)
			return status;
	}
	if (!verb)
		return tool_usage("ctl", "ctl: the first argument is the request: start, stop, "
				  "snapshot, status or list");
	if (optind < argc)
		return tool_usage("ctl", "%s: takes no arguments", argv[optind]);
	if (a.iterations && (a.duration_ns || a.memory_snapshot))
		return tool_usage("ctl", "--iterations: cannot be used with --duration or "
				  "--memory-snapshot");
	if (!verb->run)
		return ctl_list();
	if (!a.pid)
		return tool_usage("ctl", "%s: needs --pid: 'xsprof ctl list' shows the processes "
				  "that listen",
				  verb->name);
	return run(&a, verb);
}
