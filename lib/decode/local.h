/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the decoder: the handle, whose parts are declared in the other headers.
 * Internal names begin with xst_, so that both libraries can be linked into one program. Not
 * visible to users of the library.
 *
 *	source.c	bytes of a file, or of a pipe that was spooled
 *	chunk.c		one chunk: header, payload, checksum, decompression
 *	chunks.c	handles chunks: producers, names, clocks, offsets of ring chunks
 *	budget.c	memory limit
 *	capture.c	the first pass over a capture, chunk by chunk
 *	snapshot.c	the same for a producer's ring file
 *	stream.c	one ring: its chunks, a window of it in memory (buffers.c)
 *	holes.c		missing records, detected in advance
 *	run.c		the records of a window as events
 *	marks.c		events that are not in rings
 *	merge.c		all streams as one, in time order
 *	clockfit.c	ticks to nanoseconds
 *	kernel.c	the kernel's tracer; kernel-kinds.c: kinds of its events;
 *			kernel-page.c: its events
 *	texts.c		texts; names.c: public functions that look them up
 *	ends.c		end times of producers from other evidence
 *	thread-ends.c	threads that ended before their processes
 *	threads.c	names of threads, and reused thread numbers
 *	arena.c producer.c args.c tids.c
 */
#ifndef XST_TRACE_LOCAL_H
#define XST_TRACE_LOCAL_H

#include <stdarg.h>
#include <sys/types.h>

/* Everything is compiled hidden; what the public header declares is not. */
#pragma GCC visibility push(default)
#include <xsprof/trace.h>
#pragma GCC visibility pop

#include "decode/chunk.h"
#include "decode/clocks.h"
#include "decode/kernel.h"
#include "decode/producer.h"
#include "decode/stream.h"
#include "decode/texts.h"

#define XST_MEMORY_DEFAULT	(32u << 20)
#define XST_MEMORY_MIN		(16u << 20)	/* what one chunk of the largest size may take */
#define XST_MAX_CHUNKS		(32u << 20)	/* of rings: 8 bytes of index each */
#define XST_MAX_SYNCS		(1u << 20)	/* twelve days of one a second */
#define XST_MAX_NOTES		65536u

#define xst_unlikely(x)		__builtin_expect(!!(x), 0)

/* ---- the handle -------------------------------------------------------------------------- */

enum xst_warning {
	XST_WARN_TRUNCATED,
	XST_WARN_CHUNK,
	XST_WARN_RECORD,
	XST_WARN_TIME,
	XST_WARN_ARENA,
	XST_WARN_CLOCK,
	XST_WARN_UNKNOWN,
	XST_WARN_KINDS,
};

/* An event that is not in a ring: a producer's begin, its end, its losses. */
struct xst_mark {
	uint64_t	ns;
	uint64_t	value;
	uint32_t	producer;
	uint16_t	type;
	uint16_t	reserved;
};

struct xst_marks {
	struct xst_mark	*list;
	size_t		nr;
	size_t		next;
};

struct xst_head {
	uint64_t	key;
	uint32_t	order;
	uint32_t	kind;		/* enum xst_head_kind */
	void		*what;
};

enum xst_head_kind { XST_HEAD_RING, XST_HEAD_MARKS };

#define XST_NEXT_EVENTS		256u

/* Results of the first pass; they grow while a capture is followed. */
struct xst_found {
	bool			snapshot;	/* a ring file, not a capture */
	struct xsprof_ctl	ring_ctl;	/* of a ring file */
	struct xst_producer	**producers;
	uint32_t		nr_producers;	/* highest number + 1 */
	uint32_t		room_producers;
	struct xst_stream	**streams;
	uint32_t		nr_streams;
	uint32_t		room_streams;
	struct xsp_map		stream_map;
	struct xsp_map		names;
	struct xsp_map		categories;
	struct xsp_map		threads;	/* names that threads gave themselves */
	struct xsp_map		others;		/* names that others gave them */
	struct xsp_map		comms;		/* the kernel's */
	struct xsp_map		begun;		/* threads whose first marker was yielded */
	struct xsp_map		earlier;	/* names of earlier threads with the same number */
	struct xsp_map		stacks;		/* text: struct xst_stack_head, then addresses */
	struct xsp_pool		pool;
	struct xst_facts	host;
	const struct xst_text	**notes;
	uint32_t		nr_notes;
	uint64_t		seen;		/* offset up to which the file was processed */
	uint64_t		lists;		/* bytes of lists, not counted elsewhere */
	uint32_t		room_notes;
	struct xsprof_sync	*syncs;
	uint32_t		nr_syncs;
	uint32_t		room_syncs;
	struct xst_fit		fit;
	uint32_t		main_kind;	/* of @fit */
	struct xst_fit		other_fits[XST_CLOCK_KINDS];	/* of other clocks */
	uint64_t		settled;	/* mono: all earlier records are in the file */
	struct xst_kernel	kernel;
	struct xsprof_cap_end	end;
	bool			has_end;
	bool			no_room;	/* END or EXIT states losses that no ledger has */
	bool			truncated;
	uint64_t		scanned;	/* offset up to which chunks were indexed */
	uint64_t		chunks;
	uint64_t		ring_chunks;
	struct xst_hints	hints[XST_CLOCK_KINDS];
	uint64_t		bad_index;	/* chunks refused in the first pass */
	uint64_t		bad_entries;
	uint64_t		unknown;	/* chunks and records of unknown types */
};

/* The position of reading, and the user's selection. */
struct xst_reading {
	struct xst_buffers	buffers;
	struct xst_head		*heap;
	uint32_t		nr_heap;
	struct xst_marks	begins;
	struct xst_marks	ends;
	uint64_t		now;		/* ns of the last event */
	uint64_t		horizon;	/* FOLLOW: more events may still come after it */
	uint64_t		from_ns;
	uint64_t		to_ns;
	uint64_t		records;
	uint64_t		turn;		/* number of batches: facts may change with each */
	struct xst_account	account;	/* of all producers */
	uint64_t		back;
	uint64_t		bad_read;	/* chunks refused during reading */
	bool			kernel_only;	/* rings of producers are left out */
	bool			started;
	bool			finished;
	int			failed;
	struct xsprof_event	ended;		/* next event: a thread's end; type 0: none */
	struct xsprof_event	*evs;		/* of xsprof_trace_next() */
	size_t			ev_next;
	size_t			ev_nr;
};

/* The handle: the file, the results of the first pass, the position of reading; and messages. */
struct xsprof_trace {
	struct xst_file		file;
	struct xst_found	found;
	struct xst_reading	reading;
	char			*name;		/* for messages */
	uint32_t		flags;
	uint64_t		memory;
	void			(*warn)(void *data, const char *text);
	void			*warn_data;
	uint64_t		warned[XST_WARN_KINDS];
	char			error[512];
};

/* ---- warn.c ------------------------------------------------------------------------------ */

int xst_fail(struct xsprof_trace *t, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void xst_warn(struct xsprof_trace *t, enum xst_warning kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* At the end: reports how many warnings of each kind were suppressed. */
void xst_warn_totals(struct xsprof_trace *t);

/* ---- budget.c ---------------------------------------------------------------------------- */

/* Bytes of memory that the decoder keeps. */
uint64_t xst_kept(const struct xsprof_trace *t);
/* Is the memory limit for the file's size reached? Then further data is left out. */
bool xst_full(const struct xsprof_trace *t);

/* ---- capture.c, chunks.c, snapshot.c, arena.c -------------------------------------------- */

int xst_capture_open(struct xsprof_trace *t);
/* Handles chunks that were added since the last call; sets @horizon. Return: 0 or -errno. */
int xst_capture_scan(struct xsprof_trace *t);
/* chunks.c: handles the chunk at @off, whose header is valid. Return: 0 or -errno. */
int xst_chunk_add(struct xsprof_trace *t, uint64_t off, const struct xsprof_chunk *chunk);
int xst_snapshot_open(struct xsprof_trace *t);
int xst_arena_parse(struct xsprof_trace *t, struct xst_producer *p, uint64_t pos,
		    const uint8_t *data, size_t len);

/* ---- ends.c ------------------------------------------------------------------------------ */

/* Settles ends of processes that executed another program. Return: 0 or -errno. */
int xst_ends_settle(struct xsprof_trace *t);
/*
 * The time up to which kernel events must be read in advance, for ends that the recorder knew only
 * as an interval; 0: none. Then: adds these events, and applies what they show.
 */
uint64_t xst_exits_until(struct xsprof_trace *t);
void xst_exits_learn(struct xsprof_trace *t, const struct xsprof_event *evs, size_t n);
void xst_exits_settle(struct xsprof_trace *t);

/* Maximum time between the exit of a process and its disappearance. */
#define XST_GOING_NS	1000000000u

/* ---- thread-ends.c ----------------------------------------------------------------------- */

/* A thread of @p ended at @ns: did its process continue? */
bool xst_went_on(const struct xst_producer *p, uint64_t ns);
/* Called when tids.c has all events. Return: 0 or -errno. */
int xst_thread_ends_settle(struct xsprof_trace *t);
/* An event of xst_kernel.exit_id: if it ends a thread of a producer that continued, sets @ended. */
void xst_thread_ends(struct xsprof_trace *t, const struct xsprof_event *ev,
		     struct xsprof_event *ended);

/* ---- threads.c --------------------------------------------------------------------------- */

/* Handles a complete THREAD entry. Return: 0 or -errno. */
int xst_thread_entry(struct xsprof_trace *t, struct xst_producer *p,
		     const struct xsprof_entry *entry, const char *text);
/* Adds the kernel's name of a thread, from the recorder. Return: 0 or -ENOMEM. */
int xst_thread_comm(struct xsprof_trace *t, struct xst_producer *p, uint32_t tid,
		    const char *comm, size_t len);

/* ---- names.c ----------------------------------------------------------------------------- */

/* A thread's name, as outputs show it; NULL: none. */
const struct xst_text *xst_thread_text(const struct xsprof_trace *t, uint32_t producer,
				       uint32_t tid);

/* ---- tids.c ----------------------------------------------------------------------------- */

/* Do threads have two numbers? Then all events must be read in advance. */
/* After the first pass: finds the events of new tasks, and the command's process. */
int xst_tids_settle(struct xsprof_trace *t);
/* Handles an event of xst_kernel.exit_id, and of new_id. */
void xst_tids_gone(struct xsprof_trace *t, const struct xsprof_event *ev);
void xst_tids_new_task(struct xsprof_trace *t, const struct xsprof_event *ev);
bool xst_tids_wanted(const struct xsprof_trace *t);
void xst_tids_learn(struct xsprof_trace *t, const struct xsprof_event *evs, size_t n);
/* Called after all events. */
void xst_tids_elect(struct xsprof_trace *t);
/* The thread of @p with the kernel's number @tid; 0: none, or unknown. */
uint32_t xst_tids_own(const struct xsprof_trace *t, const struct xst_producer *p, uint32_t tid);

/* ---- run.c, marks.c ---------------------------------------------------------------------- */

static inline void xst_event_init(struct xsprof_event *ev, const struct xst_producer *p,
				  uint16_t type, uint64_t ns)
{
	*ev = (struct xsprof_event){
		.ns = ns,
		.type = type,
		.producer = p->number,
		.pid = p->pid,
		.cpu = -1,
	};
}

static inline bool xst_event_wanted(const struct xsprof_trace *t, uint64_t ns)
{
	return ns >= t->reading.from_ns;
}

/* Yields loaded events up to @limit. Return: their number. */
size_t xst_stream_run(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		      size_t max, uint64_t limit);
size_t xst_marks_run(struct xsprof_trace *t, struct xst_marks *marks, struct xsprof_event *evs,
		     size_t max, uint64_t limit);
/* Makes the marks of producers that have not been yielded. Return: 0 or -errno. */
int xst_marks_make(struct xsprof_trace *t);

/* ---- merge.c ----------------------------------------------------------------------------- */

int xst_merge_start(struct xsprof_trace *t);
/* Puts streams with new chunks back into the heap. */
int xst_merge_more(struct xsprof_trace *t);
int xst_merge_batch(struct xsprof_trace *t, struct xsprof_event *evs, size_t max);

#endif /* XST_TRACE_LOCAL_H */
