// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of `xsprof record`.  It never acts on them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xsprof/abi.h>

#include "compress.h"
#include "record.h"
#include "tool.h"

#define BUFFER_MIN	(XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE)
#define BUFFER_MAX	(1ull << 40)

enum {
	OPT_NO_ITT = 256,
	OPT_CATEGORIES,
	OPT_PREFAULT,
	OPT_CLOCK,
	OPT_WAIT_ALL,
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
	{ "categories",	 required_argument, NULL, OPT_CATEGORIES },
	{ "prefault",	 no_argument,	    NULL, OPT_PREFAULT },
	{ "clock",	 required_argument, NULL, OPT_CLOCK },
	{ "wait-all",	 no_argument,	    NULL, OPT_WAIT_ALL },
	{ "help",	 no_argument,	    NULL, 'h' },
	FLIGHT_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static void help(void)
{
	puts("usage: xsprof record [options] [--] COMMAND [ARG...]\n"
	     "\n"
	     "Runs COMMAND and records the markers of every process it starts.\n"
	     "\n"
	     "  -o, --output FILE       write FILE (default xsprof.data; one that is there\n"
	     "                          becomes FILE.old)\n"
	     "  -b, --buffer-size SIZE  memory of each CPU's ring, e.g. 16M (default 4M)\n"
	     "  -m, --mode MODE         discard: a full ring drops new records (default);\n"
	     "                          overwrite: it drops the oldest\n"
	     "  -d, --duration SEC      record this long; the command goes on (also 500ms, 2m)\n"
	     "  -z, --compress[=LEVEL]  compress with zstd, LEVEL 1 to 19 (default 3)\n"
	     "      --categories LIST   only these, or -NAME for all but it: io,net or -alloc\n"
	     "      --no-itt            do not record programs through their ITT calls\n"
	     "      --prefault          give all rings their memory at the start\n"
	     "      --clock KIND        auto, or mono where the CPU's counter is not trusted\n"
	     "      --wait-all          record until all processes of the command have ended\n"
	     "  -q, --quiet             say nothing but errors\n"
	     "  -v, --verbose           say what happens\n"
	     FLIGHT_HELP
	     "\n"
	     "The exit status is the command's; 128+N when signal N killed it, 127 when it was\n"
	     "not found, 126 when it cannot be run, 2 when nothing was started, and 1 when it\n"
	     "ended well but the capture could not be written.");
}

static int take_level(const char *text, int *level)
{
	uint64_t value = COMPRESS_LEVEL_DEFAULT;

	if (text && (tool_parse_u64(text, &value) || !value || value > COMPRESS_LEVEL_MAX))
		return tool_usage("record", "--compress: '%s' is no level: 1 to %d", text,
				  COMPRESS_LEVEL_MAX);
	*level = value;
	return -1;
}

static int take_buffer(const char *text, uint64_t *bytes)
{
	if (tool_parse_size(text, bytes))
		return tool_usage("record", "--buffer-size: '%s' is no size: e.g. 512k, 16M, 1G",
				  text);
	if (*bytes < BUFFER_MIN || *bytes > BUFFER_MAX)
		return tool_usage("record", "--buffer-size: '%s': from %uk to 1T", text,
				  BUFFER_MIN >> 10);
	return -1;
}

static int take_word(const char *option, const char *text, const char *const *words,
		     const char **word)
{
	size_t i;

	for (i = 0; words[i]; i++) {
		if (strcmp(text, words[i]))
			continue;
		*word = words[i];
		return -1;
	}
	return tool_usage("record", "--%s: '%s': %s or %s", option, text, words[0], words[1]);
}

static int take(struct record_options *opts, int c, char **argv)
{
	static const char *const modes[] = { "discard", "overwrite", NULL };
	static const char *const clocks[] = { "auto", "mono", NULL };

	switch (c) {
	case 'o':
		opts->output = optarg;
		if (!*optarg)
			return tool_usage("record", "--output: needs the name of a file");
		if (!strcmp(optarg, "-"))
			return tool_usage("record", "--output: '-' is the command's own standard "
					  "output: name a file, or a pipe as /dev/fd/3");
		break;
	case 'b':
		return take_buffer(optarg, &opts->buffer);
	case 'm':
		return take_word("mode", optarg, modes, &opts->mode);
	case 'd':
		if (tool_parse_time(optarg, &opts->duration) || !opts->duration)
			return tool_usage("record", "--duration: '%s' is no time: e.g. 5, 2.5, "
					  "500ms, 2m", optarg);
		break;
	case 'z':
		return take_level(optarg, &opts->level);
	case 'q':
		opts->quiet = true;
		break;
	case 'v':
		opts->verbose = true;
		break;
	case OPT_NO_ITT:
		opts->itt = false;
		break;
	case OPT_CATEGORIES:
		opts->categories = optarg;
		break;
	case OPT_PREFAULT:
		opts->prefault = true;
		break;
	case OPT_CLOCK:
		return take_word("clock", optarg, clocks, &opts->clock);
	case OPT_WAIT_ALL:
		opts->wait_all = true;
		break;
	case 'h':
		help();
		return 0;
	default:
		return tool_bad_option("record", c, argv, options);
	}
	return -1;
}

int record_parse(int argc, char **argv, struct record_options *opts)
{
	int c, status;

	memset(opts, 0, sizeof(*opts));
	opts->output = "xsprof.data";
	opts->itt = true;
	while ((c = getopt_long(argc, argv, "+:o:b:m:d:z::qvh", options, NULL)) != -1) {
		status = flight_option(&opts->flight, c, optarg);
		if (!status)
			status = take(opts, c, argv);
		if (status >= 0)
			return status;
	}
	if (optind == argc)
		return tool_usage("record", "no command: what is to be recorded?");
	opts->argv = argv + optind;
	return flight_check(opts);
}
