// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of the verbs that read a capture.  It opens nothing.
 */
#include <stdio.h>

#include "cli/reading.h"
#include "cli/source.h"
#include "cli/tool.h"

int reading_option(struct reading *r, int c, char **argv, const struct option *options)
{
	int ret = r->filter ? xsp_filter_option(r->filter, r->verb, c, optarg) : -1;

	if (ret >= 0)
		return ret ? ret : -1;
	switch (c) {
	case 'i':
		r->input = optarg;
		return -1;
	case 'n':
		if (tool_parse_u64(optarg, &r->limit))
			return tool_usage(r->verb, "--limit %s: not a number", optarg);
		return -1;
	case 'q':
		r->quiet = true;
		return -1;
	case 'h':
		r->help();
		return 0;
	case 'V':
		return tool_version();
	default:
		return tool_bad_option(r->verb, c, argv, options);
	}
}

int reading_file(struct reading *r, int argc, char **argv)
{
	if (optind < argc && !r->input)
		r->input = argv[optind++];
	if (optind < argc)
		return tool_usage(r->verb, "%s: one capture at a time", argv[optind]);
	if (!r->input)
		r->input = XSP_INPUT;
	return -1;
}
