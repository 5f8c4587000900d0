/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the CUPTI collector share.  From bottom to top:
 *
 *	library.c	finds CUPTI
 *	pool.c		the buffers that CUPTI fills
 *	names.c		names of kernels and of functions
 *	miss.c		the account of what is not recorded
 *	device.c	what is known of devices and contexts
 *	record.c	CUPTI's records into ours
 *	kinds.c		which kinds of records CUPTI collects
 *	thread.c	the thread that does this, and the end of it
 *	init.c		how a program that uses CUDA comes here
 *
 * Nothing here runs in a call of the program but what CUPTI itself does, the timestamp, and at
 * times the hand-over of a buffer: records become ours in a thread of the collector.
 */
#ifndef XSPROF_CUPTI_LOCAL_H
#define XSPROF_CUPTI_LOCAL_H

#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/common/collect.h"
#include "gpu/cupti/cupti-abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- library.c ------------------------------------------------------------------------------- */

extern struct cupti cupti;
extern uint32_t cupti_version;

/* Return: 0; -ENOENT, -ENOSYS: it is told. */
int cupti_open(void);
/* In CUPTI's words. */
const char *cupti_text(int result);

/* ---- pool.c ---------------------------------------------------------------------------------- */

/**
 * struct cupti_buffer - one that CUPTI has filled
 * @data: at its begin
 * @valid: bytes of it
 */
struct cupti_buffer {
	uint8_t	*data;
	size_t	valid;
};

void cupti_pool_request(uint8_t **buffer, size_t *size, size_t *max_records);
void cupti_pool_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid);
/* Wait for one until @deadline_ns of CLOCK_MONOTONIC, or not at all (0).  Return: is there one? */
bool cupti_pool_take(struct cupti_buffer *buffer, uint64_t deadline_ns);
void cupti_pool_give(const struct cupti_buffer *buffer);
/* How many are to be taken. */
uint32_t cupti_pool_full(void);
/* Make cupti_pool_take() return. */
void cupti_pool_wake(void);

/* ---- names.c --------------------------------------------------------------------------------- */

int cupti_category(void);
xsprof_name_t cupti_kernel_name(const char *mangled);
/* 0: it is not recorded, as it asks for something and gives a device nothing to do. */
xsprof_name_t cupti_call_name(uint32_t domain, uint32_t function);
/* Have CUPTI leave out calls that are not recorded, where it can. */
void cupti_choose_calls(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

/* What is not recorded: each a counter of its name in the trace, once there is any. */
enum cupti_miss {
	CUPTI_MISS_DROPPED,	/* CUPTI had no room */
	CUPTI_MISS_BUFFERS,	/* of a version that must get a buffer, when all were in use */
	CUPTI_MISS_NO_TIME,	/* activities without times */
	CUPTI_MISS_UNKNOWN,	/* records of other kinds */
	CUPTI_MISS_EXIT,	/* buffers that were left when the program had to end */
	CUPTI_MISS_CONTEXT,	/* waits in contexts of which CUPTI told nothing */
	CUPTI_MISS_OFF,		/* of before recording was paused, which came behind that */
	CUPTI_NR_MISSES,
};

void cupti_miss(enum cupti_miss what, uint64_t n);
/* Counters of all that has changed. */
void cupti_miss_show(void);

/* ---- device.c -------------------------------------------------------------------------------- */

void cupti_device(const struct cupti_device *device);
/* Return: it was not known. */
bool cupti_context_is(uint32_t context, uint32_t device);
/* Return: it is known. */
bool cupti_device_of(uint32_t context, uint32_t *device);

/* ---- record.c -------------------------------------------------------------------------------- */

void cupti_record_init(void);
/* What it took to start, since @begin: readers know from it that activities will come. */
void cupti_record_start(uint64_t begin);
/* All records of a buffer. */
void cupti_record_buffer(const struct cupti_buffer *buffer);
/* There will be no more. */
void cupti_record_end(void);

/* ---- kinds.c --------------------------------------------------------------------------------- */

/* Return: 0, or what CUPTI says. */
int cupti_kinds_on(void);
void cupti_kinds_off(void);
/* Why the GPU is not recorded, to the user: what cupti_kinds_on() returned. */
void cupti_tell(int err);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* Return: 0; -ENOMEM, -EAGAIN: it is told. */
int cupti_thread_start(void);

#endif /* XSPROF_CUPTI_LOCAL_H */
