/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder, `xsprof record --flight`: rings that overwrite the oldest, and nobody who
 * reads them until something happens.
 */
#ifndef XSPROF_FLIGHT_H
#define XSPROF_FLIGHT_H

#include <getopt.h>

#include "record/options.h"

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
