/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ranges that were open when their processes ended: in which ranges each thread was, and for
 * how long. Used by report and info; it does not read the trace itself.
 */
#ifndef XSPROF_REPORT_OPEN_H
#define XSPROF_REPORT_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "base/map.h"
#include "cause/gil-record.h"
#include "report/hidden.h"
#include "report/place.h"

#define OPEN_RANGES_MAX	65536u	/* ranges kept; more are counted */

/* Why it is not certain that a range was open until the end. */
enum open_doubt {
	OPEN_CERTAIN,
	OPEN_LOST,	/* records of its process were lost after its begin */
	OPEN_PAUSED,	/* its markers were switched off at @end_ns */
};

/*
 * @gone: its thread ended at @end_ns, and the process went on
 * @holder: of a wait for Python's lock: the thread that held it when it began, 0 not known
 */
struct open_range {
	uint64_t	begin_ns;
	uint64_t	end_ns;
	uint64_t	id;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	tid;
	uint32_t	name;
	uint32_t	depth;
	uint32_t	holder;
	uint16_t	kind;
	uint8_t		doubt;
	bool		gone;
};

/* The latest record of a process, for processes with nothing open (not @open); @pid 0: none. */
struct open_latest {
	uint64_t	ns;
	uint32_t	pid;
	uint32_t	tid;
	uint32_t	name;
	uint16_t	type;
	bool		lost;
	bool		open;
};

/**
 * struct open_ranges - collected while a trace is read
 * @trace: the trace
 * @list: ranges open at the end of their process or thread
 * @nr: number of ranges
 * @room: capacity of @list
 * @dropped: ranges not kept
 * @left_out: ranges of ended threads that were not kept: these use at most half of @list
 * @hidden: ranges open when the markers were switched off, without an end since
 * @latest: by producer
 * @nr_latest: capacity of @latest
 * @type: type of the pairer's current event
 * @ended: name of the range that it ended
 * @emitted: number of ranges that it ended
 * @failed: memory ran out
 * @lock: which names are of Python's lock
 * @holders: by thread that waited for the lock: the holder, as of its last wait
 * @places: where the ranges were called; NULL: not requested
 */
struct open_ranges {
	struct xsprof_trace	*trace;
	struct open_range	*list;
	size_t			nr;
	size_t			room;
	uint64_t		dropped;
	uint64_t		left_out;
	struct hidden_ranges	hidden;
	struct open_latest	*latest;
	uint32_t		nr_latest;
	uint16_t		type;
	uint32_t		ended;
	uint64_t		emitted;
	bool			failed;
	struct gil_names	lock;
	struct xsp_map		holders;
	struct report_places	*places;
};

/**
 * open_ranges_event - pass an event to a pairer that calls open_ranges_add()
 * @open: result
 * @pairer: the pairer
 * @ev: the event
 *
 * Return: 0 or -errno.
 */
int open_ranges_event(struct open_ranges *open, struct xsprof_pairer *pairer,
		      const struct xsprof_event *ev);
/* To be called for each range that the pairer ends. */
void open_ranges_add(struct open_ranges *open, const struct xsprof_range *range);
/* Sorts by process, thread and begin, once the pairer has finished. */
int open_ranges_finish(struct open_ranges *open);
/*
 * Requests the places of all ranges, once they are sorted: then pass all events of the trace to
 * @places. Return: 0 or -ENOMEM.
 */
int open_ranges_ask(struct open_ranges *open);
void open_ranges_free(struct open_ranges *open);

static inline struct report_op open_range_op(const struct open_range *range)
{
	return (struct report_op){
		.begin = range->begin_ns, .producer = range->producer, .tid = range->tid,
		.name = range->name,
	};
}

/**
 * struct open_show - which open ranges are printed
 * @all: all processes and threads, also those that ended by themselves, and all threads of each;
 *	without open ranges, also processes that are not silent
 * @window: reading stopped before the processes ended
 * @wanted: does the thread match the options? NULL: all do
 * @data: passed to @wanted
 */
struct open_show {
	bool	all;
	bool	window;
	bool	(*wanted)(const void *data, uint32_t pid, uint32_t tid);
	const void *data;
};

/* Prints a line for each thread below one for its process. */
void open_ranges_print(const struct open_ranges *open, const struct open_show *show);
/* A JSON array of threads. */
void open_ranges_json(const struct open_ranges *open, const struct open_show *show);
/* The latest records of processes without open ranges. */
void open_silent_json(const struct open_ranges *open, const struct open_show *show);

#endif /* XSPROF_REPORT_OPEN_H */
