/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) */
/*
 * Records: the content of the slots of rings. Part of <xsprof/abi.h>, which includes it.
 */
#ifndef _UAPI_XSPROF_RECORD_H
#define _UAPI_XSPROF_RECORD_H

#ifndef _UAPI_XSPROF_ABI_H
#error "include <xsprof/abi.h>"
#endif

/**
 * enum xsprof_rec_type - kinds of records
 *
 * The payload of each is the struct named beside it.  An unknown type is skipped by its slot
 * count.  Types up to 0x7f are the library's, 0x80 to 0xef the kernel's.
 */
enum xsprof_rec_type {
	XSPROF_REC_INVALID	= 0x00,	/* content of a page that was not written */
	XSPROF_REC_BEGIN	= 0x01,	/* name; args may follow */
	XSPROF_REC_END		= 0x02,	/* name or 0: the innermost; aux: XSPROF_END_*; args */
	XSPROF_REC_COMPLETE	= 0x03,	/* name, value = duration in ticks, ended at ts */
	XSPROF_REC_INSTANT	= 0x04,	/* name, aux = enum xsprof_scope */
	XSPROF_REC_COUNTER_I64	= 0x05,	/* name, value */
	XSPROF_REC_COUNTER_F64	= 0x06,	/* name, value = the bits of a double */
	XSPROF_REC_ASYNC_BEGIN	= 0x07,	/* name, value = id */
	XSPROF_REC_ASYNC_INSTANT = 0x08,
	XSPROF_REC_ASYNC_END	= 0x09,
	XSPROF_REC_FLOW_START	= 0x0a,	/* name, value = id */
	XSPROF_REC_FLOW_STEP	= 0x0b,
	XSPROF_REC_FLOW_END	= 0x0c,
	XSPROF_REC_CORR_PUSH	= 0x0d,	/* aux = kind, value = correlation id */
	XSPROF_REC_CORR_POP	= 0x0e,	/* aux = kind */
	XSPROF_REC_ALLOC	= 0x0f,	/* struct xsprof_rec_mem */
	XSPROF_REC_FREE		= 0x10,	/* struct xsprof_rec_mem */
	XSPROF_REC_ARGS		= 0x11,	/* more arguments of this thread's record before */
	XSPROF_REC_STEP		= 0x12,	/* name, value = number of the step that begins */
	XSPROF_REC_SPAN		= 0x13,	/* struct xsprof_rec_span: a range with times of its own */
	XSPROF_REC_SYNC		= 0x14,	/* name, aux = enum xsprof_sync_op, value = object */
	XSPROF_REC_CONTROL	= 0x15,	/* aux = enum xsprof_control_op, value = enabled bits */
	XSPROF_REC_CLOCK	= 0x16,	/* struct xsprof_rec_clock */
	XSPROF_REC_GPU		= 0x17,	/* struct xsprof_rec_gpu */
	XSPROF_REC_STACK	= 0x18,	/* aux = frames, value = kind; then the frames, u64 each */
	XSPROF_REC_RELATION	= 0x19,	/* aux = kind, value = id, struct xsprof_rec_relation */
	XSPROF_REC_OP		= 0x1a,	/* a BEGIN; 2 slots or more: struct xsprof_rec_op */
	XSPROF_REC_SAMPLE	= 0x1b,	/* name, aux = enum xsprof_sample_how and line << 8, */
					/* value = thread << 32 | stack id; or how many */
	/* the kernel's, of thread tid: aux = enum xsprof_sched_who and XSPROF_SCHED_* */
	XSPROF_REC_SCHED_IN	= 0x80,	/* it runs on this CPU */
	XSPROF_REC_SCHED_OUT	= 0x81,	/* it stops; value = thread id of the next task */
	XSPROF_REC_SCHED_WAKE	= 0x82,	/* it was woken, value = thread id of the waker */
	XSPROF_REC_SCHED_MIGRATE = 0x83, /* value = CPU to run on << 32 | CPU before */
	XSPROF_REC_PAD		= 0xfe,	/* to the end of the block */
	XSPROF_REC_LOST		= 0xff,	/* value = drops of this ring up to here */
};

/* Of an END: the range of that name ended earlier, unrecorded; those inside it go on. */
#define XSPROF_END_EARLIER	0x80000000u
/*
 * Of an END: one around the range ends first, so that it goes on as a range of its own, the next of
 * its name that begins on its thread; of several of one name the outermost begins first.
 */
#define XSPROF_END_CONTINUED	0x40000000u

enum xsprof_scope {
	XSPROF_SCOPE_THREAD	= 0,
	XSPROF_SCOPE_PROCESS	= 1,
	XSPROF_SCOPE_GLOBAL	= 2,
};

/**
 * enum xsprof_sample_how - what a thread did when its stack was looked at
 * @XSPROF_SAMPLE_MISSED: that could not be found out, as often as the lower half of value says
 * @XSPROF_SAMPLE_RUNS: it ran, with its language's lock
 * @XSPROF_SAMPLE_NATIVE: it ran without that
 * @XSPROF_SAMPLE_LOCK: it waited for the lock
 * @XSPROF_SAMPLE_OFF: it was off the CPU for any other reason
 */
enum xsprof_sample_how {
	XSPROF_SAMPLE_MISSED	= 0,
	XSPROF_SAMPLE_RUNS	= 1,
	XSPROF_SAMPLE_NATIVE	= 2,
	XSPROF_SAMPLE_LOCK	= 3,
	XSPROF_SAMPLE_OFF	= 4,
};

#define XSPROF_SAMPLE_HOW	0xffu	/* aux of SAMPLE: the lower bits; above them the line */
#define XSPROF_SAMPLE_LINE_SHIFT	8

enum xsprof_sync_op {
	XSPROF_SYNC_CREATE	= 1,
	XSPROF_SYNC_PREPARE	= 2,	/* about to wait */
	XSPROF_SYNC_CANCEL	= 3,
	XSPROF_SYNC_ACQUIRED	= 4,
	XSPROF_SYNC_RELEASING	= 5,
	XSPROF_SYNC_DESTROY	= 6,
	XSPROF_SYNC_RENAME	= 7,
};

enum xsprof_control_op {
	XSPROF_CONTROL_ENABLE	= 1,	/* the set of enabled categories changed */
	XSPROF_CONTROL_PAUSE	= 2,
	XSPROF_CONTROL_RESUME	= 3,
	XSPROF_CONTROL_SWITCH	= 4,	/* by another process; made by readers, in no ring */
};

/**
 * enum xsprof_sched_who - the other task in a SCHED_OUT or a SCHED_WAKE
 * @XSPROF_SCHED_NOBODY: there is none
 * @XSPROF_SCHED_IDLE: the CPU's idle loop
 * @XSPROF_SCHED_THREAD: a thread of the same process
 * @XSPROF_SCHED_PROCESS: a process of the same user in the producer's pid namespace
 * @XSPROF_SCHED_KERNEL: a thread of the kernel
 * @XSPROF_SCHED_IRQ: an interrupt, in any task
 * @XSPROF_SCHED_OTHER: any other task, whose thread id and name this user may not know
 */
enum xsprof_sched_who {
	XSPROF_SCHED_NOBODY	= 0,
	XSPROF_SCHED_IDLE	= 1,
	XSPROF_SCHED_THREAD	= 2,
	XSPROF_SCHED_PROCESS	= 3,
	XSPROF_SCHED_KERNEL	= 4,
	XSPROF_SCHED_IRQ	= 5,
	XSPROF_SCHED_OTHER	= 6,
};

#define XSPROF_SCHED_WHO	0xffu		/* aux of SCHED_*: enum xsprof_sched_who */
#define XSPROF_SCHED_STATE	0x7f00u		/* SCHED_OUT: its new state, see below */
#define XSPROF_SCHED_PREEMPTED	0x10000u	/* SCHED_OUT: it was preempted */
#define XSPROF_SCHED_NEW	0x10000u	/* SCHED_WAKE: it is a new task */

/* A letter, as in field 3 of /proc/PID/stat: R (runnable), S, D, T, t, X, Z, P, I */
#define XSPROF_SCHED_STATE_SHIFT	8

#define XSPROF_RECF_MORE	0x1u	/* an ARGS record of this thread goes on with this one */
#define XSPROF_RECF_CPU		0x2u	/* @cpu is valid: the CPU does not follow from the ring */

/**
 * struct xsprof_rec - the first slot of every record
 * @tid: thread id, in the producer's pid namespace
 * @type: enum xsprof_rec_type
 * @size: low 4 bits: slots of the record, 1 to 8; high 4 bits: XSPROF_RECF_*
 * @cpu: CPU number, when XSPROF_RECF_CPU is set, else 0
 * @ts: clock ticks; never goes back inside a ring
 * @name: name id
 * @aux: as the type says, else 0
 * @value: as the type says, else 0
 *
 * A record of one slot ends here. A longer one continues with the payload of its type; the rest,
 * rounded to 16 bytes, is struct xsprof_arg until one with type 0.
 */
struct xsprof_rec {
	__u32	tid;
	__u8	type;
	__u8	size;
	__u16	cpu;
	__u64	ts;
	__u32	name;
	__u32	aux;
	__u64	value;
};

enum xsprof_arg_type {
	XSPROF_ARG_END		= 0,
	XSPROF_ARG_I64		= 1,
	XSPROF_ARG_U64		= 2,
	XSPROF_ARG_F64		= 3,
	XSPROF_ARG_BOOL		= 4,
	XSPROF_ARG_PTR		= 5,
	XSPROF_ARG_NAME		= 6,	/* value is a name id */
	/* of these and all above @len bytes follow, padded with 0 to 16 */
	XSPROF_ARG_STR		= 7,
	XSPROF_ARG_TENSOR	= 8,	/* value = its id, 0 for none; struct xsprof_tensor_arg */
	XSPROF_ARG_I64S		= 9,	/* numbers of 8 bytes */
	XSPROF_ARG_F64S		= 10,	/* the same, doubles */
	XSPROF_ARG_LIST		= 11,	/* the next @value arguments are one list */
	XSPROF_ARG_NONE		= 12,	/* no value; value = name id of its type, or 0 */
	XSPROF_ARG_I32S		= 13,	/* as I64S, numbers of 4 bytes */
};

/*
 * Reserved keys, at the end of the range of indexes, which programs cannot use. Input i of an op
 * has the key XSPROF_KEY_INPUT + i, the last of these keys is for all further inputs; element i of
 * a list has XSPROF_KEY_ITEM + i. XSPROF_KEY_LEFT_OUT is the number of arguments of the op that are
 * missing or incomplete.
 *
 * A SPAN whose first argument is an XSPROF_KEY_ACTIVITY does not belong to the thread that wrote
 * it, but to the ids in the next two arguments: a process and a thread, or a device and a queue.
 */
#define XSPROF_KEY_INPUT	0x03fff000u
#define XSPROF_KEY_ITEM		0x03fff100u
#define XSPROF_KEY_MODULE	0x03fff200u
#define XSPROF_KEY_LEFT_OUT	0x03fff201u
#define XSPROF_KEY_ACTIVITY	0x03fff202u	/* name id: its type in Kineto's words, "cpu_op" */
#define XSPROF_KEY_DEVICE	0x03fff203u	/* s64 */
#define XSPROF_KEY_RESOURCE	0x03fff204u	/* s64 */
#define XSPROF_KEY_LINE		0x03fff205u	/* name id: what of the program runs the op */
#define XSPROF_KEY_PLACES	256u

#define XSPROF_TENSORF_WIDE	0x1u	/* numbers of 8 bytes, else of 4, none of them negative */
#define XSPROF_TENSORF_SIZES	0x2u	/* sizes are there */
#define XSPROF_TENSORF_STRIDES	0x4u	/* strides are */
#define XSPROF_TENSORF_STORAGE	0x8u	/* storage id, offset, number of elements: u64 each */
#define XSPROF_TENSORF_CUT	0x10u	/* not all dimensions are there, or no strides */

/**
 * struct xsprof_tensor_arg - a tensor; then storage, sizes and strides, as far as @flags say
 * @dtype: name id of the type of its elements, 0 not known
 * @device: device type << 16 | device index
 * @ndim: dimensions
 * @stored: of them, with sizes and strides here
 * @flags: XSPROF_TENSORF_*
 * @reserved: 0
 * @itemsize: bytes of an element, 0 not known
 */
struct xsprof_tensor_arg {
	__u32	dtype;
	__u32	device;
	__u8	ndim;
	__u8	stored;
	__u8	flags;
	__u8	reserved;
	__u32	itemsize;
};

#define XSPROF_ARGF_CONT	0x1u	/* goes on with the string of the arg before */
#define XSPROF_ARGF_JSON	0x2u	/* the string is JSON */
#define XSPROF_ARGF_CUT		0x4u	/* the string or the array was longer: its last piece */

/**
 * struct xsprof_arg - a typed argument
 * @key: name id of the key
 * @type: enum xsprof_arg_type
 * @flags: XSPROF_ARGF_*
 * @len: bytes of a string, else 0
 * @value: the value; 0 for a string
 */
struct xsprof_arg {
	__u32	key;
	__u8	type;
	__u8	flags;
	__u16	len;
	__u64	value;
};

/**
 * struct xsprof_rec_op - an op begins, 2 slots; args may follow.  One of 1 slot has @rec alone
 * @rec: name; aux: its scope, as profilers number them; value: record function id, 0 for none
 * @sequence: sequence number shared with its backward op, -1 for none
 * @forward_thread: for a backward op, the thread of its forward op; 0 for none
 * @correlation: correlation id of GPU collectors, 0 for none
 * @stack: id of a STACK entry, 0 for none, XSPROF_STACK_MISSED
 */
struct xsprof_rec_op {
	struct xsprof_rec	rec;
	__s64			sequence;
	__u64			forward_thread;
	__u64			correlation;
	__u64			stack;
};

/* Used for every stack for which there was no room. */
#define XSPROF_STACK_MISSED	0xffffffffu

/**
 * struct xsprof_rec_span - a range with given begin and end, 2 slots
 * @rec: name; aux: enum xsprof_scope; value: id, 0 for none
 * @begin: ticks
 * @end: ticks
 * @parent: id of the parent range, 0 for none
 * @reserved: 0
 */
struct xsprof_rec_span {
	struct xsprof_rec	rec;
	__u64			begin;
	__u64			end;
	__u64			parent;
	__u64			reserved;
};

/**
 * struct xsprof_rec_mem - memory allocated or freed, 2 slots
 * @rec: name of the allocator or 0; aux: device type << 16 | device index; value: address
 * @bytes: size of the block
 * @total_allocated: bytes in use after it on this device, 0 when not known
 * @total_reserved: bytes the allocator holds after it, 0 when not known
 * @reserved: 0
 */
struct xsprof_rec_mem {
	struct xsprof_rec	rec;
	__u64			bytes;
	__u64			total_allocated;
	__u64			total_reserved;
	__u64			reserved;
};

/**
 * struct xsprof_rec_relation - a relation between two ids, 2 slots
 * @rec: aux: kind of the relation, as ITT numbers it; value: id of the head
 * @tail: id of the tail
 * @reserved: 0
 */
struct xsprof_rec_relation {
	struct xsprof_rec	rec;
	__u64			tail;
	__u64			reserved[3];
};

/**
 * struct xsprof_rec_clock - two clocks at one instant, 2 slots
 * @rec: aux: number of the clock (device + 1 for a GPU's); value: that clock
 * @ticks: the producers' counter at the same instant
 * @window: uncertainty in ticks
 * @reserved: 0
 */
struct xsprof_rec_clock {
	struct xsprof_rec	rec;
	__u64			ticks;
	__u64			window;
	__u64			reserved[2];
};

enum xsprof_gpu_kind {
	XSPROF_GPU_KERNEL	= 1,
	XSPROF_GPU_MEMCPY	= 2,
	XSPROF_GPU_MEMSET	= 3,
	XSPROF_GPU_SYNC		= 4,
	XSPROF_GPU_RUNTIME	= 5,
	XSPROF_GPU_DRIVER	= 6,
	XSPROF_GPU_OVERHEAD	= 7,
	XSPROF_GPU_GRAPH	= 8,	/* a graph as a whole, instead of its nodes */
	XSPROF_GPU_UNRECORDED	= 9,	/* a time in which no device was recorded */
	XSPROF_GPU_ALLOC	= 10,	/* of memory: begin and end are one time */
	XSPROF_GPU_FREE		= 11,
	XSPROF_GPU_NODE		= 12,	/* a node of a graph was made: likewise one time */
	XSPROF_GPU_METRICS	= 13,	/* means over this time of counters: args */
	XSPROF_GPU_CUSTOM	= 14,	/* work of another kind on a stream */
	XSPROF_GPU_FAULT	= 15,	/* of memory that host and devices share */
};

/* In place of the device and the stream of what is of none, as calls of CUDA and host's faults. */
#define XSPROF_NO_DEVICE	0xffffffffu
#define XSPROF_NO_STREAM	0xffffffffu

/**
 * struct xsprof_rec_gpu - an activity of a GPU or of its runtime, 3 slots; args may follow
 * @rec: name; aux: enum xsprof_gpu_kind; value: correlation id; of a NODE the node that it is a
 *	copy of, 0 for none; of METRICS of a kernel its, 0: they are of the device
 * @start: start
 * @end: end
 * @clock: 0 when @start and @end are the producers' ticks, else the number of their clock
 * @device: device index
 * @context: context id
 * @stream: stream or queue id
 * @bytes: bytes moved, for copies and sets
 * @graph: graph id, 0 for none
 * @graph_node: node id in the graph, 0 for none
 * @thread: for runtime and driver calls the thread that called, for a NODE the one that made it,
 *	else 0
 */
struct xsprof_rec_gpu {
	struct xsprof_rec	rec;
	__u64			start;
	__u64			end;
	__u32			clock;
	__u32			device;
	__u32			context;
	__u32			stream;
	__u64			bytes;
	__u64			graph;
	__u64			graph_node;
	__u64			thread;
};

#define XSPROF_SCHED_COMM	16

/**
 * struct xsprof_rec_sched - a SCHED_OUT or SCHED_WAKE with the name of the other one, 2 slots
 * @rec: as without it
 * @comm: its name, ended and filled up with 0
 * @reserved: 0
 *
 * The record has one slot where there is no name to give.
 */
struct xsprof_rec_sched {
	struct xsprof_rec	rec;
	__u8			comm[XSPROF_SCHED_COMM];
	__u64			reserved[2];
};

#endif /* _UAPI_XSPROF_RECORD_H */
