// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The walk over a thread's frames. A frame that is being made or left may lead anywhere: nothing is
 * read but by a call that fails where no memory is, a page at a time, as frames lie side by side.
 */
#include <string.h>

#include "collect/python/sample.h"

/* Return: NULL: it cannot be read. */
static const char *look(struct python_reading *r, uintptr_t at, uint32_t len)
{
	uintptr_t from = at & ~(uintptr_t)(PYTHON_PAGE - 1);
	uintptr_t to = (at + len + PYTHON_PAGE - 1) & ~(uintptr_t)(PYTHON_PAGE - 1);

	if (at < PYTHON_PAGE || at + len < at || at % sizeof(void *))
		return NULL;
	if (at >= r->from && at + len <= r->to)
		return r->window + (at - r->from);
	r->from = r->to = 0;
	if (to - from > sizeof(r->window) || !sample_peek(r->window, (void *)from, to - from))
		return NULL;
	r->from = from;
	r->to = to;
	return r->window + (at - from);
}

static bool word(struct python_reading *r, uintptr_t at, uint64_t *v)
{
	const char *bytes = look(r, at, sizeof(*v));

	if (bytes)
		memcpy(v, bytes, sizeof(*v));
	return bytes;
}

static bool innermost(struct python_reading *r, const void *state, uint64_t *frame)
{
	const struct python_layout *l = &python_layout;

	return word(r, (uintptr_t)state + l->state, frame) &&
	       (!l->state_deep || !*frame || word(r, *frame + l->state_inner, frame));
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

	return (most > l->at ? most : l->at) + (uint32_t)sizeof(uint64_t);
}

/* Where frames are, and what they are of. */
static bool walk(struct python_reading *r, const void *state)
{
	const void *hidden = __atomic_load_n(&python_code_hidden, __ATOMIC_RELAXED);
	uint32_t size = frame_size(), steps = 0;
	const void *code;
	const char *bytes;
	uint64_t frame, earlier = 0;

	if (!innermost(r, state, &frame))
		return false;
	while (frame) {
		bytes = look(r, frame, size);
		/* In a circle it has been changed meanwhile. */
		if (!bytes || frame == earlier)
			return false;
		if (!(steps & (steps - 1)))
			earlier = frame;
		if (steps++ == PYTHON_WALKED) {
			r->left = PYTHON_WALKED - PYTHON_DEPTH;
			break;
		}
		code = code_of(bytes);
		/* Where C calls Python there may be a frame of no code. */
		if (code && code != python.none && code != hidden) {
			if (!r->nr)
				r->place = place_in(bytes, code);
			if (r->nr < PYTHON_DEPTH)
				r->at[r->nr++] = code;
			else
				r->left++;
		}
		memcpy(&frame, bytes + python_layout.back, sizeof(frame));
	}
	return true;
}

/* A function that calls itself is read once. */
static bool is_again(const struct python_reading *r, uint32_t i)
{
	return i && r->at[i] == r->at[i - 1];
}

/* All of them in one call. */
static bool read_codes(struct python_reading *r)
{
	uint32_t size = python_code_size(), n = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		if (is_again(r, i))
			continue;
		r->local[n] = (struct iovec){ r->bytes[i], size };
		r->remote[n++] = (struct iovec){ (void *)(uintptr_t)r->at[i], size };
	}
	return !n || sample_peek_many(r->local, r->remote, n, n * size);
}

/* Codes that call each other are often of one file. */
static bool is_same_text(const struct python_reading *r, uint32_t i, uint32_t k)
{
	return i && r->text[i][k] == r->text[i - 1][k];
}

/* What tells the texts that they are called by: all in one call, where Python has hashes. */
static bool read_texts(struct python_reading *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		if (is_again(r, i))
			memcpy(r->text[i], r->text[i - 1], sizeof(r->text[i]));
		else if (!python_code_texts(r->bytes[i], r->text[i]))
			return false;
		for (uint32_t k = 0; k < PYTHON_TEXTS; k++) {
			if (is_same_text(r, i, k))
				continue;
			r->local[n] = (struct iovec){ r->head[n], PYTHON_TEXT_HEAD };
			r->remote[n++] = (struct iovec){ (void *)(uintptr_t)r->text[i][k],
							 PYTHON_TEXT_HEAD };
		}
	}
	if (n && !sample_peek_many(r->local, r->remote, n, (size_t)n * PYTHON_TEXT_HEAD))
		return false;
	n = 0;
	for (uint32_t i = 0; i < r->nr; i++)
		for (uint32_t k = 0; k < PYTHON_TEXTS; k++) {
			r->id[i][k] = is_same_text(r, i, k) ? r->id[i - 1][k] :
				      python_text_id(r->text[i][k], r->head[n++], r->window,
						     sizeof(r->window));
			if (!r->id[i][k])
				return false;
		}
	return true;
}

bool python_read_frames(struct python_reading *r, const void *state)
{
	r->nr = r->left = r->line = 0;
	r->from = r->to = 0;
	r->place = -1;
	if (!walk(r, state) || !read_codes(r) || !read_texts(r))
		return false;
	for (uint32_t i = 0; i < r->nr; i++) {
		if (is_again(r, i))
			r->code[i] = r->code[i - 1];
		else if (!python_code_read(&r->code[i], r->bytes[i], r->id[i], r->window,
					   sizeof(r->window)))
			return false;
	}
	r->from = r->to = 0;
	if (r->nr)
		r->line = python_code_line(r->bytes[0], r->place, r->window, sizeof(r->window));
	return true;
}
