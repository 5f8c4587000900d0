/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reading traces: opens a capture file or a producer's ring file and returns its records in time
 * order. The library (libxsprof-trace) treats its input as hostile: it terminates, stays in bounds,
 * uses bounded memory, and never returns a record that was not written.
 *
 * Threads may use different handles at once; a handle and everything obtained from it must be used
 * by one thread at a time. No function is async-signal-safe. Functions return 0 or a negative errno
 * unless stated otherwise; after an error xsprof_trace_error() has a message. Times are ns of
 * CLOCK_MONOTONIC of the recorded machine unless stated otherwise.
 */
#ifndef XSPROF_TRACE_H
#define XSPROF_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/abi.h>
#include <xsprof/capture.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xsprof_trace;

/**
 * struct xsprof_trace_options - how to open; all zeros except @size is a good default
 * @size: sizeof(struct xsprof_trace_options)
 * @flags: XSPROF_TRACE_*
 * @memory: bytes that the handle may use for chunks being decoded, 0 for 32 MiB, at least 16 MiB;
 *	in addition it uses 8 bytes per chunk of a ring, and memory for the trace's texts
 * @warn: called with a message for each error that does not stop the reading: a cut file, a damaged
 *	chunk, a bad record; may be NULL. Rate-limited by kind, with counts at the end
 * @warn_data: passed to @warn
 * @reserved: 0
 */
struct xsprof_trace_options {
	size_t		size;
	uint32_t	flags;
	uint32_t	reserved;
	uint64_t	memory;
	void		(*warn)(void *data, const char *text);
	void		*warn_data;
};

/*
 * The file may still grow: return -EAGAIN at its end. The recorder's sync points tell when no older
 * event can follow; an event is returned then, two to three seconds after it was recorded. Ring
 * files and pipes do not grow; they end normally.
 */
#define XSPROF_TRACE_FOLLOW	0x1u

/*
 * Types of events made by the decoder; all other events have the type of their record. An ARGS
 * record is an event as well; its arguments belong to the previous event of the same producer and
 * tid. Padding, LOST records and records of unknown types are not events.
 */
#define XSPROF_EV_LOST		0x100	/* value = records lost (or slots: XSPROF_EVF_SLOTS) here */
#define XSPROF_EV_PRODUCER	0x101	/* a producer appears */
#define XSPROF_EV_EXIT		0x102	/* a producer ended; value: how << 32 | status */
/*
 * Thread tid of a producer ended before its process, as an event of the kernel's tracer shows, or
 * another thread that has its number, which may be much later: its open ranges end here.  Not made
 * with XSPROF_TRACE_FOLLOW.
 */
#define XSPROF_EV_THREAD_EXIT	0x103
/*
 * An event of the kernel's tracer. producer is XSPROF_NO_PRODUCER, tid the current task, pid its
 * process or 0 if not known; name is the id of the event's kind (xsprof_trace_kernel_event()), aux
 * its flags and preemption count (common_flags | common_preempt_count << 8), rec and rec_size its
 * raw bytes, which are not a record. A LOST event with XSPROF_NO_PRODUCER reports losses of the
 * tracer.
 */
#define XSPROF_EV_KERNEL	0x110

#define XSPROF_EVF_SLOTS	0x1u	/* value of a LOST event counts slots of 32 bytes */
#define XSPROF_EVF_BACK		0x2u	/* it was older than its predecessor: ns is that one's */
#define XSPROF_EVF_UNKNOWN	0x4u	/* LOST: the number is not known; value is 0 */
#define XSPROF_EVF_OP		0x8u	/* a BEGIN of an op: xsprof_trace_op() */
/*
 * When it was written, another ring of its producer was losing records, and its thread may have
 * written to that ring since its last record. The LOST event with their number comes at the end of
 * that hole. On a LOST event: its hole lasts to the end of its producer.
 */
#define XSPROF_EVF_HOLE		0x10u
#define XSPROF_EVF_THREAD_EXIT	0x20u	/* a SCHED_OUT that is a XSPROF_EV_THREAD_EXIT as well */

/**
 * struct xsprof_event - one event; valid until the next call on the handle
 * @ns: time in ns of CLOCK_MONOTONIC of the recorded machine; begin of a COMPLETE or SPAN is
 *	@begin_ns, and @ns is its end (COMPLETE) or when it was written (SPAN)
 * @begin_ns: COMPLETE, SPAN, GPU: when it began
 * @end_ns: COMPLETE, SPAN, GPU: when it ended
 * @ticks: the record's own timestamp
 * @type: enum xsprof_rec_type or XSPROF_EV_*
 * @flags: XSPROF_EVF_*
 * @producer: the producer's number in this trace
 * @pid: process id as the recorder saw it (else the producer's own)
 * @tid: thread id as in the record
 * @cpu: CPU, -1 when not known
 * @name: name id, 0 for none
 * @aux: as in the record
 * @value: as in the record; for LOST the number lost here
 * @rec: the whole record, or NULL for an event made by the decoder
 * @rec_size: bytes of it
 * @reserved: 0
 */
struct xsprof_event {
	uint64_t	ns;
	uint64_t	begin_ns;
	uint64_t	end_ns;
	uint64_t	ticks;
	uint16_t	type;
	uint16_t	flags;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	tid;
	int32_t		cpu;
	uint32_t	name;
	uint32_t	aux;
	uint32_t	reserved;
	uint64_t	value;
	const struct xsprof_rec *rec;
	size_t		rec_size;
};

/**
 * xsprof_trace_open() - open a capture file or a producer's ring file
 * @path: file, or "-" for standard input; a pipe is first copied to an unnamed file
 * @opts: NULL for the defaults
 * @trace: set to the handle, to be freed by xsprof_trace_close(); NULL on error
 *
 * A ring file is read in its current state, from the oldest record that was not being overwritten
 * to its head; nothing is consumed or changed. @opts is copied; @warn_data must stay valid as long
 * as the handle.
 *
 * Return: 0, or -errno; xsprof_trace_error(NULL) says why.
 */
int xsprof_trace_open(const char *path, const struct xsprof_trace_options *opts,
		      struct xsprof_trace **trace);

/**
 * xsprof_trace_close() - free a handle, and its events and texts
 * @trace: handle; NULL is allowed
 */
void xsprof_trace_close(struct xsprof_trace *trace);

/**
 * xsprof_trace_error() - why the last call failed, as a message
 * @trace: handle, or NULL for the last xsprof_trace_open() of this thread
 *
 * Return: a text that names the object, the reason and what to do, valid until the next call; "" if
 *	no call failed.
 */
const char *xsprof_trace_error(const struct xsprof_trace *trace);

/**
 * xsprof_trace_next() - the next event in time order
 * @trace: handle
 * @ev: set to the event, owned by the handle, valid until the next call
 *
 * Return: 1: an event; 0: the end; -EAGAIN with XSPROF_TRACE_FOLLOW: no event yet; else an error.
 */
int xsprof_trace_next(struct xsprof_trace *trace, const struct xsprof_event **ev);

/**
 * xsprof_trace_next_batch() - up to @n events in time order, with fewer calls
 * @trace: handle
 * @evs: filled with events; valid until the next call
 * @n: room in @evs
 *
 * Return: the number of events, 0 at the end, or a negative errno as xsprof_trace_next().
 */
int xsprof_trace_next_batch(struct xsprof_trace *trace, struct xsprof_event *evs, size_t n);

/**
 * xsprof_trace_rewind() - start again from the first event, with the same filter
 * @trace: handle
 *
 * Return: 0.
 */
int xsprof_trace_rewind(struct xsprof_trace *trace);

/**
 * struct xsprof_trace_filter - which events to return; fields of 0 do not filter
 * @size: sizeof(struct xsprof_trace_filter)
 * @from_ns: earliest time
 * @to_ns: latest time
 */
struct xsprof_trace_filter {
	size_t		size;
	uint64_t	from_ns;
	uint64_t	to_ns;
};

/**
 * xsprof_trace_set_filter() - set which events are returned from now on
 * @trace: handle
 * @filter: copied
 *
 * Events that were returned before do not come again: call it before the first event, or call
 * xsprof_trace_rewind() after it.
 *
 * Return: 0; -EINVAL: its size is invalid, or it ends before it begins; -E2BIG: it has fields of a
 *	later version that are not 0.
 */
int xsprof_trace_set_filter(struct xsprof_trace *trace, const struct xsprof_trace_filter *filter);

/* ---- names: pointers are valid until xsprof_trace_close() ----------------------------------- */

/* The text of a name id of @producer; never NULL ("?" if the capture does not have it). */
const char *xsprof_trace_name(const struct xsprof_trace *trace, uint32_t producer, uint32_t name);
/* The same with its length: a name can have any byte except 0, and need not be UTF-8. */
const char *xsprof_trace_name_len(const struct xsprof_trace *trace, uint32_t producer,
				  uint32_t name, size_t *len);
/* The category of a name id; "default" for category 0 unless the program named it. */
const char *xsprof_trace_category(const struct xsprof_trace *trace, uint32_t producer,
				  uint32_t name);
/*
 * The thread's name: set by the program, else the kernel's, else "".  Of several threads that had
 * the number one after the other: "first, second", or "first, ..., last".
 */
const char *xsprof_trace_thread(const struct xsprof_trace *trace, uint32_t producer, uint32_t tid);
/* The same, but "" if the program set none. */
const char *xsprof_trace_thread_given(const struct xsprof_trace *trace, uint32_t producer,
				      uint32_t tid);

/* ---- arguments ------------------------------------------------------------------------------ */

/**
 * struct xsprof_trace_arg - one argument of a record
 * @key: name id of the key
 * @type: enum xsprof_arg_type
 * @flags: XSPROF_ARGF_*
 * @len: bytes of @str
 * @u: the value
 * @str: the bytes of a STR, TENSOR, I64S, F64S or I32S, inside the record, not terminated nor
 *	aligned
 */
struct xsprof_trace_arg {
	uint32_t	key;
	uint8_t		type;
	uint8_t		flags;
	uint16_t	len;
	union {
		int64_t		i64;
		uint64_t	u64;
		double		f64;
	} u;
	const char	*str;
};

/**
 * xsprof_trace_args() - iterate over a record's arguments
 * @ev: event
 * @pos: position, 0 to start; updated
 * @arg: set to the next argument, which is valid as long as @ev
 *
 * Return: true: there was an argument; false at the end.
 */
bool xsprof_trace_args(const struct xsprof_event *ev, size_t *pos, struct xsprof_trace_arg *arg);

/**
 * struct xsprof_trace_op - fields of the begin of an op
 * @scope: enum xsprof_op_scope
 * @record_function_id: the framework's number of the op, 0 for none
 * @sequence: sequence number shared with its backward op, -1 for none
 * @forward_thread: for a backward op, the thread of its forward op; 0 for none
 * @correlation: correlation id of GPU collectors, 0 for none
 * @stack: id for xsprof_trace_stack(), 0 for none, XSPROF_STACK_MISSED if there was no room for it
 */
struct xsprof_trace_op {
	uint32_t	scope;
	uint64_t	record_function_id;
	int64_t		sequence;
	uint64_t	forward_thread;
	uint64_t	correlation;
	uint64_t	stack;
};

/**
 * xsprof_trace_op() - get the fields of the begin of an op
 * @ev: event
 * @op: filled
 *
 * Return: false if @ev is not the begin of an op.
 */
bool xsprof_trace_op(const struct xsprof_event *ev, struct xsprof_trace_op *op);

/**
 * struct xsprof_trace_sample - a sample of a thread's stack
 * @thread: the sampled thread; the event's own thread is the sampler
 * @how: enum xsprof_sample_how
 * @line: current line of the innermost function, which the event's name is; 0: not known
 * @missed: for XSPROF_SAMPLE_MISSED the number of samples that could not be taken
 * @stack: id for xsprof_trace_stack(), 0 for none, XSPROF_STACK_MISSED if there was no room for it
 */
struct xsprof_trace_sample {
	uint32_t	thread;
	uint32_t	how;
	uint32_t	line;
	uint32_t	missed;
	uint32_t	stack;
};

/**
 * xsprof_trace_sample() - get the fields of a sample
 * @ev: event
 * @sample: filled
 *
 * Return: false if @ev is not a sample.
 */
bool xsprof_trace_sample(const struct xsprof_event *ev, struct xsprof_trace_sample *sample);

#define XSPROF_TENSOR_DIMS	24u

/**
 * struct xsprof_trace_tensor - an argument that is a tensor
 * @id: its id, 0 for none
 * @storage_id: id of its memory, 0 for none
 * @offset: offset into its memory, in elements
 * @numel: number of elements, 0 if not known
 * @dtype: name id of the type of its elements, 0 if not known
 * @device: device type << 16 | device index
 * @ndim: dimensions
 * @itemsize: bytes of an element, 0 not known
 * @nr_sizes: numbers in @sizes; fewer than @ndim if @cut, or if they are not known
 * @nr_strides: the same
 * @cut: part of it did not fit into its record
 * @sizes: size of each dimension
 * @strides: stride of each dimension, in elements
 */
struct xsprof_trace_tensor {
	uint64_t	id;
	uint64_t	storage_id;
	uint64_t	offset;
	uint64_t	numel;
	uint32_t	dtype;
	uint32_t	device;
	uint32_t	ndim;
	uint32_t	itemsize;
	uint32_t	nr_sizes;
	uint32_t	nr_strides;
	bool		cut;
	int64_t		sizes[XSPROF_TENSOR_DIMS];
	int64_t		strides[XSPROF_TENSOR_DIMS];
};

/**
 * xsprof_trace_tensor() - get the fields of an argument that is a tensor
 * @arg: argument
 * @tensor: filled; @sizes and @strides only as far as @nr_sizes and @nr_strides say
 *
 * Return: false if the argument is not a tensor, or is damaged.
 */
bool xsprof_trace_tensor(const struct xsprof_trace_arg *arg, struct xsprof_trace_tensor *tensor);

/**
 * xsprof_trace_arg_text() - format an argument that is neither number nor string
 * @trace: handle
 * @producer: producer of the record
 * @arg: an argument of type TENSOR, I64S, F64S, I32S, LIST or NONE
 * @buf: the text, terminated, cut if it is too long: "float[2, 3]", "[1, 2]", "3 of:", "None";
 *	with strides that do not follow from the sizes "float[2, 3] strides [1, 2]"
 * @size: bytes of @buf
 *
 * Return: bytes of the text.
 */
size_t xsprof_trace_arg_text(const struct xsprof_trace *trace, uint32_t producer,
			     const struct xsprof_trace_arg *arg, char *buf, size_t size);

/**
 * xsprof_trace_stack() - the stack of an op or a sample
 * @trace: handle
 * @producer: producer of the record
 * @stack: its id
 * @nr: set to the number of addresses
 * @left_out: set to the number of outer addresses that were not recorded; may be NULL
 *
 * Return: addresses, innermost first, valid until close; NULL if there is no such stack.
 */
const uint64_t *xsprof_trace_stack(const struct xsprof_trace *trace, uint32_t producer,
				   uint64_t stack, size_t *nr, uint32_t *left_out);

/* Mapping number @index of a producer, "start-end offset buildid path"; NULL past the last. */
const char *xsprof_trace_map(const struct xsprof_trace *trace, uint32_t producer, uint32_t index);

/**
 * xsprof_trace_stack_maps() - number of mappings that existed when a stack was recorded
 * @trace: handle
 * @producer: producer of the record
 * @stack: its id
 *
 * A later mapping may reuse an earlier one's addresses. An address of the stack belongs to the
 * newest mapping that contains it among the first so many mappings of its producer
 * (xsprof_trace_map()).
 *
 * Return: the number of mappings; 0 if there is no such stack.
 */
uint32_t xsprof_trace_stack_maps(const struct xsprof_trace *trace, uint32_t producer,
				 uint64_t stack);

#ifdef __cplusplus
}
#endif

#include <xsprof/trace-facts.h>
#include <xsprof/trace-kernel.h>
#include <xsprof/pairer.h>

#endif /* XSPROF_TRACE_H */
