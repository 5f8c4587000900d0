/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the OpenCL collector share.  From bottom to top:
 *
 *	names.c		the next layer's functions; names of these and of kernels
 *	miss.c		the collector, and the account of what is not recorded
 *	device.c	what is known of devices
 *	queue.c		queues of the program
 *	command.c	commands under way, and what became of them
 *	thread.c	the collector: what its thread does, and the end of it
 *	call.c		what is alike in all calls
 *	copies.c	calls that move data
 *	usm.c		the same of unified shared memory
 *	kernels.c	calls that run kernels, wait and compile
 *	start.c		the start of it all
 *	layer.c		how the loader comes here
 *	preloaded.c	entry point of programs whose loader has no layers
 *
 * A call of the program costs two readings of the clock and a note of its event.  What a device did
 * is asked for in a thread of the collector, when it is over.
 */
#ifndef XSPROF_OPENCL_LOCAL_H
#define XSPROF_OPENCL_LOCAL_H

#include <stdbool.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/opencl/opencl-abi.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- names.c --------------------------------------------------------------------------------- */

/* The functions of the next layer, or of the loader; NULL: it has none. */
extern void *opencl_next[CL_SLOTS];

/* The next one of function @slot, which has the type of @like. */
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
/* Once, when the process is a producer. */
void opencl_names_init(void);
/* In the child of a fork: its parent's threads have no locks there.  The same of the others. */
void opencl_names_forget(void);
xsprof_name_t opencl_call_name(enum opencl_call call);
/* enum xsprof_gpu_kind and name of what a device does for it; 0: none. */
uint32_t opencl_work_kind(enum opencl_call call);
xsprof_name_t opencl_work_name(enum opencl_call call);
/* A kernel that was made: asked for its name now, not in each call. */
void opencl_kernel_made(cl_handle kernel);
xsprof_name_t opencl_kernel_name(cl_handle kernel);

/* ---- miss.c ---------------------------------------------------------------------------------- */

enum opencl_miss {
	OPENCL_MISS_NO_EVENT,	/* commands that the runtime gave no event for */
	OPENCL_MISS_NO_TIMES,	/* of queues without profiling, or without times all the same */
	OPENCL_MISS_FAILED,	/* commands that ended with an error */
	OPENCL_MISS_FULL,	/* commands, as too many were under way */
	OPENCL_MISS_QUEUES,	/* commands of more queues than are told apart */
	OPENCL_MISS_PLATFORMS,	/* functions of extensions, of more platforms than have room */
	OPENCL_MISS_EXIT,	/* commands that were under way when the program ended */
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
 * @handle: the runtime's
 * @number: as activities have it
 * @clock: its runtime can be asked for its clock
 */
struct opencl_device {
	cl_handle		handle;
	uint32_t		number;
	bool			clock;
};

/* NULL: there are more than have numbers, or it cannot be said.  The lock of queues is held. */
struct opencl_device *opencl_device_get(cl_handle handle);
void opencl_devices_forget(void);
/* Once a second, and at the @last: ask for their clocks, where the runtime can.  The thread's. */
void opencl_devices_look(bool last);

#define OPENCL_LINE		64	/* bytes of the cache that move together */

/* ---- queue.c --------------------------------------------------------------------------------- */

/**
 * struct opencl_queue - a queue of the program
 * @handle: the runtime's, which another may get when this one is gone
 * @device: where its commands run
 * @context: number of its context
 * @number: its own
 * @in_order: its commands end in their order
 * @next: another that is retired
 * @retired: @opencl_takes of then
 * @under_way: the thread's: commands that point to it, of those that it has taken
 * @held: the thread's: the last look in which one of its commands was not over
 */
struct opencl_queue {
	cl_handle		handle;
	struct opencl_device	*device;
	uint32_t		context;
	uint32_t		number;
	bool			in_order;
	struct opencl_queue	*next;
	uint32_t		retired;
	/* Calls of the program read what is above, and do not miss it in their cache. */
	uint32_t		under_way __attribute__((aligned(OPENCL_LINE)));
	uint32_t		held;
};

void opencl_queues_forget(void);
/* The program made it, with these properties. */
void opencl_queue_made(cl_handle handle, uint64_t properties);
/* NULL: too many; it is counted. */
struct opencl_queue *opencl_queue_get(cl_handle handle);

/* ---- command.c ------------------------------------------------------------------------------- */

/**
 * struct opencl_command - something that a device was asked to do
 * @next: older one
 * @event: tells when it is over; ours to release
 * @queue: where to
 * @begin: of the call, ticks
 * @end: of the call, ticks
 * @bytes: moved
 * @call: enum opencl_call
 * @thread: that called
 * @name: of the work
 * @dimensions: of the sizes; 0: none
 * @local: the second half of @sizes is there
 * @failed: it ended with an error
 * @timed: @times are there
 * @sizes: work items in all, then in a group
 * @correlation: of the call and the work: the thread's
 * @times: queued, submitted, started, ended: of the device's clock, once it is over
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
/* The activity of a call. */
void opencl_fill_call(struct xsprof_device_activity *a, enum opencl_call call, uint64_t begin,
		      uint64_t end, const struct opencl_queue *queue);
/* From any thread: one to be filled in and added.  NULL: too many are under way, it is counted. */
struct opencl_command *opencl_command_new(void);
void opencl_command_add(struct opencl_command *command);
/* The thread's: write what is over.  Return: some are not. */
bool opencl_commands_look(void);
/* The thread's: how many are not over, with those that it has not seen yet. */
uint32_t opencl_commands_left(void);
/* How often it has taken what was added. */
extern uint32_t opencl_takes;

/* ---- thread.c -------------------------------------------------------------------------------- */

/* Return: 0, or why the library begins none. */
int opencl_thread_start(void (*forget)(void *unused));
void opencl_thread_forget(void);
/* The child of a fork has none until it uses OpenCL, and may get none. */
enum opencl_thread { OPENCL_RUNS, OPENCL_GONE, OPENCL_FAILED };

extern enum opencl_thread opencl_thread;
bool opencl_thread_back(void);
/* Return: there is one, which looks at commands. */
static inline bool opencl_thread_ready(void)
{
	return __builtin_expect(__atomic_load_n(&opencl_thread, __ATOMIC_RELAXED) == OPENCL_RUNS,
				1) || opencl_thread_back();
}
/* Before the runtime's own end: called again when a runtime has come. */
void opencl_thread_at_exit(void);

/* ---- call.c ---------------------------------------------------------------------------------- */

/**
 * struct opencl_calling - a call of the program under way
 * @on: it is recorded
 * @queue: that it is for
 * @begin: ticks
 * @event: where the runtime puts the event
 * @own: the event, where the program asks for none
 * @kernel: name of the kernel, 0: it is none
 * @dimensions: of @global and @local, which are the program's until the call ends
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

/* Return: where the runtime is to put the event. */
cl_handle *opencl_begin(struct opencl_calling *c, cl_handle queue, cl_handle *event);
/* Return: @result. */
int32_t opencl_end(struct opencl_calling *c, enum opencl_call call, uint64_t bytes, int32_t result);
/* A call that gives a device nothing to do: the same. */
int32_t opencl_call_end(struct opencl_calling *c, enum opencl_call call, int32_t result);

/* What it took to start, since @begin: readers know from it that activities will come. */
void opencl_started(uint64_t begin);

/* ---- copies.c, usm.c, kernels.c -------------------------------------------------------------- */

/* Put our functions into a table of @nr. */
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
 * Return: the table of functions in place of @next, which has @n; NULL: a loader was here before.
 */
void *const *opencl_start(void *const *next, uint32_t n);

#endif /* XSPROF_OPENCL_LOCAL_H */
