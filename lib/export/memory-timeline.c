// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Memory of a device by category over time, in the format of PyTorch's export_memory_timeline():
 * [times, sizes] or, if the name contains ".raw.json", a list of [time, action, bytes, category],
 * with negative bytes for frees.
 *
 * A block's category is derived from where it was allocated and freed: freed inside the outermost
 * range around its allocation: temporary; allocated in an optimizer's step: optimizer state;
 * allocated by an op with a later backward: activation; allocated in a backward: gradient, or
 * autograd detail if a backward frees it. Parameters and inputs cannot be told from unknown ones.
 * The file is written in several passes over the trace, with one byte of memory per allocation.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/save.h"
#include "export/scan.h"
#include "result/handle.h"
#include "text/put.h"

/* In the order of PyTorch's plots; the first column of sizes is always 0. */
enum category {
	PARAMETER, OPTIMIZER_STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, AUTOGRAD_DETAIL,
	UNKNOWN, CATEGORIES,
};

enum action { PREEXISTING = 0, CREATE = 1, DESTROY = 3 };

#define ALLOCATIONS_MAX	(64u << 20)	/* the category of further ones is unknown */

struct timeline {
	struct xsprof_trace	*trace;
	struct xsp_buf		*buf;
	struct xsr_blocks	blocks;
	uint8_t			*categories;
	uint64_t		room;
	uint64_t		number;		/* number of the next allocation */
	uint64_t		before;		/* bytes in use before the trace */
	int64_t			sizes[CATEGORIES];
	uint64_t		now;		/* time of the current row, us */
	uint64_t		real;
	uint32_t		device;
	bool			any;
	bool			times;		/* write times, else sizes */
};

static enum category context(const struct timeline *t, const struct xsp_track *thread)
{
	enum category found = UNKNOWN;
	uint32_t i;

	for (i = 0; i < thread->opens.stack.n; i++) {
		const struct xsp_range *range = &thread->opens.stack.v[i];

		if (range->end != XSP_OPEN)
			continue;
		if (!strncmp(xsprof_trace_name(t->trace, thread->producer, range->name),
			     "Optimizer.step", 14))
			return OPTIMIZER_STATE;
		if (range->kind == XSPROF_OP_BACKWARD_FUNCTION)
			found = GRADIENT;
		else if (range->kind != XSR_SCOPE_NONE && range->tag && found == UNKNOWN)
			found = ACTIVATION;
	}
	return found;
}

static uint64_t outermost(const struct xsp_track *thread)
{
	uint32_t i;

	for (i = 0; i < thread->opens.stack.n; i++)
		if (thread->opens.stack.v[i].end == XSP_OPEN)
			return thread->opens.stack.v[i].index + 1;
	return 0;
}

static enum category category_of(const struct timeline *t, uint64_t number)
{
	return number < t->room ? (enum category)t->categories[number] : UNKNOWN;
}

static void set_category(struct timeline *t, uint64_t number, enum category category)
{
	uint64_t room = t->room ? t->room * 2 : 65536;
	uint8_t *more;

	if (number >= t->room && number < ALLOCATIONS_MAX) {
		more = realloc(t->categories, room);
		if (more) {
			memset(more + t->room, UNKNOWN, room - t->room);
			t->categories = more;
			t->room = room;
		}
	}
	if (number < t->room)
		t->categories[number] = (uint8_t)category;
}

static bool mine(const struct timeline *t, const struct xsprof_event *ev, struct xsr_mem *mem)
{
	return xsr_mem_event(t->trace, ev, mem) && mem->device == t->device && !mem->failed;
}

/* Tracks the blocks. Return: true if a free matches one, put into @block. */
static bool follow(struct timeline *t, const struct xsr_mem *mem, const struct xsp_track *thread,
		   struct xsr_block *block)
{
	struct xsr_block *found;

	if (mem->bytes >= 0) {
		*block = (struct xsr_block){
			.address = mem->address, .bytes = (uint64_t)mem->bytes,
			.number = t->number++, .outer = outermost(thread), .device = mem->device,
		};
		return xsr_block_add(&t->blocks, block);
	}
	found = xsr_block_find(&t->blocks, mem->device, mem->address);
	if (!found)
		return false;
	*block = *found;
	xsr_block_remove(&t->blocks, found);
	return true;
}

static void learn(void *data, const struct xsprof_event *ev, const struct xsp_view *view)
{
	struct timeline *t = data;
	struct xsr_block block;
	struct xsr_mem mem;

	if (!mine(t, ev, &mem))
		return;
	if (!follow(t, &mem, view->thread, &block)) {
		if (mem.bytes < 0)
			t->before += (uint64_t)-mem.bytes;
		return;
	}
	if (mem.bytes >= 0)
		set_category(t, block.number, context(t, view->thread));
	else if (block.outer && block.outer == outermost(view->thread))
		set_category(t, block.number, TEMPORARY);
	else if (category_of(t, block.number) == GRADIENT &&
		 context(t, view->thread) == GRADIENT)
		set_category(t, block.number, AUTOGRAD_DETAIL);
}

static void put_row(struct timeline *t)
{
	char *p = xsp_buf_room(t->buf, XSP_BUF_ROOM);
	int i;

	if (t->any)
		*p++ = ',';
	t->any = true;
	if (t->times) {
		p = put_u64(p, t->now);
	} else {
		p = put_lit(p, "[0");
		for (i = 0; i < CATEGORIES; i++) {
			*p++ = ',';
			p = put_i64(p, t->sizes[i]);
		}
		*p++ = ']';
	}
	t->buf->p = p;
}

/* A row has the sizes after the last event of a microsecond. */
static void row(void *data, const struct xsprof_event *ev, const struct xsp_view *view)
{
	struct timeline *t = data;
	enum category category = UNKNOWN;
	struct xsr_block block;
	struct xsr_mem mem;
	uint64_t us;

	if (!mine(t, ev, &mem))
		return;
	us = (mem.ns + t->real) / 1000;
	if (t->now && us != t->now)
		put_row(t);
	t->now = us;
	if (follow(t, &mem, view->thread, &block))
		category = category_of(t, block.number);
	if (__builtin_add_overflow(t->sizes[category], mem.bytes, &t->sizes[category]))
		t->sizes[category] = 0;
}

static void raw(void *data, const struct xsprof_event *ev, const struct xsp_view *view)
{
	struct timeline *t = data;
	enum category category = UNKNOWN;
	struct xsr_block block;
	struct xsr_mem mem;
	char *p;

	if (!mine(t, ev, &mem))
		return;
	if (follow(t, &mem, view->thread, &block))
		category = category_of(t, block.number);
	p = xsp_buf_room(t->buf, XSP_BUF_ROOM);
	if (t->any)
		*p++ = ',';
	t->any = true;
	*p++ = '[';
	p = put_u64(p, mem.ns + t->real);
	*p++ = ',';
	p = put_u32(p, mem.bytes < 0 ? DESTROY : CREATE);
	*p++ = ',';
	/* Readers sum the bytes, whatever the action. */
	p = put_i64(p, mem.bytes);
	*p++ = ',';
	p = put_u32(p, (uint32_t)category);
	*p++ = ']';
	t->buf->p = p;
}

/* One pass, starting with the memory in use before the trace. */
static int pass(struct timeline *t, const struct xsprof_result_options *opts,
		void (*event)(void *, const struct xsprof_event *, const struct xsp_view *))
{
	struct xsr_scan scan = { .event = event, .data = t };
	int ret;

	xsr_blocks_free(&t->blocks);
	memset(t->sizes, 0, sizeof(t->sizes));
	t->sizes[UNKNOWN] = t->before < INT64_MAX ? (int64_t)t->before : INT64_MAX;
	t->number = 0;
	t->now = 0;
	t->any = false;
	ret = xsr_scan(t->trace, opts, t->buf, &scan);
	if (!ret && t->now)
		put_row(t);
	return ret;
}

static int write_plot(struct timeline *t, const struct xsprof_result_options *opts)
{
	int ret;

	xsp_buf_puts(t->buf, "[[");
	t->times = true;
	ret = pass(t, opts, row);
	xsp_buf_puts(t->buf, "], [");
	t->times = false;
	if (!ret)
		ret = pass(t, opts, row);
	xsp_buf_puts(t->buf, "]]\n");
	return ret;
}

static int write_raw(struct timeline *t, const struct xsprof_result_options *opts)
{
	char *p = put_lit(xsp_buf_room(t->buf, XSP_BUF_ROOM), "[");
	int ret;

	if (t->before) {
		p = put_u64(put_lit(p, "[-1,0,"), t->before);
		p = put_lit(put_u32(put_lit(p, ","), UNKNOWN), "],\n");
	}
	t->buf->p = p;
	ret = pass(t, opts, raw);
	/* Remove a trailing comma. */
	if (t->before && !t->any && t->buf->p - t->buf->base >= 2)
		t->buf->p -= 2;
	xsp_buf_puts(t->buf, "]\n");
	return ret;
}

struct wish {
	uint32_t	device;
	bool		raw;
};

static int write_timeline(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
			  struct xsp_buf *buf, const void *arg)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const struct wish *wish = arg;
	struct timeline t = { .trace = trace, .buf = buf, .device = wish->device };
	int ret;

	ret = xsprof_trace_get_info(trace, &info);
	t.real = (uint64_t)info.real_offset_ns;
	if (!ret)
		ret = pass(&t, opts, learn);
	if (!ret)
		ret = wish->raw ? write_raw(&t, opts) : write_plot(&t, opts);
	xsr_blocks_free(&t.blocks);
	free(t.categories);
	return ret;
}

static bool ends(const char *s, const char *with)
{
	size_t len = strlen(s), n = strlen(with);

	return len >= n && !strcasecmp(s + len - n, with);
}

int xsprof_result_save_memory_timeline(struct xsprof_result *result, const char *path,
				       uint32_t device)
{
	struct wish wish = { .device = device };
	int before = errno, ret;

	result->error[0] = '\0';
	wish.raw = path && (ends(path, ".raw.json") || ends(path, ".raw.json.gz"));
	ret = xsr_save(result, path, write_timeline, &wish);
	errno = before;
	return ret;
}
