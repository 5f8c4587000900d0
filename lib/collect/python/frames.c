// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Walks a thread's frames. A frame that is being created or left may point anywhere, so all memory
 * is read with a system call that fails on unmapped addresses. These calls are the cost of a
 * sample. The first reads the thread's state together with the memory that had its frames at the
 * last sample; the next one the code objects, with the strings and the line table that they had
 * when they were last read. Only what has changed since takes more calls.
 */
#include <string.h>

#include "collect/python/native.h"
#include "collect/python/sample.h"

struct python_bounds python_bounds;	/* set by bounds.c */

/* Return: NULL: the memory cannot be read. */
static const char *look(struct python_reading *r, uintptr_t at, uint32_t len)
{
	uintptr_t from = at & ~(uintptr_t)(PYTHON_PAGE - 1);
	uintptr_t to = (at + len + PYTHON_PAGE - 1) & ~(uintptr_t)(PYTHON_PAGE - 1);

	if (at < PYTHON_PAGE || at + len < at || at % sizeof(void *))
		return NULL;
	if (at >= r->from && at + len <= r->to)
		return r->view + (at - r->from);
	r->from = r->to = 0;
	r->view = r->window;
	if (to - from > sizeof(r->window) || !sample_peek(r->window, (void *)from, to - from))
		return NULL;
	r->from = from;
	r->to = to;
	return r->view + (at - from);
}

/* Adds the memory that had the thread's frames last time, the later page first. */
static uint32_t add_frames(struct python_reading *r, uint32_t n, const struct python_way *way)
{
	uintptr_t page = (way->to - 1) & ~(uintptr_t)(PYTHON_PAGE - 1);

	if (page <= way->from)
		return python_reading_add(r, n, r->window, way->from, way->to - way->from);
	n = python_reading_add(r, n, r->window + (page - way->from), page, way->to - page);
	return python_reading_add(r, n, r->window, way->from, page - way->from);
}

/* @got: bytes that were read of it. */
static void view_frames(struct python_reading *r, const struct python_way *way, size_t got)
{
	uintptr_t page = (way->to - 1) & ~(uintptr_t)(PYTHON_PAGE - 1);

	if (got == way->to - way->from)
		r->from = way->from;
	else if (page > way->from && got >= way->to - page)
		r->from = page;
	else
		return;
	r->to = way->to;
	r->view = r->window + (r->from - way->from);
}

static struct python_way *way_of(struct python_reading *r, const void *state)
{
	return &r->ways[(uintptr_t)state / 64 % PYTHON_WAYS];
}

/* Reads the state with what it pointed to last time. */
static bool innermost(struct python_reading *r, const void *state, uint32_t size, uint64_t *frame)
{
	const struct python_layout *l = &python_layout;
	struct python_way *way = way_of(r, state);
	size_t words = l->state_deep ? 2 * sizeof(uint64_t) : sizeof(uint64_t), got;
	uint64_t word[2];
	uint32_t n;

	if (way->state != state)
		*way = (struct python_way){ .state = state };
	n = python_reading_add(r, 0, &word[0], (uintptr_t)state + l->state, sizeof(word[0]));
	if (l->state_deep)
		n = python_reading_add(r, n, &word[1], way->inner, sizeof(word[1]));
	for (uint32_t i = 0; i < way->strays; i++)
		n = python_reading_add(r, n, r->stray[i], way->stray[i], size);
	if (way->to)
		n = add_frames(r, n, way);
	got = sample_peek_some(r->local, r->remote, n);
	if (got < sizeof(word[0]))
		return false;
	*frame = word[0];
	if (l->state_deep && word[0]) {
		if (got >= words && word[0] + l->state_inner == way->inner) {
			*frame = word[1];
		} else {
			way->inner = word[0] + l->state_inner;
			if (!sample_peek(frame, (void *)way->inner, sizeof(*frame)))
				return false;
		}
	}
	got = got > words ? got - words : 0;
	r->strays = got / size < way->strays ? (uint32_t)(got / size) : way->strays;
	if (way->to && r->strays == way->strays)
		view_frames(r, way, got - r->strays * size);
	return true;
}

/* The bytes of a frame outside the memory that has most of them, if they were read. */
static const char *stray(const struct python_reading *r, const struct python_way *way,
			 uintptr_t frame)
{
	for (uint32_t i = 0; i < r->strays; i++)
		if (way->stray[i] == frame)
			return r->stray[i];
	return NULL;
}

/* More frames than last time are read too. */
#define SLACK	256u

static void learn_strays(struct python_way *way, const uintptr_t *frame, uint32_t nr)
{
	for (uint32_t i = 0; i < nr && way->strays < PYTHON_STRAYS; i++)
		if (frame[i] < way->from || frame[i] >= way->to)
			way->stray[way->strays++] = frame[i];
}

/*
 * What to read next time: all frames, or the innermost one's page and the one below, and those that
 * are elsewhere.
 */
static void learn(struct python_reading *r, struct python_way *way, uint32_t size)
{
	uintptr_t from = r->frame[0], to = from, page;

	for (uint32_t i = 1; i < r->nr; i++) {
		from = r->frame[i] < from ? r->frame[i] : from;
		to = r->frame[i] > to ? r->frame[i] : to;
	}
	to += size;
	page = (to + PYTHON_PAGE - 1) & ~(uintptr_t)(PYTHON_PAGE - 1);
	/* Not into the next page, which may be unmapped. */
	to = to + SLACK < page ? to + SLACK : page;
	if (to - from > sizeof(r->window)) {
		to = (r->frame[0] & ~(uintptr_t)(PYTHON_PAGE - 1)) + PYTHON_PAGE;
		from = to - 2 * PYTHON_PAGE;
	}
	way->from = from;
	way->to = to;
	way->strays = 0;
	if (size > PYTHON_FRAME)
		return;
	learn_strays(way, r->bare, r->bares);
	learn_strays(way, r->frame, r->nr);
}

static const void *code_of(const char *frame)
{
	uint64_t v;

	memcpy(&v, frame + python_layout.code, sizeof(v));
	return python_untagged(v);
}

static int32_t place_in(const char *frame, const void *code)
{
	const struct python_layout *l = &python_layout;
	uint64_t pointer;
	int32_t at;

	if (l->at_scale) {
		memcpy(&at, frame + l->at, sizeof(at));
		return at * l->at_scale;
	}
	memcpy(&pointer, frame + l->at, sizeof(pointer));
	return (int32_t)(pointer - (uintptr_t)code - l->at_base);
}

static uint32_t frame_size(void)
{
	const struct python_layout *l = &python_layout;
	uint32_t most = l->back > l->code ? l->back : l->code;

	most = most > python_bounds.at ? most : python_bounds.at;
	return (most > l->at ? most : l->at) + (uint32_t)sizeof(uint64_t);
}

static void keep(struct python_reading *r, const void *code, uint64_t frame, const char *bytes)
{
	r->entry[r->nr] = python_bounds.each || (python_bounds.at && bytes[python_bounds.at] == 1);
	r->frame[r->nr] = frame;
	r->at[r->nr++] = code;
}

/* Collects the frames and their code objects. */
static bool walk(struct python_reading *r, const void *state)
{
	const void *hidden = __atomic_load_n(&python_code_hidden, __ATOMIC_RELAXED);
	uint32_t size = frame_size(), steps = 0;
	struct python_way *way = way_of(r, state);
	const void *code;
	const char *bytes;
	uint64_t frame, earlier = 0;

	if (!innermost(r, state, size, &frame))
		return false;
	while (frame) {
		bytes = stray(r, way, frame);
		if (!bytes)
			bytes = look(r, frame, size);
		/* A loop: the chain changed while it was read. */
		if (!bytes || frame == earlier)
			return false;
		if (!(steps & (steps - 1)))
			earlier = frame;
		if (steps++ == PYTHON_WALKED) {
			r->left = PYTHON_WALKED - PYTHON_DEPTH;
			break;
		}
		code = code_of(bytes);
		/* A frame between C and Python may have no code object. */
		if (code && code != python.none && code != hidden) {
			if (!r->nr)
				r->place = place_in(bytes, code);
			if (r->nr < PYTHON_DEPTH)
				keep(r, code, frame, bytes);
			else
				r->left++;
		} else {
			if (r->nr && !r->left)
				r->entry[r->nr - 1] = true;
			if (r->bares < PYTHON_STRAYS)
				r->bare[r->bares++] = frame;
		}
		memcpy(&frame, bytes + python_layout.back, sizeof(frame));
	}
	if (r->nr)
		learn(r, way, size);
	return true;
}

bool python_read_frames(struct python_reading *r, const void *state)
{
	r->task.id = r->task.name = 0;
	r->nr = r->left = r->line = r->bares = r->strays = 0;
	r->from = r->to = 0;
	r->place = -1;
	if (!walk(r, state))
		return false;
	if (!r->nr)
		return true;
	if (!python_read_codes(r))
		return false;
	if (python_reading_awaits(r))
		python_task_read(r, state);
	return true;
}
