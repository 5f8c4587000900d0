/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The capture that dump, report and info read: the options that all of them have (its file, how
 * many, quiet, help and version), how it is opened, what is said on stderr about it, and the exit
 * status that follows from its state.
 */
#ifndef XSPROF_READING_H
#define XSPROF_READING_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "cli/filter.h"
#include "cli/tool.h"

#define READING_OPTIONS							\
	{ "input",	required_argument, NULL, 'i' },			\
	{ "quiet",	no_argument,	   NULL, 'q' },			\
	TOOL_ALLOW_LOST,						\
	TOOL_OPTIONS
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
 * @allow_lost: exit with status 0 if records were lost
 */
struct reading {
	const char		*verb;
	void			(*help)(void);
	struct xsp_filter	*filter;
	const char		*input;
	uint64_t		limit;
	bool			quiet;
	bool			allow_lost;
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

#define XSP_INPUT	"xsprof.data"	/* what `record` writes when it is not told a name */

/**
 * struct xsp_source - an open capture
 * @trace: the trace
 * @path: as messages name it
 * @arg: as it was named, "-" for stdin
 * @quiet: the decoder's warnings are not shown
 * @allow_lost: of the reading
 */
struct xsp_source {
	struct xsprof_trace	*trace;
	const char		*path;
	const char		*arg;
	bool			quiet;
	bool			allow_lost;
};

/* What messages and the exit status of the help of these verbs say. */
#define READING_STATUS_HELP						\
	"Exit status: 0 done, 1 failed, 2 wrong usage, 3 done, but the file is cut or\n"	\
	"damaged, 4 done, but records were lost when they were recorded (--allow-lost: 0).\n"

/* @path: NULL for the capture that @reading names.  Return: 0, or TOOL_FAILED after a message. */
int xsp_source_open(struct xsp_source *source, const struct reading *reading, const char *path,
		    uint32_t flags);
/* Says why the last call failed.  Return: TOOL_FAILED. */
int xsp_source_error(const struct xsp_source *source, int ret);
/*
 * Sets @ns to the start of the trace, from which --from and --to count: the file's hint, or @first,
 * its first event, where that is earlier.  Return: 0, or TOOL_FAILED after a message.
 */
int xsp_source_start(const struct xsp_source *source, const struct xsprof_event *first,
		     uint64_t *ns);
/*
 * The next note of the recorder, from @index on, which says that a process is not recorded and why;
 * NULL: there is no other.
 */
const char *xsp_source_unrecorded(const struct xsp_source *source, uint32_t *index);
uint32_t xsp_source_nr_unrecorded(const struct xsp_source *source);
/*
 * One line on stderr when anything was lost or damaged.  Return: 0, TOOL_DAMAGED, or TOOL_LOST.
 * What a flight recording overwrote before its snapshot was taken is no loss.
 */
int xsp_source_losses(const struct xsp_source *source);
void xsp_source_close(struct xsp_source *source);

#endif /* XSPROF_READING_H */
