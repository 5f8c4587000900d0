/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the verbs of the xsprof tool share: their entry points, how they report errors and how
 * they read options.  It never holds anything of one verb alone.
 *
 * Exit status of every verb: 0 done, 1 it failed, 2 it was not started (wrong arguments, or
 * something that must be put right first), 3 done, but the file is cut or damaged, 4 done, but
 * records were lost when they were recorded, which --allow-lost makes 0.  `record` returns the
 * command's own.
 */
#ifndef XSPROF_TOOL_H
#define XSPROF_TOOL_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define TOOL_FAILED	1
#define TOOL_USAGE	2
#define TOOL_DAMAGED	3
#define TOOL_LOST	4

int cmd_record(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_enable(int argc, char **argv);
int cmd_disable(int argc, char **argv);

/*
 * The name in messages, "xsprof" or "xsprof-dump": set once by main().  After it options are
 * read by getopt_long() with opterr = 0 and a short string that starts with "+:" or ":", so
 * that one function words the errors of all verbs alike.
 */
extern const char *tool_name;

/* "xsprof: " and the text on stderr.  Return: TOOL_FAILED, for `return tool_error(...)`. */
int tool_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, and where help is to be had.  Return: TOOL_USAGE. */
int tool_usage(const char *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "xsprof: " and the text, for what is worth knowing and no error. */
void tool_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * What others called a thing (a process, a file), on stdout: no terminal acts on it.  Spaces
 * follow up to @width columns.
 */
void tool_print_name(const char *name, size_t width);


/* Of every verb, at the end of its long options; and what takes them, below. */
#define TOOL_OPTIONS							\
	{ "help",	no_argument,	   NULL, 'h' },			\
	{ "version",	no_argument,	   NULL, 'V' }

/* Of the verbs that can end with TOOL_LOST. */
#define TOOL_ALLOW_LOST							\
	{ "allow-lost",	no_argument,	   NULL, TOOL_OPT_ALLOW_LOST }
#define TOOL_OPT_ALLOW_LOST	0x1fe

/*
 * What a verb does not take itself: prints @help or the version, or says that there is no such
 * option.  Return: the exit status.
 */
int tool_option(const char *verb, int c, char **argv, const struct option *opts,
		void (*help)(void));

/*
 * Writes out what is buffered for stdout and reports what could not be written (a full disk, a
 * closed pipe).  Return: @status, or TOOL_FAILED where that was 0 and the output is not whole.
 */
int tool_finish(int status);

/* "xsprof 1.2.3", what -V of every verb prints.  Return: 0, for `return tool_version()`. */
int tool_version(void);

/* Numbers in options.  Return: 0, or -EINVAL (-ERANGE) where the whole text is none. */
int tool_parse_u64(const char *text, uint64_t *value);
/* With suffix k, M, G or T (powers of 1024), an optional B or iB after it. */
int tool_parse_size(const char *text, uint64_t *bytes);
/* Decimal seconds, or with suffix ns, us, ms, s, m (minutes), h.  In nanoseconds. */
int tool_parse_time(const char *text, uint64_t *ns);

/* The process that --pid names.  Return: -1, or TOOL_USAGE after a message. */
int tool_take_pid(const char *verb, const char *text, pid_t *pid);

/* "39.5 MB" and the like: @buf holds 16 bytes at least. */
const char *tool_format_bytes(char *buf, size_t size, uint64_t bytes);
/* "3.200 s" */
const char *tool_format_time(char *buf, size_t size, uint64_t ns);

/* The word of @words (ends with NULL) that @word may have been meant for, or NULL. */
const char *tool_closest(const char *word, const char *const *words);

#endif /* XSPROF_TOOL_H */
