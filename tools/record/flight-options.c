// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of the flight recorder.
 */
#include <string.h>
#include <xsprof/abi.h>

#include "cli/tool.h"
#include "record/flight.h"
#include "record/options.h"

#define FILES_MAX	10000u

/* A time or a ring size, depending on the suffix; a plain number is seconds. */
static int take_flight(struct flight_options *flight, const char *arg)
{
	flight->on = true;
	flight->size = 0;
	flight->last_ns = 0;
	if (!arg)
		return -1;
	if (!tool_parse_time(arg, &flight->last_ns) && flight->last_ns)
		return -1;
	flight->last_ns = 0;
	if (tool_parse_size(arg, &flight->size) || !flight->size)
		return tool_usage("record", "--flight: '%s' is neither a size of each CPU's ring "
				  "(16M) nor a time (30s, 2m)", arg);
	if (flight->size < XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE || flight->size > 1ull << 40)
		return tool_usage("record", "--flight: '%s': the size of a ring is %uk to 1T", arg,
				  XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE >> 10);
	return -1;
}

int flight_option(struct flight_options *flight, int c, const char *arg)
{
	uint64_t value;

	switch (c) {
	case FLIGHT_OPT_FLIGHT:
		return take_flight(flight, arg);
	case FLIGHT_OPT_WATCH:
		if (!*arg)
			return tool_usage("record", "--watch: the name of a range is missing");
		if (flight->nr_watch == FLIGHT_WATCH_MAX)
			return tool_usage("record", "--watch: more than %u names: use a pattern "
					  "such as 'nccl*'", FLIGHT_WATCH_MAX);
		flight->watch[flight->nr_watch++] = arg;
		return -1;
	case FLIGHT_OPT_STALL:
		if (tool_parse_time(arg, &flight->stall_ns) || !flight->stall_ns)
			return tool_usage("record", "--stall: '%s' is not a time: e.g. 10, 500ms, "
					  "2m", arg);
		return -1;
	case FLIGHT_OPT_FILES:
		if (tool_parse_u64(arg, &value) || !value || value > FILES_MAX)
			return tool_usage("record", "--flight-files: '%s': 1 to %u", arg,
					  FILES_MAX);
		flight->files = value;
		return -1;
	default:
		return 0;
	}
}

int flight_check(const struct record_options *opts)
{
	const struct flight_options *f = &opts->flight;

	if (!f->on && (f->nr_watch || f->stall_ns || f->files))
		return tool_usage("record", "--%s: only with --flight",
				  f->nr_watch ? "watch" : f->stall_ns ? "stall" : "flight-files");
	if (!f->on)
		return -1;
	if (opts->sched && attach_on(&opts->attach))
		return tool_usage("record", "--sched: a flight recorder cannot enable scheduler "
				  "events in running processes: leave out --flight, or start the "
				  "command with it");
	if (f->stall_ns && !f->nr_watch)
		return tool_usage("record", "--stall: needs --watch NAME");
	if (opts->mode && strcmp(opts->mode, "overwrite"))
		return tool_usage("record", "--mode %s: a flight recorder always overwrites the "
				  "oldest records", opts->mode);
	if (opts->duration)
		return tool_usage("record", "--duration: a flight recorder runs until the command "
				  "ends; --flight=TIME keeps the last part");
	if (opts->realtime)
		return tool_usage("record", "--realtime: a flight recorder reads rings only at "
				  "triggers");
	if (f->size && opts->buffer)
		return tool_usage("record", "--buffer-size: use --flight=SIZE");
	return -1;
}
