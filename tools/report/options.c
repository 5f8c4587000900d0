// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of xsprof report.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/tool.h"
#include "report/local.h"

#define GPU_ROWS	(REPORT_BY_NAME | REPORT_BY_KERNEL)

void report_help(void)
{
	fputs("usage: xsprof report [options] [FILE]\n\n"
	      "Shows where time went: count, total, self, mean, min, p50, p99, max of ranges.\n\n"
	      "  -i, --input FILE      the capture (default " XSP_INPUT ", - is stdin)\n"
	      "      --by LIST         rows by name (default; op is the same), thread, process,\n"
	      "                        category, pattern (name with * for each number in it),\n"
	      "                        shape (name and inputs), module or line (of PyTorch\n"
	      "                        programs, recorded with --torch all), or several:\n"
	      "                        module,name; or by function or function,thread, of\n"
	      "                        stack samples (recorded with --python); or by kernel,\n"
	      "                        same as --gpu; or by op,kernel: kernels and the op\n"
	      "                        that launched them\n"
	      "  -s, --sort KEY        total (default), self, count, mean, min, p50, p99, max,\n"
	      "                        memory, flops, name; with --gil waited or held\n"
	      "  -n, --limit N         only the first N rows\n"
	      "      --steps[=NAME]    what each training step spent its time on; steps end at\n"
	      "                        Optimizer.step or where the program marks them; with\n"
	      "                        NAME, ranges of that name (or pattern) are the steps\n"
	      "      --why NAME        the slowest ranges of that name (or pattern), and what\n"
	      "                        they waited for; -n: how many (5)\n"
	      "      --gaps            the longest gaps between ranges of a thread, or between\n"
	      "                        activities of a GPU stream, and why; -n: how many (5)\n"
	      "      --gpu             GPUs: how busy they were; kernels and copies, and their\n"
	      "                        delay since the launch; calls (recorded with --gpu);\n"
	      "                        with --by op: the device's time by the op or range\n"
	      "                        that launched the work\n"
	      "      --gil             threads that waited for the GIL, the threads that held it\n"
	      "                        meanwhile, and the threads that got it\n"
	      "      --include-uncertain\n"
	      "                        also count the times of ranges inside which records\n"
	      "                        were lost: their end may be that of another range\n"
	      "      --open            list the ranges open at the end, of all processes and\n"
	      "                        threads (default: only of those that ended abnormally)\n"
	      "      --no-open         no list of open ranges\n"
	      "      --json            as JSON, times in nanoseconds\n"
	      "  -q, --quiet           no warnings about the file; losses are still shown\n"
	      "      --allow-lost      exit with status 0 if records were lost\n"
	      XSP_FILTER_HELP
	      "  -h, --help            this text\n"
	      "  -V, --version         the version\n\n"
	      READING_STATUS_HELP,
	      stdout);
}

static int parse_by(struct report *report, char *text)
{
	static const char *const words[] = { "name", "thread", "process", "category", "pattern",
					     "shape", "module", "line", "kernel" };
	const size_t n = sizeof(words) / sizeof(words[0]);
	char *word;
	size_t i;

	report->by = 0;
	report->functions = false;
	while ((word = strsep(&text, ","))) {
		if (!strcmp(word, "op"))
			word = (char *)words[0];
		if (!strcmp(word, "function")) {
			report->functions = true;
			continue;
		}
		for (i = 0; i < n && strcmp(words[i], word); i++)
			;
		if (i == n)
			return tool_usage("report", "--by: '%s' is not one of name, op, "
					  "thread, process, category, pattern, shape, "
					  "module, line, function, kernel", word);
		report->by |= 1u << i;
	}
	if (report->by & REPORT_BY_KERNEL && (report->by & ~GPU_ROWS || report->functions))
		return tool_usage("report", "--by: kernel can be combined with op only");
	report->gpu |= (report->by & REPORT_BY_KERNEL) != 0;
	if (report->functions && report->by & ~REPORT_BY_THREAD)
		return tool_usage("report", "--by: function can be combined with thread only");
	if ((report->by & REPORT_BY_PLACE) == REPORT_BY_PLACE)
		return tool_usage("report", "--by: module and line cannot be combined");
	if (report->by & (REPORT_BY_PATTERN | REPORT_BY_SHAPE))
		report->by |= REPORT_BY_NAME;
	return -1;
}

static bool sorts_devices(enum report_sort sort)
{
	switch (sort) {
	case REPORT_SORT_TOTAL:
	case REPORT_SORT_COUNT:
	case REPORT_SORT_MEAN:
	case REPORT_SORT_MIN:
	case REPORT_SORT_P50:
	case REPORT_SORT_P99:
	case REPORT_SORT_MAX:
	case REPORT_SORT_NAME:
		return true;
	default:
		return false;
	}
}

/* Which keys there are depends on --by, which may follow. */
static int check_sort(const struct report *report, const char *text)
{
	bool of_gil = report->sort == REPORT_SORT_WAITED || report->sort == REPORT_SORT_HELD;

	if (report->gil)
		return of_gil ? -1 : tool_usage("report", "--sort %s: --gil can be sorted by "
						"waited (default) or held", text);
	if (report->gpu && !sorts_devices(report->sort))
		return tool_usage("report", "--sort %s: --gpu can be sorted by total (default), "
				  "count, mean, min, p50, p99, max or name", text);
	if (report->functions && report->sort != REPORT_SORT_TOTAL &&
	    report->sort != REPORT_SORT_SELF && report->sort != REPORT_SORT_NAME)
		return tool_usage("report", "--sort %s: --by function can be sorted by self "
				  "(default), total or name", text);
	if (report->sort == REPORT_SORT_UNKNOWN || of_gil)
		return tool_usage("report", "--sort %s: not one of total, self, count, mean, min, "
				  "p50, p99, max, memory, flops, name; or of waited, held with "
				  "--gil", text);
	return -1;
}

static int parse_sort(struct report *report, const char *text)
{
	static const char *const words[] = {
		[REPORT_SORT_TOTAL] = "total", [REPORT_SORT_SELF] = "self",
		[REPORT_SORT_COUNT] = "count", [REPORT_SORT_MEAN] = "mean",
		[REPORT_SORT_MIN] = "min", [REPORT_SORT_P50] = "p50",
		[REPORT_SORT_P99] = "p99", [REPORT_SORT_MAX] = "max",
		[REPORT_SORT_MEMORY] = "memory", [REPORT_SORT_FLOPS] = "flops",
		[REPORT_SORT_NAME] = "name", [REPORT_SORT_WAITED] = "waited",
		[REPORT_SORT_HELD] = "held",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], text))
			continue;
		report->sort = (enum report_sort)i;
		return -1;
	}
	report->sort = REPORT_SORT_UNKNOWN;
	return -1;
}

int report_options(struct report *report, int argc, char **argv)
{
	enum { OPT_BY = 0x100, OPT_JSON, OPT_OPEN, OPT_NO_OPEN, OPT_WHY, OPT_GAPS, OPT_GPU,
	       OPT_GIL, OPT_UNCERTAIN, OPT_STEPS };
	static const struct option options[] = {
		READING_OPTIONS,
		READING_LIMIT,
		{ "by",		required_argument, NULL, OPT_BY },
		{ "sort",	required_argument, NULL, 's' },
		{ "open",	no_argument,	   NULL, OPT_OPEN },
		{ "no-open",	no_argument,	   NULL, OPT_NO_OPEN },
		{ "json",	no_argument,	   NULL, OPT_JSON },
		{ "steps",	optional_argument, NULL, OPT_STEPS },
		{ "why",	required_argument, NULL, OPT_WHY },
		{ "gaps",	no_argument,	   NULL, OPT_GAPS },
		{ "gpu",	no_argument,	   NULL, OPT_GPU },
		{ "gil",	no_argument,	   NULL, OPT_GIL },
		{ "include-uncertain", no_argument, NULL, OPT_UNCERTAIN },
		XSP_FILTER_OPTIONS,
		{ 0 },
	};
	const char *sorted = NULL;
	bool rows = false;
	int c, ret;

	optind = 0;
	while ((c = getopt_long(argc, argv, ":s:n:" READING_SHORT, options, NULL)) != -1) {
		ret = -1;
		switch (c) {
		case OPT_BY:
			rows = true;
			ret = parse_by(report, optarg);
			break;
		case 's':
			sorted = optarg;
			ret = parse_sort(report, optarg);
			break;
		case OPT_OPEN:
			report->show.all = true;
			report->no_open = false;
			break;
		case OPT_NO_OPEN:
			report->no_open = true;
			break;
		case OPT_STEPS:
			report->by_step = true;
			report->step = optarg;
			break;
		case OPT_WHY:
			report->why = optarg;
			break;
		case OPT_GAPS:
			report->gaps = true;
			break;
		case OPT_GPU:
			report->gpu = true;
			break;
		case OPT_GIL:
			report->gil = true;
			break;
		case OPT_UNCERTAIN:
			report->uncertain = true;
			break;
		case OPT_JSON:
			report->json = true;
			break;
		default:
			ret = reading_option(&report->reading, c, argv, options);
		}
		if (ret >= 0)
			return ret;
	}
	if (report->by_step && !report->step &&
	    (optind + 1 < argc || (optind < argc && strcmp(argv[optind], "-") &&
				   access(argv[optind], F_OK))))
		return tool_usage("report", "--steps: a name must follow '=': --steps=%s",
				  argv[optind]);
	if (report->why && optind == argc && !report->reading.input && !access(report->why, F_OK))
		return tool_usage("report", "--why: a name is missing before the file: --why=NAME "
				  "%s",
				  report->why);
	ret = reading_file(&report->reading, argc, argv);
	if (ret >= 0)
		return ret;
	if (!!report->why + report->gaps + report->by_step + report->gpu + report->gil > 1)
		return tool_usage("report", "--why, --gaps, --steps, --gpu and --gil: cannot be "
				  "combined");
	if (report->gpu && !rows)
		report->by = REPORT_BY_KERNEL;
	if (report->gpu && (report->by & ~GPU_ROWS || report->functions))
		return tool_usage("report", "--gpu: --by can be op, kernel, or op,kernel only");
	if (report->gpu && report->uncertain)
		return tool_usage("report", "--gpu: cannot be used with --include-uncertain");
	if (report->gpu && report->by & REPORT_BY_NAME && sorted)
		return tool_usage("report", "--gpu --by op: cannot be used with --sort: its rows "
				  "are sorted by total time");
	if (report->gpu && report->by & REPORT_BY_NAME && report->filter.any)
		return tool_usage("report", "--gpu --by op: cannot be used with --name, "
				  "--category, --pid or --tid: it needs all threads");
	if (report->gil && (rows || report->uncertain))
		return tool_usage("report", "--gil: cannot be used with --by or "
				  "--include-uncertain");
	if (report->gil && xsp_filter_names(&report->filter))
		return tool_usage("report", "--gil: shows threads: cannot be used with --name or "
				  "--category");
	ret = sorted ? check_sort(report, sorted) : -1;
	if (ret >= 0)
		return ret;
	if (report->functions && !sorted)
		report->sort = REPORT_SORT_SELF;
	if (report->functions && (report->uncertain || report->show.all))
		return tool_usage("report", "--by function: cannot be used with "
				  "--include-uncertain or --open");
	if (report->step && !*report->step)
		return tool_usage("report", "--steps=: a name is missing");
	if (report->by_step && (rows || sorted || report->uncertain))
		return tool_usage("report", "--steps: cannot be used with --by, --sort or "
				  "--include-uncertain");
	if (report->by_step && xsp_filter_names(&report->filter))
		return tool_usage("report", "--steps: cannot be used with --name or --category: a "
				  "step has all ranges of its thread; --steps=NAME uses ranges of "
				  "that name as steps");
	if (report->filter.cpu.n)
		return tool_usage("report", "--cpu: ranges can begin and end on different CPUs; "
				  "use xsprof dump --cpu to see events of a CPU");
	return -1;
}
