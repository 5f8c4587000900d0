// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of xsprof dump.  It opens nothing.
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
	      "Prints events in time order: of a capture, or of running processes.\n\n"
	      "  -i, --input FILE      the capture (default " XSP_INPUT ", - is stdin)\n"
	      "  -o, --output FILE     where to (default -, stdout); FILE.gz and FILE.zst are\n"
	      "                        packed\n"
	      "  -f, --format FORMAT   text (default), chrome, kineto, ndjson, perfetto, or\n"
	      "                        folded (stacks of samples, for flame graphs); for\n"
	      "                        PyTorch's other tools, of a process, into a file:\n"
	      "                        execution-trace, memory-snapshot, memory-timeline\n"
	      "  -r, --reltime         text: times since the start of the trace\n"
	      "  -n, --limit N         the first N entries only\n"
	      "  -F, --follow          go on while the file grows, until the recording ends\n"
	      "      --live            read rings of your running processes until Ctrl-C; nothing\n"
	      "                        is consumed\n"
	      "  -p PID[,PID...]       ... only of these, until they end\n"
	      "  -a                    ... of all processes that you may read (needs the module)\n"
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

/* Outside of what a character and the filter's options can be. */
#define OPT_LIVE	0x400

static int check_live(const struct dump *dump, int argc, char **argv)
{
	const struct attach *a = &dump->live.attach;

	if (!dump->look_on && attach_on(a))
		return tool_usage("dump", "-%c: only with --live; of a capture --pid LIST says "
				  "which processes", a->all ? 'a' : 'p');
	if (!dump->look_on)
		return -1;
	if (a->all && a->nr)
		return tool_usage("dump", "-p, -a: either some or all");
	if (dump->reading.input || optind < argc)
		return tool_usage("dump", "%s: --live looks into rings, not into a file",
				  dump->reading.input ? dump->reading.input : argv[optind]);
	if (dump->follow)
		return tool_usage("dump", "--follow: is for a file; --live follows by itself");
	return -1;
}

/* Does the name end in @end, or in @end and what packs it? */
static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	if (len > 3 && !strcasecmp(name + len - 3, ".gz"))
		len -= 3;
	else if (len > 4 && !strcasecmp(name + len - 4, ".zst"))
		len -= 4;
	return len > n && !strncasecmp(name + len - n, end, n);
}

/* A file whose name says what it is not.  @given: -f was.  Return: -1, or TOOL_USAGE. */
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
			return tool_usage("dump", "--output: '%s': would not be packed: names that "
					  "end in .gz or .zst are", dump->output);
	for (size_t i = 0; !given && i < sizeof(formats_of) / sizeof(formats_of[0]); i++)
		if (ends_in(dump->output, formats_of[i][0]))
			return tool_usage("dump", "--output: '%s': would be text: -f %s is what "
					  "such a name says (-f text, if text is meant)",
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
	ret = check_name(dump, given);
	if (ret >= 0)
		return ret;
	ret = dump->whole ? dump_whole_check(dump) : -1;
	if (ret >= 0)
		return ret;
	if (dump->out.relative && dump->format && dump->format != &xsp_format_text)
		return tool_usage("dump", "-r: is for text; times in %s are as its readers expect "
				  "them", dump->format->name);
	ret = check_live(dump, argc, argv);
	return ret >= 0 ? ret : reading_file(&dump->reading, argc, argv);
}
