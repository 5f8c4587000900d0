/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the files of the decoder share: the handle, its producers and streams.  Internal names
 * begin with xst_, so that both libraries can be linked into one program.  It owns declarations
 * only; nothing here is seen by users of the library.
 *
 *	source.c	bytes of a file, or of a pipe that was spooled
 *	chunk.c		one chunk: header, payload, checksum, decompression
 *	capture.c	the first pass over a capture: producers, names, clocks, chunks of rings
 *	snapshot.c	the same for a producer's ring file
 *	stream.c	one ring: its chunks, a window of it in memory (buffers.c)
 *	run.c		the records of a window as events
 *	marks.c		events that no ring holds
 *	merge.c		all streams as one, in time order
 *	clockfit.c	ticks to nanoseconds
 *	kernel.c	what is known of the kernel's tracer; kernel-page.c: its events
 *	names.c arena.c producer.c args.c pair.c	what their names say
 */
#ifndef XST_TRACE_LOCAL_H
#define XST_TRACE_LOCAL_H

#include <stdarg.h>
#include <sys/types.h>

/* Everything is compiled hidden; what the public header declares is not. */
#pragma GCC visibility push(default)
#include <xsprof/trace.h>
#pragma GCC visibility pop

#include "base/map.h"
#include "decode/clockfit.h"

#define XST_MEMORY_DEFAULT	(32u << 20)
#define XST_MEMORY_MIN		(16u << 20)	/* what one chunk of the largest size may take */
#define XST_MAX_CHUNKS		(32u << 20)	/* of rings: 8 bytes of index each */
#define XST_MAX_SYNCS		(1u << 20)	/* twelve days of one a second */
#define XST_MAX_FACTS		65536u		/* of one process or of the host */
#define XST_MAX_NOTES		65536u

#define xst_likely(x)		__builtin_expect(!!(x), 1)
#define xst_unlikely(x)		__builtin_expect(!!(x), 0)

/* ---- source.c ---------------------------------------------------------------------------- */

/**
 * struct xst_source - the file
 * @fd: open for reading
 * @size: bytes, as known now
 * @growing: it may grow (a regular file that was named)
 */
struct xst_source {
	int		fd;
	uint64_t	size;
	bool		growing;
};

int xst_source_open(struct xsprof_trace *t, const char *path);
void xst_source_close(struct xst_source *src);
/* All of @len bytes, or -ENODATA when the file ends before, or -errno. */
int xst_source_read(const struct xst_source *src, uint64_t off, void *buf, size_t len);
/* Looks at the size again; true when it has grown. */
bool xst_source_grown(struct xst_source *src);

/* ---- names.c ----------------------------------------------------------------------------- */

struct xst_text {
	uint32_t	len;
	char		s[];	/* terminated */
};

/* Memory for texts, freed as a whole; @used: bytes of all blocks. */
struct xst_pool {
	struct xst_block	*blocks;
	size_t			room;
	char			*at;
	uint64_t		used;
};

const struct xst_text *xst_pool_text(struct xst_pool *pool, const char *s, size_t len);
void xst_pool_free(struct xst_pool *pool);

/* Texts by number. */
struct xst_lines {
	const struct xst_text	**list;
	uint32_t		nr;
};

/* Return: 0, -E2BIG there are too many, -ENOMEM. */
int xst_lines_add(struct xst_pool *pool, struct xst_lines *lines, const char *s, size_t len);

/* From (producer, id) to a pointer. */
const void *xst_map_get(const struct xsp_map *map, uint32_t producer, uint32_t id);
int xst_map_set(struct xsp_map *map, uint32_t producer, uint32_t id, const void *value);

struct xst_fact {
	const struct xst_text	*key;
	const struct xst_text	*value;
};

struct xst_facts {
	struct xst_fact	*list;
	uint32_t	nr;
	uint32_t	room;
};

/* @s is "key=value".  Return: 0, -EINVAL when it is not, -E2BIG, -ENOMEM. */
int xst_facts_add(struct xst_facts *facts, struct xst_pool *pool, const char *s, size_t len);

/* ---- producers --------------------------------------------------------------------------- */

struct xst_producer {
	uint32_t	number;
	uint32_t	pid;
	uint32_t	own_pid;	/* as it knows itself */
	bool		known;		/* its PRODUCER chunk was there */
	bool		has_exit;
	uint8_t		clock_kind;
	uint32_t	mode;
	uint32_t	nr_rings;	/* those bound to a CPU */
	uint32_t	own_rings;	/* those that the program writes; the kernel's follow */
	uint32_t	all_rings;
	uint64_t	ctl_at;		/* where its control page is in the file */
	struct xsprof_ctl *ctl;		/* read when somebody asks */
	bool		began;		/* its PRODUCER event has been yielded */
	bool		exited;		/* ... and its EXIT */
	uint64_t	found;		/* ticks of the recorder's clock, 0 when not known */
	uint64_t	end_ticks;	/* the same */
	uint64_t	*quiets;	/* ticks: its last category was switched off */
	uint32_t	nr_quiets;
	uint32_t	said_quiets;	/* of them, yielded */
	uint32_t	how;
	int32_t		status;
	uint64_t	nomem;
	uint64_t	late;
	uint64_t	unsaved;	/* records that found no room in the file */
	uint64_t	records;	/* yielded */
	uint64_t	arena_pos;	/* bytes of entries seen */
	char		*carry;		/* an entry cut by the end of a chunk */
	uint32_t	carried;
	uint32_t	rings;		/* with chunks */
	struct xst_stream *streams;
	struct xst_facts facts;
	struct xst_lines maps;
	struct xsprof_sync attach;
	struct xsprof_clock clock;
	const struct xst_fit *fit;
};

/* The producer of that number, made when it is new; NULL: no memory, or a number too large. */
struct xst_producer *xst_producer_get(struct xsprof_trace *t, uint32_t number);
struct xst_producer *xst_producer_find(const struct xsprof_trace *t, uint32_t number);
/* Does END count more losses than the ledgers do?  The rest found no room in the file. */
bool xst_found_no_room(const struct xsprof_trace *t);
/* Its last category was switched off then.  Return: 0 or -ENOMEM. */
int xst_producer_quiet(struct xst_producer *p, uint64_t ticks);
void xst_producers_free(struct xsprof_trace *t);
void xst_producer_set_ctl(struct xst_producer *p, const struct xsprof_ctl *ctl);

/* ---- streams ----------------------------------------------------------------------------- */

/**
 * struct xst_stream - one ring of one producer
 *
 * The window [@p, @end) is what is in memory of its records; it lies in @buf such that blocks of
 * the ring are blocks of memory.
 */
struct xst_stream {
	/* the merge's inner loop */
	const uint8_t		*p;
	const uint8_t		*end;
	const struct xst_seg	*seg;
	uint64_t		ticks;		/* of the latest record; never goes back */
	uint64_t		key;		/* ns of what comes next */
	struct xst_producer	*producer;
	int32_t			cpu;
	uint32_t		order;		/* among streams of equal time */

	/* losses to be yielded before the next record */
	uint64_t		gap;		/* slots */
	uint64_t		drops;		/* records */

	/* position */
	uint8_t			*buf;
	size_t			buf_size;
	uint64_t		pos;		/* slot number of @end */
	uint64_t		chunk_left;	/* slots of the chunk after @end */
	uint64_t		chunk_at;	/* its header's place in the file */
	uint32_t		ring;
	bool			queued;		/* in the merge's heap */
	bool			trailed;	/* the losses at its end have been counted */
	bool			checked;	/* the chunk's checksum was right */
	bool			any;		/* it has had a record */

	/* what is known of it */
	uint64_t		*chunks;
	uint32_t		nr_chunks;
	uint32_t		room_chunks;
	uint32_t		chunk;		/* next */
	uint64_t		index_pos;	/* slot after the last indexed chunk */
	uint64_t		first_pos;	/* of a ring file: the oldest slot that is there */
	uint64_t		first_gap;	/* ... and how many before it were overwritten */
	bool			has_ledger;
	struct xsprof_cap_ledger ledger;
	uint64_t		lost_value;	/* of the latest LOST record */
	uint64_t		lost_yielded;	/* records */
	uint64_t		gaps;		/* slots yielded as lost */
	uint64_t		bad_slots;	/* refused here */
	struct xst_stream	*next;		/* of its producer */

	/* of the kernel's tracer: the sub-buffer at @p */
	bool			kernel;
	bool			unknown_lost;	/* events were lost here, nobody knows how many */
	uint32_t		page_off;	/* of what is next in it, 0 at its beginning */
	uint32_t		page_end;
	uint64_t		page_ts;
	uint64_t		page_lost;	/* events lost before what is next */
};

/* @producer may be XSPROF_NO_PRODUCER: the kernel's tracer on CPU @ring. */
struct xst_stream *xst_stream_get(struct xsprof_trace *t, uint32_t producer, uint32_t ring);
void xst_stream_rewind(struct xsprof_trace *t, struct xst_stream *s);
void xst_stream_free(struct xst_stream *s);
/* Brings the next records into memory.  Return: 1, 0 at the end, or -errno. */
int xst_stream_load(struct xsprof_trace *t, struct xst_stream *s);
/* The offset in the file below which no slot is read again. */
uint64_t xst_needed_from(const struct xsprof_trace *t);
/* When its window is used up: sets the time of what comes next; false when nothing does. */
bool xst_stream_settle(struct xsprof_trace *t, struct xst_stream *s);
/* Lets go of the window; what was not yet read of it is loaded again later. */
void xst_stream_evict(struct xsprof_trace *t, struct xst_stream *s);

/* Where a slot lies in a window: blocks of the ring are blocks of memory. */
static inline uint32_t xst_block_offset(uint64_t pos)
{
	return (pos & (XSPROF_BLOCK_SLOTS - 1)) * XSPROF_SLOT_SIZE;
}

/* @slots from @s->pos on are in the window, at @offset. */
static inline void xst_stream_window(struct xst_stream *s, uint32_t offset, uint64_t slots)
{
	s->p = s->buf + offset;
	s->end = s->p + slots * XSPROF_SLOT_SIZE;
	s->pos += slots;
	s->chunk_left -= slots;
}

/* Nothing of @s is in memory, or to be yielded with no record. */
static inline bool xst_stream_empty(const struct xst_stream *s)
{
	return s->p == s->end && !s->drops && !(s->trailed && (s->gap || s->unknown_lost));
}

/* ---- buffers.c --------------------------------------------------------------------------- */

#define XST_FREE_BUFFERS	32u

/* Memory of windows: @limit bounds what is in use and what is kept for the next together. */
struct xst_buffers {
	uint64_t	limit;
	uint64_t	used;
	uint32_t	holders;	/* streams that have a window */
	uint32_t	nr_free;
	struct xst_buffer {
		uint8_t	*mem;
		size_t	size;
	} free[XST_FREE_BUFFERS];
};

/* A window of up to @want bytes, a multiple of blocks.  Return: 0, or -ENOMEM. */
int xst_buffer_get(struct xsprof_trace *t, struct xst_stream *s, size_t want);
void xst_buffer_put(struct xsprof_trace *t, struct xst_stream *s);
void xst_buffers_free(struct xst_buffers *b);

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

/* An event that no ring holds: a producer's beginning, its end, its losses. */
struct xst_mark {
	uint64_t	ns;
	uint64_t	value;
	uint32_t	producer;
	uint16_t	type;
	uint16_t	reserved;
};

/* Ticks of one kind of clock: the earliest and the latest that headers of chunks name. */
struct xst_hints {
	uint64_t	first;
	uint64_t	last;
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

#define XST_KERNEL_FIELDS	256u	/* of one kind of event */

/**
 * struct xst_kernel - the kernel's tracer
 * @any: there is something of it
 * @producer: what its streams hang on, one a CPU
 * @fit: its clock, where that is none of the markers' counters
 * @clock: its name
 * @release: of the kernel
 * @refused: why no event of it is yielded, NULL
 * @subbuf: bytes of a sub-buffer
 * @data_off: where events begin in it
 * @commit_off: where the word with its length is
 * @long_size: bytes of that word
 * @kinds: kinds of events by id
 * @tasks: their names, by tid
 * @tgids: their processes
 * @hints: times of chunks
 */
struct xst_kernel {
	bool			any;
	struct xst_producer	producer;
	struct xst_fit		fit;
	const struct xst_text	*clock;
	const struct xst_text	*release;
	const char		*refused;
	uint32_t		subbuf;
	uint32_t		data_off;
	uint32_t		commit_off;
	uint32_t		long_size;
	struct xsprof_kernel_event **kinds;
	uint32_t		room_kinds;
	uint32_t		nr_kinds;
	struct xsp_map		tasks;
	struct xsp_map		tgids;
	bool			namespaced;	/* the recorder's pids are not the kernel's */
	bool			learned;	/* tids.c has seen all events */
	struct xsp_map		votes;
	uint32_t		*current;	/* by CPU: who runs, 0 not known */
	const struct xsprof_kernel_field *next_pid;
	uint32_t		switch_id;
	struct xst_lines	symbols;
	struct xst_lines	printk;
	struct xst_hints	hints;
};

#define XST_NEXT_EVENTS		256u
#define XST_CLOCK_KINDS		(XSPROF_CLOCK_MONO_RAW + 1)

struct xsprof_trace {
	struct xst_source	src;
	char			*name;		/* for messages */
	uint32_t		flags;
	uint64_t		memory;
	void			(*warn)(void *data, const char *text);
	void			*warn_data;
	uint64_t		warned[XST_WARN_KINDS];
	char			error[512];

	/* what was found */
	bool			snapshot;	/* a ring file, not a capture */
	struct xsprof_ctl	ring_ctl;	/* of a ring file */
	struct xst_producer	**producers;
	uint32_t		nr_producers;	/* the highest number + 1 */
	uint32_t		room_producers;
	struct xst_stream	**streams;
	uint32_t		nr_streams;
	uint32_t		room_streams;
	struct xsp_map		stream_map;
	struct xsp_map		names;
	struct xsp_map		categories;
	struct xsp_map		threads;
	struct xsp_map		comms;
	struct xsp_map		stacks;		/* text: u32 left out, then the addresses */
	struct xst_pool		pool;
	struct xst_facts	host;
	const struct xst_text	**notes;
	uint32_t		nr_notes;
	uint64_t		text_stored;	/* bytes of chunks that hold text */
	uint32_t		room_notes;
	struct xsprof_sync	*syncs;
	uint32_t		nr_syncs;
	uint32_t		room_syncs;
	struct xst_fit		fit;
	uint32_t		main_kind;	/* of @fit */
	struct xst_fit		other_fits[XST_CLOCK_KINDS];	/* of other clocks */
	uint64_t		settled;	/* mono: records before it are all in the file */
	struct xst_kernel	kernel;
	struct xsprof_cap_end	end;
	bool			has_end;
	bool			no_room;	/* END or EXIT tells what no ledger does */
	bool			truncated;
	uint64_t		scanned;	/* offset up to which chunks were indexed */
	uint64_t		chunks;
	uint64_t		ring_chunks;
	struct xst_hints	hints[XST_CLOCK_KINDS];
	uint64_t		bad_index;	/* chunks refused by the first pass */
	uint64_t		bad_read;	/* ... and while reading */
	uint64_t		bad_entries;
	uint64_t		unknown;	/* chunks and records of unknown types */

	/* reading */
	struct xst_buffers	buffers;
	struct xst_scratch {
		uint8_t	*mem;
		size_t	size;
	} stored, middle, raw;
	void			*zstd;
	struct xst_head		*heap;
	uint32_t		nr_heap;
	struct xst_marks	begins;
	struct xst_marks	ends;
	uint64_t		now;		/* ns of the latest event */
	uint64_t		horizon;	/* FOLLOW: beyond it more may still come */
	uint64_t		from_ns;
	uint64_t		to_ns;
	uint64_t		records;
	uint64_t		back;
	bool			started;
	bool			finished;
	int			failed;
	struct xsprof_event	*evs;		/* of xsprof_trace_next() */
	size_t			ev_next;
	size_t			ev_nr;
};

/* ---- warn.c ------------------------------------------------------------------------------ */

int xst_fail(struct xsprof_trace *t, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void xst_warn(struct xsprof_trace *t, enum xst_warning kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* At the end: how many warnings of each kind were not given. */
void xst_warn_totals(struct xsprof_trace *t);

/* ---- chunk.c ----------------------------------------------------------------------------- */

/*
 * Return: 1 a sound header, whose payload may still lie beyond the end of the file; 0 none;
 * -ENODATA the file ends inside it; or -errno.
 */
int xst_chunk_header(const struct xsprof_trace *t, uint64_t off, struct xsprof_chunk *chunk);
/* Where the next sound header is, at or after @off; 0 when there is none. */
uint64_t xst_chunk_search(const struct xsprof_trace *t, uint64_t off);
/*
 * The payload as it was, in memory that is good until the next call.  Return: 0; -EBADMSG wrong
 * checksum or content (counted by the caller); -ENOMEM; or another -errno.
 */
int xst_chunk_load(struct xsprof_trace *t, uint64_t off, const struct xsprof_chunk *chunk,
		   const uint8_t **raw);
/* The same into @dst, which has room for @chunk->raw bytes. */
int xst_chunk_load_to(struct xsprof_trace *t, uint64_t off, const struct xsprof_chunk *chunk,
		      uint8_t *dst);

static inline uint64_t xst_chunk_next(uint64_t off, const struct xsprof_chunk *chunk)
{
	return off + sizeof(*chunk) + (((uint64_t)chunk->stored + 7) & ~7ull);
}

/* ---- capture.c, snapshot.c, arena.c, clockfit -------------------------------------------- */

int xst_capture_open(struct xsprof_trace *t);
/* Chunks that came since the last look; sets @horizon.  Return: 0 or -errno. */
int xst_capture_scan(struct xsprof_trace *t);
int xst_snapshot_open(struct xsprof_trace *t);
/* The next window of a ring file's ring.  Return: 1, 0 nothing is left of it, or -errno. */
int xst_snapshot_load(struct xsprof_trace *t, struct xst_stream *s);
int xst_arena_parse(struct xsprof_trace *t, struct xst_producer *p, uint64_t pos,
		    const uint8_t *data, size_t len);
int xst_clocks_fit(struct xsprof_trace *t);
void xst_clocks_free(struct xsprof_trace *t);
/* The earliest and the latest time that headers of chunks name, 0 when none does. */
uint64_t xst_first_ns(const struct xsprof_trace *t);
uint64_t xst_last_ns(const struct xsprof_trace *t);
/* Bound of the clocks' error over all that. */
uint64_t xst_clocks_error(const struct xsprof_trace *t);

/* ---- kernel.c, kernel-page.c ------------------------------------------------------------- */

int xst_kernel_add(struct xsprof_trace *t, const uint8_t *raw, size_t len);
/* tids.c: are there threads with two numbers?  Then it wants to see all events before anybody. */
bool xst_tids_wanted(const struct xsprof_trace *t);
void xst_tids_learn(struct xsprof_trace *t, const struct xsprof_event *evs, size_t n);
struct xst_producer *xst_kernel_producer(struct xsprof_trace *t);
void xst_kernel_free(struct xsprof_trace *t);
/* As xst_stream_run(). */
size_t xst_kernel_run(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		      size_t max, uint64_t limit);
/* Bound of the error of the tracer's times. */
uint64_t xst_kernel_error(const struct xsprof_trace *t);

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
	return ns >= t->from_ns;
}

/* Events that are in memory, while they are not later than @limit.  Return: how many. */
size_t xst_stream_run(struct xsprof_trace *t, struct xst_stream *s, struct xsprof_event *evs,
		      size_t max, uint64_t limit);
size_t xst_marks_run(struct xsprof_trace *t, struct xst_marks *marks, struct xsprof_event *evs,
		     size_t max, uint64_t limit);
/* The marks of producers that have not been yielded.  Return: 0 or -errno. */
int xst_marks_make(struct xsprof_trace *t);

/* ---- merge.c ----------------------------------------------------------------------------- */

int xst_merge_start(struct xsprof_trace *t);
/* Puts streams that got new chunks back into the heap. */
int xst_merge_more(struct xsprof_trace *t);
int xst_merge_batch(struct xsprof_trace *t, struct xsprof_event *evs, size_t max);

static inline uint64_t xst_seg_ns(const struct xst_seg *seg, uint64_t ticks)
{
	return seg->ns + (uint64_t)((unsigned __int128)(ticks - seg->base) * seg->mult >>
				    XST_SEG_SHIFT);
}

#endif /* XST_TRACE_LOCAL_H */
