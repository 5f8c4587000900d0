/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder, `xsprof record --flight`: rings that overwrite the oldest, and nobody who
 * reads them until something happens.
 */
#ifndef XSPROF_FLIGHT_H
#define XSPROF_FLIGHT_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct record_options;

/* Values of the long options: outside of what the verb itself has. */
enum flight_option {
	FLIGHT_OPT_FLIGHT = 0x300,
	FLIGHT_OPT_WATCH,
	FLIGHT_OPT_STALL,
	FLIGHT_OPT_FILES,
};

#define FLIGHT_OPTIONS								\
	{ "flight",	   optional_argument, NULL, FLIGHT_OPT_FLIGHT },	\
	{ "watch",	   required_argument, NULL, FLIGHT_OPT_WATCH },		\
	{ "stall",	   required_argument, NULL, FLIGHT_OPT_STALL },		\
	{ "flight-files",  required_argument, NULL, FLIGHT_OPT_FILES }

#define FLIGHT_HELP								\
	"\nFlight recorder: nothing is read until something happens\n"		\
	"      --flight[=SIZE|TIME]  keep the last SIZE (16M) of each CPU's ring, or the last\n" \
	"                          TIME (30s); written at the end, and into FILE.N.* when a\n" \
	"                          process dies of a signal or a watched range stalls\n" \
	"      --watch NAME        a range that must not stay open; 'nccl*' for several\n" \
	"      --stall TIME        ... for longer than this (default 10s)\n"	\
	"      --flight-files N    files of that kind at most (default 16)\n"

#define FLIGHT_WATCH_MAX	64u	/* names to watch */

/**
 * struct flight_options - what was asked for; all zeros is no flight recorder
 * @on: --flight was given
 * @size: bytes of a ring, 0 where it was not said
 * @last_ns: only the last so many ns, 0 for all that rings hold
 * @watch: names or patterns
 * @nr_watch: how many
 * @stall_ns: how long such a range may stay open, 0 for the default
 * @files: automatic snapshots at most, 0 for the default
 */
struct flight_options {
	bool		on;
	uint64_t	size;
	uint64_t	last_ns;
	const char	*watch[FLIGHT_WATCH_MAX];
	uint32_t	nr_watch;
	uint64_t	stall_ns;
	uint32_t	files;
};

/**
 * flight_option - take an option of FLIGHT_OPTIONS
 * @flight: filled in
 * @c: what getopt_long() returned
 * @arg: its argument
 *
 * Return: -1 taken, 0 it is none of ours, TOOL_USAGE after a message.
 */
int flight_option(struct flight_options *flight, int c, const char *arg);

/* Do they go together?  Return: -1, or TOOL_USAGE after a message. */
int flight_check(const struct record_options *opts);

/* `xsprof record --flight` from here on.  Return: the exit status. */
int flight_record(struct record_options *opts);

#endif /* XSPROF_FLIGHT_H */
