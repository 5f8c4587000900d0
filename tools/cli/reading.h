/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The input capture of dump, report and info: common options (file, limit, quiet, help, version),
 * opening, messages on stderr, and the exit status that follows from its state.
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
 * struct reading - parsed options
 * @verb: "dump", ...
 * @help: prints the verb's help
 * @filter: for XSP_FILTER_OPTIONS, NULL if the verb has none
 * @input: path of the capture, NULL if not given
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
 * reading_option - handle a result of getopt_long() that the verb does not handle itself
 * @r: filled in
 * @c: the result
 * @argv: arguments
 * @options: the verb's options, for suggestions
 *
 * Return: -1: continue; else the exit status, after help, version or an error was printed.
 */
int reading_option(struct reading *r, int c, char **argv, const struct option *options);

/* Takes the file argument, at most one. Return: as above. */
int reading_file(struct reading *r, int argc, char **argv);

#define XSP_INPUT	"xsprof.data"	/* what `record` writes when it is not told a name */

/**
 * struct xsp_source - an open capture
 * @trace: the trace
 * @path: path for messages
 * @arg: path as given, "-" for stdin
 * @quiet: do not print the decoder's warnings
 * @allow_lost: of the reading
 */
struct xsp_source {
	struct xsprof_trace	*trace;
	const char		*path;
	const char		*arg;
	bool			quiet;
	bool			allow_lost;
};

/* Help text of these verbs about messages and exit status. */
#define READING_STATUS_HELP						\
	"Exit status: 0 done, 1 failed, 2 wrong usage, 3 done, but the file is truncated or\n" \
	"damaged, 4 done, but records were lost when they were recorded (--allow-lost: 0).\n"

/* @path: NULL for the capture that @reading names.  Return: 0, or TOOL_FAILED after a message. */
int xsp_source_open(struct xsp_source *source, const struct reading *reading, const char *path,
		    uint32_t flags);
/* Prints why the last call failed. Return: TOOL_FAILED. */
int xsp_source_error(const struct xsp_source *source, int ret);
/*
 * Sets @ns to the start of the trace, from which --from and --to count: the time in the file's
 * headers, or that of @first, its first event, if earlier. Return: 0, or TOOL_FAILED after a
 * message.
 */
int xsp_source_start(const struct xsp_source *source, const struct xsprof_event *first,
		     uint64_t *ns);
/*
 * The next note of the recorder, from @index on, about a process that is not recorded; NULL: no
 * more.
 */
const char *xsp_source_unrecorded(const struct xsp_source *source, uint32_t *index);
uint32_t xsp_source_nr_unrecorded(const struct xsp_source *source);

/* In the note of a recovery that did not find the capture that the killed recorder had written. */
#define XSP_NOTE_MISSING	": what the killed recorder had stored there is missing: "

/* Did the recorder attach to running processes (record -p), rather than start a command? */
bool xsp_source_attached(const struct xsp_source *source);

/* That note, or NULL. */
const char *xsp_source_missing(const struct xsp_source *source);

/*
 * Prints a line on stderr if anything was lost or damaged. Records that a flight recording
 * overwrote before its snapshot are not losses. Return: 0, TOOL_DAMAGED, or TOOL_LOST.
 */
int xsp_source_losses(const struct xsp_source *source);
void xsp_source_close(struct xsp_source *source);

#endif /* XSPROF_READING_H */
