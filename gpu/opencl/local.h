/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Shared by the files of the OpenCL collector. From bottom to top:
 *
 *	names.c		the next layer's functions; names of these and of kernels
 *	miss.c		the collector, and counts of what is not recorded
 *	device.c	devices
 *	queue.c		queues of the program
 *	command.c	commands in flight, and their outcome
 *	thread.c	work of the collector's thread, and its end
 *	call.c		common part of all calls
 *	copies.c	calls that move data
 *	usm.c		the same for unified shared memory
 *	kernels.c	calls that run kernels, wait and compile
 *	start.c		starts the collector
 *	layer.c		entry point of the loader
 *	preloaded.c	entry point for programs whose loader has no layers
 *
 * A call of the program costs two reads of the clock and keeping its event. The collector's thread
 * asks what the device did, when it is over.
 */
#ifndef XSPROF_OPENCL_LOCAL_H
#define XSPROF_OPENCL_LOCAL_H

#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/common/thread.h"
#include "gpu/opencl/opencl-abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- names.c --------------------------------------------------------------------------------- */

/* The functions of the next layer or the loader; NULL: not implemented. */
extern void *opencl_next[CL_SLOTS];

/* The next implementation of function @slot, which has the type of @like. */
#define NEXT(slot, like)	((__typeof__(&(like)))opencl_next[CL_##slot])

enum opencl_call {
	CALL_READ_BUFFER, CALL_WRITE_BUFFER, CALL_COPY_BUFFER, CALL_READ_BUFFER_RECT,
	CALL_WRITE_BUFFER_RECT, CALL_COPY_BUFFER_RECT, CALL_READ_IMAGE, CALL_WRITE_IMAGE,
	CALL_COPY_IMAGE, CALL_COPY_IMAGE_TO_BUFFER, CALL_COPY_BUFFER_TO_IMAGE, CALL_MAP_BUFFER,
	CALL_MAP_IMAGE, CALL_UNMAP, CALL_FILL_BUFFER, CALL_FILL_IMAGE, CALL_MIGRATE,
	CALL_SVM_MEMCPY, CALL_SVM_FILL, CALL_SVM_MAP, CALL_SVM_UNMAP, CALL_SVM_MIGRATE,
	CALL_USM_MEMCPY, CALL_USM_FILL, CALL_USM_SET, CALL_USM_MIGRATE, CALL_USM_ADVISE,
	CALL_COMMAND_BUFFER,
	CALL_NDRANGE, CALL_TASK, CALL_NATIVE, CALL_MARKER, CALL_BARRIER,
	CALL_FINISH, CALL_FLUSH, CALL_WAIT, CALL_BUILD, CALL_COMPILE, CALL_LINK,
	NR_CALLS,
};

int opencl_category(void);
/* To be called once, when the process is a producer. */
void opencl_names_init(void);
/* Called in a forked child, which resets the locks of the parent's threads. So are the others. */
void opencl_names_forget(void);
xsprof_name_t opencl_call_name(enum opencl_call call);
/* Kind (enum xsprof_gpu_kind) and name of the work that a call starts; 0: none. */
uint32_t opencl_work_kind(enum opencl_call call);
xsprof_name_t opencl_work_name(enum opencl_call call);
/* Looks up a new kernel's name, so that launches need not. */
void opencl_kernel_made(cl_handle kernel);
xsprof_name_t opencl_kernel_name(cl_handle kernel);

/* ---- miss.c ---------------------------------------------------------------------------------- */

enum opencl_miss {
	OPENCL_MISS_NO_EVENT,	/* commands without an event from the runtime */
	OPENCL_MISS_NO_TIMES,	/* commands without times, with profiling or without */
	OPENCL_MISS_FAILED,	/* commands that ended with an error */
	OPENCL_MISS_FULL,	/* commands, because too many were in flight */
	OPENCL_MISS_QUEUES,	/* commands of queues beyond the limit */
	OPENCL_MISS_PLATFORMS,	/* functions of extensions, of platforms beyond the limit */
	OPENCL_MISS_EXIT,	/* commands in flight when the program ended */
	OPENCL_NR_MISSES,
};

extern struct xsprof_miss opencl_misses[OPENCL_NR_MISSES];
extern struct xsprof_collector opencl_collector;

static inline void opencl_miss(enum opencl_miss what, uint64_t n)
{
	xsprof_collector_missed(&opencl_misses[what], n);
}

/* ---- device.c -------------------------------------------------------------------------------- */

#define OPENCL_DEVICES		XSPROF_DEVICES_OF_KIND

/**
 * struct opencl_device - a device
 * @handle: the runtime's handle
 * @number: its number in activities
 * @clock: its clock can be read
 */
struct opencl_device {
	cl_handle		handle;
	uint32_t		number;
	bool			clock;
};

/* Called with the lock of queues held. Return: NULL: too many, or not known. */
struct opencl_device *opencl_device_get(cl_handle handle);
void opencl_devices_forget(void);
/* Reads the devices' clocks once a second, and at the @last call. Called by the thread. */
void opencl_devices_look(bool last);

#define OPENCL_LINE		64	/* bytes of a cache line */

/* ---- queue.c --------------------------------------------------------------------------------- */

/**
 * struct opencl_queue - a queue of the program
 * @handle: the runtime's handle, which another queue may get later
 * @device: its device
 * @context: number of its context
 * @number: its number
 * @in_order: its commands end in order
 * @next: next retired queue
 * @retired: value of opencl_takes when it was retired
 * @under_way: of the thread: number of taken commands that point to it
 * @held: of the thread: last look that found an unfinished command of it
 */
struct opencl_queue {
	cl_handle		handle;
	struct opencl_device	*device;
	uint32_t		context;
	uint32_t		number;
	bool			in_order;
	struct opencl_queue	*next;
	uint32_t		retired;
	/* A cache line of their own: calls of the program read the fields above. */
	uint32_t		under_way __attribute__((aligned(OPENCL_LINE)));
	uint32_t		held;
};

void opencl_queues_forget(void);
/* The program created the queue with these properties. */
void opencl_queue_made(cl_handle handle, uint64_t properties);
/* Return: NULL: too many; counted. */
struct opencl_queue *opencl_queue_get(cl_handle handle);

/* ---- command.c ------------------------------------------------------------------------------- */

/**
 * struct opencl_command - a command for a device
 * @next: older command
 * @event: its event; we hold a reference
 * @queue: its queue
 * @begin: begin of the call, ticks
 * @end: end of the call, ticks
 * @bytes: bytes moved
 * @call: enum opencl_call
 * @thread: calling thread
 * @name: name of the work
 * @dimensions: number of dimensions of @sizes; 0: none
 * @local: the second half of @sizes is valid
 * @failed: it ended with an error
 * @timed: @times is valid
 * @sizes: work items in all, then per group
 * @correlation: of the call and the work; set by the thread
 * @times: queued, submitted, started, ended: by the device's clock, when it is over
 */
struct opencl_command {
	struct opencl_command		*next;
	cl_handle			event;
	struct opencl_queue		*queue;
	uint64_t			begin;
	uint64_t			end;
	uint64_t			bytes;
	enum opencl_call		call;
	uint32_t			thread;
	xsprof_name_t			name;
	uint8_t				dimensions;
	bool				local;
	bool				failed;
	bool				timed;
	int32_t				sizes[6];
	uint64_t			correlation;
	uint64_t			times[4];
} __attribute__((aligned(OPENCL_LINE)));

void opencl_commands_init(void);
void opencl_commands_forget(void);
/* Fills in the activity of a call. */
void opencl_fill_call(struct xsprof_device_activity *a, enum opencl_call call, uint64_t begin,
		      uint64_t end, const struct opencl_queue *queue);
/* Called by any thread. Return: a command to fill in and add; NULL: too many; counted. */
struct opencl_command *opencl_command_new(void);
void opencl_command_add(struct opencl_command *command);
/* Called by the thread: writes finished commands. Return: some are not finished. */
bool opencl_commands_look(void);
/* Called by the thread: number of unfinished commands, including those not yet taken. */
uint32_t opencl_commands_left(void);
/* How often the thread has taken added commands. */
extern uint32_t opencl_takes;

/* ---- thread.c -------------------------------------------------------------------------------- */

/* @forget: called in a forked child. Return: 0, or the library's error. */
int opencl_thread_start(void (*forget)(void *unused));
extern struct gpu_thread opencl_thread;

/* ---- call.c ---------------------------------------------------------------------------------- */

/**
 * struct opencl_calling - the current call of the program
 * @on: it is recorded
 * @queue: its queue
 * @begin: its begin, ticks
 * @event: where the runtime puts the event
 * @own: the event, if the program asks for none
 * @kernel: name of the kernel; 0: none
 * @dimensions: of @global and @local, the program's arrays
 */
struct opencl_calling {
	bool			on;
	cl_handle		queue;
	uint64_t		begin;
	cl_handle		*event;
	cl_handle		own;
	xsprof_name_t		kernel;
	uint32_t		dimensions;
	const size_t		*global;
	const size_t		*local;
};

/* Return: the event argument for the runtime. */
cl_handle *opencl_begin(struct opencl_calling *c, cl_handle queue, cl_handle *event);
/* Return: @result. */
int32_t opencl_end(struct opencl_calling *c, enum opencl_call call, uint64_t bytes, int32_t result);
/* The same for a call that starts no work. */
int32_t opencl_call_end(struct opencl_calling *c, enum opencl_call call, int32_t result);

/*
 * Calls a function that enqueues a command, with an event, and records the call; its arguments are
 * those of the caller. @bytes may use the call, c. Value: the function's result.
 */
#define ENQUEUE(call, bytes, function, ...)	({				\
	struct opencl_calling c;						\
										\
	event = opencl_begin(&c, queue, event);					\
	opencl_end(&c, CALL_##call, bytes, (function)(__VA_ARGS__));		\
})

/* ---- copies.c, usm.c, kernels.c -------------------------------------------------------------- */

/* Put our functions into a table of @nr functions. */
void opencl_take_copies(void **table, uint32_t nr);
void opencl_take_usm(void **table, uint32_t nr);
void opencl_usm_forget(void);
void opencl_take_kernels(void **table, uint32_t nr);

#define TAKE(slot, function)	do {						\
	if ((uint32_t)CL_##slot < nr && opencl_next[CL_##slot])			\
		table[CL_##slot] = (void *)(function);				\
} while (0)

/* ---- start.c --------------------------------------------------------------------------------- */

/*
 * Return: the functions to be called in place of the @n functions of @next; NULL: another loader
 * was first.
 */
void *const *opencl_start(void *const *next, uint32_t n);

#endif /* XSPROF_OPENCL_LOCAL_H */
