/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why devices were idle, and which copies blocked their caller: idle.c finds the longest idle times
 * and the calls that ended them, idle-host.c what the calling threads did before, copies.c calls
 * that returned after their copy; idle-rows.c has the rows.
 *
 * An idle time ends with an activity. Either the call that launched it was over before the idle
 * time began, or later: then the launching thread was in that call, and did something else before.
 */
#ifndef XSPROF_REPORT_IDLE_H
#define XSPROF_REPORT_IDLE_H

#include "cause/cause.h"
#include "report/gpu.h"

#define IDLE_TIMES	8192u	/* examined: the longest of all devices */

/**
 * struct idle_call - a runtime call of the launching thread
 * @from: begin
 * @to: end
 * @word: its name
 * @in: index of the idle time
 */
struct idle_call {
	uint64_t	from;
	uint64_t	to;
	uint32_t	word;
	uint32_t	in;
};

/**
 * struct idle_time - a time in which a device was idle
 * @begin: begin
 * @end: end
 * @device: index of the device
 * @producer: of the activity that ends it
 * @pid: its process
 * @tid: the thread that launched that activity; valid with @known
 * @known: the call is known
 * @unrecorded: ns of it in which the device was not recorded
 * @partial: some calls of the thread were not stored, for lack of memory
 * @key: hash of producer and correlation; 0: not known
 * @no_call: the activity that ends it has none
 * @same: index + 1 of another idle time with that key
 * @launched: end of the call, or @end if that is earlier
 * @calls: index of the thread's first call in this time that is not over at @at
 * @calls_end: index behind the last one
 * @task: the thread in cause.h
 * @at: the thread's time is accounted for up to here
 */
struct idle_time {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	unrecorded;
	uint32_t	device;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	tid;
	bool		known;
	bool		partial;
	uint64_t	key;
	bool		no_call;
	uint32_t	same;
	uint64_t	launched;
	uint32_t	calls;
	uint32_t	calls_end;
	uint64_t	task;
	uint64_t	at;
};

/**
 * struct idle - the examined idle times
 * @gpu: the report
 * @v: idle times
 * @n: their number
 * @calls: of all of them, sorted by idle time and begin once all are there
 * @nr_calls: how many
 * @room_calls: capacity of @calls
 * @err: 0 or -errno, if memory ran out
 */
struct idle {
	struct gpu_report	*gpu;
	struct idle_time	*v;
	uint32_t		n;
	struct idle_call	*calls;
	uint32_t		nr_calls;
	uint32_t		room_calls;
	int			err;
};

/* The call that launched the activity was over after the idle time had begun. */
static inline bool idle_is_late(const struct idle_time *t)
{
	return t->known && !t->unrecorded && t->launched > t->begin;
}

/* The calling thread. */
static inline uint32_t idle_thread(const struct xsprof_event *ev, const struct xsprof_rec_gpu *rec)
{
	return rec->thread ? (uint32_t)rec->thread : ev->tid;
}

/**
 * struct idle_reason - a reason, which has a row for each device and thread
 * @why: enum gpu_idle_why
 * @class: OFF_CPU: enum cause_class
 * @word: the call, or the range; GPU_NO_WORD: none
 * @segment: OFF_CPU: what the thread waited for
 * @comms: names of tasks, with @segment
 */
struct idle_reason {
	uint32_t			why;
	uint32_t			class;
	uint32_t			word;
	const struct cause_segment	*segment;
	const struct report_comms	*comms;
};

/* idle-rows.c: adds to a row. */
void idle_add(struct idle *idle, const struct idle_time *t, const struct idle_reason *reason,
	      uint64_t ns);
/* Sorts what threads waited for. */
void idle_rows_sort(struct gpu_report *gpu);

/* idle-host.c.  Return: 0 or -errno. */
int idle_host(struct idle *idle);

/* copies.c */
struct copies;
int copies_new(struct gpu_report *gpu, struct copies **copies);
void copies_free(struct copies *copies);
void copies_event(struct copies *copies, const struct xsprof_event *ev,
		  const struct xsprof_rec_gpu *rec);

#endif /* XSPROF_REPORT_IDLE_H */
