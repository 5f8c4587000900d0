// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Symbolizes stacks: finds the file of an address, and the symbol and line in that file. Owns the
 * results, one per address and per stack of a producer; reads no files itself.
 *
 * The capture may be read where the files differ or are missing: a frame is then the file's path
 * with the offset, which can be symbolized elsewhere.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "result/build-local.h"
#include "result/frames.h"
#include "result/mappings.h"

/* Symbolized address. */
struct xsr_address {
	struct xsr_address	*next;	/* next one with the same key */
	uint64_t		address;
	uint32_t		producer;
	uint32_t		mapping;	/* number + 1; 0: no mapping */
	uint32_t		nr;
	bool			begins;	/* the innermost frame is the function that begins an op */
	const char		*frames[];
};

struct xsr_frames {
	const struct xsprof_trace	*trace;
	enum xsr_frame_form		form;
	size_t				memory;
	struct xsr_files		*files;		/* NULL until first used */
	struct xsr_texts		texts;
	struct xsp_pool			pool;
	struct xsp_map			stacks;		/* by producer and stack */
	struct xsp_map			mappings;	/* by producer + 1 */
	struct xsp_map			addresses;	/* by a hash of the address' identity */
};

static struct xsr_mappings *mappings_of(struct xsr_frames *fr, uint32_t producer)
{
	uint64_t key = producer + 1ull, *made = xsp_map_get(&fr->mappings, key);
	struct xsr_mappings *mappings;

	if (made)
		return (struct xsr_mappings *)(uintptr_t)*made;
	mappings = xsr_mappings_new(fr->trace, producer);
	if (mappings && !xsp_map_set(&fr->mappings, key, (uintptr_t)mappings))
		return mappings;
	xsr_mappings_free(mappings);
	return NULL;
}

/* ---- one address ---------------------------------------------------------------------------- */

struct found {
	struct xsr_frames	*fr;
	const char		*path;	/* of its file */
	const char		*frames[XSR_SYMBOL_INLINES];
	uint32_t		nr;
	bool			begins;
};

static int add(struct found *f, const struct xsr_buf *b)
{
	const char *text = b->err ? NULL : xsr_text(&f->fr->texts, b->s, b->len);

	if (!text)
		return -ENOMEM;
	f->frames[f->nr++] = text;
	return 0;
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int give(void *data, const struct xsr_frame *frame)
{
	struct xsr_buf b = { 0 };
	struct found *f = data;
	int err;

	if (f->nr == XSR_SYMBOL_INLINES)
		return 1;
	if (!f->nr)
		f->begins = !strcmp(frame->name, "xsprof_op_begin");
	if (frame->file && f->fr->form == XSR_FRAME_PYTHON)
		xsr_printf(&b, "%s(%d): ", frame->file, frame->line);
	xsr_puts(&b, frame->name);
	if (frame->file && f->fr->form == XSR_FRAME_AT)
		xsr_printf(&b, " at %s:%d", frame->file, frame->line);
	if (f->fr->form == XSR_FRAME_OBJECT)
		xsr_printf(&b, " (%s)", file_of(f->path));
	err = add(f, &b);
	xsr_buf_free(&b);
	return err;
}

/* A frame that the program named: "file.py(12): function". */
static int give_name(const char *name, struct found *f)
{
	const char *function = strstr(name, "): "), *line = function;
	struct xsr_buf b = { 0 };
	int err;

	while (line && line > name && line[-1] >= '0' && line[-1] <= '9')
		line--;
	if (f->fr->form == XSR_FRAME_AT && function && line > name && line[-1] == '(')
		xsr_printf(&b, "%s at %.*s:%.*s", function + 3, (int)(line - 1 - name), name,
			   (int)(function - line), line);
	else
		xsr_puts(&b, name);
	err = add(f, &b);
	xsr_buf_free(&b);
	return err;
}

/* @m: NULL: no mapping contains it. */
static int look_up(uint32_t producer, uint64_t address, const struct xsr_mapping *m,
		   struct found *f)
{
	char build_id[64] = "";
	struct xsr_buf b = { 0 };
	int err, known;

	if (address & XSPROF_FRAME_NAMED)
		return give_name(xsprof_trace_name(f->fr->trace, producer, (uint32_t)address), f);
	if (!m) {
		xsr_printf(&b, "0x%" PRIx64, address);
		goto plain;
	}
	if (!f->fr->files)
		f->fr->files = xsr_files_new();
	if (!f->fr->files)
		return -ENOMEM;
	sscanf(m->build_id, "%63s", build_id);
	f->path = m->path;
	/*
	 * A return address may already be in the next line or function: look at the call before it.
	 */
	known = xsr_files_look_up(f->fr->files, m->path, build_id,
				  address - m->start + m->offset - (address > m->start), give, f);
	if (known < 0)
		return known;
	if (known == XSR_KNOWN && f->nr)
		return 0;
	f->nr = 0;
	xsr_printf(&b, known == XSR_OTHER_FILE ? "?? (%s+0x%" PRIx64 ")" : "%s+0x%" PRIx64,
		   m->path, address - m->start + m->offset);
plain:
	err = add(f, &b);
	xsr_buf_free(&b);
	return err;
}

static const struct xsr_address *address_of(struct xsr_frames *fr, uint32_t producer,
					    struct xsr_mappings *all, uint32_t maps,
					    uint64_t address)
{
	int64_t mapping = address & XSPROF_FRAME_NAMED ? 0 :
			  xsr_mappings_find(all, maps, address);
	struct xsr_address *a, *first;
	struct found f = { .fr = fr };
	uint64_t key, *head;

	if (mapping < 0)
		return NULL;
	key = xsp_hash_pair(address, (uint64_t)producer << 32 | (uint32_t)mapping) |
	      1ull << 63;
	head = xsp_map_get(&fr->addresses, key);
	first = head ? (void *)(uintptr_t)*head : NULL;
	for (a = first; a; a = a->next)
		if (a->address == address && a->producer == producer && a->mapping == mapping)
			return a;
	if (look_up(producer, address,
		    mapping ? xsr_mappings_get(all, (uint32_t)mapping) : NULL, &f))
		return NULL;
	a = xsp_pool_get(&fr->pool, sizeof(*a) + f.nr * sizeof(*a->frames));
	if (!a)
		return NULL;
	*a = (struct xsr_address){ first, address, producer, (uint32_t)mapping, f.nr, f.begins };
	memcpy(a->frames, f.frames, f.nr * sizeof(*a->frames));
	return xsp_map_set(&fr->addresses, key, (uintptr_t)a) ? NULL : a;
}

/* ---- one stack ------------------------------------------------------------------------------ */

/* Adds a note in place of a frame. */
static bool put_note(struct xsr_frames *fr, struct xsr_stack *stack, const char *text)
{
	stack->frames[stack->nr] = xsr_text(&fr->texts, text, strlen(text));
	return stack->frames[stack->nr++];
}

static const struct xsr_stack *make_stack(struct xsr_frames *fr, uint32_t producer, uint32_t id)
{
	struct xsr_mappings *all = mappings_of(fr, producer);
	const struct xsr_address *a;
	struct xsr_stack *stack;
	const uint64_t *raw;
	uint32_t left_out;
	uint32_t maps = xsprof_trace_stack_maps(fr->trace, producer, id);
	size_t nr, frames = 0;
	char text[64];

	raw = xsprof_trace_stack(fr->trace, producer, id, &nr, &left_out);
	for (size_t i = 0; i < nr && all; i++) {
		a = address_of(fr, producer, all, maps, raw[i]);
		if (!a)
			return NULL;
		frames += a->nr;
	}
	stack = xsp_pool_get(&fr->pool, sizeof(*stack) + (frames + 1) * sizeof(*stack->frames));
	if (!stack || !all)
		return NULL;
	stack->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		a = address_of(fr, producer, all, maps, raw[i]);
		/*
		 * Functions that begin an op are inlined into the first one of interest: leave them
		 * out.
		 */
		for (uint32_t k = !i && a && a->begins; a && k < a->nr; k++)
			stack->frames[stack->nr++] = a->frames[k];
	}
	snprintf(text, sizeof(text), "[%" PRIu32 " more]", left_out);
	if (left_out && !put_note(fr, stack, text))
		return NULL;
	if (id == XSPROF_STACK_MISSED && !raw && !put_note(fr, stack, "[stack missed]"))
		return NULL;
	return stack;
}

/* Forgets everything but files and mappings, which may be used again. */
static void forget(struct xsr_frames *fr)
{
	xsr_texts_free(&fr->texts);
	xsp_pool_free(&fr->pool);
	xsp_map_free(&fr->stacks);
	xsp_map_free(&fr->addresses);
}

static size_t memory_of(const struct xsr_frames *fr)
{
	return fr->pool.bytes + fr->texts.pool.bytes + fr->texts.room * sizeof(*fr->texts.list) +
	       (fr->stacks.room + fr->addresses.room) * 2 * sizeof(uint64_t);
}

const struct xsr_stack *xsr_frames_get(struct xsr_frames *fr, uint32_t producer, uint32_t id)
{
	uint64_t key = xsr_key(producer, id), *made;
	const struct xsr_stack *stack;

	if (fr->memory && memory_of(fr) > fr->memory)
		forget(fr);
	made = xsp_map_get(&fr->stacks, key);
	if (made)
		return (const struct xsr_stack *)(uintptr_t)*made;
	stack = make_stack(fr, producer, id);
	/* A missing stack may still come. */
	if (!stack || (!stack->nr && id != XSPROF_STACK_MISSED))
		return stack;
	return xsp_map_set(&fr->stacks, key, (uintptr_t)stack) ? NULL : stack;
}

struct xsr_frames *xsr_frames_new(const struct xsprof_trace *trace, enum xsr_frame_form form,
				  size_t memory)
{
	struct xsr_frames *fr = calloc(1, sizeof(*fr));

	if (fr) {
		fr->trace = trace;
		fr->form = form;
		fr->memory = memory;
	}
	return fr;
}

void xsr_frames_free(struct xsr_frames *fr)
{
	if (!fr)
		return;
	xsr_files_free(fr->files);
	forget(fr);
	for (size_t i = 0; i < fr->mappings.room; i++)
		if (fr->mappings.keys[i])
			xsr_mappings_free((void *)(uintptr_t)fr->mappings.values[i]);
	xsp_map_free(&fr->mappings);
	free(fr);
}
