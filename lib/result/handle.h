/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The handle of a result, its events and texts, for the code of results and exports. Internal names
 * begin with xsr_; not visible to users of the library.
 *
 *	open.c error.c	the handle: options, trace, error messages
 *	build.c records.c events.c threads.c	events out of the records of a trace
 *	tree.c		their order, nesting, self times
 *	link.c		links of device activities to ops
 *	post.c		annotations added by the program
 *	event.c		accessors of an event
 *	derived.c	texts that are derived from its arguments
 *	input-list.c	inputs of ops for programs; flops.c: what ops cost
 *	args.c inputs.c	arguments and inputs of ops as JSON, here and in exports
 *	writer.c numbers.c	texts and numbers in them
 *	frames.c	stacks by name; symbols-*.c: names out of files
 *	table.c table-text.c folded.c	sums over events
 *	text.c		memory for texts
 */
#ifndef XSR_HANDLE_H
#define XSR_HANDLE_H

#include <stdarg.h>

#include <xsprof/result.h>
#include <xsprof/trace.h>

#include "base/map.h"
#include "base/pool.h"
#include "ranges/keep.h"

struct xsr_scratch;

#define XSR_MAX_EVENTS	0xfffffff0u

/* ---- text.c --------------------------------------------------------------------------------- */

/* Unique texts; hashed with a seed, so that no capture finds the worst case. */
struct xsr_texts {
	struct xsp_pool	pool;
	uint64_t	seed;
	const char	**list;
	size_t		room;
	size_t		used;
};

/* The unique copy of @s, or NULL: no memory. */
const char *xsr_text(struct xsr_texts *texts, const char *s, size_t len);
void xsr_texts_free(struct xsr_texts *texts);

/* A growing text; without memory @err becomes -ENOMEM, and the text no longer changes. */
struct xsr_buf {
	char	*s;		/* terminated once anything was added */
	size_t	len;
	size_t	room;
	int	err;
};

void xsr_put(struct xsr_buf *b, const char *s, size_t len);
void xsr_puts(struct xsr_buf *b, const char *s);
void xsr_printf(struct xsr_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void xsr_buf_free(struct xsr_buf *b);

/* ---- events --------------------------------------------------------------------------------- */

#define XSR_EVF_UNFINISHED	0x01u
#define XSR_EVF_ASYNC		0x02u	/* not in the tree: overlaps others, or has no thread */
#define XSR_EVF_SOFT		0x04u	/* if ranges overlap, this one is removed from the tree */
#define XSR_EVF_WHOLE		0x08u	/* from one record that came at its end */
#define XSR_EVF_DEVICE		0x10u	/* on a device: no thread of the host */
#define XSR_EVF_INSTANT		0x20u
#define XSR_EVF_STEP		0x40u
#define XSR_EVF_DROP		0x80u	/* to be left out after links are made */
#define XSR_EVF_CUT		0x100u	/* it ended where its markers were disabled */
#define XSR_EVF_OVER		0x200u	/* a step that had ended by the end of the result */
#define XSR_EVF_UNCERTAIN	0x400u	/* records were lost inside it */

#define XSR_NONE		UINT32_MAX

/**
 * struct xsprof_profiler_event - an event of a result
 * @result: its result
 * @name: its name
 * @begin: ns of CLOCK_MONOTONIC
 * @end: likewise; equal to @begin for an instant
 * @self: ns, without the events inside
 * @correlation: of an op its number, of others that of the runtime call
 * @linked: number of the op that launched it, 0 for none
 * @args: arguments, NULL for none
 * @producer: producer in the trace
 * @pid: process
 * @tid: thread that began it
 * @end_tid: thread that ended it
 * @kind: enum xsprof_event_kind
 * @flags: XSR_EVF_*
 * @device: type << 16 | index
 * @parent: index of the event around it, XSR_NONE for none
 * @child: index of the first event inside it
 * @next: index of its next sibling
 * @stack: id of its stack, 0 for none
 * @u: depends on @kind; before the tree is made only its owner uses it
 */
struct xsprof_profiler_event {
	struct xsprof_result	*result;
	const char		*name;
	uint64_t		begin;
	uint64_t		end;
	uint64_t		self;
	uint64_t		correlation;
	uint64_t		linked;
	struct xsr_piece	*args;
	uint32_t		producer;
	uint32_t		pid;
	uint32_t		tid;
	uint32_t		end_tid;
	uint16_t		kind;
	uint16_t		flags;
	uint32_t		device;
	uint32_t		parent;
	uint32_t		child;
	uint32_t		next;
	uint32_t		stack;
	union {
		struct {
			int64_t		sequence;
			uint64_t	forward_thread;
			uint64_t	record_function_id;
			uint32_t	scope;
			uint32_t	on;		/* device of @elapsed */
			uint64_t	elapsed;	/* ns on it + 1; 0: unknown */
			uint64_t	at;		/* number of its record, from 1; 0: none */
		} op;
		struct {
			uint64_t	address;
			int64_t		bytes;
			uint64_t	allocated;
			uint64_t	reserved;
		} mem;
		struct {
			uint64_t	bytes;
			uint64_t	graph;
			uint64_t	graph_node;
			uint32_t	stream;
			uint32_t	context;
		} gpu;
	} u;
};

_Static_assert(sizeof(struct xsprof_profiler_event) <= 160, "results hold millions of events");

/**
 * struct xsprof_result - a result
 * @trace: source of texts, stacks and mappings
 * @info: of the trace
 * @opts: copied with everything it points to
 * @config: its config; @opts.config points here if one was given
 * @experimental: its experimental config
 * @options: memory of everything that @opts points to
 * @texts: names, and texts returned by accessors
 * @pool: arguments of events
 * @events: ordered by begin, once @built
 * @nr: number of events
 * @room: capacity of @events
 * @root: index of the first event of the tree, XSR_NONE
 * @built: events were made
 * @failed: why they could not be made
 * @saved: it was written to a file
 * @last_ns: CLOCK_MONOTONIC at its end
 * @real: offset to CLOCK_REALTIME
 * @made: cache of derived data: xsr_derived_key() to the text, or to the inputs
 * @posts: annotations of ops from post_process: number of the record to struct xsr_post
 * @scratch: for texts being made, NULL before the first
 * @frames: symbolizer, NULL until first used
 * @tables: list of its tables
 * @error: last error message
 */
struct xsprof_result {
	struct xsprof_trace		*trace;
	struct xsprof_trace_info	info;
	struct xsprof_result_options	opts;
	struct xsprof_profiler_config	config;
	struct xsprof_experimental	experimental;
	struct xsp_pool			options;
	struct xsr_texts		texts;
	struct xsp_pool			pool;
	struct xsprof_profiler_event	*events;
	uint32_t			nr;
	uint32_t			room;
	uint32_t			root;
	bool				built;
	int				failed;
	bool				saved;
	uint64_t			last_ns;
	int64_t				real;
	struct xsp_map			made;
	struct xsp_map			posts;
	struct xsr_scratch		*scratch;
	struct xsr_frames		*frames;
	struct xsprof_table		*tables;
	char				error[512];
};

/* Sets the error message. Return: @err. */
int xsr_fail(struct xsprof_result *result, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * xsr_open_trace() - open a second handle of the result's trace
 * @result: result
 * @trace: set to the handle; to be closed
 *
 * For code that needs records other than events. The handle is of the open file, whatever its path
 * names now.
 *
 * Return: as xsprof_trace_open().
 */
int xsr_open_trace(const struct xsprof_result *result, struct xsprof_trace **trace);

/* Makes the events, if not done yet. Return: 0 or -errno. */
int xsr_build(struct xsprof_result *result);

/* ns of CLOCK_REALTIME. */
static inline uint64_t xsr_real(const struct xsprof_result *result, uint64_t mono)
{
	return mono + (uint64_t)result->real;
}

static inline uint32_t xsr_index(const struct xsprof_profiler_event *ev)
{
	return (uint32_t)(ev - ev->result->events);
}

static inline struct xsprof_profiler_event *xsr_event(const struct xsprof_result *result,
						      uint32_t index)
{
	return index < result->nr ? &result->events[index] : NULL;
}

/* Was @what requested? Everything is, without a config. */
#define xsr_wants(result, what)	(!(result)->opts.config || (result)->config.what)

/* ---- what events say of themselves ----------------------------------------------------------- */

/* flops.c */
uint64_t xsr_flops(const struct xsprof_profiler_event *ev);

/* The frames of its stack. NULL: no stack, or no memory. */
const struct xsr_stack *xsr_event_stack(const struct xsprof_profiler_event *ev);

/* ---- symbols-dw.c, or symbols-none.c -------------------------------------------------------- */

#define XSR_SYMBOL_INLINES	64u	/* frames per address */

struct xsr_files;

/* Result of looking up an address. */
enum xsr_known {
	XSR_KNOWN,		/* its frames were passed to the callback */
	XSR_UNKNOWN,		/* no symbol, or the file is missing */
	XSR_OTHER_FILE,		/* the file was replaced by another one */
};

/* NULL: no memory. */
struct xsr_files *xsr_files_new(void);
void xsr_files_free(struct xsr_files *files);
/* A frame of an address. */
struct xsr_frame {
	const char	*name;	/* of the function, "??" if unknown */
	const char	*file;	/* without folders, NULL if unknown */
	int		line;
};

/**
 * xsr_files_look_up() - symbolize a file offset
 * @files: open files
 * @path: path of the file
 * @build_id: required build id in hex, "-" if unknown
 * @offset: into the file
 * @give: called with each frame, innermost first; a non-zero result stops
 * @data: passed to @give
 *
 * Return: enum xsr_known, or -ENOMEM.
 */
int xsr_files_look_up(struct xsr_files *files, const char *path, const char *build_id,
		      uint64_t offset, int (*give)(void *data, const struct xsr_frame *frame),
		      void *data);

/* ---- table.c -------------------------------------------------------------------------------- */

/* Frees the tables that still exist when the result is freed. */
void xsr_tables_free(struct xsprof_result *result);

#endif /* XSR_HANDLE_H */
