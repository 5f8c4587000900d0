// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Iterates over the records of a trace: see scan.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "export/scan.h"
#include "result/absence.h"

#define BATCH	256u

static void closed(void *data, struct xsp_track *thread, struct xsp_range *range, uint64_t ns,
		   enum xsp_why why)
{
	struct xsr_scan *scan = data;

	(void)why;
	if (scan->closed && ns >= scan->opts->from_ns)
		scan->closed(scan->data, thread, range, ns);
}

static bool wanted(const struct xsprof_result_options *opts, const struct xsprof_event *ev)
{
	if (ev->producer == XSPROF_NO_PRODUCER || (opts->pid && ev->pid != opts->pid))
		return false;
	return !ev->tid || xsr_tid_wanted(opts, ev->tid);
}

/* Was the thread absent from the session at that time? */
static bool absent(const struct xsr_scan *scan, const struct xsprof_trace *trace,
		   const struct xsprof_event *ev)
{
	struct xsprof_trace_op op;
	struct xsr_mem mem;

	return scan->opts->nr_absences && xsr_absent(scan->opts, ev) &&
	       (xsprof_trace_op(ev, &op) || xsr_mem_event(trace, ev, &mem));
}

static void begin(struct xsr_scan *scan, const struct xsprof_event *ev, struct xsp_view *view,
		  bool left_out)
{
	struct xsp_track *thread = view->thread;
	struct xsprof_trace_op op;

	if (!xsp_tracks_begin(scan->tracks, thread, ev->ns, ev->name, true, true))
		return;
	view->range = xsp_stack_top(&thread->opens.stack);
	view->range->index = scan->ranges++;
	view->range->kind = XSR_SCOPE_NONE;
	if (left_out || !xsprof_trace_op(ev, &op))
		return;
	view->range->kind = (uint8_t)(op.scope < XSR_SCOPE_NONE ? op.scope : XSR_SCOPE_NONE - 1);
	view->range->tag = op.sequence >= 0 ? (uint64_t)op.sequence + 1 : 0;
	if (scan->keep)
		xsr_keep(scan->tracks, view->range, ev);
}

static void one(struct xsr_scan *scan, const struct xsprof_trace *trace,
		const struct xsprof_event *ev)
{
	bool left_out = absent(scan, trace, ev);
	struct xsp_track *thread;
	struct xsp_view view;

	if (xsp_tracks_exit(scan->tracks, ev))
		return;
	xsp_tracks_event(scan->tracks, ev, &view);
	thread = view.thread;
	scan->last = ev->ns;
	if (ev->type == XSPROF_REC_BEGIN)
		begin(scan, ev, &view, left_out);
	thread->more = ev->rec && ev->rec->size >> 4 & XSPROF_RECF_MORE;
	if (ev->type == XSPROF_REC_ARGS && thread->note_to_top && scan->keep &&
	    xsp_stack_top(&thread->opens.stack))
		xsr_keep(scan->tracks, xsp_stack_top(&thread->opens.stack), ev);
	if (ev->type != XSPROF_REC_ARGS || !thread->more)
		thread->note_to_top = ev->type == XSPROF_REC_BEGIN || !thread->more;
	if (scan->event && !left_out && ev->ns >= scan->opts->from_ns)
		scan->event(scan->data, ev, &view);
	if (ev->type == XSPROF_REC_END && view.range) {
		if (!view.earlier)
			closed(scan, thread, view.range, ev->ns, XSP_WHY_OPEN);
		xsp_tracks_end(scan->tracks, &view);
	}
}

int xsr_scan(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
	     const struct xsp_buf *buf, struct xsr_scan *scan)
{
	static const struct xsp_tracks_ops ops = { .closed = closed };
	struct xsprof_event *evs = malloc(BATCH * sizeof(*evs));
	uint64_t to = opts->to_ns ? opts->to_ns : UINT64_MAX;
	int n = 0, i, ret = evs ? xsprof_trace_rewind(trace) : -ENOMEM;

	scan->opts = opts;
	scan->tracks = NULL;
	scan->ranges = 0;
	if (!ret)
		ret = xsp_tracks_new(&ops, scan, &scan->tracks);
	while (!ret && !buf->err) {
		n = xsprof_trace_next_batch(trace, evs, BATCH);
		for (i = 0; i < n && evs[i].ns <= to; i++)
			if (wanted(opts, &evs[i]))
				one(scan, trace, &evs[i]);
		if (n <= 0 || i < n)
			break;
	}
	if (!ret && n < 0)
		ret = n;
	if (!ret)
		xsp_tracks_finish(scan->tracks, opts->to_ns ? opts->to_ns : scan->last);
	xsp_tracks_free(scan->tracks);
	scan->tracks = NULL;
	free(evs);
	return ret;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void out_of_memory(const struct xsprof_trace *trace, const struct xsprof_event *ev,
			  struct xsr_mem *mem)
{
	struct xsprof_trace_arg arg;
	struct xsr_walk walk;
	const char *key;

	xsr_walk_event(&walk, ev);
	while (xsr_walk_next(&walk, &arg)) {
		if (arg.type != XSPROF_ARG_I64 && arg.type != XSPROF_ARG_U64)
			continue;
		key = xsprof_trace_name(trace, ev->producer, arg.key);
		/* A requested size must not be negative, and its negation must not overflow. */
		if (!strcmp(key, "Bytes"))
			mem->bytes = arg.u.i64 == INT64_MIN ? INT64_MAX : arg.u.i64;
		else if (!strcmp(key, "Total Allocated"))
			mem->allocated = arg.u.u64;
		else if (!strcmp(key, "Total Reserved"))
			mem->reserved = arg.u.u64;
		else if (!strcmp(key, "Device"))
			mem->device = (uint32_t)arg.u.u64;
	}
}

bool xsr_mem_event(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		   struct xsr_mem *mem)
{
	const struct xsprof_rec_mem *rec = (const struct xsprof_rec_mem *)ev->rec;

	*mem = (struct xsr_mem){ .ns = ev->ns };
	if (ev->type == XSPROF_REC_INSTANT && ev->rec_size > sizeof(struct xsprof_rec) &&
	    !strcmp(xsprof_trace_name(trace, ev->producer, ev->name), "[OutOfMemory]")) {
		mem->failed = true;
		out_of_memory(trace, ev, mem);
		return true;
	}
	if ((ev->type != XSPROF_REC_ALLOC && ev->type != XSPROF_REC_FREE) || !rec ||
	    ev->rec_size < sizeof(*rec))
		return false;
	mem->address = ev->value;
	mem->bytes = (int64_t)rec->bytes;
	mem->allocated = rec->total_allocated;
	mem->reserved = rec->total_reserved;
	mem->device = ev->aux;
	/* The sign is determined by the record's type, whatever its value. */
	if (mem->bytes < 0)
		mem->bytes = mem->bytes == INT64_MIN ? INT64_MAX : -mem->bytes;
	if (ev->type == XSPROF_REC_FREE)
		mem->bytes = -mem->bytes;
	return true;
}

static size_t slot_of(const struct xsr_blocks *blocks, uint32_t device, uint64_t address)
{
	return xsp_hash_pair(address ^ blocks->seed, device) & (blocks->room - 1);
}

struct xsr_block *xsr_block_find(const struct xsr_blocks *blocks, uint32_t device,
				 uint64_t address)
{
	size_t i;

	if (!blocks->room)
		return NULL;
	for (i = slot_of(blocks, device, address); blocks->list[i].used;
	     i = (i + 1) & (blocks->room - 1))
		if (blocks->list[i].address == address && blocks->list[i].device == device)
			return &blocks->list[i];
	return NULL;
}

static void insert(struct xsr_blocks *blocks, const struct xsr_block *block)
{
	size_t i = slot_of(blocks, block->device, block->address);

	while (blocks->list[i].used)
		i = (i + 1) & (blocks->room - 1);
	blocks->list[i] = *block;
	blocks->list[i].used = true;
}

static bool grow(struct xsr_blocks *blocks)
{
	struct xsr_blocks bigger = *blocks;
	size_t i;

	bigger.room = blocks->room ? blocks->room * 2 : 1024;
	bigger.seed = (uint64_t)(uintptr_t)blocks >> 4;
	bigger.list = calloc(bigger.room, sizeof(*bigger.list));
	if (!bigger.list)
		return false;
	for (i = 0; i < blocks->room; i++)
		if (blocks->list[i].used)
			insert(&bigger, &blocks->list[i]);
	free(blocks->list);
	*blocks = bigger;
	return true;
}

bool xsr_block_add(struct xsr_blocks *blocks, const struct xsr_block *block)
{
	struct xsr_block *old = xsr_block_find(blocks, block->device, block->address);

	if (old) {
		/* The free of the old block was lost: replace it. */
		*old = *block;
		old->used = true;
		return true;
	}
	if (blocks->nr == XSR_BLOCKS_MAX || (blocks->nr >= blocks->room / 2 && !grow(blocks))) {
		blocks->left_out++;
		return false;
	}
	insert(blocks, block);
	blocks->nr++;
	return true;
}

/* Later entries move up: the table has no markers of deleted ones. */
void xsr_block_remove(struct xsr_blocks *blocks, struct xsr_block *block)
{
	size_t mask = blocks->room - 1, hole = (size_t)(block - blocks->list), i = hole, home;

	for (;;) {
		i = (i + 1) & mask;
		if (!blocks->list[i].used)
			break;
		home = slot_of(blocks, blocks->list[i].device, blocks->list[i].address);
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			blocks->list[hole] = blocks->list[i];
			hole = i;
		}
	}
	blocks->list[hole].used = false;
	blocks->nr--;
}

void xsr_blocks_free(struct xsr_blocks *blocks)
{
	free(blocks->list);
	memset(blocks, 0, sizeof(*blocks));
}
