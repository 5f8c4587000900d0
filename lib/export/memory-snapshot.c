// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A snapshot for PyTorch's memory viewer, as a pickle: allocations and frees of each device, and
 * the blocks still in use at the end. The ops around an allocation are its frames. A trace does not
 * contain the allocator's segments: each block in use becomes one.
 */
#include <errno.h>
#include <string.h>

#include "export/save.h"
#include "export/scan.h"
#include "result/handle.h"
#include "text/utf8.h"

#define FRAMES		16u
#define DEVICES		64u
#define TEXT		1024u
#define BATCH		1000u		/* elements appended at a time: readers buffer them */

struct snapshot {
	struct xsprof_trace	*trace;
	struct xsp_buf		*buf;
	struct xsr_blocks	blocks;
	uint64_t		real;
	uint64_t		devices;	/* bitmap of devices other than the host */
	uint64_t		in_batch;
	uint32_t		device;		/* device being written */
	bool			host;		/* only host memory exists, as device 0 */
};

/* ---- pickle, protocol 2 --------------------------------------------------------------------- */

static void op(struct snapshot *s, char c)
{
	*xsp_buf_room(s->buf, 1) = c;
	s->buf->p++;
}

static void number(struct snapshot *s, int64_t v)
{
	char *p = xsp_buf_room(s->buf, 16);
	uint64_t u = (uint64_t)v;
	int i, n = 8;

	if (v >= INT32_MIN && v <= INT32_MAX) {
		*p++ = 'J';
		n = 4;
	} else {
		*p++ = (char)0x8a;
		*p++ = 8;
	}
	for (i = 0; i < n; i++, u >>= 8)
		*p++ = (char)u;
	s->buf->p = p;
}

/* An address as a non-negative number. */
static void address(struct snapshot *s, uint64_t v)
{
	char *p;
	int i;

	if (v <= INT64_MAX) {
		number(s, (int64_t)v);
		return;
	}
	p = xsp_buf_room(s->buf, 16);
	*p++ = (char)0x8a;
	*p++ = 9;
	for (i = 0; i < 8; i++, v >>= 8)
		*p++ = (char)v;
	*p++ = 0;
	s->buf->p = p;
}

/* Text as UTF-8; invalid bytes become U+FFFD. */
static void string(struct snapshot *s, const char *text)
{
	char *p = xsp_buf_room(s->buf, 3 * TEXT + 8), *start;
	uint32_t bytes;
	int i;

	*p++ = 'X';
	start = p;
	p += 4;
	p = xsp_utf8_copy(p, text, strnlen(text, TEXT));
	bytes = (uint32_t)(p - start - 4);
	for (i = 0; i < 4; i++)
		start[i] = (char)(bytes >> 8 * i);
	s->buf->p = p;
}

static void text_item(struct snapshot *s, const char *key, const char *value)
{
	string(s, key);
	string(s, value);
}

static void number_item(struct snapshot *s, const char *key, int64_t value)
{
	string(s, key);
	number(s, value);
}

static void address_item(struct snapshot *s, const char *key, uint64_t value)
{
	string(s, key);
	address(s, value);
}

static void open_dict(struct snapshot *s)
{
	op(s, '}');
	op(s, '(');
}

static void close_dict(struct snapshot *s)
{
	op(s, 'u');
}

static void open_list(struct snapshot *s)
{
	op(s, ']');
	op(s, '(');
	s->in_batch = 0;
}

static void close_list(struct snapshot *s)
{
	op(s, 'e');
}

/* To be called before each element of a long list. */
static void next_element(struct snapshot *s)
{
	if (++s->in_batch <= BATCH)
		return;
	op(s, 'e');
	op(s, '(');
	s->in_batch = 1;
}

/* ---- what is in it -------------------------------------------------------------------------- */

static bool on_device(const struct snapshot *s, uint32_t device)
{
	if (device >> 16 == XSPROF_DEVICE_CPU)
		return s->host && s->device == 0;
	return (device & 0xffff) == s->device;
}

static void put_frames(struct snapshot *s, const struct xsp_track *thread)
{
	uint32_t i, n = 0;

	string(s, "frames");
	op(s, ']');
	op(s, '(');
	for (i = thread ? thread->opens.stack.n : 0; i && n < FRAMES; i--) {
		const struct xsp_range *range = &thread->opens.stack.v[i - 1];

		if (range->end != XSP_OPEN)
			continue;
		open_dict(s);
		text_item(s, "filename", "");
		number_item(s, "line", 0);
		text_item(s, "name", xsprof_trace_name(s->trace, thread->producer, range->name));
		close_dict(s);
		n++;
	}
	op(s, 'e');
}

static void put_entry(struct snapshot *s, const char *action, const struct xsr_mem *mem,
		      const struct xsp_track *thread)
{
	next_element(s);
	open_dict(s);
	text_item(s, "action", action);
	if (mem->failed)
		address_item(s, "device_free", mem->reserved > mem->allocated ?
			     mem->reserved - mem->allocated : 0);
	else
		address_item(s, "addr", mem->address);
	number_item(s, "size", mem->bytes < 0 ? -mem->bytes : mem->bytes);
	number_item(s, "stream", 0);
	number_item(s, "time_us", (int64_t)((mem->ns + s->real) / 1000));
	put_frames(s, thread);
	close_dict(s);
}

static void put_event(void *data, const struct xsprof_event *ev, const struct xsp_view *view)
{
	struct snapshot *s = data;
	struct xsr_mem mem;

	if (!xsr_mem_event(s->trace, ev, &mem) || !on_device(s, mem.device))
		return;
	if (mem.failed) {
		put_entry(s, "oom", &mem, view->thread);
	} else if (mem.bytes >= 0) {
		put_entry(s, "alloc", &mem, view->thread);
	} else {
		put_entry(s, "free_requested", &mem, view->thread);
		put_entry(s, "free_completed", &mem, view->thread);
	}
}

/* First pass: finds the devices, and the blocks in use at the end. */
static void learn(void *data, const struct xsprof_event *ev, const struct xsp_view *view)
{
	struct snapshot *s = data;
	struct xsr_block block, *found;
	struct xsr_mem mem;

	(void)view;
	if (!xsr_mem_event(s->trace, ev, &mem))
		return;
	if (mem.device >> 16 != XSPROF_DEVICE_CPU && (mem.device & 0xffff) < DEVICES)
		s->devices |= 1ull << (mem.device & 0xffff);
	if (mem.failed)
		return;
	if (mem.bytes >= 0) {
		block = (struct xsr_block){
			.address = mem.address, .bytes = (uint64_t)mem.bytes, .ns = mem.ns,
			.device = mem.device,
		};
		xsr_block_add(&s->blocks, &block);
		return;
	}
	found = xsr_block_find(&s->blocks, mem.device, mem.address);
	if (found)
		xsr_block_remove(&s->blocks, found);
}

static void put_segment(struct snapshot *s, const struct xsr_block *block)
{
	int64_t size = (int64_t)block->bytes;

	next_element(s);
	open_dict(s);
	number_item(s, "device", block->device >> 16 == XSPROF_DEVICE_CPU ? 0 :
		    (int64_t)(block->device & 0xffff));
	address_item(s, "address", block->address);
	number_item(s, "total_size", size);
	number_item(s, "allocated_size", size);
	number_item(s, "active_size", size);
	number_item(s, "requested_size", size);
	number_item(s, "stream", 0);
	text_item(s, "segment_type", size > 1 << 20 ? "large" : "small");
	string(s, "blocks");
	op(s, ']');
	op(s, '(');
	open_dict(s);
	address_item(s, "address", block->address);
	number_item(s, "size", size);
	number_item(s, "requested_size", size);
	text_item(s, "state", "active_allocated");
	put_frames(s, NULL);
	close_dict(s);
	op(s, 'e');
	close_dict(s);
}

static bool shown(const struct snapshot *s, const struct xsr_block *block)
{
	return block->used && (s->host || block->device >> 16 != XSPROF_DEVICE_CPU);
}

static void put_segments(struct snapshot *s)
{
	size_t i;

	string(s, "segments");
	open_list(s);
	for (i = 0; i < s->blocks.room && !s->buf->err; i++)
		if (shown(s, &s->blocks.list[i]))
			put_segment(s, &s->blocks.list[i]);
	close_list(s);
}

/* One pass per device; an empty list for unused numbers. */
static int put_traces(struct snapshot *s, const struct xsprof_result_options *opts)
{
	struct xsr_scan scan = { .event = put_event, .data = s };
	int ret = 0;

	string(s, "device_traces");
	op(s, ']');
	for (s->device = 0; s->device < DEVICES && !ret; s->device++) {
		if (s->device && !(s->devices >> s->device))
			break;
		open_list(s);
		if (s->host || s->devices >> s->device & 1)
			ret = xsr_scan(s->trace, opts, s->buf, &scan);
		close_list(s);
		op(s, 'a');
	}
	return ret;
}

static int write_snapshot(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
			  struct xsp_buf *buf, const void *arg)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct snapshot s = { .trace = trace, .buf = buf };
	struct xsr_scan scan = { .event = learn, .data = &s };
	int ret;

	(void)arg;
	ret = xsprof_trace_get_info(trace, &info);
	s.real = (uint64_t)info.real_offset_ns;
	if (!ret)
		ret = xsr_scan(trace, opts, buf, &scan);
	s.host = !s.devices;
	op(&s, (char)0x80);
	op(&s, 2);
	open_dict(&s);
	put_segments(&s);
	if (!ret)
		ret = put_traces(&s, opts);
	string(&s, "allocator_settings");
	op(&s, '}');
	string(&s, "external_annotations");
	op(&s, ']');
	number_item(&s, "xsprof_left_out", (int64_t)s.blocks.left_out);
	close_dict(&s);
	op(&s, '.');
	xsr_blocks_free(&s.blocks);
	return ret;
}

int xsprof_result_save_memory_snapshot(struct xsprof_result *result, const char *path)
{
	int before = errno, ret;

	result->error[0] = '\0';
	ret = xsr_save(result, path, write_snapshot, NULL);
	errno = before;
	return ret;
}
