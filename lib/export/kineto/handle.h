/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The state of a Kineto trace that is being written, and the kinds of its tracks, ranges and keys.
 */
#ifndef XSR_KINETO_HANDLE_H
#define XSR_KINETO_HANDLE_H

#include <xsprof/result.h>

#include "base/map.h"
#include "export/kineto/kineto.h"
#include "ranges/captured.h"
#include "ranges/early.h"
#include "ranges/device-names.h"
#include "result/occupancy.h"
#include "result/writer.h"

/* Kinds of tracks other than threads. */
enum xsr_kineto_track {
	XSR_THREAD	= 0,
	XSR_OVERLAP	= 1,	/* ranges that do not nest in their thread */
	XSR_SPANS	= 2,	/* ranges without a thread */
	XSR_STREAM	= 3,	/* GPU stream; tid: device << 32 | stream */
	XSR_STREAM_SYNC	= 4,	/* waits for a stream */
	XSR_FAULTS	= 5,	/* faults of unified memory; tid: device << 32 */
	XSR_OVERHEAD	= 6,	/* of GPU tracing */
	XSR_BESIDE	= 8,	/* added to a kind from XSR_STREAM on: ranges that overlap there */
};

#define XSR_LANES	4096u	/* tracks per kind and key; a tid is key * XSR_LANES + number */

/* Kinds of ranges. */
enum xsr_kineto_range {
	XSR_RANGE_ANNOTATION	= 0,
	XSR_RANGE_OP		= 1,
	XSR_RANGE_HIDDEN	= 2,	/* not shown */
};

/* Bits for keys that the exporter itself writes in an event. GPU events have many. */
enum xsr_own {
	XSR_OWN_INDEX		= 1 << 0,
	XSR_OWN_FINISHED	= 1 << 1,
	XSR_OWN_UNCERTAIN	= 1 << 2,
	XSR_OWN_EXTERNAL	= 1 << 3,
	XSR_OWN_RECORD		= 1 << 4,
	XSR_OWN_SEQUENCE	= 1 << 5,
	XSR_OWN_INPUTS		= 1 << 6,
	XSR_OWN_CUT		= 1 << 7,
	XSR_OWN_MODULE		= 1 << 8,
	XSR_OWN_STACK		= 1 << 9,
	XSR_OWN_DEVICE		= 1 << 10,
	XSR_OWN_THREAD		= 1 << 11,
	XSR_OWN_CORRELATION	= 1 << 12,
	XSR_OWN_PLACE		= 1 << 13,
	XSR_OWN_BYTES		= 1 << 14,
	XSR_OWN_GRAPH		= 1 << 15,
	XSR_OWN_SYNC		= 1 << 16,
	XSR_OWN_THREAD_ENDED	= 1 << 17,
	XSR_OWN_CATEGORY	= 1 << 18,
};

struct xsr_link;
struct xsr_stacks;
struct xsr_numbers;
struct xsr_recent;
struct xsr_users;
struct xsr_post;

#define XSR_STEPS	64u

/* An open step. */
struct xsr_step {
	uint64_t	begin;
	uint64_t	index;
	uint64_t	number;
	uint64_t	tag;
	uint64_t	tid;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	name;
	bool		used;
};

/**
 * struct xsr_kineto - a trace being written
 * @w: writer, with the trace being read
 * @opts: selection
 * @tracks: threads and other tracks
 * @posts: annotations that post_process set, by record number; NULL: none
 * @said: annotations of open ranges, by index of the range
 * @link: links
 * @stack: texts of stacks
 * @users: pushed ids
 * @shift: offset from trace time to file time, ns
 * @base: start of file time, ns of CLOCK_REALTIME
 * @from: begin of the window, ns of the trace
 * @to: end of the window
 * @first: begin of the trace, 0 if unknown yet
 * @last: latest time seen
 * @over: the window has ended: only records written late are accepted
 * @index: index of the next event
 * @at: number of the current event, from 1
 * @ops: number of ops written
 * @events: number of events of the program and its devices written
 * @lost: number of arguments left out for lack of memory
 * @no_stack: number of ops whose stacks found no room
 * @waits: device activities whose call was not recorded yet
 * @captured: nodes of graphs
 * @early: activities that began before their call
 * @pushed: number of pushed ids of all threads that may still be stored
 * @past: number of finished ranges of all threads that may still be stored
 * @recents: latest ranges of tracks of devices
 * @nr_recent: number of ranges for which these have room
 * @left_out: number of ranges without a track
 * @lanes: by kind and key: when each lane is free
 * @nr_lanes: number of these
 * @next_tid: tid of the next track that is not a thread
 * @main: producer whose process the trace is of, XSPROF_NO_PRODUCER if unknown
 * @numbers: numbers of devices
 * @devices: bitmap of devices seen
 * @overhead: the overhead track exists
 * @freed: nothing is written any more
 * @host: write host events
 * @gpu: write GPU events
 * @late: the trace has late records: finished ranges are kept
 * @shapes: write inputs of ops
 * @stacks: write stacks of ops
 * @modules: write modules of ops
 * @memory: write allocations
 * @saw_shapes: an op with inputs was written
 * @saw_stacks: an op with a stack was written
 * @saw_modules: an op with modules was written
 * @saw_memory: an allocation was written
 * @steps: open steps
 * @limits: limits of devices
 * @nr_limits: number of these
 * @limit_of: process and device number to index in @limits + 1; 0: unknown
 * @limits_once: limits of a device for which there is no memory
 */
struct xsr_kineto {
	struct xsr_writer		w;
	struct xsprof_result_options	opts;
	struct xsp_tracks		*tracks;
	const struct xsp_map		*posts;
	struct xsp_map			said;
	struct xsr_link			*link;
	struct xsr_stacks		*stack;
	struct xsr_users		*users;
	struct xsr_waits		*waits;
	struct xsp_captured		captured;
	struct xsp_early		early;
	int64_t				shift;
	uint64_t			base;
	uint64_t			from;
	uint64_t			to;
	uint64_t			first;
	uint64_t			last;
	uint64_t			index;
	uint64_t			at;
	uint64_t			ops;
	uint64_t			events;
	uint64_t			lost;
	uint64_t			no_stack;
	uint64_t			devices[XSP_DEVICE_NUMBERS / 64];
	uint64_t			left_out;
	struct xsr_numbers		*numbers;
	struct xsr_recent		*recents;
	struct xsp_map			lanes;
	uint32_t			nr_lanes;
	uint32_t			pushed;
	uint32_t			past;
	uint32_t			nr_recent;
	uint32_t			next_tid;
	uint32_t			main;
	bool				over;
	bool				overhead;
	bool				freed;
	bool				host;
	bool				gpu;
	bool				late;
	bool				shapes;
	bool				stacks;
	bool				modules;
	bool				memory;
	bool				saw_shapes;
	bool				saw_stacks;
	bool				saw_modules;
	bool				saw_memory;
	struct xsr_step			steps[XSR_STEPS];
	struct xsr_limits		*limits;
	uint32_t			nr_limits;
	struct xsp_map			limit_of;
	struct xsr_limits		limits_once;
};

#endif /* XSR_KINETO_HANDLE_H */
