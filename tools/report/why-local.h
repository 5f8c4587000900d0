/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slowest ranges, and the longest gaps between ranges, with what each of them waited for:
 * why.c chooses and reads, gaps.c finds gaps, why-window.c collects, why-print.c and
 * why-json.c print.
 */
#ifndef XSPROF_REPORT_WHY_LOCAL_H
#define XSPROF_REPORT_WHY_LOCAL_H

#include "cause/cause.h"
#include "format/common/kernel.h"
#include "report/comms.h"
#include "report/local.h"
#include "report/place.h"

#define WHY_COMM	REPORT_COMM
#define WHY_LINKS	4u	/* length of a chain of waits */
#define WHY_ITEMS	256u	/* causes of a window; what else there is is put together */
#define WHY_MAX		1000u	/* windows */

/**
 * struct why_link - what a task did while another waited for it
 * @tid: the task
 * @comm: its name
 * @class: its most frequent class; enum cause_class
 * @who: RUNNABLE: the task that had its CPU for most of that; asleep: the waker from most of that
 * @who_comm: its name
 * @ns: time in @class
 * @who_ns: the part of it with @who
 */
struct why_link {
	uint32_t	tid;
	uint32_t	class;
	uint32_t	who;
	char		comm[WHY_COMM];
	char		who_comm[WHY_COMM];
	uint64_t	ns;
	uint64_t	who_ns;
};

/**
 * struct why_item - a cause
 * @class: enum cause_class
 * @cpu: RUNNABLE: the CPU that it waited for
 * @nr: system call, -1 none
 * @who: as in a segment
 * @comm: the name of @who
 * @range: GIL: name id of the holder's innermost range, 0: none
 * @rest: the sum of causes that did not fit
 * @partial: RUNNABLE: others may have had the CPU besides @who; enum cause_others
 * @ns: total time
 * @count: number of occurrences
 * @longest: longest occurrence
 * @first: time of the first occurrence
 * @piece: duration of the last occurrence
 * @last: end of the last occurrence
 * @links: what the task that ended the longest one did
 */
struct why_item {
	uint32_t	class;
	int32_t		cpu;
	int32_t		nr;
	uint32_t	range;
	bool		rest;
	uint32_t	partial;
	struct cause_who who;
	char		comm[WHY_COMM];
	uint64_t	ns;
	uint64_t	count;
	uint64_t	longest;
	uint64_t	first;
	uint64_t	piece;
	uint64_t	last;
	uint32_t	nr_links;
	struct why_link	links[WHY_LINKS];
};

enum why_kind {
	WHY_RANGE,
	WHY_GAP,	/* between two ranges of a thread */
	WHY_STREAM,	/* a stream of a GPU had nothing to do until it was launched */
};

/**
 * struct why_window - a stretch of a thread's time
 * @kind: enum why_kind
 * @key: the thread as cause.h has it
 * @begin: begin, or --from where that is later
 * @began: begin
 * @end: end
 * @producer: of the thread
 * @pid: its process
 * @tid: thread id
 * @name: of the range; of a gap, of what came after it
 * @before: of a gap, of what came before it
 * @device: STREAM: which
 * @stream: STREAM: which
 * @seen: when it became known
 * @sum: by class
 * @next: while it is active: another one of a place of @by_key
 * @items: causes, longest first in the end
 */
struct why_window {
	uint32_t	kind;
	uint32_t	producer;
	uint64_t	key;
	uint64_t	begin;
	uint64_t	began;
	uint64_t	end;
	uint32_t	pid;
	uint32_t	tid;
	uint32_t	name;
	uint32_t	before;
	uint32_t	device;
	uint32_t	stream;
	uint64_t	seen;
	struct cause_sum sum;
	struct why_window *next;
	struct why_item	*items;
	uint32_t	nr_items;
};

#define WHY_PLACES	256u

/**
 * struct why - state of a report of reasons
 * @windows: the chosen windows
 * @nr: their number
 * @want: limit of @nr
 * @found: number of examined ranges
 * @off_thread: ranges of the name without a thread
 * @filtered: ranges of the name that the filters leave out
 * @waits: events of the name that are waits for an object
 * @comms: names of tasks
 * @active: windows that contain the current time
 * @by_key: the same, by thread
 * @places: where the ops of windows were called: of ranges, and of those after gaps
 * @holders: innermost ranges of threads that may hold a lock that others wait for
 */
struct why {
	struct report		*report;
	struct why_window	*windows;
	uint32_t		nr;
	uint32_t		want;
	uint64_t		found;
	uint64_t		off_thread;
	uint64_t		filtered;
	uint64_t		waits;
	struct report_comms	*comms;
	struct cause		*cause;
	struct cause_reader	*reader;
	struct why_window	**active;
	struct why_window	*by_key[WHY_PLACES];
	uint32_t		nr_active;
	uint32_t		next;
	struct report_places	*places;
	struct xsp_tracks	*holders;
};

/* On a thread, from begin to end, and nested in the other ranges there. */
static inline bool why_on_thread(const struct xsprof_range *range)
{
	return range->kind == XSPROF_REC_BEGIN || range->kind == XSPROF_REC_COMPLETE;
}

/* A range of a thread: the kernel's events tell what the thread did in it. */
static inline bool why_has_thread(const struct xsprof_range *range)
{
	return why_on_thread(range) || range->flags & XSPROF_RANGEF_THREAD;
}

int why_run(struct report *report);

/* The op that it is, or that ends the gap. */
static inline struct report_op why_op(const struct why_window *window)
{
	return (struct report_op){
		.begin = window->kind == WHY_RANGE ? window->began : window->end,
		.producer = window->producer, .tid = window->tid, .name = window->name,
	};
}

static inline uint64_t why_wall(const struct why_window *window)
{
	return window->end > window->begin ? window->end - window->begin : 0;
}

/* gaps.c */
struct gaps;
int gaps_new(struct report *report, struct gaps **gaps);
void gaps_free(struct gaps *gaps);
/* An event, before it is given to the pairer; and every range, when it ends. */
void gaps_event(struct gaps *gaps, const struct xsprof_event *ev);
void gaps_range(struct gaps *gaps, const struct xsprof_range *range);
/* The longest @n; the caller's to free.  Return: how many, -ENOMEM. */
int gaps_take(struct gaps *gaps, uint32_t n, struct why_window **windows, uint64_t *found);

/* why-holder.c */
struct xsp_tracks;
int why_holders_new(struct xsp_tracks **tracks);
/* To be called after the machine had the event: until then the previous range counts. */
void why_holders_event(struct xsp_tracks *tracks, const struct xsprof_event *ev);
/* The innermost range of a thread: its name id, 0: none. */
uint32_t why_holders_range(struct xsp_tracks *tracks, uint32_t producer, uint32_t pid,
			   uint32_t tid, uint64_t ns);

/* why-window.c */
/* Before an event at @ns: windows that begin or end until then. */
void why_advance(struct why *why, uint64_t ns);
void why_segment(void *data, const struct cause_segment *segment);
/* Sorts, and accounts for unexplained time. */
void why_finish(struct why *why);

/* why-print.c */
/* "NET_RX", or NULL. */
const char *why_softirq_name(int32_t vec);
void why_print(const struct why *why);
void why_print_json(const struct why *why);

/* syscalls.c: the name of a system call of this machine, NULL where there is none. */
const char *syscall_name(int32_t nr);

#endif /* XSPROF_REPORT_WHY_LOCAL_H */
