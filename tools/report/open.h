/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ranges that were open when their processes ended: what each thread was in, and for how
 * long.  Used by report and info; it never reads a trace by itself.
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

/* Why it is not known that a range was open until the end. */
enum open_doubt {
	OPEN_CERTAIN,
	OPEN_LOST,	/* records of its process were lost after it began */
	OPEN_PAUSED,	/* its markers were off from @end_ns on */
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

/* The latest record of a process, for one with nothing open (not @open); @pid: 0 for none. */
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
 * @list: what was open at the end of its process, or of its thread
 * @nr: how many
 * @room: room in @list
 * @dropped: more that were not kept
 * @left_out: of those that ended with their threads, likewise: they take half of the room at most
 * @hidden: what was open when its markers went off, with no end since
 * @latest: by producer
 * @nr_latest: room in @latest
 * @type: of the event that the pairer is at
 * @ended: name of the range that it ended
 * @emitted: ranges that it ended
 * @failed: no memory
 * @lock: which names are of Python's lock
 * @holders: by thread that waited for it last: the thread that held it
 * @places: where in their program they were called; NULL: nobody asked
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
 * open_ranges_event - hand an event to a pairer whose ranges come to open_ranges_add()
 * @open: what is collected
 * @pairer: the pairer
 * @ev: the event
 *
 * Return: 0 or -errno.
 */
int open_ranges_event(struct open_ranges *open, struct xsprof_pairer *pairer,
		      const struct xsprof_event *ev);
/* Every range that the pairer ends. */
void open_ranges_add(struct open_ranges *open, const struct xsprof_range *range);
/* Once the pairer has finished: in order, by process, thread and begin. */
int open_ranges_finish(struct open_ranges *open);
/*
 * Asks for the places of all, once they are in order: @places wants to have all events of the trace
 * then.  Return: 0 or -ENOMEM.
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
 * struct open_show - which of them are printed
 * @all: of all processes and threads: not only of those that did not end by themselves, and not
 *	only the first threads of each; of those without an open range, not only of silent ones
 * @window: reading stopped before the processes ended
 * @wanted: is this thread wanted?  NULL: all are
 * @data: passed to it
 */
struct open_show {
	bool	all;
	bool	window;
	bool	(*wanted)(const void *data, uint32_t pid, uint32_t tid);
	const void *data;
};

/* A line a thread on stdout, and one a process above them. */
void open_ranges_print(const struct open_ranges *open, const struct open_show *show);
/* A JSON array of threads. */
void open_ranges_json(const struct open_ranges *open, const struct open_show *show);
/* Of processes with none, their latest records. */
void open_silent_json(const struct open_ranges *open, const struct open_show *show);

#endif /* XSPROF_REPORT_OPEN_H */
