/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the Level Zero collector share.  From bottom to top:
 *
 *	library.c	finds PTI
 *	pool.c		the buffers that PTI fills
 *	names.c		names of functions, and which are recorded
 *	miss.c		the collector, and the account of what is not recorded
 *	driver.c	is there a driver; what it says of its devices
 *	device.c	devices, contexts and queues of records
 *	activity.c	what is common to all activities
 *	wait.c		waits
 *	record.c	PTI's records into ours
 *	views.c		which records PTI collects
 *	thread.c	what the thread that does this is called for
 *	init.c		how a program that uses Level Zero comes here
 *
 * Nothing here runs in a call of the program but what PTI itself does, the timestamp, and at times
 * a request for a buffer: records become ours in a thread of the collector.
 */
#ifndef XSPROF_LEVELZERO_LOCAL_H
#define XSPROF_LEVELZERO_LOCAL_H

#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/common/pool.h"
#include "gpu/levelzero/pti-abi.h"
#include "gpu/levelzero/ze-abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- library.c ------------------------------------------------------------------------------- */

extern struct pti pti;

/* Return: 0; -ENOENT, -ENOSYS: it is told. */
int levelzero_open(void);
/* In PTI's words. */
const char *levelzero_text(int result);

/* ---- pool.c ---------------------------------------------------------------------------------- */

void levelzero_pool_request(unsigned char **buffer, size_t *size);
void levelzero_pool_complete(unsigned char *buffer, size_t size, size_t valid);
/* Return: there is one. */
bool levelzero_pool_take(struct gpu_buffer *buffer);
void levelzero_pool_give(const struct gpu_buffer *buffer);
/* How many are to be taken. */
uint32_t levelzero_pool_full(void);

/* ---- names.c --------------------------------------------------------------------------------- */

int levelzero_category(void);
xsprof_name_t levelzero_call_name(uint32_t group, uint32_t function);
/* Have PTI record those calls that give a device something to do, or wait for it. */
void levelzero_choose_calls(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

/* What is not recorded: each a counter of its name in the trace, once there is any. */
enum levelzero_miss {
	LEVELZERO_MISS_DROPPED,	/* all buffers were in use */
	LEVELZERO_MISS_NO_TIME,	/* activities without times */
	LEVELZERO_MISS_UNKNOWN,	/* records of other kinds */
	LEVELZERO_MISS_REST,	/* buffers in which PTI finds no next record */
	LEVELZERO_MISS_QUEUE,	/* waits for queues of which PTI told nothing */
	LEVELZERO_MISS_EXIT,	/* buffers that were left when the program had to end */
	LEVELZERO_NR_MISSES,
};

void levelzero_miss(enum levelzero_miss what, uint64_t n);

extern struct xsprof_collector levelzero_collector;

/* ---- driver.c -------------------------------------------------------------------------------- */

/**
 * levelzero_driver() - is there what PTI needs
 * @load: open Level Zero's loader if the program has not
 *
 * PTI aborts the program where Level Zero cannot be initialised, so it is asked here first.
 *
 * Return: 0; -ENOENT: no loader; -ENODEV: no driver, or one that has no GPU; -ENOSYS: one that
 * is older than PTI takes.
 */
int levelzero_driver(bool load);
/* What drivers say of their GPU @i, counted through all of them.  Return: NULL: there is none. */
const struct ze_device *levelzero_gpu(uint32_t i);

/* ---- device.c -------------------------------------------------------------------------------- */

/**
 * struct levelzero_place - where something ran, in our numbers
 * @device: as xsprof_device_add() gave it
 * @context: counted in a process
 * @stream: queues, or immediate command lists, counted in a process
 */
struct levelzero_place {
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
};

/* @address: of the PCI bus.  @sycl: the number of the queue that SYCL has, or PTI_NO_QUEUE. */
struct levelzero_place levelzero_place(const uint8_t uuid[PTI_UUID], const char *address,
				       const void *context, const void *queue, uint64_t sycl);
uint32_t levelzero_device(const uint8_t uuid[PTI_UUID], const char *address);
/* Return: something of the queue was told of. */
bool levelzero_place_of(const void *queue, struct levelzero_place *place);
/* Of how many something was. */
uint32_t levelzero_queues(void);

/* ---- activity.c ------------------------------------------------------------------------------ */

/* What is common to all activities, with times of PTI.  Return: false: it has none: counted. */
bool levelzero_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name,
		    uint64_t start, uint64_t end, uint32_t correlation);
void levelzero_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n);

/* ---- wait.c ---------------------------------------------------------------------------------- */

/* It may be kept until levelzero_wait_settle(), to which all buffers have been read. */
void levelzero_wait(const struct pti_sync *sync);
void levelzero_wait_settle(void);
/* There will be no more. */
void levelzero_wait_end(void);

/* ---- record.c -------------------------------------------------------------------------------- */

void levelzero_record_init(void);
/* What it took to start, since @begin: readers know from it that activities will come. */
void levelzero_record_start(uint64_t begin);
/* All buffers that PTI has given. */
void levelzero_drain(void);

/* ---- views.c --------------------------------------------------------------------------------- */

/* Return: 0, or what PTI says. */
int levelzero_views_on(void);
/* And take what PTI still holds. */
void levelzero_views_off(void);
bool levelzero_views(void);
/* Why Level Zero is not recorded, to the user: what levelzero_views_on() returned. */
void levelzero_tell(int err);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* Return: 0, or why the library begins none. */
int levelzero_thread_start(void);

#endif /* XSPROF_LEVELZERO_LOCAL_H */
