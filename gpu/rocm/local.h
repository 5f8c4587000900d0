/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the ROCm collector share.  From bottom to top:
 *
 *	library.c	rocprofiler-sdk's functions
 *	pool.c		copies of the records that it hands over
 *	names.c		names of functions, and which are recorded
 *	kernels.c	names of kernels
 *	miss.c		the collector, and the account of what is not recorded
 *	agent.c		devices, and the clock of all records
 *	place.c		queues of records
 *	activity.c	what is common to all activities
 *	record.c	rocprofiler-sdk's records into ours
 *	roctx.c		ranges and marks of roctx
 *	services.c	what rocprofiler-sdk collects
 *	thread.c	what the thread that does this is called for
 *	init.c		how a program that uses ROCm comes here
 *
 * Nothing here runs in a call of the program but what rocprofiler-sdk itself does, and roctx.c:
 * records become ours in a thread of the collector.
 */
#ifndef XSPROF_ROCM_LOCAL_H
#define XSPROF_ROCM_LOCAL_H

#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/common/pool.h"
#include "gpu/rocm/rocprofiler-abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- library.c ------------------------------------------------------------------------------- */

extern struct rocp rocp;
/* As ROCP_VERSION() has it. */
extern uint32_t rocm_version;

/* Attaches if need be. */
bool rocm_is_recording(void);
/* @caller: an address in the library.  Return: 0; -ENOSYS, -ENOENT: it is told. */
int rocm_open(uint32_t version, const void *caller);
/* In rocprofiler-sdk's words. */
const char *rocm_text(int status);

/* ---- pool.c ---------------------------------------------------------------------------------- */

/* rocprofiler-sdk's callback for its buffer. */
void rocm_pool_fill(struct rocp_id context, struct rocp_id buffer, struct rocp_header **headers,
		    size_t n, void *data, uint64_t dropped);
/* Return: there is one. */
bool rocm_pool_take(struct gpu_buffer *buffer);
void rocm_pool_give(const struct gpu_buffer *buffer);
/* The record at @*at in a buffer, and step on.  Return: NULL: there is none. */
const struct rocp_record *rocm_pool_next(const struct gpu_buffer *buffer, size_t *at);
/* How many are to be taken. */
uint32_t rocm_pool_full(void);
void rocm_pool_forget(void);

/* ---- names.c --------------------------------------------------------------------------------- */

/* Kinds that are collected; their numbers are of the version. */
enum rocm_kind {
	ROCM_CALL, ROCM_KERNEL, ROCM_COPY, ROCM_MEMORY, ROCM_NR_KINDS,
};

enum rocm_event {
	ROCM_SYMBOL, ROCM_MARKER, ROCM_NR_EVENTS,
};

int rocm_category(void);
void rocm_names_init(void);
/* The number of a kind.  Return: 0: this version has none. */
uint32_t rocm_kind(enum rocm_kind kind);
uint32_t rocm_event_kind(enum rocm_event kind);
/* Of a function of HIP. */
xsprof_name_t rocm_call_name(int32_t operation);
/* Those functions that give a device something to do, or wait for it.  Return: how many. */
size_t rocm_choose_calls(const int32_t **operations);
/* Whether memory is freed, and not allocated. */
bool rocm_frees(int32_t operation);

/* ---- kernels.c ------------------------------------------------------------------------------- */

void rocm_kernel_is(uint64_t kernel, const char *name);
xsprof_name_t rocm_kernel_name(uint64_t kernel);
void rocm_kernels_forget(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

/* What is not recorded: each a counter of its name in the trace, once there is any. */
enum rocm_miss {
	ROCM_MISS_BUFFERS,	/* all buffers were in use */
	ROCM_MISS_DROPPED,	/* rocprofiler-sdk says so */
	ROCM_MISS_NO_TIME,	/* activities without times */
	ROCM_MISS_UNKNOWN,	/* records of other kinds, or shorter than they must be */
	ROCM_MISS_EXIT,		/* buffers that were left when the program had to end */
	ROCM_NR_MISSES,
};

void rocm_miss(enum rocm_miss what, uint64_t n);

extern struct xsprof_collector rocm_collector;

/* ---- agent.c --------------------------------------------------------------------------------- */

/* Return: how many devices there are, or a status below 0. */
int rocm_agents_find(void);
/* The device that an agent is.  Return: false: it is a processor, or not known. */
bool rocm_device(uint64_t agent, uint32_t *device);
/* The first of all, for what is of none. */
uint32_t rocm_first_device(void);
/* Relate the clock of records to ours: before records are read. */
void rocm_clock_look(void);
/* A time of a record in ticks. */
uint64_t rocm_ticks(uint64_t ns);

/* ---- place.c --------------------------------------------------------------------------------- */

/* Copies of a device in one direction are like a queue of their own. */
enum rocm_way { ROCM_TO_DEVICE, ROCM_TO_HOST, ROCM_IN_DEVICES, ROCM_IN_HOST };

uint32_t rocm_queue(uint32_t device, uint64_t queue);
uint32_t rocm_copies(uint32_t device, enum rocm_way way);

/* ---- activity.c ------------------------------------------------------------------------------ */

/* What is common to all activities, with times of records.  Return: false: it has none: counted. */
bool rocm_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name,
	       uint64_t start, uint64_t end, uint64_t call);
void rocm_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n);

/* ---- record.c -------------------------------------------------------------------------------- */

void rocm_record_init(void);
/* What it took to start, since @begin: readers know from it that activities will come. */
void rocm_record_start(uint64_t begin);
/* All buffers that were filled. */
void rocm_drain(void);

/* ---- roctx.c --------------------------------------------------------------------------------- */

void rocm_roctx_init(void);
void rocm_roctx_event(int32_t operation, uint32_t phase, const struct rocp_marker_data *d);

/* ---- services.c ------------------------------------------------------------------------------ */

/* Return: 0, a status, or -ENODEV: names and ranges alone are collected. */
int rocm_services_make(void);
/* Return: 0, or a status. */
int rocm_services_on(void);
/* And take what rocprofiler-sdk still holds. */
void rocm_services_off(void);
bool rocm_services(void);
/* Have it hand over what it holds. */
void rocm_services_flush(void);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* Return: 0, or why the library begins none. */
int rocm_thread_start(void);
/* rocprofiler-sdk ends, after the thread has: what came in between. */
void rocm_thread_late(void);

#endif /* XSPROF_ROCM_LOCAL_H */
