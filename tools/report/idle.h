/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why devices had nothing to do, and which copies held up their caller: idle.c looks for the
 * longest idle times and the calls that ended them, idle-host.c for what the threads of these calls
 * did before, copies.c for calls that returned after their copy; idle-rows.c has the reasons.
 *
 * An idle time ends with an activity.  It was launched before the idle time began, or later; then
 * the thread that launched it did something else until it did.
 */
#ifndef XSPROF_REPORT_IDLE_H
#define XSPROF_REPORT_IDLE_H

#include "report/gpu.h"

#define IDLE_TIMES	8192u	/* that are examined, the longest of all devices */

/**
 * struct idle_call - a call that the launching thread was in
 * @from: begin
 * @to: end
 * @word: its name
 * @next: number + 1 of the next one, in the order of begins; 0: none
 */
struct idle_call {
	uint64_t	from;
	uint64_t	to;
	uint32_t	word;
	uint32_t	next;
};

/**
 * struct idle_time - a time in which a device did nothing
 * @begin: begin
 * @end: end
 * @device: its place in the list
 * @producer: of the activity that ends it
 * @pid: its process
 * @tid: the thread that launched that; valid with @known
 * @known: the call is known
 * @unrecorded: devices were not recorded in some of it
 * @partial: not all calls of the thread found memory
 * @key: of producer and correlation; 0: not known
 * @same: number + 1 of another idle time with that key
 * @launched: begin of the call
 * @calls: number + 1 of the first call that the thread was in meanwhile
 * @task: the thread as cause.h has it
 * @at: until then its thread has been looked at
 */
struct idle_time {
	uint64_t	begin;
	uint64_t	end;
	uint32_t	device;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	tid;
	bool		known;
	bool		unrecorded;
	bool		partial;
	uint64_t	key;
	uint32_t	same;
	uint64_t	launched;
	uint32_t	calls;
	uint64_t	task;
	uint64_t	at;
};

/**
 * struct idle - idle times that are examined
 * @gpu: the report
 * @v: them
 * @n: how many
 * @calls: of all of them
 * @nr_calls: how many
 * @room_calls: of @calls
 * @err: 0 or -errno, of what had no memory
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

/* Launched after the idle time had begun. */
static inline bool idle_is_late(const struct idle_time *t)
{
	return t->known && !t->unrecorded && t->launched > t->begin;
}

/* The thread that called. */
static inline uint32_t idle_thread(const struct xsprof_event *ev, const struct xsprof_rec_gpu *rec)
{
	return rec->thread ? (uint32_t)rec->thread : ev->tid;
}

/* idle-rows.c: @class: enum cause_class, or 0. */
void idle_add(struct idle *idle, const struct idle_time *t, enum gpu_idle_why why, uint32_t class,
	      uint32_t word, uint64_t ns);
/* Reads the trace once more.  Return: 0 or -errno. */
int idle_read(struct gpu_report *gpu, void (*event)(void *data, const struct xsprof_event *ev),
	      void *data);

/* idle-host.c.  Return: 0 or -errno. */
int idle_host(struct idle *idle);

/* copies.c */
struct copies;
int copies_new(struct gpu_report *gpu, struct copies **copies);
void copies_free(struct copies *copies);
void copies_event(struct copies *copies, const struct xsprof_event *ev,
		  const struct xsprof_rec_gpu *rec);

#endif /* XSPROF_REPORT_IDLE_H */
