/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder, `xsprof record --flight`: rings overwrite their oldest records, and are read
 * only when something happens.
 */
#ifndef XSPROF_FLIGHT_H
#define XSPROF_FLIGHT_H

#include <getopt.h>

#include "record/options.h"

/* Values of long options, distinct from those of the verb. */
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
	"\nFlight recorder: rings are read only at triggers\n"			\
	"      --flight[=SIZE|TIME]  keep the last SIZE (16M) of each CPU's ring, or the last\n" \
	"                          TIME (30s); written at the end, and into FILE.N.* when a\n" \
	"                          signal kills a process or a watched range stalls\n" \
	"      --watch NAME        watch ranges with this name, or pattern: 'nccl*'\n" \
	"      --stall TIME        a watched range stalls after TIME (default 10s)\n"	\
	"      --flight-files N    write at most N such files (default 16)\n"

/**
 * flight_option - handle an option of FLIGHT_OPTIONS
 * @flight: filled in
 * @c: result of getopt_long()
 * @arg: its argument
 *
 * Return: -1 handled, 0 not one of these, TOOL_USAGE after a message.
 */
int flight_option(struct flight_options *flight, int c, const char *arg);

/* Checks combinations of options. Return: -1, or TOOL_USAGE after a message. */
int flight_check(const struct record_options *opts);

/* Runs `xsprof record --flight`. Return: the exit status. */
int flight_record(struct record_options *opts);

#endif /* XSPROF_FLIGHT_H */
