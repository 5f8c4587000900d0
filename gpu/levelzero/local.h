/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the Level Zero collector. Its files from bottom to top:
 *
 *	library.c	finds PTI
 *	pool.c		the buffers that PTI fills
 *	names.c		names of functions, and which are recorded
 *	miss.c		the collector as registered; counts of what is not recorded
 *	driver.c	is there a driver; properties of its devices
 *	device.c	devices, contexts and queues of records
 *	activity.c	common part of all activities
 *	wait.c		waits
 *	record.c	converts PTI's records into ours
 *	views.c		which records PTI collects
 *	thread.c	work of the collector's thread
 *	init.c		entry points of programs
 *
 * In the program's calls only PTI's own code runs, plus the timestamp and at times a request for a
 * buffer. A thread of the collector turns PTI's records into ours.
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

/* Return: 0; -ENOENT, -ENOSYS: the reason has been printed. */
int levelzero_open(void);
/* PTI's text for a result. */
const char *levelzero_text(int result);

/* ---- pool.c ---------------------------------------------------------------------------------- */

void levelzero_pool_request(unsigned char **buffer, size_t *size);
void levelzero_pool_complete(unsigned char *buffer, size_t size, size_t valid);
/* Takes a filled buffer. Return: false if there is none. */
bool levelzero_pool_take(struct gpu_buffer *buffer);
void levelzero_pool_give(const struct gpu_buffer *buffer);
/* Number of filled buffers. */
uint32_t levelzero_pool_full(void);

/* ---- names.c --------------------------------------------------------------------------------- */

int levelzero_category(void);
xsprof_name_t levelzero_call_name(uint32_t group, uint32_t function);
/* Makes PTI record only calls that submit work to a device or wait for it. */
void levelzero_choose_calls(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

/* Causes of missing data; each becomes a counter in the trace when it first occurs. */
enum levelzero_miss {
	LEVELZERO_MISS_DROPPED,	/* records that found no free buffer */
	LEVELZERO_MISS_NO_TIME,	/* activities without times */
	LEVELZERO_MISS_UNKNOWN,	/* records of other kinds */
	LEVELZERO_MISS_REST,	/* buffers in which PTI finds no further record */
	LEVELZERO_MISS_QUEUE,	/* waits for queues without any other record */
	LEVELZERO_MISS_EXIT,	/* buffers not read when the program ended */
	LEVELZERO_NR_MISSES,
};

void levelzero_miss(enum levelzero_miss what, uint64_t n);

extern struct xsprof_collector levelzero_collector;

/* ---- driver.c -------------------------------------------------------------------------------- */

/**
 * levelzero_driver() - is there a driver that PTI supports?
 * @load: open Level Zero's loader if the program has not done so
 *
 * PTI aborts the program if Level Zero cannot be initialised: call this first.
 *
 * Return: 0; -ENOENT: no loader; -ENODEV: no driver with a GPU; -ENOSYS: the driver is older than
 * PTI supports.
 */
int levelzero_driver(bool load);
/* Properties of GPU @i, counted over all drivers. Return: NULL: there is none. */
const struct ze_device *levelzero_gpu(uint32_t i);

/* ---- device.c -------------------------------------------------------------------------------- */

/**
 * struct levelzero_place - where work ran, in the trace's numbers
 * @device: from xsprof_device_add()
 * @context: counted per process
 * @stream: queues and immediate command lists, counted per process
 */
struct levelzero_place {
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
};

/* @address: PCI address. @sycl: SYCL's id of the queue, or PTI_NO_QUEUE. */
struct levelzero_place levelzero_place(const uint8_t uuid[PTI_UUID], const char *address,
				       const void *context, const void *queue, uint64_t sycl);
uint32_t levelzero_device(const uint8_t uuid[PTI_UUID], const char *address);
/* Return: true if a record has named the queue before. */
bool levelzero_place_of(const void *queue, struct levelzero_place *place);
/* Number of known queues. */
uint32_t levelzero_queues(void);

/* ---- activity.c ------------------------------------------------------------------------------ */

/* Sets the common fields. Return: false: PTI has no times for it; counted. */
bool levelzero_work(struct xsprof_device_activity *a, uint32_t kind, xsprof_name_t name,
		    uint64_t start, uint64_t end, uint32_t correlation);
void levelzero_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n);

/* ---- wait.c ---------------------------------------------------------------------------------- */

/* Records a wait, or keeps it until levelzero_wait_settle(), called after reading all buffers. */
void levelzero_wait(const struct pti_sync *sync);
void levelzero_wait_settle(void);
/* No more records will come: writes the waits that are kept. */
void levelzero_wait_end(void);

/* ---- record.c -------------------------------------------------------------------------------- */

void levelzero_record_init(void);
/* Reads all filled buffers. */
void levelzero_drain(void);

/* ---- views.c --------------------------------------------------------------------------------- */

/* Enables the views. Return: 0, or PTI's result. */
int levelzero_views_on(void);
/* Disables the views and takes the buffers that PTI still holds. */
void levelzero_views_off(void);
bool levelzero_views(void);
/* Prints why Level Zero is not recorded; @err is from levelzero_views_on(). */
void levelzero_tell(int err);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* Return: 0, or the library's error. */
int levelzero_thread_start(void);

#endif /* XSPROF_LEVELZERO_LOCAL_H */
