// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads the code objects of the frames that were found, the strings that name them, and the
 * innermost line table. A code object mostly has the strings that it had when it was last read, so
 * they are read in the same call as the code object, and used only if it still points to them.
 */
#include <string.h>

#include "collect/python/sample.h"

/* A recursive function's code is read once. */
static bool is_again(const struct python_reading *r, uint32_t i)
{
	return i && r->at[i] == r->at[i - 1];
}

/* Consecutive code objects are often from the same file. */
static bool is_same_text(const struct python_reading *r, uint32_t i, uint32_t k)
{
	return i && r->text[i][k] == r->text[i - 1][k];
}

static struct python_guess *guess_of(struct python_reading *r, uint32_t i)
{
	return &r->guesses[(uintptr_t)r->at[i] / 64 % PYTHON_GUESSES];
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool is_missing(const struct python_reading *r, uint32_t i, uint32_t k)
{
	return r->text[i][k] && !is_same_text(r, i, k) && r->head[i][k].at != r->text[i][k];
}

/* Adds the strings that have not been read. @span: bytes of each. */
static uint32_t add_texts(struct python_reading *r, uint32_t n, uint32_t span)
{
	for (uint32_t i = 0; i < r->nr; i++)
		for (uint32_t k = 0; k < PYTHON_TEXTS; k++)
			if (is_missing(r, i, k))
				n = python_reading_add(r, n, r->head[i][k].bytes,
						       (uintptr_t)r->text[i][k], span);
	return n;
}

/*
 * Takes the strings that the call has read. *@got: bytes that it read, less those taken. Return:
 * false: some were not read.
 */
static bool take_texts(struct python_reading *r, uint32_t span, size_t *got)
{
	for (uint32_t i = 0; i < r->nr; i++)
		for (uint32_t k = 0; k < PYTHON_TEXTS; k++) {
			if (!is_missing(r, i, k))
				continue;
			if (*got < span) {
				*got = 0;
				return false;
			}
			r->head[i][k].at = r->text[i][k];
			r->head[i][k].known = span;
			*got -= span;
		}
	return true;
}

/* ---- the line table -------------------------------------------------------------------------- */

/* Bytes of it that are read; most are shorter. */
#define LINES	1024u

/* Last, as the call may stop at the page after it. */
static uint32_t add_lines(struct python_reading *r, uint32_t n, const void *lines)
{
	uintptr_t at = (uintptr_t)lines;
	size_t here = PYTHON_PAGE - at % PYTHON_PAGE;

	if (!at)
		return n;
	if (here >= LINES)
		return python_reading_add(r, n, r->lines, at, LINES);
	n = python_reading_add(r, n, r->lines, at, here);
	return python_reading_add(r, n, r->lines + here, at + here, LINES - here);
}

static void take_lines(struct python_reading *r, const void *lines, size_t got)
{
	r->lines_at = got ? lines : NULL;
	r->lines_got = got;
}

/* ---- code objects ---------------------------------------------------------------------------- */

static void guess(struct python_reading *r)
{
	for (uint32_t i = 0; i < r->nr; i++) {
		const struct python_guess *g = guess_of(r, i);

		for (uint32_t k = 0; k < PYTHON_TEXTS; k++) {
			r->text[i][k] = g->code == r->at[i] ? g->text[k] : NULL;
			r->head[i][k].at = NULL;
		}
	}
}

/* Reads all code objects, and the strings that they had last time. */
static bool read_objects(struct python_reading *r)
{
	const void *lines = guess_of(r, 0)->code == r->at[0] ? guess_of(r, 0)->lines : NULL;
	uint32_t size = python_code_size(), n = 0;
	size_t got, len;

	guess(r);
	for (uint32_t i = 0; i < r->nr; i++)
		if (!is_again(r, i))
			n = python_reading_add(r, n, r->bytes[i], (uintptr_t)r->at[i], size);
	len = (size_t)n * size;
	n = add_texts(r, n, PYTHON_TEXT_SPAN);
	got = sample_peek_some(r->local, r->remote, add_lines(r, n, lines));
	if (got < len)
		return false;
	got -= len;
	take_lines(r, NULL, 0);
	if (take_texts(r, PYTHON_TEXT_SPAN, &got))
		take_lines(r, lines, got);
	return true;
}

/* Return: false: these are not code objects. */
static bool find_texts(struct python_reading *r)
{
	struct python_guess *g;

	for (uint32_t i = 0; i < r->nr; i++) {
		if (is_again(r, i)) {
			memcpy(r->text[i], r->text[i - 1], sizeof(r->text[i]));
			continue;
		}
		if (!python_code_texts(r->bytes[i], r->text[i]))
			return false;
		g = guess_of(r, i);
		g->code = r->at[i];
		memcpy(g->text, r->text[i], sizeof(g->text));
		g->lines = python_code_lines(r->bytes[i]);
	}
	return true;
}

/* Reads the strings that were not guessed. Return: false: they cannot be read. */
static bool read_texts(struct python_reading *r)
{
	const void *lines = python_code_lines(r->bytes[0]);
	uint32_t n = add_texts(r, 0, PYTHON_TEXT_SPAN);
	size_t got;

	if (lines == r->lines_at)
		lines = NULL;
	else
		take_lines(r, NULL, 0);
	n = add_lines(r, n, lines);
	if (!n)
		return true;
	got = sample_peek_some(r->local, r->remote, n);
	if (take_texts(r, PYTHON_TEXT_SPAN, &got)) {
		if (lines)
			take_lines(r, lines, got);
		return true;
	}
	/* The memory after a string may be unmapped. */
	n = add_texts(r, 0, PYTHON_TEXT_HEAD);
	got = sample_peek_some(r->local, r->remote, n);
	return take_texts(r, PYTHON_TEXT_HEAD, &got);
}

static bool identify(struct python_reading *r, uint32_t i)
{
	for (uint32_t k = 0; k < PYTHON_TEXTS; k++) {
		const struct python_head *head = &r->head[i][k];

		r->id[i][k] = is_same_text(r, i, k) ? r->id[i - 1][k] :
			      python_text_id(head->at, head->bytes, head->known, r->window,
					     sizeof(r->window));
		if (!r->id[i][k])
			return false;
	}
	return true;
}

bool python_read_codes(struct python_reading *r)
{
	if (!read_objects(r) || !find_texts(r) || !read_texts(r))
		return false;
	for (uint32_t i = 0; i < r->nr; i++) {
		if (!identify(r, i))
			return false;
		if (is_again(r, i))
			r->code[i] = r->code[i - 1];
		else if (!python_code_read(&r->code[i], r->bytes[i], r->id[i], r->window,
					   sizeof(r->window)))
			return false;
	}
	r->from = r->to = 0;
	r->line = python_code_line(r->bytes[0], r->place, r->lines, r->lines_got, sizeof(r->lines));
	return true;
}

bool python_reading_awaits(const struct python_reading *r)
{
	for (uint32_t i = 0; i < r->nr; i++)
		if (!is_again(r, i) && python_code_awaits(r->bytes[i]))
			return true;
	return false;
}
