/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the Vulkan collector share.  From bottom to top:
 *
 *	names.c		names of calls and of work
 *	miss.c		the collector, and the account of what is not recorded
 *	clock.c		a device's clock, in nanoseconds
 *	dispatch.c	instances and devices of the program, and the functions below us
 *	gpu.c		what is known of physical devices
 *	queue.c		queues of the program, and the timestamps of each
 *	label.c		what the program calls its work
 *	pending.c	submits under way, and what became of them
 *	thread.c	the collector: what its thread does, and the end of it
 *	call.c		what is alike in all calls
 *	submit.c	calls that give a queue command buffers
 *	wait.c		calls that wait, present and compile
 *	create.c	how devices are made
 *	layer.c		how the loader comes here
 *
 * A batch of command buffers gets one more before and one behind it, which write a timestamp each.
 * These are read by a thread of the collector, when a fence says that the batch is over.
 */
#ifndef XSPROF_VULKAN_LOCAL_H
#define XSPROF_VULKAN_LOCAL_H

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

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
/* Once, when the process is a producer. */
void vulkan_names_init(void);
xsprof_name_t vulkan_call_name(enum vulkan_call call);
/* Name of a batch of so many, and of the argument that says how many. */
xsprof_name_t vulkan_batch_name(uint32_t commands);
xsprof_name_t vulkan_batch_key(void);

/* ---- miss.c ---------------------------------------------------------------------------------- */

enum vulkan_miss {
	VULKAN_MISS_NO_QUERIES,	/* batches of a queue whose timestamps have no bits, or no reset */
	VULKAN_MISS_PROTECTED,	/* batches where nothing can be added */
	VULKAN_MISS_FULL,	/* batches, as too many were under way */
	VULKAN_MISS_NO_MEMORY,	/* batches, as nothing for them could be made */
	VULKAN_MISS_NO_TIMES,	/* batches that are over, and their timestamps are not there */
	VULKAN_MISS_FAILED,	/* batches, as the device was lost */
	VULKAN_MISS_QUEUES,	/* batches of more queues or devices than are told apart */
	VULKAN_MISS_EXIT,	/* batches that were under way when the program ended */
	VULKAN_MISS_DESTROYED,	/* the same of their device, or that came when recording was off */
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
 * struct vulkan_bounds - where a device's clock is on ours
 * @low: our time less the device's is at least this, ns
 * @high: and at most this
 */
struct vulkan_bounds {
	int64_t	low;
	int64_t	high;
};

/**
 * struct vulkan_clock - a device's clock
 * @period: ns a tick, << 32
 * @ticks: the latest time that is known, of 64 bits
 * @now: what batches agree on in the window that is
 * @before: in the one before
 * @until: the window's end, ns of our clock; 0: there was none
 */
struct vulkan_clock {
	uint64_t		period;
	uint64_t		ticks;
	struct vulkan_bounds	now;
	struct vulkan_bounds	before;
	uint64_t		until;
};

/* A time of the device in ns, of a queue that counts the bits of @mask. */
uint64_t vulkan_clock_ns(struct vulkan_clock *clock, uint64_t ticks, uint64_t mask);
/* A batch has @seen at @now, ns of our clock.  Return: what it and others agree on. */
struct vulkan_bounds vulkan_clock_agree(struct vulkan_clock *clock, struct vulkan_bounds seen,
					uint64_t now);

/* The markers' clock, in ns. */
static inline uint64_t vulkan_now_ns(void)
{
	return xsprof_ticks_ns(xsprof_now());
}

/* ---- gpu.c ----------------------------------------------------------------------------------- */

/* As the library numbers devices of Vulkan. */
#define VULKAN_GPU_FIRST	64u
#define VULKAN_GPUS		XSPROF_DEVICES_OF_KIND

/**
 * struct vulkan_gpu - a physical device, the same for all instances
 * @uuid: what it is known by
 * @number: as activities have it
 * @stated: the library knows it
 * @calibrated: the driver reads its clock and the host's at one time
 * @clock: of it
 * @asked: when its clock was asked for last, ns
 */
struct vulkan_gpu {
	uint8_t			uuid[16];
	uint32_t		number;
	bool			stated;
	bool			calibrated;
	struct vulkan_clock	clock;
	uint64_t		asked;
};

/* Of a batch, by one clock. */
struct vulkan_times {
	uint64_t	begin;
	uint64_t	end;
};

/* Of a device that was made.  NULL: there are more than have numbers. */
struct vulkan_gpu *vulkan_gpu_get(const struct vulkan_device *device);
/* In the child of a fork: its parent's threads have no locks there.  The same of the others. */
void vulkan_gpus_forget(void);
/* Ask for its clock by @device, if it was not for @every ns. */
void vulkan_gpu_ask(struct vulkan_device *device, uint64_t every);
/* A batch of these times, ns, began after @host's begin and was over before its end, ticks. */
void vulkan_gpu_bound(struct vulkan_gpu *gpu, struct vulkan_times device, struct vulkan_times host);

/* ---- queue.c --------------------------------------------------------------------------------- */

/**
 * struct vulkan_slot - timestamps of a batch
 * @next: another
 * @queries: where they are written
 * @first: number of the first one there, the other is behind it
 * @commands: the buffers that write them
 * @nr_commands: of the program, between these
 * @name: of the batch; 0: none of the program's
 * @times: what was written, ticks of the device
 * @timed: that is there
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
 * @next: newer one
 * @queue: where to
 * @fence: tells when it is over
 * @begin: of the call, ticks
 * @end: of the call, ticks
 * @correlation: of the call and its batches
 * @slots: of its batches, in their order
 * @nr: how many
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
 * @older: another of the device
 * @device: that it is of
 * @handle: the loader's
 * @number: as activities have it
 * @family: that it is of
 * @mask: bits of its timestamps; 0: it has none, or none that can be reset
 * @transfers: it can do nothing but copy
 * @host_reset: its queries are reset by the host
 * @labels: that it is in, the outermost first
 * @nr_labels: how many; only the first VULKAN_LABELS are kept
 * @lock: of what follows, between the program's thread that submits and the collector's
 * @pool: of its command buffers; 0: none yet
 * @chunks: memory of all slots
 * @nr_chunks: how many
 * @free: slots that are not in use
 * @spare: submits that are not
 * @pending: those under way, the oldest first
 * @pending_end: where the newest points to
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

/* The program asked for it. */
void vulkan_queue_made(struct vulkan_device *device, vk_handle handle, uint32_t family);
/* NULL: the program never asked for it, or there was no room. */
struct vulkan_queue *vulkan_queue_get(struct vulkan_device *device, vk_handle handle);
/* For a submit of @nr batches.  NULL: there is none; the cause is counted. */
struct vulkan_pending *vulkan_pending_take(struct vulkan_queue *queue, uint32_t nr);
/* It is over, or was never under way. */
void vulkan_pending_give(struct vulkan_pending *pending);
/* All queues of a device: their submits are over. */
void vulkan_queues_destroy(struct vulkan_device *device);
void vulkan_queues_forget(void);

/* ---- label.c --------------------------------------------------------------------------------- */

void vulkan_labels_forget(void);
/* The first label in a command buffer, and that which a queue is in.  0: none. */
xsprof_name_t vulkan_label_of(vk_handle commands);
xsprof_name_t vulkan_label_of_queue(const struct vulkan_queue *queue);

/* ---- pending.c ------------------------------------------------------------------------------- */

/* The next submits' correlation. */
uint64_t vulkan_correlation(void);
/* It is submitted. */
void vulkan_pending_add(struct vulkan_pending *pending);
/* Write what is over.  Return: how many batches are not. */
uint32_t vulkan_pending_look(void);
/* The device is destroyed next: of what it did all is written, and all of ours is destroyed. */
void vulkan_pending_end(struct vulkan_device *device);
void vulkan_pending_forget(void);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* @forget: called in the child of a fork.  Return: 0, or why the library begins none. */
int vulkan_thread_start(void (*forget)(void *unused));
void vulkan_thread_forget(void);
/* The child of a fork has none until it uses Vulkan, and may get none. */
enum vulkan_thread { VULKAN_RUNS, VULKAN_GONE, VULKAN_FAILED };

extern enum vulkan_thread vulkan_thread;
bool vulkan_thread_back(void);
/* Return: there is one, which looks at submits. */
static inline bool vulkan_thread_ready(void)
{
	return __builtin_expect(__atomic_load_n(&vulkan_thread, __ATOMIC_RELAXED) == VULKAN_RUNS,
				1) || vulkan_thread_back();
}
/* Its end is before the driver's: called when a driver has come. */
void vulkan_thread_at_exit(void);

/* ---- call.c ---------------------------------------------------------------------------------- */

/* Set once, before there is an instance: the process is recorded. */
extern bool vulkan_active;

/* Return: a call of the program for this device is recorded; *@begin is set, ticks. */
bool vulkan_begin(const struct vulkan_device *device, uint64_t *begin);
/* @queue: NULL for none. */
void vulkan_end(const struct vulkan_device *device, const struct vulkan_queue *queue,
		enum vulkan_call call, uint64_t begin, uint64_t end, uint64_t correlation);
/* What it took to start, since @begin: readers know from it that activities will come. */
void vulkan_started(uint64_t begin);

/* ---- functions in place of a device's -------------------------------------------------------- */

/**
 * struct vulkan_hook - a function of ours in place of one of a device's
 * @name: its name
 * @slot: of the next one
 * @function: ours
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
