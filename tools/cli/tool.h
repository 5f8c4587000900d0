/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of the verbs of the xsprof tool: entry points, error messages, options.
 *
 * Exit status of every verb: 0 done; 1 failed; 2 not started (wrong arguments, or something that
 * must be corrected first); 3 done, but the file is truncated or damaged; 4 done, but records were
 * lost during recording (0 with --allow-lost). `record` returns the command's own status.
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
 * Name in messages, "xsprof" or "xsprof-dump": set once by main(). Verbs call getopt_long() with
 * opterr = 0 and a short string that starts with "+:" or ":", so that one function prints the
 * errors of all.
 */
extern const char *tool_name;

/* Prints "xsprof: " and the text on stderr. Return: TOOL_FAILED, for `return tool_error(...)`. */
int tool_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, with a hint at the help. Return: TOOL_USAGE. */
int tool_usage(const char *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints "xsprof: " and the text, for information. */
void tool_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What a drain has to say, of which only warnings are told: struct xsp_drain_ops. */
void tool_say(void *data, bool note, const char *text);

/*
 * Prints a name chosen by others (a process, a file) on stdout, harmless for terminals, padded with
 * spaces to @width columns.
 */
void tool_print_name(const char *name, size_t width);


/* Common long options, to be listed last by each verb; handled by tool_option(). */
#define TOOL_OPTIONS							\
	{ "help",	no_argument,	   NULL, 'h' },			\
	{ "version",	no_argument,	   NULL, 'V' }

/* For verbs that can end with TOOL_LOST. */
#define TOOL_ALLOW_LOST							\
	{ "allow-lost",	no_argument,	   NULL, TOOL_OPT_ALLOW_LOST }
#define TOOL_OPT_ALLOW_LOST	0x1fe

/*
 * Handles an option that the verb does not: prints @help or the version, or an error. Return: the
 * exit status.
 */
int tool_option(const char *verb, int c, char **argv, const struct option *opts,
		void (*help)(void));

/*
 * Flushes stdout and reports errors (a full disk, a closed pipe). Return: @status, or TOOL_FAILED
 * if that was 0 and the output is incomplete.
 */
int tool_finish(int status);

/* Prints "xsprof 1.2.3", for -V. Return: 0, for `return tool_version()`. */
int tool_version(void);

/* Parses a number in an option. Return: 0, or -EINVAL (-ERANGE) unless the whole text is one. */
int tool_parse_u64(const char *text, uint64_t *value);
/* With suffix k, M, G or T (powers of 1024), an optional B or iB after it. */
int tool_parse_size(const char *text, uint64_t *bytes);
/* Decimal seconds, or with suffix ns, us, ms, s, m (minutes), h.  In nanoseconds. */
int tool_parse_time(const char *text, uint64_t *ns);

/* Parses the argument of --pid. Return: -1, or TOOL_USAGE after a message. */
int tool_take_pid(const char *verb, const char *text, pid_t *pid);

/* Formats "39.5 MB" and the like: @buf has at least 16 bytes. */
const char *tool_format_bytes(char *buf, size_t size, uint64_t bytes);
/* "3.200 s" */
const char *tool_format_time(char *buf, size_t size, uint64_t ns);

/* The word of @words (ends with NULL) closest to @word, or NULL. */
const char *tool_closest(const char *word, const char *const *words);

#endif /* XSPROF_TOOL_H */
