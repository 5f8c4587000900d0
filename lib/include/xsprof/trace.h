/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Reading traces: opens a capture file, or a producer's ring file, and yields its records in
 * time order.  The library (libxsprof-trace) treats everything it reads as hostile: it ends,
 * stays in bounds, uses bounded memory, and never yields a record that was not written.
 *
 * A handle belongs to one thread at a time.  Nothing here is async-signal-safe.  All functions
 * return 0 or a negative errno unless they say otherwise.
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
 * struct xsprof_trace_options - how to open; all zeros is a good default
 * @size: sizeof(struct xsprof_trace_options)
 * @flags: XSPROF_TRACE_*
 * @memory: bytes the handle may use for chunks being decoded, 0 for 32 MiB, never less than
 *	16 MiB; beside it 8 bytes for each chunk of a ring, and the texts that the trace holds
 * @warn: called with a text for each thing wrong that does not stop the reading: a cut file, a
 *	damaged chunk, a bad record; may be NULL.  Rate-limited by kind, with counts at the end
 * @warn_data: passed to @warn
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
 * The file may still grow: at its end give -EAGAIN.  Events come when nothing older can come any
 * more, which is known from the recorder's sync points: two to three seconds late.  A ring file and
 * a pipe do not grow, and end.
 */
#define XSPROF_TRACE_FOLLOW	0x1u

/*
 * Events are records plus what the decoder makes: every other type of an event is its record's.
 * An ARGS record is an event as well; its arguments belong to the event of the same producer and
 * tid before it.  Padding, LOST records and records of unknown types are none.
 */
#define XSPROF_EV_LOST		0x100	/* value = records lost (or slots: XSPROF_EVF_SLOTS) here */
#define XSPROF_EV_PRODUCER	0x101	/* a producer appears */
#define XSPROF_EV_EXIT		0x102	/* a producer ended; value: how << 32 | status */
/*
 * An event of the kernel's tracer.  producer is XSPROF_NO_PRODUCER, tid the task that was
 * current, pid its process where that is known, else 0; name is the event's id
 * (xsprof_trace_kernel_event()), aux its flags and preemption count (irq off and the like:
 * common_flags | common_preempt_count << 8), rec and rec_size its bytes, which are no record.
 * A LOST event of no producer is one of the tracer's.
 */
#define XSPROF_EV_KERNEL	0x110

#define XSPROF_EVF_SLOTS	0x1u	/* value of a LOST event counts slots of 32 bytes */
#define XSPROF_EVF_BACK		0x2u	/* its time was before its predecessor's: moved up */
#define XSPROF_EVF_UNKNOWN	0x4u	/* LOST: nobody knows how many; value is 0 */
#define XSPROF_EVF_OP		0x8u	/* a BEGIN that is an op's: xsprof_trace_op() */

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
 * @value: as in the record; of LOST the number lost here
 * @rec: the whole record, or NULL for what the decoder made
 * @rec_size: bytes of it
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
 * @path: file, or "-" for standard input; a pipe is copied to a file without a name first
 * @opts: NULL for the defaults
 * @trace: set to the handle, NULL on error
 *
 * A ring file is read as it stands, from the oldest record that can be trusted to its head at
 * this moment; nothing of it is consumed or changed.
 *
 * Return: 0, or -errno; xsprof_trace_error(NULL) says why.
 */
int xsprof_trace_open(const char *path, const struct xsprof_trace_options *opts,
		      struct xsprof_trace **trace);
void xsprof_trace_close(struct xsprof_trace *trace);

/**
 * xsprof_trace_error() - why the last call failed, for people
 * @trace: handle, or NULL for the last xsprof_trace_open() of this thread
 *
 * Return: a text that names the object and what to do; "" when nothing failed.
 */
const char *xsprof_trace_error(const struct xsprof_trace *trace);

/**
 * xsprof_trace_next() - the next event in time order
 * @trace: handle
 * @ev: set to the event, owned by the handle, valid until the next call
 *
 * Return: 1 an event; 0 the end; -EAGAIN with XSPROF_TRACE_FOLLOW: nothing yet; else an error.
 */
int xsprof_trace_next(struct xsprof_trace *trace, const struct xsprof_event **ev);

/**
 * xsprof_trace_next_batch() - up to @n events in time order, for consumers in a hurry
 * @trace: handle
 * @evs: filled with events; valid until the next call
 * @n: room in @evs
 *
 * Return: the number of events, 0 at the end, or a negative errno as xsprof_trace_next().
 */
int xsprof_trace_next_batch(struct xsprof_trace *trace, struct xsprof_event *evs, size_t n);

/* Start again from the beginning, with the same handle and filter. */
int xsprof_trace_rewind(struct xsprof_trace *trace);

/**
 * struct xsprof_trace_filter - what to leave out before it is yielded; 0 fields filter nothing
 * @size: sizeof(struct xsprof_trace_filter)
 * @from_ns: earliest time
 * @to_ns: latest time, 0 for none
 */
struct xsprof_trace_filter {
	size_t		size;
	uint64_t	from_ns;
	uint64_t	to_ns;
};

int xsprof_trace_set_filter(struct xsprof_trace *trace, const struct xsprof_trace_filter *filter);

/* ---- names: pointers stay valid until close ------------------------------------------------- */

/* The text of a name id of @producer; never NULL ("?" when the capture does not hold it). */
const char *xsprof_trace_name(const struct xsprof_trace *trace, uint32_t producer, uint32_t name);
/* The same with its length: a name may hold any byte but 0, and need not be UTF-8. */
const char *xsprof_trace_name_len(const struct xsprof_trace *trace, uint32_t producer,
				  uint32_t name, size_t *len);
/* The category of a name id; "default" for category 0 where the program did not name it. */
const char *xsprof_trace_category(const struct xsprof_trace *trace, uint32_t producer,
				  uint32_t name);
/* The thread's name: as the program gave it, else the kernel's, else "". */
const char *xsprof_trace_thread(const struct xsprof_trace *trace, uint32_t producer, uint32_t tid);

/* ---- arguments ------------------------------------------------------------------------------ */

/**
 * struct xsprof_trace_arg - one argument of a record
 * @key: name id of the key
 * @type: enum xsprof_arg_type
 * @flags: XSPROF_ARGF_*
 * @len: bytes of @str
 * @u: the value
 * @str: the bytes of a STR, TENSOR, I64S or F64S, inside the record, not terminated nor aligned
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
 * xsprof_trace_args() - walk a record's arguments
 * @ev: event
 * @pos: where to go on; 0 to start
 * @arg: filled
 *
 * Return: true and the next argument, false at the end.
 */
bool xsprof_trace_args(const struct xsprof_event *ev, size_t *pos, struct xsprof_trace_arg *arg);

/**
 * struct xsprof_trace_op - what the begin of an op says
 * @scope: enum xsprof_op_scope
 * @record_function_id: as the framework counts ops, 0 for none
 * @sequence: number that it shares with its backward, -1 for none
 * @forward_thread: of a backward the thread of its forward, 0 for none
 * @correlation: what collectors of GPUs know it by, 0 for none
 * @stack: for xsprof_trace_stack(), 0 for none, XSPROF_STACK_MISSED for one that found no room
 */
struct xsprof_trace_op {
	uint32_t	scope;
	uint64_t	record_function_id;
	int64_t		sequence;
	uint64_t	forward_thread;
	uint64_t	correlation;
	uint64_t	stack;
};

/* Return: false when the event begins no op. */
bool xsprof_trace_op(const struct xsprof_event *ev, struct xsprof_trace_op *op);

#define XSPROF_TENSOR_DIMS	24u

/**
 * struct xsprof_trace_tensor - an argument that is a tensor
 * @id: of it, 0 for none
 * @storage_id: of its memory, 0 for none
 * @offset: elements into that
 * @numel: elements, 0 not known
 * @dtype: name id of its type, 0 not known
 * @device: device type << 16 | device index
 * @ndim: dimensions
 * @itemsize: bytes of an element, 0 not known
 * @nr_sizes: numbers in @sizes; fewer than @ndim where @cut, or where they are not known
 * @nr_strides: the same
 * @cut: something had no room in its record
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

/* Return: false when the argument is no tensor, or does not hold together. */
bool xsprof_trace_tensor(const struct xsprof_trace_arg *arg, struct xsprof_trace_tensor *tensor);

/**
 * xsprof_trace_arg_text() - an argument that is neither number nor string, for people
 * @trace: handle
 * @producer: whose
 * @arg: a TENSOR, I64S, F64S, LIST or NONE
 * @buf: the text, cut and terminated: "float[2, 3]", "[1, 2]", "3 of:", "None"
 * @size: room in @buf
 *
 * Return: bytes of the text.
 */
size_t xsprof_trace_arg_text(const struct xsprof_trace *trace, uint32_t producer,
			     const struct xsprof_trace_arg *arg, char *buf, size_t size);

/**
 * xsprof_trace_stack() - a stack that ops name
 * @trace: handle
 * @producer: whose
 * @stack: its id
 * @nr: set to how many
 * @left_out: set to how many more there were; may be NULL
 *
 * Return: addresses, innermost first, until close; NULL there is no such stack.
 */
const uint64_t *xsprof_trace_stack(const struct xsprof_trace *trace, uint32_t producer,
				   uint64_t stack, size_t *nr, uint32_t *left_out);

/* Mapping number @index of a producer, "start-end offset buildid path"; NULL past the last. */
const char *xsprof_trace_map(const struct xsprof_trace *trace, uint32_t producer, uint32_t index);

/* ---- what the capture says of itself -------------------------------------------------------- */

/**
 * struct xsprof_trace_producer - a producer
 * @number: its number in this trace
 * @pid: process id as the recorder saw it, else the producer's own
 * @ctl: its control page when it was found
 * @how: enum xsprof_cap_how, 0 while not known
 * @status: exit status or signal
 * @exit_ns: when the recorder saw it end, 0 when it did not
 * @records: records yielded so far, without padding and LOST
 * @lost_records: records dropped (drops + busy + nomem + late), and those that found no room in the
 *	file, as far as the recorder counted them by producer
 * @lost_slots: slots overwritten unread
 * @bad_slots: slots refused by recorder or decoder
 * @rings: rings with data
 */
struct xsprof_trace_producer {
	uint32_t	number;
	uint32_t	pid;
	const struct xsprof_ctl *ctl;
	uint32_t	how;
	int32_t		status;
	uint64_t	exit_ns;
	uint64_t	records;
	uint64_t	lost_records;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
	uint32_t	rings;
	uint32_t	reserved;
};

/**
 * struct xsprof_trace_info - the whole
 * @producers: how many
 * @chunks: whole chunks in the file
 * @size: bytes of the file
 * @truncated: the file ends inside a chunk, or has no END chunk
 * @bad_chunks: chunks with a wrong checksum or content, skipped
 * @records: records yielded so far
 * @lost_records: see struct xsprof_trace_producer, the sum; and those that found no room in the
 *	file, whosesoever they were
 * @lost_slots: the sum
 * @bad_slots: the sum
 * @first_ns: earliest time seen in the file's hints, 0 when none
 * @last_ns: latest
 * @clock_kind: enum xsprof_clock_kind
 * @clock_freq: ticks a second as fitted
 * @clock_error_ns: bound of the conversion's error: residual of the fit plus the sync windows
 * @clock_points: sync points
 * @real_offset_ns: CLOCK_REALTIME - CLOCK_MONOTONIC at the first sync point
 * @end: the END chunk, NULL when there is none
 */
struct xsprof_trace_info {
	size_t		size_of;
	uint32_t	producers;
	uint32_t	truncated;
	uint64_t	chunks;
	uint64_t	size;
	uint64_t	bad_chunks;
	uint64_t	records;
	uint64_t	lost_records;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
	uint64_t	first_ns;
	uint64_t	last_ns;
	uint32_t	clock_kind;
	uint32_t	clock_points;
	double		clock_freq;
	uint64_t	clock_error_ns;
	int64_t		real_offset_ns;
	const struct xsprof_cap_end *end;
};

int xsprof_trace_get_info(struct xsprof_trace *trace, struct xsprof_trace_info *info);
int xsprof_trace_get_producer(struct xsprof_trace *trace, uint32_t number,
			      struct xsprof_trace_producer *producer);
/* The ledger of ring @index (0, 1, ...) of a producer: -ENOENT past the last. */
int xsprof_trace_get_ledger(struct xsprof_trace *trace, uint32_t producer, uint32_t index,
			    struct xsprof_cap_ledger *ledger);
/* A fact about the host ("hostname") or a process ("exe", "cmdline", "env.RANK"): NULL if none. */
const char *xsprof_trace_host_fact(const struct xsprof_trace *trace, const char *key);
const char *xsprof_trace_fact(const struct xsprof_trace *trace, uint32_t producer,
			      const char *key);
/* Fact number @index: 0 and the two pointers, or -ENOENT past the last. */
int xsprof_trace_fact_at(const struct xsprof_trace *trace, uint32_t producer, uint32_t index,
			 const char **key, const char **value);
int xsprof_trace_host_fact_at(const struct xsprof_trace *trace, uint32_t index,
			      const char **key, const char **value);
/* Note number @index: what happened to the recording itself, or NULL past the last. */
const char *xsprof_trace_note(const struct xsprof_trace *trace, uint32_t index);

/*
 * Sync point number @index of those that are kept, in the file's order, which is not always that
 * of time: -ENOENT past the last.  What a clock of it does not have is 0.
 */
int xsprof_trace_get_sync(const struct xsprof_trace *trace, uint32_t index,
			  struct xsprof_sync *sync);

/* Ticks of this trace's clock as ns of CLOCK_MONOTONIC. */
uint64_t xsprof_trace_ticks_to_ns(const struct xsprof_trace *trace, uint64_t ticks);

/* ---- the kernel's tracer -------------------------------------------------------------------- */

#define XSPROF_KFIELD_SIGNED	0x1u
#define XSPROF_KFIELD_ARRAY	0x2u	/* @size bytes of elements */
#define XSPROF_KFIELD_STRING	0x4u	/* of char */
#define XSPROF_KFIELD_DYNAMIC	0x8u	/* a __data_loc word: where the data is in the event */

/**
 * struct xsprof_kernel_field - a field of an event of the kernel
 * @name: its name
 * @type: as the kernel writes it
 * @offset: bytes from the event's start
 * @size: bytes
 * @flags: XSPROF_KFIELD_*
 */
struct xsprof_kernel_field {
	const char	*name;
	const char	*type;
	uint16_t	offset;
	uint16_t	size;
	uint32_t	flags;
};

/**
 * struct xsprof_kernel_event - a kind of event
 * @system: "sched"
 * @name: "sched_switch"
 * @id: as in struct xsprof_event.name
 * @nr_fields: how many
 * @fields: them, the common ones first
 * @format: the text that the kernel describes it with
 * @format_len: bytes of it
 */
struct xsprof_kernel_event {
	const char			*system;
	const char			*name;
	uint32_t			id;
	uint32_t			nr_fields;
	const struct xsprof_kernel_field *fields;
	const char			*format;
	size_t				format_len;
};

/* A kind by its id, or by its names: NULL where the trace has none.  Stays until close. */
const struct xsprof_kernel_event *xsprof_trace_kernel_event(const struct xsprof_trace *trace,
							    uint32_t id);
const struct xsprof_kernel_event *xsprof_trace_kernel_find(const struct xsprof_trace *trace,
							   const char *system, const char *name);
/* The next kind after @id in the order of ids, from UINT32_MAX the first; NULL: no more. */
const struct xsprof_kernel_event *xsprof_trace_kernel_next(const struct xsprof_trace *trace,
							   uint32_t id);
/* A field by its name, NULL where there is none. */
const struct xsprof_kernel_field *xsprof_kernel_field(const struct xsprof_kernel_event *kind,
						      const char *name);

/**
 * xsprof_kernel_value() - a field of an event as a number
 * @ev: event of type XSPROF_EV_KERNEL
 * @field: of its kind; NULL is no field
 * @value: set; a signed one is extended
 *
 * Return: false when the event is too short for it, or the field is no number.
 */
bool xsprof_kernel_value(const struct xsprof_event *ev, const struct xsprof_kernel_field *field,
			 uint64_t *value);
/**
 * xsprof_kernel_bytes() - the bytes of a field, fixed or dynamic
 * @ev: event of type XSPROF_EV_KERNEL
 * @field: of its kind; NULL is no field
 * @len: set to how many; of a string, those before its end
 *
 * Return: inside the event; NULL when it does not hold it.
 */
const char *xsprof_kernel_bytes(const struct xsprof_event *ev,
				const struct xsprof_kernel_field *field, size_t *len);

/* A task's name, "" when not known; and its process, 0 when not known. */
const char *xsprof_trace_comm(const struct xsprof_trace *trace, uint32_t tid);
uint32_t xsprof_trace_tgid(const struct xsprof_trace *trace, uint32_t tid);
/**
 * xsprof_trace_kernel_tid() - a thread of a program, as the kernel's events know it
 * @trace: handle
 * @producer: its producer
 * @tid: thread id as its records have it
 *
 * They are the same, unless the program or the recorder was in a pid namespace of its own: then
 * the numbers are found out from who ran where, before the first event is yielded.
 *
 * Return: the kernel's number; 0 not known, or no event was asked for yet.
 */
uint32_t xsprof_trace_kernel_tid(const struct xsprof_trace *trace, uint32_t producer,
				 uint32_t tid);
/* Text number @index of symbols that were saved, lines "address name"; NULL past the last. */
const char *xsprof_trace_symbols(const struct xsprof_trace *trace, uint32_t index);
/* The same of printk_formats. */
const char *xsprof_trace_printk(const struct xsprof_trace *trace, uint32_t index);

/**
 * struct xsprof_trace_kernel - what there is of the kernel's tracer
 * @size: sizeof(struct xsprof_trace_kernel)
 * @cpus: CPUs with events
 * @kinds: kinds of events described
 * @clock: its clock, as tracefs names it; "" where there is none
 * @release: of the kernel
 * @refused: why its events are left out, NULL when they are not
 * @events: yielded so far
 * @lost: events that the tracer overwrote or dropped, by its own account
 * @lost_slots: units of 32 bytes of its pages that are missing in the file
 * @bad_slots: the same, refused
 * @error_ns: bound of the error of its times against those of the markers
 */
struct xsprof_trace_kernel {
	size_t		size;
	uint32_t	cpus;
	uint32_t	kinds;
	const char	*clock;
	const char	*release;
	const char	*refused;
	uint64_t	events;
	uint64_t	lost;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
	uint64_t	error_ns;
};

/* Return: 0; -ENOENT the trace has nothing of the kernel. */
int xsprof_trace_get_kernel(const struct xsprof_trace *trace, struct xsprof_trace_kernel *kernel);

/* ---- pairing: ranges out of begins and ends ------------------------------------------------- */

struct xsprof_pairer;

/* How a range came to its end. */
enum xsprof_range_end {
	XSPROF_RANGE_ENDED	= 0,
	XSPROF_RANGE_OPEN	= 1,	/* the trace or the producer ended inside it */
	XSPROF_RANGE_CUT	= 2,	/* no end of its own: closed by an outer one, or a pause */
};

/**
 * struct xsprof_range - a range of a thread, or an async range
 * @begin_ns: begin
 * @end_ns: end
 * @self_ns: its time less that of its children; equal to the whole for async ranges
 * @producer: producer number
 * @pid: process id
 * @tid: thread id (of the begin)
 * @name: name id
 * @depth: open BEGINs around it; a COMPLETE around it is not known yet when it ends
 * @kind: the type of the record that began it (BEGIN, COMPLETE, SPAN, ASYNC_BEGIN, GPU)
 * @how: enum xsprof_range_end
 * @id: async id, correlation or span id
 */
struct xsprof_range {
	uint64_t	begin_ns;
	uint64_t	end_ns;
	uint64_t	self_ns;
	uint32_t	producer;
	uint32_t	pid;
	uint32_t	tid;
	uint32_t	name;
	uint32_t	depth;
	uint16_t	kind;
	uint16_t	how;
	uint64_t	id;
};

/**
 * xsprof_pairer_new() - a pairer for one trace
 * @trace: the trace whose events it will be given
 * @emit: called with every range when it ends
 * @data: passed to @emit
 * @pairer: set to the new handle
 *
 * It keeps a stack a thread, bounded in depth (deeper begins are counted and left out) and in
 * threads, and drops a producer's stacks when that ends.  Self times are exact, except of a
 * COMPLETE with more than a few thousand children: off by those that ended around its begin.
 */
int xsprof_pairer_new(struct xsprof_trace *trace,
		      void (*emit)(void *data, const struct xsprof_range *range), void *data,
		      struct xsprof_pairer **pairer);
int xsprof_pairer_event(struct xsprof_pairer *pairer, const struct xsprof_event *ev);
/* Ends what is open (how = OPEN); after it the pairer may only be freed. */
int xsprof_pairer_finish(struct xsprof_pairer *pairer);
void xsprof_pairer_free(struct xsprof_pairer *pairer);

/**
 * struct xsprof_pairer_stats - what did not pair
 * @unmatched_ends: ends with nothing open (or with another name open)
 * @cut: ranges with how = CUT
 * @open: ranges with how = OPEN
 * @too_deep: begins beyond the depth limit
 */
struct xsprof_pairer_stats {
	uint64_t	unmatched_ends;
	uint64_t	cut;
	uint64_t	open;
	uint64_t	too_deep;
};

void xsprof_pairer_get_stats(const struct xsprof_pairer *pairer,
			     struct xsprof_pairer_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_TRACE_H */
