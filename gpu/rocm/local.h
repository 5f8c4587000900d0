/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Shared by the files of the ROCm collector. From bottom to top:
 *
 *	library.c	rocprofiler-sdk's functions
 *	pool.c		copies of the records that it delivers
 *	names.c		names of functions, and which are recorded
 *	kernels.c	names of kernels
 *	miss.c		the collector, and counts of what is not recorded
 *	agent.c		devices, and the clock of all records
 *	place.c		queues of records
 *	activity.c	common part of all activities
 *	record.c	converts rocprofiler-sdk's records
 *	roctx.c		ranges and marks of roctx
 *	services.c	what rocprofiler-sdk collects
 *	thread.c	work of the collector's thread
 *	init.c		entry point
 *
 * Only roctx.c and rocprofiler-sdk itself run in calls of the program: records are converted in the
 * collector's thread.
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
/* In the format of ROCP_VERSION(). */
extern uint32_t rocm_version;

/* @caller: an address in the library. Return: 0; -ENOSYS or -ENOENT after a message. */
int rocm_open(uint32_t version, const void *caller);
/* rocprofiler-sdk's text for a status. */
const char *rocm_text(int status);

/* ---- pool.c ---------------------------------------------------------------------------------- */

/* rocprofiler-sdk's callback for its buffer. */
void rocm_pool_fill(struct rocp_id context, struct rocp_id buffer, struct rocp_header **headers,
		    size_t n, void *data, uint64_t dropped);
/* Return: false: there is none. */
bool rocm_pool_take(struct gpu_buffer *buffer);
void rocm_pool_give(const struct gpu_buffer *buffer);
/* Return: the record at @*at in a buffer, after which @*at then points; NULL: no more. */
const struct rocp_record *rocm_pool_next(const struct gpu_buffer *buffer, size_t *at);
/* Number of filled buffers. */
uint32_t rocm_pool_full(void);
void rocm_pool_forget(void);

/* ---- names.c --------------------------------------------------------------------------------- */

/* Kinds that are collected; their numbers depend on the version. */
enum rocm_kind {
	ROCM_CALL, ROCM_KERNEL, ROCM_COPY, ROCM_MEMORY, ROCM_NR_KINDS,
};

enum rocm_event {
	ROCM_SYMBOL, ROCM_MARKER, ROCM_NR_EVENTS,
};

int rocm_category(void);
void rocm_names_init(void);
/* The number of a kind; 0: not in this version. */
uint32_t rocm_kind(enum rocm_kind kind);
uint32_t rocm_event_kind(enum rocm_event kind);
/* The name of a function of HIP. */
xsprof_name_t rocm_call_name(int32_t operation);
/* Functions that start work, or wait for it. Return: their number. */
size_t rocm_choose_calls(const int32_t **operations);
/* Does the operation free memory? Else it allocates. */
bool rocm_frees(int32_t operation);

/* ---- kernels.c ------------------------------------------------------------------------------- */

void rocm_kernel_is(uint64_t kernel, const char *name);
xsprof_name_t rocm_kernel_name(uint64_t kernel);
void rocm_kernels_forget(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

/* What is not recorded, by cause: each is a counter in the trace, once it is not 0. */
enum rocm_miss {
	ROCM_MISS_BUFFERS,	/* all buffers were in use */
	ROCM_MISS_DROPPED,	/* dropped by rocprofiler-sdk */
	ROCM_MISS_NO_TIME,	/* activities without times */
	ROCM_MISS_UNKNOWN,	/* records of unknown kinds, or too short */
	ROCM_MISS_EXIT,		/* buffers left at the program's end */
	ROCM_NR_MISSES,
};

void rocm_miss(enum rocm_miss what, uint64_t n);

extern struct xsprof_collector rocm_collector;

/* ---- agent.c --------------------------------------------------------------------------------- */

/* Return: number of devices, or a negative status. */
int rocm_agents_find(void);
/* Sets @device to that of an agent. Return: false: the agent is a processor, or unknown. */
bool rocm_device(uint64_t agent, uint32_t *device);
/* The first device: for activities without one. */
uint32_t rocm_first_device(void);
/* Compares the clock of records with ours: to be called before records are read. */
void rocm_clock_look(void);
/* Converts a time of a record to ticks. */
uint64_t rocm_ticks(uint64_t ns);

/* ---- place.c --------------------------------------------------------------------------------- */

/* A device's copies in one direction are shown as a queue of their own. */
enum rocm_way { ROCM_TO_DEVICE, ROCM_TO_HOST, ROCM_IN_DEVICES, ROCM_IN_HOST };

uint32_t rocm_queue(uint32_t device, uint64_t queue);
uint32_t rocm_copies(uint32_t device, enum rocm_way way);

/* ---- activity.c ------------------------------------------------------------------------------ */

/* Sets the common part of all activities. Return: false: there are no times; counted. */
bool rocm_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name,
	       uint64_t start, uint64_t end, uint64_t call);
void rocm_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n);

/* ---- record.c -------------------------------------------------------------------------------- */

void rocm_record_init(void);
/* Converts the records of all filled buffers. */
void rocm_drain(void);

/* ---- roctx.c --------------------------------------------------------------------------------- */

void rocm_roctx_init(void);
void rocm_roctx_event(int32_t operation, uint32_t phase, const struct rocp_marker_data *d);

/* ---- services.c ------------------------------------------------------------------------------ */

/* Return: 0, a status, or -ENODEV: only names and ranges are collected. */
int rocm_services_make(void);
/* Return: 0, or a status. */
int rocm_services_on(void);
/* Also reads what rocprofiler-sdk still holds. */
void rocm_services_off(void);
bool rocm_services(void);
/* Makes rocprofiler-sdk deliver what it holds. */
void rocm_services_flush(void);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* Return: 0, or the library's error. */
int rocm_thread_start(void);
/* Called when rocprofiler-sdk ends, after the thread: reads what came in between. */
void rocm_thread_late(void);

#endif /* XSPROF_ROCM_LOCAL_H */
