// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Walks a thread's frames. A frame that is being created or left may point anywhere, so all memory
 * is read with a system call that fails on unmapped addresses. These calls are the cost of a
 * sample: frames are adjacent and are read a page at a time, the first page together with the
 * thread's state, at the address of the last sample; code objects take one call; their strings and
 * the innermost line table another.
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

/* Adds an item to those read by one call. Return: the number of items. */
static uint32_t add(struct python_reading *r, uint32_t n, void *to, uintptr_t from, size_t len)
{
	r->local[n] = (struct iovec){ to, len };
	r->remote[n] = (struct iovec){ (void *)from, len };
	return n + 1;
}

/* Reads the state with what it pointed to last time, and the page below, which has older frames. */
static bool innermost(struct python_reading *r, const void *state, uint64_t *frame)
{
	const struct python_layout *l = &python_layout;
	struct python_way *way = &r->ways[(uintptr_t)state / 64 % PYTHON_WAYS];
	size_t words = l->state_deep ? 2 * sizeof(uint64_t) : sizeof(uint64_t), got;
	uint64_t word[2];
	uint32_t n;

	if (way->state != state)
		*way = (struct python_way){ .state = state };
	n = add(r, 0, &word[0], (uintptr_t)state + l->state, sizeof(word[0]));
	if (l->state_deep)
		n = add(r, n, &word[1], way->inner, sizeof(word[1]));
	if (way->page) {
		n = add(r, n, r->window + PYTHON_PAGE, way->page, PYTHON_PAGE);
		n = add(r, n, r->window, way->page - PYTHON_PAGE, PYTHON_PAGE);
	}
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
	if (got >= words + PYTHON_PAGE) {
		r->to = way->page + PYTHON_PAGE;
		r->from = got == words + 2 * PYTHON_PAGE ? way->page - PYTHON_PAGE : way->page;
		r->view = r->window + (r->from == way->page ? PYTHON_PAGE : 0);
	}
	way->page = *frame & ~(uintptr_t)(PYTHON_PAGE - 1);
	return true;
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
	const void *code;
	const char *bytes;
	uint64_t frame, earlier = 0;

	if (!innermost(r, state, &frame))
		return false;
	while (frame) {
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
		} else if (r->nr && !r->left) {
			r->entry[r->nr - 1] = true;
		}
		memcpy(&frame, bytes + python_layout.back, sizeof(frame));
	}
	return true;
}

/* A recursive function's code is read once. */
static bool is_again(const struct python_reading *r, uint32_t i)
{
	return i && r->at[i] == r->at[i - 1];
}

/* Reads all code objects in one call. */
static bool read_codes(struct python_reading *r)
{
	uint32_t size = python_code_size(), n = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		if (is_again(r, i))
			continue;
		n = add(r, n, r->bytes[i], (uintptr_t)r->at[i], size);
	}
	return sample_peek_many(r->local, r->remote, n, n * size);
}

/* Consecutive code objects are often from the same file. */
static bool is_same_text(const struct python_reading *r, uint32_t i, uint32_t k)
{
	return i && r->text[i][k] == r->text[i - 1][k];
}

/* Bytes of the innermost line table; most are shorter. */
#define LINES	1024u

/* Last, as the call may stop at the page after it. */
static uint32_t add_lines(struct python_reading *r, uint32_t n)
{
	uintptr_t at = (uintptr_t)python_code_lines(r->bytes[0]);
	size_t here = PYTHON_PAGE - at % PYTHON_PAGE;

	if (!at)
		return n;
	if (here >= LINES)
		return add(r, n, r->lines, at, LINES);
	n = add(r, n, r->lines, at, here);
	return add(r, n, r->lines + here, at + here, LINES - here);
}

/* Return: the number of strings to read; 0: these are not code objects. */
static uint32_t find_texts(struct python_reading *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		if (is_again(r, i))
			memcpy(r->text[i], r->text[i - 1], sizeof(r->text[i]));
		else if (!python_code_texts(r->bytes[i], r->text[i]))
			return 0;
		for (uint32_t k = 0; k < PYTHON_TEXTS; k++) {
			if (is_same_text(r, i, k))
				continue;
			n = add(r, n, r->head[n], (uintptr_t)r->text[i][k], PYTHON_TEXT_SPAN);
		}
	}
	return n;
}

/* Return: bytes read of each of @n strings; 0: they cannot be read. */
static size_t read_heads(struct python_reading *r, uint32_t n)
{
	size_t len = (size_t)n * PYTHON_TEXT_SPAN;
	size_t got = sample_peek_some(r->local, r->remote, add_lines(r, n));

	r->lines_got = got > len ? got - len : 0;
	if (got >= len)
		return PYTHON_TEXT_SPAN;
	/* The memory after a string may be unmapped. */
	for (uint32_t i = 0; i < n; i++)
		r->local[i].iov_len = r->remote[i].iov_len = PYTHON_TEXT_HEAD;
	len = (size_t)n * PYTHON_TEXT_HEAD;
	return sample_peek_many(r->local, r->remote, n, len) ? PYTHON_TEXT_HEAD : 0;
}

/* Reads what identifies the names of the code objects; there is at least one. */
static bool read_texts(struct python_reading *r)
{
	uint32_t n = find_texts(r);
	size_t known = n ? read_heads(r, n) : 0;

	n = 0;
	for (uint32_t i = 0; known && i < r->nr; i++)
		for (uint32_t k = 0; k < PYTHON_TEXTS; k++) {
			r->id[i][k] = is_same_text(r, i, k) ? r->id[i - 1][k] :
				      python_text_id(r->text[i][k], r->head[n++], known, r->window,
						     sizeof(r->window));
			if (!r->id[i][k])
				return false;
		}
	return known;
}

static bool awaits(const struct python_reading *r)
{
	for (uint32_t i = 0; i < r->nr; i++)
		if (!is_again(r, i) && python_code_awaits(r->bytes[i]))
			return true;
	return false;
}

bool python_read_frames(struct python_reading *r, const void *state)
{
	r->task.id = r->task.name = 0;
	r->nr = r->left = r->line = 0;
	r->from = r->to = 0;
	r->place = -1;
	if (!walk(r, state))
		return false;
	if (!r->nr)
		return true;
	if (!read_codes(r) || !read_texts(r))
		return false;
	for (uint32_t i = 0; i < r->nr; i++) {
		if (is_again(r, i))
			r->code[i] = r->code[i - 1];
		else if (!python_code_read(&r->code[i], r->bytes[i], r->id[i], r->window,
					   sizeof(r->window)))
			return false;
	}
	r->from = r->to = 0;
	r->line = python_code_line(r->bytes[0], r->place, r->lines, r->lines_got, sizeof(r->lines));
	if (awaits(r))
		python_task_read(r, state);
	return true;
}
