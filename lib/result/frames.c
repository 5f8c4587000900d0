// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Stacks by name: which file an address is of, and what that file's symbols call it.  Owns what was
 * found out, once for each address and each stack of a producer; reads no file itself.
 *
 * A capture may be read where the files are others, or not at all: then a frame is the file's path
 * and the place in it, which symbols can be found for elsewhere.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"

/* What an address is called. */
struct xsr_address {
	struct xsr_address	*next;	/* another one with the same key */
	uint64_t		address;
	uint32_t		producer;
	uint32_t		nr;
	const char		*frames[];
};

struct mapping {
	uint64_t	start;
	uint64_t	end;
	uint64_t	offset;
	char		build_id[64];
	const char	*path;
};

/* "start-end offset buildid path" */
static bool read_mapping(const char *text, struct mapping *m)
{
	int path = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %" SCNx64 " %63s %n", &m->start, &m->end,
		   &m->offset, m->build_id, &path) != 4 || !path)
		return false;
	m->path = text + path;
	return m->start < m->end && *m->path;
}

/* Those of a producer, read once. */
struct mappings {
	uint32_t	nr;
	struct mapping	list[];
};

static const struct mappings *mappings_of(struct xsprof_result *r, uint32_t producer)
{
	uint64_t key = xsr_key(producer, 0), *made = xsr_map_get(&r->mappings, key);
	struct mappings *all;
	const char *text;
	uint32_t nr = 0;

	if (made)
		return (const struct mappings *)(uintptr_t)*made;
	while (xsprof_trace_map(r->trace, producer, nr))
		nr++;
	all = xsr_pool_get(&r->pool, sizeof(*all) + nr * sizeof(*all->list));
	if (!all)
		return NULL;
	all->nr = 0;
	for (uint32_t i = 0; (text = xsprof_trace_map(r->trace, producer, i)); i++)
		all->nr += read_mapping(text, &all->list[all->nr]);
	return xsr_map_set(&r->mappings, key, (uintptr_t)all) ? NULL : all;
}

/* The newest one that holds it: what was there before may have gone. */
static const struct mapping *find_mapping(const struct mappings *all, uint64_t address)
{
	for (uint32_t i = all->nr; i--;)
		if (address >= all->list[i].start && address < all->list[i].end)
			return &all->list[i];
	return NULL;
}

/* ---- one address ---------------------------------------------------------------------------- */

struct found {
	struct xsprof_result	*r;
	const char		*frames[XSR_SYMBOL_INLINES];
	uint32_t		nr;
};

static int give(void *data, const char *frame)
{
	struct found *f = data;

	if (f->nr == XSR_SYMBOL_INLINES)
		return 1;
	f->frames[f->nr] = xsr_text(&f->r->texts, frame, strlen(frame));
	if (!f->frames[f->nr])
		return -ENOMEM;
	f->nr++;
	return 0;
}

static int look_up(struct xsprof_result *r, uint32_t producer, uint64_t address, struct found *f)
{
	const struct mappings *all = mappings_of(r, producer);
	const struct mapping *m;
	struct xsr_buf b = { 0 };
	int err, known;

	if (!all)
		return -ENOMEM;
	m = find_mapping(all, address);
	if (!m) {
		xsr_printf(&b, "0x%" PRIx64, address);
		goto plain;
	}
	if (!r->files)
		r->files = xsr_files_new();
	if (!r->files)
		return -ENOMEM;
	/* Where a call returns to may be another line already, or another function. */
	known = xsr_files_look_up(r->files, m->path, m->build_id,
				  address - m->start + m->offset - (address > m->start), give, f);
	if (known < 0)
		return known;
	if (known == XSR_KNOWN && f->nr)
		return 0;
	f->nr = 0;
	xsr_printf(&b, known == XSR_OTHER_FILE ? "?? (%s+0x%" PRIx64 ")" : "%s+0x%" PRIx64,
		   m->path, address - m->start + m->offset);
plain:
	err = b.err ? b.err : give(f, b.s);
	xsr_buf_free(&b);
	return err;
}

static const struct xsr_address *address_of(struct xsprof_result *r, uint32_t producer,
					    uint64_t address)
{
	uint64_t key = (address ^ (uint64_t)producer << 48) | 1ull << 63;
	uint64_t *head = xsr_map_get(&r->addresses, key);
	struct xsr_address *a, *first = head ? (void *)(uintptr_t)*head : NULL;
	struct found f = { .r = r };

	for (a = first; a; a = a->next)
		if (a->address == address && a->producer == producer)
			return a;
	if (look_up(r, producer, address, &f))
		return NULL;
	a = xsr_pool_get(&r->pool, sizeof(*a) + f.nr * sizeof(*a->frames));
	if (!a)
		return NULL;
	*a = (struct xsr_address){ first, address, producer, f.nr };
	memcpy(a->frames, f.frames, f.nr * sizeof(*a->frames));
	return xsr_map_set(&r->addresses, key, (uintptr_t)a) ? NULL : a;
}

/* ---- one stack ------------------------------------------------------------------------------ */

/* What begins an op is inlined into who does, who is the first that anybody asked for. */
static bool is_begin(const char *frame)
{
	static const char name[] = "xsprof_op_begin";

	return !strncmp(frame, name, sizeof(name) - 1) &&
	       (frame[sizeof(name) - 1] == ' ' || !frame[sizeof(name) - 1]);
}

static const struct xsr_stack *make_stack(struct xsprof_result *r, uint32_t producer, uint32_t id)
{
	const struct xsr_address *a;
	struct xsr_stack *stack;
	const uint64_t *raw;
	uint32_t left_out;
	size_t nr, frames = 0;
	char text[64];

	raw = xsprof_trace_stack(r->trace, producer, id, &nr, &left_out);
	for (size_t i = 0; i < nr; i++) {
		a = address_of(r, producer, raw[i]);
		if (!a)
			return NULL;
		frames += a->nr;
	}
	stack = xsr_pool_get(&r->pool, sizeof(*stack) + (frames + 1) * sizeof(*stack->frames));
	if (!stack)
		return NULL;
	stack->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		a = address_of(r, producer, raw[i]);
		for (uint32_t k = !i && a && is_begin(a->frames[0]); a && k < a->nr; k++)
			stack->frames[stack->nr++] = a->frames[k];
	}
	if (left_out) {
		snprintf(text, sizeof(text), "[%" PRIu32 " more]", left_out);
		stack->frames[stack->nr] = xsr_text(&r->texts, text, strlen(text));
		if (!stack->frames[stack->nr++])
			return NULL;
	}
	return stack;
}

const struct xsr_stack *xsr_event_stack(const struct xsprof_profiler_event *ev)
{
	struct xsprof_result *r = ev->result;
	const struct xsr_stack *stack;
	uint64_t key, *made;

	if (!ev->stack || ev->kind != XSPROF_EVENT_OP || !xsr_wants(r, with_stack))
		return NULL;
	key = xsr_key(ev->producer, ev->stack);
	made = xsr_map_get(&r->stacks, key);
	if (made)
		return (const struct xsr_stack *)(uintptr_t)*made;
	stack = make_stack(r, ev->producer, ev->stack);
	if (!stack || xsr_map_set(&r->stacks, key, (uintptr_t)stack)) {
		xsr_fail(r, -ENOMEM, "no memory for the stack of an event");
		return NULL;
	}
	return stack;
}

void xsr_frames_free(struct xsprof_result *r)
{
	xsr_files_free(r->files);
	xsr_map_free(&r->stacks);
	xsr_map_free(&r->addresses);
	xsr_map_free(&r->mappings);
}
