// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the options of `xsprof record`.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/abi.h>

#include "cli/output.h"
#include "cli/tool.h"
#include "record/flight.h"
#include "record/load.h"
#include "record/metrics.h"
#include "record/realtime.h"

#define BUFFER_MIN	(XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE)
#define BUFFER_MAX	(1ull << 40)
#define PYTHON_HZ	100u
#define PYTHON_HZ_MAX	1000u

enum {
	OPT_NO_ITT = 256,
	OPT_NO_NVTX,
	OPT_NO_COLLECTORS,
	OPT_GPU,
	OPT_GPU_BUDGET,
	OPT_SHARE,
	OPT_METRICS,
	OPT_METRICS_BY,
	OPT_METRICS_HZ,
	OPT_CATEGORIES,
	OPT_PREFAULT,
	OPT_CLOCK,
	OPT_WAIT_ALL,
	OPT_BACKEND,
	OPT_TORCH,
	OPT_NO_TORCH,
	OPT_PYTHON,
	OPT_NO_PYTHON,
	OPT_PYTHON_NATIVE,
	OPT_PYTHON_TRACE,
	OPT_SCHED,
	OPT_REALTIME,
};

static const struct option options[] = {
	{ "output",	 required_argument, NULL, 'o' },
	{ "buffer-size", required_argument, NULL, 'b' },
	{ "mode",	 required_argument, NULL, 'm' },
	{ "duration",	 required_argument, NULL, 'd' },
	{ "compress",	 optional_argument, NULL, 'z' },
	{ "quiet",	 no_argument,	    NULL, 'q' },
	{ "verbose",	 no_argument,	    NULL, 'v' },
	{ "no-itt",	 no_argument,	    NULL, OPT_NO_ITT },
	{ "no-nvtx",	 no_argument,	    NULL, OPT_NO_NVTX },
	{ "no-collectors", no_argument,   NULL, OPT_NO_COLLECTORS },
	{ "gpu",	 optional_argument,	    NULL, OPT_GPU },
	{ "gpu-budget",	 required_argument, NULL, OPT_GPU_BUDGET },
	{ "gpu-share",	 no_argument,	    NULL, OPT_SHARE },
	{ "metrics",	 optional_argument, NULL, OPT_METRICS },
	{ "metrics-by",	 required_argument, NULL, OPT_METRICS_BY },
	{ "metrics-hz",	 required_argument, NULL, OPT_METRICS_HZ },
	{ "torch",	 required_argument, NULL, OPT_TORCH },
	{ "no-torch",	 no_argument,	    NULL, OPT_NO_TORCH },
	{ "python",	 optional_argument, NULL, OPT_PYTHON },
	{ "python-native", no_argument,	    NULL, OPT_PYTHON_NATIVE },
	{ "python-trace", optional_argument, NULL, OPT_PYTHON_TRACE },
	{ "no-python",	 no_argument,	    NULL, OPT_NO_PYTHON },
	{ "categories",	 required_argument, NULL, OPT_CATEGORIES },
	{ "prefault",	 no_argument,	    NULL, OPT_PREFAULT },
	{ "clock",	 required_argument, NULL, OPT_CLOCK },
	{ "wait-all",	 no_argument,	    NULL, OPT_WAIT_ALL },
	{ "backend",	 required_argument, NULL, OPT_BACKEND },
	{ "sched",	 no_argument,	    NULL, OPT_SCHED },
	{ "realtime",	 optional_argument, NULL, OPT_REALTIME },
	{ "pid",	 required_argument, NULL, 'p' },
	{ "all",	 no_argument,	    NULL, 'a' },
	TOOL_ALLOW_LOST,
	TOOL_OPTIONS,
	FLIGHT_OPTIONS,
	FTRACE_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static int take_buffer(const char *text, uint64_t *bytes)
{
	if (tool_parse_size(text, bytes))
		return tool_usage("record", "--buffer-size: '%s' is not a size: e.g. 512k, 16M, 1G",
				  text);
	if (*bytes < BUFFER_MIN || *bytes > BUFFER_MAX)
		return tool_usage("record", "--buffer-size: '%s': expected %uk to 1T", text,
				  BUFFER_MIN >> 10);
	return -1;
}

static int take_word(const char *option, const char *text, const char *const *words,
		     const char **word)
{
	char all[64] = "";
	size_t i, at = 0;

	for (i = 0; words[i]; i++) {
		if (!strcmp(text, words[i])) {
			*word = words[i];
			return -1;
		}
		at += snprintf(all + at, sizeof(all) - at, "%s%s",
			       !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	}
	return tool_usage("record", "--%s: '%s': %s", option, text, all);
}

static int take_hz(const char *text, uint32_t *hz)
{
	unsigned long value = PYTHON_HZ;
	char *end = NULL;

	if (text)
		value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
	if (!value || value > PYTHON_HZ_MAX || (end && *end))
		return tool_usage("record", "--python: '%s': expected samples per second, 1 to "
				  "%u", text,
				  PYTHON_HZ_MAX);
	*hz = (uint32_t)value;
	return -1;
}

/* A detail, cstack, or both. */
static int take_torch(const char *text, struct record_options *opts)
{
	static const char *const details[] = { "names", "shapes", "all", "off" };
	const char *detail = NULL;
	bool cstack = false, wrong;
	size_t n;

	for (const char *p = text;; p += n + 1) {
		n = strcspn(p, ",");
		wrong = true;
		if (n == strlen("cstack") && !memcmp(p, "cstack", n)) {
			wrong = cstack;
			cstack = true;
		}
		for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
			if (n != strlen(details[i]) || memcmp(p, details[i], n))
				continue;
			wrong = detail;
			detail = details[i];
		}
		if (wrong || !p[n])
			break;
	}
	if (wrong || (cstack && detail && !strcmp(detail, "off")))
		return tool_usage("record", "--torch: '%s': expected names, shapes, all or off; "
				  "cstack; or both, e.g. all,cstack", text);
	opts->torch = detail ? detail : "names";
	opts->cstack = cstack;
	return -1;
}

/* Both options were given: it is unclear which one is meant. */
static int take_categories(const char *list, const char **categories)
{
	for (const char *p = list; *p; p += *p == ',') {
		size_t n = strcspn(p, ",");

		for (const char *q = list; *q && n; q += *q == ',') {
			size_t m = strcspn(q, ",");

			if (*q == '-' && m == n + 1 && !strncmp(q + 1, p, n))
				return tool_usage("record", "--categories: '%s': %.*s is both "
						  "included and excluded", list, (int)n, p);
			q += m;
		}
		p += n;
	}
	*categories = list;
	return -1;
}

static int take_gpu(struct record_options *opts, const char *words)
{
	static const char *const known[] = {
		"graphs", "memory", "managed", "faults", "pools", "jit", "links", "queued",
	};
	size_t n, i;

	opts->gpu = true;
	if (words && !*words)
		return tool_usage("record", "--gpu=: a word is missing; --gpu alone needs none");
	for (const char *p = words ? words : ""; *p; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (strlen(known[i]) == n && !strncmp(known[i], p, n))
				break;
		if (i == sizeof(known) / sizeof(known[0]))
			return tool_usage("record", "--gpu: '%.*s' is invalid: expected graphs, "
					  "memory, managed, faults, pools, jit, links, queued, "
					  "or a comma-separated list of them",
					  (int)n, p);
	}
	opts->gpu_what = words;
	return -1;
}

static int take_budget(struct record_options *opts, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	end += *end == '%';
	if (end == text || *end || !(percent >= 0.1 && percent <= 100))
		return tool_usage("record", "--gpu-budget: '%s' is invalid: expected 0.1 to 100, "
				  "percent of one CPU", text);
	opts->gpu = true;
	opts->gpu_budget = text;
	return -1;
}

static int take(struct record_options *opts, int c, char **argv)
{
	static const char *const modes[] = { "discard", "overwrite", NULL };
	static const char *const clocks[] = { "auto", "mono", NULL };
	static const char *const backends[] = { "auto", "device", "tmpfs", NULL };
	const char *other;

	switch (c) {
	case 'o':
		opts->output = optarg;
		if (!*optarg)
			return tool_usage("record", "--output: a file name is missing");
		if (strcmp(optarg, "-"))
			return output_name("record", optarg);
		if (isatty(STDOUT_FILENO))
			return tool_usage("record", "--output: standard output is a terminal: name "
					  "a file, or use a pipe");
		opts->output = "/dev/stdout";
		break;
	case 'b':
		return take_buffer(optarg, &opts->buffer);
	case 'm':
		return take_word("mode", optarg, modes, &opts->mode);
	case 'd':
		if (tool_parse_time(optarg, &opts->duration) || !opts->duration)
			return tool_usage("record", "--duration: '%s' is not a time: e.g. 5, 2.5, "
					  "500ms, 2m", optarg);
		break;
	case 'z':
		return compress_level("record", argv, &opts->level);
	case 'q':
		opts->quiet = true;
		break;
	case 'v':
		opts->verbose = true;
		break;
	case OPT_NO_ITT:
		opts->itt = false;
		break;
	case OPT_NO_COLLECTORS:
		opts->collectors = false;
		break;
	case OPT_GPU:
		return take_gpu(opts, optarg);
	case OPT_GPU_BUDGET:
		return take_budget(opts, optarg);
	case OPT_SHARE:
		opts->gpu = opts->gpu_share = true;
		break;
	case OPT_METRICS:
		opts->gpu = true;
		return metrics_take(optarg, &opts->metrics);
	case OPT_METRICS_BY:
		return metrics_take_by(optarg, &opts->metrics_by);
	case OPT_METRICS_HZ:
		return metrics_take_hz(optarg, &opts->metrics_hz);
	case OPT_NO_NVTX:
		opts->nvtx = false;
		break;
	case OPT_TORCH:
		return take_torch(optarg, opts);
	case OPT_NO_TORCH:
		opts->torch = "off";
		opts->cstack = false;
		break;
	case OPT_PYTHON:
		opts->python = true;
		return take_hz(optarg, &opts->python_hz);
	case OPT_PYTHON_NATIVE:
		opts->python = opts->python_native = true;
		if (!opts->python_hz)
			opts->python_hz = PYTHON_HZ;
		break;
	case OPT_PYTHON_TRACE:
		opts->python_trace = optarg ? optarg : "all";
		if (!*opts->python_trace)
			return tool_usage("record", "--python-trace=: a module is missing");
		opts->python = true;
		break;
	case OPT_NO_PYTHON:
		opts->no_python = true;
		break;
	case OPT_CATEGORIES:
		return take_categories(optarg, &opts->categories);
	case OPT_PREFAULT:
		opts->prefault = true;
		break;
	case OPT_SCHED:
		opts->sched = true;
		break;
	case OPT_REALTIME:
		return realtime_take(optarg, &opts->realtime);
	case OPT_CLOCK:
		return take_word("clock", optarg, clocks, &opts->clock);
	case OPT_BACKEND:
		return take_word("backend", optarg, backends, &opts->backend);
	case 'p':
		return attach_take(&opts->attach, "record", optarg);
	case 'a':
		opts->attach.all = true;
		break;
	case TOOL_OPT_ALLOW_LOST:
		opts->allow_lost = true;
		break;
	case OPT_WAIT_ALL:
		opts->wait_all = true;
		break;
	default:
		other = c == '?' ? record_other_tool(optopt, argv[optind - 1]) : NULL;
		if (other && optopt)
			return tool_usage("record", "-%c: unknown option: %s", optopt, other);
		if (other)
			return tool_usage("record", "%s: unknown option: %s", argv[optind - 1],
					  other);
		return tool_option("record", c, argv, options, record_help);
	}
	return -1;
}

/* In any order: it is unclear which one is meant. */
static int check_python(struct record_options *opts)
{
	if (!opts->no_python)
		return -1;
	opts->python = false;
	if (!opts->python_trace && !opts->python_hz)
		return -1;
	return tool_usage("record", "--no-python, --%s: cannot be combined",
			  opts->python_trace ? "python-trace" :
			  opts->python_native ? "python-native" : "python");
}

/* Options about creating rings have no effect on existing rings. */
static int check_attach(const struct record_options *opts, int argc, char **argv)
{
	const char *nonsense = opts->mode ? "mode" : opts->buffer ? "buffer-size" :
		opts->categories ? "categories" : opts->clock ? "clock" :
		opts->prefault ? "prefault" : opts->wait_all ? "wait-all" :
		opts->flight.size ? "flight=SIZE" : NULL;
	const char *which = opts->attach.all ? "all" : "pid";

	if (opts->attach.all && opts->attach.nr)
		return tool_usage("record", "--pid, --all: cannot be combined");
	if (optind < argc)
		return tool_usage("record", "%s: a command cannot be combined with --%s: start it "
				  "first, then record it", argv[optind], which);
	if (nonsense)
		return tool_usage("record", "--%s: the rings of running processes cannot be "
				  "changed; not with --%s", nonsense, which);
	if (opts->gpu)
		return tool_usage("record", "--gpu: only for programs that xsprof starts: the "
				  "drivers load the collectors then; not with --%s", which);
	if (opts->python_trace)
		return tool_usage("record", "--python-trace: only for programs that xsprof starts; "
				  "use --python to sample running ones; not with --%s", which);
	if (opts->python_native)
		return tool_usage("record", "--python-native: only for programs that xsprof "
				  "starts; not with --%s", which);
	if (opts->torch && strcmp(opts->torch, "off"))
		return tool_usage("record", "--torch: only for programs that xsprof starts; not "
				  "with --%s", which);
	if (opts->python_hz && !opts->load)
		return tool_usage("record", "--python: works with --pid, not with --%s",
				  opts->flight.on ? "flight" : which);
	if (opts->load && !opts->python)
		return tool_usage("record", "--no-python: without the module, --pid works through "
				  "the library that records Python");
	if (opts->load && opts->sched)
		return tool_usage("record", "--sched: needs the kernel module");
	if (!opts->load && opts->backend && !strcmp(opts->backend, "tmpfs"))
		return tool_usage("record", "--backend tmpfs: --%s needs the module: rings of "
				  "running processes are accessible only through the "
				  "device", which);
	return -1;
}

int record_parse(int argc, char **argv, struct record_options *opts)
{
	int c, status;

	memset(opts, 0, sizeof(*opts));
	opts->output = "xsprof.data";
	opts->itt = true;
	opts->nvtx = true;
	opts->python = true;
	opts->collectors = true;
	while ((c = getopt_long(argc, argv, "+:o:b:m:d:z::p:ae:qvhV", options, NULL)) != -1) {
		status = flight_option(&opts->flight, c, optarg);
		if (!status && ftrace_is_option(c))
			status = ftrace_option(&opts->kernel, "record", c, optarg);
		else if (!status)
			status = take(opts, c, argv);
		if (status >= 0)
			return status;
	}
	opts->argv = argv + optind;
	status = check_python(opts);
	if (status >= 0)
		return status;
	status = ftrace_check(&opts->kernel, "record");
	if (status >= 0)
		return status;
	if (opts->kernel.tree && opts->attach.all)
		return tool_usage("record", "--filter-tree: needs a command: not with --all");
	if (opts->flight.on && !strcmp(opts->output, "/dev/stdout"))
		return tool_usage("record", "--output: --flight cannot write to standard output: "
				  "it writes a file at each trigger: give a file name");
	if (opts->flight.on && ftrace_wanted(&opts->kernel))
		return tool_usage("record", "-e: --flight records no kernel events");
	if (attach_on(&opts->attach)) {
		opts->load = load_wanted(opts);
		status = check_attach(opts, argc, argv);
		return status < 0 ? flight_check(opts) : status;
	}
	status = metrics_check(opts->metrics, opts->metrics_by, opts->metrics_hz,
			       opts->gpu_budget);
	if (status >= 0)
		return status;
	if (optind == argc)
		return tool_usage("record", "no command to record: give one after --");
	return flight_check(opts);
}
