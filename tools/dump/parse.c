// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the options of xsprof dump. It opens nothing.
 */
#include <string.h>
#include <strings.h>

#include "cli/tool.h"
#include "dump/local.h"

static void help(void)
{
	fputs("usage: xsprof dump [options] [FILE]\n"
	      "       xsprof-dump [options] [FILE]\n"
	      "       xsprof dump --live [-p PID[,PID...] | -a] [options]\n\n"
	      "Prints the events of a capture, or of running processes, in time order.\n\n"
	      "  -i, --input FILE      the capture (default " XSP_INPUT ", - is stdin)\n"
	      "  -o, --output FILE     the output file (default -, stdout); FILE.gz and FILE.zst\n"
	      "                        are compressed\n"
	      "  -f, --format FORMAT   text (default), chrome, kineto, ndjson, perfetto, or\n"
	      "                        folded (stacks of samples, for flame graphs); for\n"
	      "                        PyTorch's other tools, one process, needs -o FILE:\n"
	      "                        execution-trace, memory-snapshot, memory-timeline\n"
	      "  -r, --reltime         text: times since the start of the trace\n"
	      "  -n, --limit N         only the first N entries\n"
	      "  -F, --follow          keep reading while the file grows, until the recording\n"
	      "                        ends\n"
	      "      --live            read the rings of your running processes until Ctrl-C,\n"
	      "                        without consuming records\n"
	      "  -p PID[,PID...]       with --live: only these, until they end; else as --pid\n"
	      "  -a, --all             with --live: all processes that you may read (needs the\n"
	      "                        module)\n"
	      "  -q, --quiet           no warnings about the file; losses are still shown\n"
	      "      --allow-lost      exit with status 0 if records were lost\n"
	      XSP_FILTER_HELP
	      XSP_FILTER_HELP_CPU
	      "  -h, --help            this text\n"
	      "  -V, --version         the version\n\n"
	      READING_STATUS_HELP,
	      stdout);
}

static const struct xsp_format *const formats[] = {
	&xsp_format_text, &xsp_format_chrome, &xsp_format_kineto, &xsp_format_ndjson,
	&xsp_format_perfetto, &xsp_format_folded,
};

#define NR_FORMATS	(sizeof(formats) / sizeof(formats[0]))

static const struct xsp_format *find_format(const char *name)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

static int no_format(const char *name)
{
	const char *names[NR_FORMATS + 1] = { NULL }, *near;

	for (size_t i = 0; i < NR_FORMATS; i++)
		names[i] = formats[i]->name;
	near = tool_closest(name, names);
	if (near)
		return tool_usage("dump", "-f %s: no such format, did you mean %s?", name, near);
	return tool_usage("dump", "-f %s: no such format: text, chrome, perfetto, ndjson, kineto "
			  "or one of those in --help", name);
}

/* Above all characters and the filter's options. */
#define OPT_LIVE	0x400

static int check_live(const struct dump *dump, int argc, char **argv)
{
	const struct attach *a = &dump->live.attach;

	if (!dump->look_on && a->all)
		return tool_usage("dump", "-a: only with --live: all processes of a capture are "
				  "shown, unless --pid selects some");
	if (!dump->look_on)
		return -1;
	if (a->all && a->nr)
		return tool_usage("dump", "-p, -a: cannot be combined");
	if (dump->reading.input || optind < argc)
		return tool_usage("dump", "%s: --live reads rings, not a file",
				  dump->reading.input ? dump->reading.input : argv[optind]);
	if (dump->follow)
		return tool_usage("dump", "--follow: is for files; --live always follows");
	return -1;
}

/* Without --live, -p is --pid. Return: -1, or an exit status after a message. */
static int filter_pids(struct dump *dump)
{
	const struct attach *a = &dump->live.attach;
	char pid[16];
	int ret;

	for (uint32_t i = 0; !dump->look_on && i < a->nr; i++) {
		snprintf(pid, sizeof(pid), "%d", (int)a->pids[i]);
		ret = xsp_filter_option(&dump->filter, "dump", XSP_FILTER_PID, pid);
		if (ret)
			return ret;
	}
	return -1;
}

/* Does the name end in @end, perhaps with the extension of a compressor after it? */
static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	if (len > 3 && !strcasecmp(name + len - 3, ".gz"))
		len -= 3;
	else if (len > 4 && !strcasecmp(name + len - 4, ".zst"))
		len -= 4;
	return len > n && !strncasecmp(name + len - n, end, n);
}

/*
 * Refuses a file name whose extension contradicts the format. @given: -f was given. Return: -1, or
 * TOOL_USAGE.
 */
static int check_name(const struct dump *dump, bool given)
{
	static const char *const formats_of[][2] = {
		{ ".json", "chrome or -f kineto" }, { ".pftrace", "perfetto" },
		{ ".perfetto-trace", "perfetto" }, { ".ndjson", "ndjson" },
		{ ".jsonl", "ndjson" }, { ".folded", "folded" }, { ".pickle", "memory-snapshot" },
	};
	static const char *const packed[] = { ".bz2", ".xz", ".lz4", ".zip" };

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		if (ends_in(dump->output, packed[i]))
			return tool_usage("dump", "--output: '%s': would not be compressed: only "
					  "names that end in .gz or .zst are", dump->output);
	for (size_t i = 0; !given && i < sizeof(formats_of) / sizeof(formats_of[0]); i++)
		if (ends_in(dump->output, formats_of[i][0]))
			return tool_usage("dump", "--output: '%s': the default format is text: "
					  "give -f %s, or -f text if you want text",
					  dump->output, formats_of[i][1]);
	return -1;
}

int dump_parse(struct dump *dump, int argc, char **argv)
{
	static const struct option options[] = {
		READING_OPTIONS,
		READING_LIMIT,
		{ "output",	required_argument, NULL, 'o' },
		{ "format",	required_argument, NULL, 'f' },
		{ "reltime",	no_argument,	   NULL, 'r' },
		{ "follow",	no_argument,	   NULL, 'F' },
		{ "live",	no_argument,	   NULL, OPT_LIVE },
		{ "all",	no_argument,	   NULL, 'a' },
		XSP_FILTER_OPTIONS,
		{ 0 },
	};
	bool given = false;
	int c, ret;

	dump->reading.help = help;
	optind = 0;
	while ((c = getopt_long(argc, argv, ":" READING_SHORT "n:o:f:rFp:a", options,
				NULL)) != -1) {
		switch (c) {
		case 'o':
			dump->output = optarg;
			break;
		case 'f':
			given = true;
			dump->whole = dump_whole_find(optarg);
			dump->format = find_format(optarg);
			if (!dump->format && !dump->whole)
				return no_format(optarg);
			break;
		case 'r':
			dump->out.relative = true;
			break;
		case 'F':
			dump->follow = true;
			break;
		case OPT_LIVE:
			dump->look_on = true;
			break;
		case 'p':
			ret = attach_take(&dump->live.attach, "dump", optarg);
			if (ret >= 0)
				return ret;
			break;
		case 'a':
			dump->live.attach.all = true;
			break;
		default:
			ret = reading_option(&dump->reading, c, argv, options);
			if (ret >= 0)
				return ret;
		}
	}
	ret = filter_pids(dump);
	if (ret >= 0)
		return ret;
	ret = check_name(dump, given);
	if (ret >= 0)
		return ret;
	ret = dump->whole ? dump_whole_check(dump) : -1;
	if (ret >= 0)
		return ret;
	if (dump->out.relative && dump->format && dump->format != &xsp_format_text)
		return tool_usage("dump", "-r: only with -f text; the times of %s are fixed by "
				  "that format", dump->format->name);
	ret = check_live(dump, argc, argv);
	return ret >= 0 ? ret : reading_file(&dump->reading, argc, argv);
}
