/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The handle of a result, its events and texts: what the files of results share, and what exports
 * are written from.  Internal names begin with xsr_; users of the library see none of it.
 *
 *	open.c error.c	the handle: options, the trace under it; why a call failed
 *	build.c records.c events.c threads.c	events out of the records of a trace
 *	tree.c		their order, what is inside what, self times
 *	link.c		what ops launched on devices
 *	post.c		what the program says of ops afterwards
 *	event.c		what an event says of itself
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

/* Texts, each once; by a seed of its own, so that no capture finds its worst case. */
struct xsr_texts {
	struct xsp_pool	pool;
	uint64_t	seed;
	const char	**list;
	size_t		room;
	size_t		used;
};

/* The one copy of @s, or NULL: no memory. */
const char *xsr_text(struct xsr_texts *texts, const char *s, size_t len);
void xsr_texts_free(struct xsr_texts *texts);

/* A text that grows; without memory @err is -ENOMEM from there on, and it stays as it is. */
struct xsr_buf {
	char	*s;		/* terminated, once anything was put */
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
#define XSR_EVF_ASYNC		0x02u	/* no place in the tree: it overlaps, or has no thread */
#define XSR_EVF_SOFT		0x04u	/* where ranges overlap it is this one that gives way */
#define XSR_EVF_WHOLE		0x08u	/* of one record that came at its end */
#define XSR_EVF_DEVICE		0x10u	/* it ran on a device: no thread of the host */
#define XSR_EVF_INSTANT		0x20u
#define XSR_EVF_STEP		0x40u
#define XSR_EVF_DROP		0x80u	/* to be left out, once links are made */
#define XSR_EVF_CUT		0x100u	/* it ended where its markers were switched off */
#define XSR_EVF_OVER		0x200u	/* a step that was over at the end of the result */
#define XSR_EVF_UNCERTAIN	0x400u	/* records were lost inside it */

#define XSR_NONE		UINT32_MAX

/**
 * struct xsprof_profiler_event - an event of a result
 * @result: whose it is
 * @name: text of it
 * @begin: ns of CLOCK_MONOTONIC, as the next
 * @end: the same as @begin for an instant
 * @self: ns, without what is inside
 * @correlation: of an op its own number, of others that of the runtime call
 * @linked: number of the op that launched it, 0 for none
 * @args: arguments, NULL for none
 * @producer: in the trace
 * @pid: process
 * @tid: thread that began it
 * @end_tid: thread that ended it
 * @kind: enum xsprof_event_kind
 * @flags: XSR_EVF_*
 * @device: type << 16 | index
 * @parent: index of the event around it, XSR_NONE
 * @child: of the first inside it
 * @next: of the next beside it
 * @stack: id of its stack, 0 for none
 * @u: what depends on @kind; before the tree is made nothing in it is used but by its owner
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
			uint32_t	on;		/* device that @elapsed is of */
			uint64_t	elapsed;	/* ns there + 1; 0: not known */
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
 * @trace: that texts, stacks and mappings come from
 * @info: of it
 * @opts: copied with all that it points to
 * @config: the same; @opts.config points here where one was given
 * @experimental: the same
 * @options: memory of all that @opts points to
 * @texts: of names, and what accessors gave
 * @pool: of arguments of events
 * @events: in the order of their begins, once @built
 * @nr: how many
 * @room: for so many there is memory
 * @root: index of the first event of the tree, XSR_NONE
 * @built: events were made
 * @failed: why they could not
 * @saved: it was written
 * @last_ns: CLOCK_MONOTONIC at its end
 * @real: to be added for CLOCK_REALTIME
 * @made: what was made for events: xsr_derived_key() to the text, or to the inputs
 * @posts: what the program said of ops: number of the record, to struct xsr_post
 * @scratch: for texts in the making, NULL before the first
 * @frames: stacks by name, NULL while nobody asked
 * @tables: that are there
 * @error: for people
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

/* Says why; Return: @err. */
int xsr_fail(struct xsprof_result *result, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * xsr_open_trace() - the trace under a result, once more
 * @result: result
 * @trace: another handle of the same file, to be closed
 *
 * For who needs records that are no events.  The file is the one that is open, whatever has
 * become of its path.
 *
 * Return: as xsprof_trace_open().
 */
int xsr_open_trace(const struct xsprof_result *result, struct xsprof_trace **trace);

/* Makes the events, when nobody did before.  Return: 0 or -errno. */
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

/* What was asked for; everything, where nothing was. */
#define xsr_wants(result, what)	(!(result)->opts.config || (result)->config.what)

/* ---- what events say of themselves ----------------------------------------------------------- */

/* flops.c */
uint64_t xsr_flops(const struct xsprof_profiler_event *ev);

/* Frames of its stack.  NULL: it has none, or there is no memory. */
const struct xsr_stack *xsr_event_stack(const struct xsprof_profiler_event *ev);

/* ---- symbols-dw.c, or symbols-none.c -------------------------------------------------------- */

#define XSR_SYMBOL_INLINES	64u	/* frames of one address */

struct xsr_files;

/* What is known of an address of a file. */
enum xsr_known {
	XSR_KNOWN,		/* its frames were given */
	XSR_UNKNOWN,		/* the file says nothing of it, or is not there */
	XSR_OTHER_FILE,		/* there is another file now */
};

/* NULL: no memory. */
struct xsr_files *xsr_files_new(void);
void xsr_files_free(struct xsr_files *files);
/* A frame of an address. */
struct xsr_frame {
	const char	*name;	/* of the function, "??" not known */
	const char	*file;	/* without its folders, NULL not known */
	int		line;
};

/**
 * xsr_files_look_up() - whose code that is
 * @files: files that were opened
 * @path: of the file
 * @build_id: in hex that it has to have, "-" not known
 * @offset: into the file
 * @give: called with each frame, innermost first; not 0 ends it
 * @data: passed to @give
 *
 * Return: enum xsr_known, or -ENOMEM.
 */
int xsr_files_look_up(struct xsr_files *files, const char *path, const char *build_id,
		      uint64_t offset, int (*give)(void *data, const struct xsr_frame *frame),
		      void *data);

/* ---- table.c -------------------------------------------------------------------------------- */

/* Those that are still there when the result is freed. */
void xsr_tables_free(struct xsprof_result *result);

#endif /* XSR_HANDLE_H */
