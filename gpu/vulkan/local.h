/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the Vulkan collector. Its files from bottom to top:
 *
 *	names.c		names of calls and of work
 *	miss.c		the collector as registered; counts of what is not recorded
 *	clock.c		a device's clock, in nanoseconds
 *	dispatch.c	instances and devices of the program, functions of the next layer
 *	gpu.c		physical devices
 *	queue.c		queues of the program, and the timestamp queries of each
 *	label.c		debug labels of the program
 *	pending.c	submits under way, and their activities
 *	thread.c	work of the collector's thread, and the end of the process
 *	call.c		common part of all hooked calls
 *	submit.c	calls that submit command buffers to a queue
 *	wait.c		calls that wait, present and compile
 *	create.c	creation of devices
 *	layer.c		entry points for the loader
 *
 * Each batch of command buffers gets one more before and one after it, which write a timestamp
 * each. The collector's thread reads them when a fence signals the end of the batch.
 */
#ifndef XSPROF_VULKAN_LOCAL_H
#define XSPROF_VULKAN_LOCAL_H

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/common/thread.h"
#include "gpu/vulkan/dispatch.h"
#include "gpu/vulkan/vulkan-abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- names.c --------------------------------------------------------------------------------- */

enum vulkan_call {
	VULKAN_CALL_SUBMIT, VULKAN_CALL_SUBMIT2, VULKAN_CALL_PRESENT, VULKAN_CALL_SPARSE,
	VULKAN_CALL_QUEUE_IDLE, VULKAN_CALL_DEVICE_IDLE, VULKAN_CALL_FENCES,
	VULKAN_CALL_SEMAPHORES, VULKAN_CALL_ACQUIRE, VULKAN_CALL_ACQUIRE2,
	VULKAN_CALL_GRAPHICS, VULKAN_CALL_COMPUTE,
	VULKAN_NR_CALLS,
};

int vulkan_category(void);
/* Interns the names, once, when the process has become a producer. */
void vulkan_names_init(void);
xsprof_name_t vulkan_call_name(enum vulkan_call call);
/*
 * The name of a batch with @commands command buffers; of the argument with their number, and of the
 * one that says by how much the batch was moved.
 */
xsprof_name_t vulkan_batch_name(uint32_t commands);
xsprof_name_t vulkan_batch_key(void);
xsprof_name_t vulkan_moved_key(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

enum vulkan_miss {
	VULKAN_MISS_NO_QUERIES,	/* queues without timestamp bits or query reset */
	VULKAN_MISS_PROTECTED,	/* protected batches, which take no additions */
	VULKAN_MISS_FULL,	/* too many batches under way */
	VULKAN_MISS_NO_MEMORY,	/* no memory for timestamps */
	VULKAN_MISS_NO_TIMES,	/* batches that ended without timestamps */
	VULKAN_MISS_FAILED,	/* the device was lost */
	VULKAN_MISS_QUEUES,	/* more queues or devices than are tracked */
	VULKAN_MISS_EXIT,	/* batches under way when the program ended */
	VULKAN_MISS_DESTROYED,	/* ... of a destroyed device, or submitted with recording off */
	VULKAN_MISS_LABELS,	/* no room for a command buffer's label */
	VULKAN_MISS_NAMES,	/* no room for the text of a label */
	VULKAN_NR_MISSES,
};

extern struct xsprof_miss vulkan_misses[VULKAN_NR_MISSES];
extern struct xsprof_collector vulkan_collector;

static inline void vulkan_miss(enum vulkan_miss what, uint64_t n)
{
	xsprof_collector_missed(&vulkan_misses[what], n);
}

/* ---- clock.c --------------------------------------------------------------------------------- */

/**
 * struct vulkan_bounds - bounds of the offset between our clock and a device's
 * @low: our time minus the device's is at least this, ns
 * @high: ... and at most this
 */
struct vulkan_bounds {
	int64_t	low;
	int64_t	high;
};

/**
 * struct vulkan_clock - a device's clock
 * @period: ns per tick, << 32
 * @ticks: latest known time, 64 bits
 * @now: bounds that all batches of the current window agree on
 * @before: the same of the previous window
 * @until: end of the current window, ns of our clock; 0: no window yet
 */
struct vulkan_clock {
	uint64_t		period;
	uint64_t		ticks;
	struct vulkan_bounds	now;
	struct vulkan_bounds	before;
	uint64_t		until;
};

/* Converts a device time to ns; the queue counts the bits of @mask. */
uint64_t vulkan_clock_ns(struct vulkan_clock *clock, uint64_t ticks, uint64_t mask);
/* Adds the bounds @seen of a batch at @now, ns of our clock. Return: the agreed bounds. */
struct vulkan_bounds vulkan_clock_agree(struct vulkan_clock *clock, struct vulkan_bounds seen,
					uint64_t now);

/* The markers' clock in ns. */
static inline uint64_t vulkan_now_ns(void)
{
	return xsprof_ticks_ns(xsprof_now());
}

/* ---- gpu.c ----------------------------------------------------------------------------------- */

/* First device number of Vulkan GPUs in the library. */
#define VULKAN_GPU_FIRST	64u
#define VULKAN_GPUS		XSPROF_DEVICES_OF_KIND

/**
 * struct vulkan_gpu - a physical device, shared by all instances
 * @uuid: identity
 * @number: device number in activities
 * @stated: registered with the library
 * @calibrated: the driver reads its clock and the host's at the same time
 * @clock: its clock
 * @asked: when its clock was last read, ns
 */
struct vulkan_gpu {
	uint8_t			uuid[16];
	uint32_t		number;
	bool			stated;
	bool			calibrated;
	struct vulkan_clock	clock;
	uint64_t		asked;
};

/* Begin and end of a batch on one clock. */
struct vulkan_times {
	uint64_t	begin;
	uint64_t	end;
};

/* Return: the GPU of a new device; NULL: the table is full. */
struct vulkan_gpu *vulkan_gpu_get(const struct vulkan_device *device);
/*
 * In a forked child: resets locks that the parent's threads may hold. Likewise the other _forget().
 */
void vulkan_gpus_forget(void);
/* Reads the GPU's clock through @device if that was not done for @every ns. */
void vulkan_gpu_ask(struct vulkan_device *device, uint64_t every);
/* Bounds the clock's offset: a batch ran at @device, ns, within @host, ticks. */
void vulkan_gpu_bound(struct vulkan_gpu *gpu, struct vulkan_times device, struct vulkan_times host);

/* ---- queue.c --------------------------------------------------------------------------------- */

/**
 * struct vulkan_slot - timestamps of a batch
 * @next: next in the list
 * @queries: query pool of the timestamps
 * @first: index of the first timestamp; the second follows it
 * @commands: our command buffers that write them
 * @nr_commands: number of the program's command buffers between them
 * @name: the program's label, 0: none
 * @times: timestamps, ticks of the device
 * @timed: @times is valid
 */
struct vulkan_slot {
	struct vulkan_slot	*next;
	vk_object		queries;
	uint32_t		first;
	vk_handle		commands[2];
	uint32_t		nr_commands;
	xsprof_name_t		name;
	uint64_t		times[2];
	bool			timed;
};

/**
 * struct vulkan_pending - a submit under way
 * @next: the next newer one
 * @queue: its queue
 * @fence: signalled at its end
 * @begin: begin of the call, ticks
 * @end: end of the call, ticks
 * @correlation: correlation id of the call and its batches
 * @slots: timestamps of its batches, in order
 * @nr: number of batches
 */
struct vulkan_pending {
	struct vulkan_pending	*next;
	struct vulkan_queue	*queue;
	vk_object		fence;
	uint64_t		begin;
	uint64_t		end;
	uint64_t		correlation;
	struct vulkan_slot	*slots;
	uint32_t		nr;
};

#define VULKAN_LABELS	16u

/**
 * struct vulkan_queue - a queue of the program
 * @older: the next queue of the device
 * @device: its device
 * @handle: the loader's handle
 * @number: queue number in activities
 * @family: its queue family
 * @mask: valid bits of its timestamps; 0: none, or the queries cannot be reset
 * @transfers: it only copies
 * @host_reset: the host resets its queries
 * @labels: its open labels, the outermost first
 * @nr_labels: number of open labels; only the first VULKAN_LABELS are kept
 * @lock: guards the fields below against the program's submitting thread and the collector's
 * @pool: its command pool; 0: not made yet
 * @chunks: memory of all slots
 * @nr_chunks: number of chunks
 * @free: unused slots
 * @spare: unused submits
 * @pending: submits under way, the oldest first
 * @pending_end: link to set for the next one
 */
struct vulkan_queue {
	struct vulkan_queue	*older;
	struct vulkan_device	*device;
	vk_handle		handle;
	uint32_t		number;
	uint32_t		family;
	uint64_t		mask;
	bool			transfers;
	bool			host_reset;
	xsprof_name_t		labels[VULKAN_LABELS];
	uint32_t		nr_labels;
	pthread_mutex_t		lock;
	vk_object		pool;
	struct vulkan_chunk	*chunks;
	uint32_t		nr_chunks;
	struct vulkan_slot	*free;
	struct vulkan_pending	*spare;
	struct vulkan_pending	*pending;
	struct vulkan_pending	**pending_end;
};

/* The program got a queue. */
void vulkan_queue_made(struct vulkan_device *device, vk_handle handle, uint32_t family);
/* NULL: the program never asked for the queue, or the table was full. */
struct vulkan_queue *vulkan_queue_get(struct vulkan_device *device, vk_handle handle);
/* Return: a submit with slots for @nr batches; NULL: none; the cause is counted. */
struct vulkan_pending *vulkan_pending_take(struct vulkan_queue *queue, uint32_t nr);
/* Frees a submit that has ended, or was never under way. */
void vulkan_pending_give(struct vulkan_pending *pending);
/* Frees all queues of a device, whose submits have ended. */
void vulkan_queues_destroy(struct vulkan_device *device);
void vulkan_queues_forget(void);

/* ---- label.c --------------------------------------------------------------------------------- */

void vulkan_labels_forget(void);
/* To be called before the device is gone, and its command buffers with it. */
void vulkan_labels_end(const struct vulkan_device *device);
/* The first label in a command buffer, and the open label of a queue. 0: none. */
xsprof_name_t vulkan_label_of(vk_handle commands);
xsprof_name_t vulkan_label_of_queue(const struct vulkan_queue *queue);

/* ---- pending.c ------------------------------------------------------------------------------- */

/* Return: the correlation id for the next submit. */
uint64_t vulkan_correlation(void);
/* Adds a submit that the driver has accepted. */
void vulkan_pending_add(struct vulkan_pending *pending);
/* Writes the activities of all ended submits. Return: number of batches still under way. */
uint32_t vulkan_pending_look(void);
/* Before a device is destroyed: writes all its activities and frees our objects on it. */
void vulkan_pending_end(struct vulkan_device *device);
void vulkan_pending_forget(void);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* @forget: called in a forked child. Return: 0, or the library's error. */
int vulkan_thread_start(void (*forget)(void *unused));
extern struct gpu_thread vulkan_thread;

/* ---- call.c ---------------------------------------------------------------------------------- */

/* The process is recorded; set once, before the first instance. */
extern bool vulkan_active;

/* Return: true if the program's call on this device is recorded; sets *@begin, ticks. */
bool vulkan_begin(const struct vulkan_device *device, uint64_t *begin);
/* Records the call. @queue: NULL for none. */
void vulkan_end(const struct vulkan_device *device, const struct vulkan_queue *queue,
		enum vulkan_call call, uint64_t begin, uint64_t end, uint64_t correlation);

/* ---- functions in place of a device's -------------------------------------------------------- */

/**
 * struct vulkan_hook - our replacement of a device function
 * @name: its name
 * @slot: slot of the next layer's function
 * @function: our function
 */
struct vulkan_hook {
	const char		*name;
	enum vulkan_device_slot	slot;
	vk_function		function;
};

#define HOOK(f, ours)	{ "vk" #f, VULKAN_##f, (vk_function)(ours) }

extern const struct vulkan_hook vulkan_label_hooks[];
extern const struct vulkan_hook vulkan_submit_hooks[];
extern const struct vulkan_hook vulkan_wait_hooks[];
extern const struct vulkan_hook vulkan_create_hooks[];

int32_t vulkan_create_device(vk_handle physical, const struct vk_device_info *info,
			     const void *allocator, vk_handle *device);

#endif /* XSPROF_VULKAN_LOCAL_H */
