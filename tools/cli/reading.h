/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that every verb which reads a capture has: its file, how many, quiet, help and
 * version.  What only one verb has stays with it.
 */
#ifndef XSPROF_READING_H
#define XSPROF_READING_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/filter.h"

#define READING_OPTIONS							\
	{ "input",	required_argument, NULL, 'i' },			\
	{ "quiet",	no_argument,	   NULL, 'q' },			\
	{ "help",	no_argument,	   NULL, 'h' },			\
	{ "version",	no_argument,	   NULL, 'V' }
#define READING_LIMIT							\
	{ "limit",	required_argument, NULL, 'n' }
#define READING_SHORT	"i:qhV"

/**
 * struct reading - what was asked for
 * @verb: "dump", ...
 * @help: prints the verb's help
 * @filter: takes XSP_FILTER_OPTIONS, NULL for a verb that has none
 * @input: the capture, NULL where none was named
 * @limit: -n
 * @quiet: no warnings about the file
 */
struct reading {
	const char		*verb;
	void			(*help)(void);
	struct xsp_filter	*filter;
	const char		*input;
	uint64_t		limit;
	bool			quiet;
};

/**
 * reading_option - take what getopt_long() returned, after the verb has taken its own
 * @r: filled in
 * @c: it
 * @argv: arguments
 * @options: the verb's, for suggestions
 *
 * Return: -1 go on; else the exit status: help or version were asked for, or an error reported.
 */
int reading_option(struct reading *r, int c, char **argv, const struct option *options);

/* The file behind the options, of which there is one at most.  Return: as above. */
int reading_file(struct reading *r, int argc, char **argv);

#endif /* XSPROF_READING_H */
