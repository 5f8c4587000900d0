/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What devices did: how busy they were, which kernels and copies took how long, and the calls that
 * started them.  gpu.c reads, busy.c adds up times, unrecorded.c those that are unknown, idle.c
 * finds out why devices were idle, metrics.c has samples of their counters, kernel-metrics.c those
 * of kernels, idle-print.c, gpu-print.c and gpu-json.c print.
 */
#ifndef XSPROF_REPORT_GPU_H
#define XSPROF_REPORT_GPU_H

#include "cli/missed.h"
#include "ranges/device-names.h"
#include "ranges/device-work.h"
#include "report/budget.h"
#include "report/comms.h"
#include "report/device-clocks.h"
#include "report/local.h"
#include "report/unrecorded.h"
#include "result/occupancy.h"

#define GPU_DEVICES	64u
#define GPU_STREAMS	512u

/* ---- busy.c: times, each moment once --------------------------------------------------------- */

struct gpu_busy;

/* Return: NULL without memory. */
struct gpu_busy *gpu_busy_new(void);
void gpu_busy_free(struct gpu_busy *busy);
void gpu_busy_add(struct gpu_busy *busy, uint64_t begin, uint64_t end);
uint64_t gpu_busy_ns(const struct gpu_busy *busy);
/* Time that arrived too late to be counted: at most this much is missing. */
uint64_t gpu_busy_late(const struct gpu_busy *busy);
/* The part of it between these times, as far as it is still known. */
uint64_t gpu_busy_within(const struct gpu_busy *busy, uint64_t begin, uint64_t end);
/* Adds what of @busy is between these times, as far as it is still known. */
void gpu_busy_join(struct gpu_busy *to, const struct gpu_busy *busy, uint64_t begin, uint64_t end);
/* The part of @b between these times that is not in @busy, which has no time outside of them. */
uint64_t gpu_busy_beside(const struct gpu_busy *b, const struct gpu_busy *busy, uint64_t begin,
			 uint64_t end);
/* Calls @fn for each time between those that are still known one by one. */
void gpu_busy_gaps(const struct gpu_busy *busy,
		   void (*fn)(void *data, uint64_t begin, uint64_t end), void *data);

/* ---- gpu.c ----------------------------------------------------------------------------------- */

/* Kernels of collectives are kernels too, as are those of none; MOST: kernels or copies. */
enum gpu_busy_of {
	GPU_BUSY_ALL, GPU_BUSY_KERNELS, GPU_BUSY_COPIES, GPU_BUSY_COLLECTIVES, GPU_BUSY_COMPUTING,
	GPU_BUSY_MOST, GPU_BUSY_KINDS,
};

/**
 * struct gpu_device - a device
 * @number: its number in its first process
 * @uuid: "": unknown
 * @busy: by enum gpu_busy_of
 * @name: as reported by its collector, "": unknown
 * @kind: the word before its number
 * @sets: ns of memsets
 * @others: ns of work of other kinds
 * @early: activities that began before the call that started them
 * @early_ns: by how much at most
 * @unknown: times in which one of its processes did not record it; NULL: none
 * @unrecorded: ns of @unknown, from @first to @last, in which it was not busy
 * @kernels: how many ran
 * @measured: of how many of these there are metrics, for which they ran alone
 * @passes: the most that one of them ran in
 * @in_use: the most bytes of its memory that a process had at once; 0 where that is not known
 * @bytes: moved by copies
 * @first: begin of its first activity
 * @last: end of its last
 */
struct gpu_device {
	uint32_t		number;
	char			uuid[64];
	struct gpu_busy		*busy[GPU_BUSY_KINDS];
	char			name[96];
	char			kind[XSP_DEVICE_KIND + 8];
	uint64_t		sets;
	uint64_t		others;
	uint64_t		early;
	uint64_t		early_ns;
	struct gpu_busy		*unknown;
	uint64_t		unrecorded;
	uint64_t		kernels;
	uint64_t		measured;
	uint64_t		passes;
	uint64_t		in_use;
	uint64_t		bytes;
	uint64_t		first;
	uint64_t		last;
};

struct gpu_stream {
	uint32_t		producer;
	uint32_t		pid;
	uint32_t		device;		/* its index */
	uint32_t		number;		/* as the process calls it */
	uint32_t		context;
	uint32_t		stream;
	uint64_t		count;
	struct gpu_busy		*busy;
	bool			known;		/* @limits, as the process states them */
	struct xsr_limits	limits;
};

#define GPU_METRICS_OF_ONE	32u	/* of a device, or of a row of kernels */

/**
 * struct gpu_measured - metrics of kernels that were measured
 * @kernels: how many
 * @nr: metrics
 * @v: name: a word of the groups; count: kernels of which it is known; sum: of its values
 */
struct gpu_measured {
	uint64_t	kernels;
	uint32_t	nr;
	struct {
		uint32_t	name;
		uint64_t	count;
		double		sum;
		double		min;
		double		max;
	} v[GPU_METRICS_OF_ONE];
};

/**
 * struct gpu_row - data of a row in addition to its group
 * @group: its durations
 * @kind: enum xsprof_gpu_kind
 * @collective: it is a kernel of a library for collectives
 * @bytes: moved
 * @delays: activities whose call is known
 * @delay: ns from the begin of their calls to theirs, in all
 * @occupied: ns, times %
 * @occupied_ns: of how many ns that is known
 * @measured: metrics of its kernels; NULL: none was measured
 */
struct gpu_row {
	struct xsp_group	*group;
	uint32_t		kind;
	bool			collective;
	uint64_t		bytes;
	uint64_t		delays;
	uint64_t		delay;
	double			occupied;
	uint64_t		occupied_ns;
	struct gpu_measured	*measured;
};

/**
 * enum gpu_idle_why - why a device was idle
 * @GPU_IDLE_LAUNCHED: the call that launched the next activity was over
 * @GPU_IDLE_CALL: it was not, and its thread was in that call, or in another one before
 * @GPU_IDLE_OFF_CPU: ... was off the CPU
 * @GPU_IDLE_RANGE: ... was in a range
 * @GPU_IDLE_NO_RANGE: ... was in no range
 * @GPU_IDLE_NO_CALL: the next activity has no call
 * @GPU_IDLE_UNKNOWN: the call of the next activity is unknown
 * @GPU_IDLE_UNRECORDED: devices were not recorded in another part of it
 * @GPU_IDLE_OTHER: any of these, in rows that did not fit
 * @GPU_IDLE_SHORT: the idle time was not examined, because others are longer
 */
enum gpu_idle_why {
	GPU_IDLE_LAUNCHED, GPU_IDLE_CALL, GPU_IDLE_OFF_CPU, GPU_IDLE_RANGE, GPU_IDLE_NO_RANGE,
	GPU_IDLE_NO_CALL, GPU_IDLE_UNKNOWN, GPU_IDLE_UNRECORDED, GPU_IDLE_OTHER,
	GPU_IDLE_SHORT,
};

#define GPU_IDLE_ROWS	1024u
#define GPU_NO_WORD	UINT32_MAX	/* 0 is that of names without room: "(other)" */
#define GPU_IDLE_WHO	8u

/**
 * struct gpu_idle_who - what a thread that was off the CPU waited for
 * @tid: the task that had its CPU, woke it, or held the lock; 0: none, see @context
 * @context: enum cause_context: a task, an interrupt that woke it
 * @partial: others may have had the CPU too
 * @comm: name of the task
 * @ns: duration
 */
struct gpu_idle_who {
	uint32_t	tid;
	uint32_t	context;
	bool		partial;
	char		comm[REPORT_COMM];
	uint64_t	ns;
};

/**
 * struct gpu_idle_row - a reason
 * @device: index of the device
 * @why: enum gpu_idle_why
 * @class: OFF_CPU: enum cause_class
 * @producer: of the thread that launched late
 * @tid: that thread; 0: none
 * @word: the call, or the range; GPU_NO_WORD: none
 * @latest: the last idle time that it had a part in
 * @count: idle times that it had a part in; OTHER: such parts
 * @ns: duration
 * @who: OFF_CPU: what it waited for, the longest first in the end
 * @nr_who: how many
 * @who_left_out: time of those that did not fit
 */
struct gpu_idle_row {
	uint32_t		device;
	uint32_t		why;
	uint32_t		class;
	uint32_t		producer;
	uint32_t		tid;
	uint32_t		word;
	uint32_t		latest;
	uint64_t		count;
	uint64_t		ns;
	struct gpu_idle_who	who[GPU_IDLE_WHO];
	uint32_t		nr_who;
	uint64_t		who_left_out;
};

#define GPU_COPY_ROWS	256u

/**
 * struct gpu_copy_row - copies of a kind, by a call
 * @copy: its name
 * @call: name of the call
 * @count: copies
 * @blocked: those whose call returned after the copy
 * @bytes: that these moved
 * @ns: duration of their calls
 * @longest: the longest of them
 */
struct gpu_copy_row {
	uint32_t	copy;
	uint32_t	call;
	uint64_t	count;
	uint64_t	blocked;
	uint64_t	bytes;
	uint64_t	ns;
	uint64_t	longest;
};

#define GPU_CAPTURED_ROWS	4096u

/**
 * struct gpu_captured_row - graph activities, by the range that captured them
 * @range: + 1; 0: unknown, or none
 * @work: the activity's name
 * @count: number of activities
 * @ns: duration
 */
struct gpu_captured_row {
	uint32_t	range;
	uint32_t	work;
	uint64_t	count;
	uint64_t	ns;
};

#define GPU_METRICS	512u

/**
 * struct gpu_metric - a sampled counter of a device
 * @device: index of the device
 * @name: of the metric, a word of the groups
 * @count: samples
 * @ns: their total duration
 * @sum: sum of values, weighted by ns
 * @busy_ns: the part of @ns in which the device was busy
 * @busy_sum: sum of values, weighted by @busy_ns
 * @max: the largest value
 */
struct gpu_metric {
	uint32_t	device;
	uint32_t	name;
	uint64_t	count;
	uint64_t	ns;
	double		sum;
	uint64_t	busy_ns;
	double		busy_sum;
	double		max;
};

/**
 * struct gpu_report - what is reported
 * @devices: in the order in which they came; processes may call one by different numbers
 * @streams: in the order in which they came
 * @unlisted: activities of streams or devices that found no place there
 * @unlisted_metrics: values of metrics that found no place
 * @missed: what collectors did not record, of each process
 * @unrecorded: by producer
 * @nr_unrecorded: room of @unrecorded
 * @rows: activities, then calls, then the rest, each by its total
 * @early: activities that began before the call that started them
 * @busy: sum of all devices, ns
 * @events: activities and calls
 * @numbers: by process and number: the place of a device + 1, 0: not listed
 * @idle: by device, the longest first, each followed by a row of GPU_IDLE_SHORT
 * @nr_idle: number of @idle
 * @copies: copies and their calls
 * @nr_copies: number of @copies
 * @unlisted_copies: copies that did not fit
 * @graphs: there are graph activities
 * @captured: these, by the capturing range; NULL: not read
 * @nr_captured: number of @captured
 * @unlisted_captured: activities that did not fit
 * @launchers: ranges that launched work
 * @nr_launchers: number of @launchers
 * @launched: work, by the range that launched it
 * @nr_launched: number of @launched
 * @unlisted_launched: work that is in no row, or in that of an outer range: too many
 * @steps: of budgets, the first ones
 * @nr_steps: how many there are
 * @metrics: by device, in the order of appearance
 * @nr_metrics: number of @metrics
 * @sampled: there are samples
 * @unknown_nodes: graph nodes that did not fit
 * @clocks: of devices, by process
 */
struct gpu_report {
	struct report		*report;
	struct gpu_device	devices[GPU_DEVICES];
	uint32_t		nr_devices;
	struct gpu_stream	streams[GPU_STREAMS];
	uint32_t		nr_streams;
	uint64_t		unlisted;
	uint64_t		unlisted_metrics;
	struct missed_list	missed;
	struct gpu_unrecorded	*unrecorded;
	uint32_t		nr_unrecorded;
	struct gpu_row		*rows;
	uint32_t		nr;
	uint32_t		room;
	uint64_t		early;
	uint64_t		busy;
	uint64_t		events;
	struct xsp_map		numbers;
	struct gpu_idle_row	idle[GPU_IDLE_ROWS + 2 * GPU_DEVICES];
	uint32_t		nr_idle;
	struct gpu_copy_row	copies[GPU_COPY_ROWS];
	uint32_t		nr_copies;
	uint64_t		unlisted_copies;
	bool			graphs;
	struct gpu_captured_row	*captured;
	uint32_t		nr_captured;
	uint64_t		unlisted_captured;
	uint64_t		unknown_nodes;
	struct gpu_launcher	*launchers;
	uint32_t		nr_launchers;
	struct gpu_launched_row	*launched;
	uint32_t		nr_launched;
	uint64_t		unlisted_launched;
	struct gpu_budget_step	steps[GPU_BUDGET_STEPS];
	uint32_t		nr_steps;
	struct gpu_metric	metrics[GPU_METRICS];
	uint32_t		nr_metrics;
	bool			sampled;
	struct device_clocks	clocks;
};

/* Time in which copies, or collectives, overlapped (other) kernels, ns (devices.c). */
uint64_t gpu_copies_beside(const struct gpu_device *d);
uint64_t gpu_collectives_beside(const struct gpu_device *d);

/* The index of the device with @number in a process, -1: not listed. */
static inline int gpu_device_find(const struct gpu_report *gpu, uint32_t producer, uint32_t number)
{
	const uint64_t *known = xsp_map_get(&gpu->numbers, ((uint64_t)producer + 1) << 32 | number);

	return known ? (int)*known - 1 : -1;
}

/* devices.c: the device that a process calls by @number, added if new. Return: NULL if full. */
struct gpu_device *gpu_device_of(struct gpu_report *gpu, uint32_t producer, uint32_t number);
/* devices.c: the stream of @rec, added if new. Return: NULL if full, or without memory. */
struct gpu_stream *gpu_stream_of(struct gpu_report *gpu, const struct xsprof_event *ev,
				 const struct xsprof_rec_gpu *rec, uint32_t device);

/*
 * devices.c: how far apart its clock and that of its processes are at most, in the worst second and
 * in the best one, ns. Return: false: not known of all its processes.
 */
bool gpu_clock(const struct gpu_report *gpu, uint32_t device, int64_t *worst, int64_t *best);

/* How long it was recorded, from its first activity to its last. */
static inline uint64_t gpu_span_ns(const struct gpu_device *d)
{
	uint64_t all = d->last > d->first ? d->last - d->first : 0;

	return all > d->unrecorded ? all - d->unrecorded : 0;
}

/* Of that time. */
static inline uint64_t gpu_idle_ns(const struct gpu_device *d)
{
	uint64_t all = gpu_span_ns(d), busy = gpu_busy_ns(d->busy[GPU_BUSY_ALL]);

	return all > busy ? all - busy : 0;
}

/* idle.c: @idle and @copies.  Return: 0 or -errno. */
int gpu_idle(struct gpu_report *gpu);

/* captured.c: @captured.  Return: 0 or -errno. */
int gpu_captured(struct gpu_report *gpu);
void gpu_print_captured(const struct gpu_report *gpu);
void gpu_json_captured(const struct gpu_report *gpu);

/* metrics.c: @metrics.  Return: 0 or -errno. */
int gpu_metrics(struct gpu_report *gpu);
void gpu_print_metrics(const struct gpu_report *gpu, uint32_t device);
void gpu_json_metrics(const struct gpu_report *gpu, uint32_t device);

/* kernel-metrics.c: those of a kernel of @row, which ran on @d. */
void gpu_measured_add(struct gpu_report *gpu, struct gpu_device *d, struct gpu_row *row,
		      const struct xsprof_event *ev);
/* Of the device how many were measured; of rows from @from to before @to, their metrics. */
void gpu_print_alone(const struct gpu_device *d);
void gpu_print_measured(const struct gpu_report *gpu, uint32_t from, uint32_t to);
void gpu_json_measured(const struct gpu_report *gpu, const struct gpu_row *row);

/* Return: an exit status. */
int gpu_run(struct report *report);

static inline bool gpu_is_memory(uint32_t kind)
{
	return kind == XSPROF_GPU_ALLOC || kind == XSPROF_GPU_FREE;
}

/* idle-print.c: of a device; and copies. */
void gpu_print_idle(const struct gpu_report *gpu, uint32_t device);
void gpu_print_copies(const struct gpu_report *gpu);
void gpu_json_idle(const struct gpu_report *gpu, uint32_t device);
void gpu_json_copies(const struct gpu_report *gpu);

/* gpu-print.c, gpu-json.c */
void gpu_print(const struct gpu_report *gpu);
void gpu_print_json(const struct gpu_report *gpu);

#endif /* XSPROF_REPORT_GPU_H */
