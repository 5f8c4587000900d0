// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Unique texts, and a growing buffer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "result/handle.h"

/* ---- texts ---------------------------------------------------------------------------------- */

static uint64_t hash_text(uint64_t seed, const char *s, size_t len)
{
	uint64_t h = seed ^ len, word;

	for (; len >= 8; len -= 8, s += 8) {
		memcpy(&word, s, 8);
		h = xsp_hash_mix(h ^ word);
	}
	word = 0;
	memcpy(&word, s, len);
	return xsp_hash_mix(h ^ word);
}

static size_t find_text(const struct xsr_texts *t, const char *s, size_t len)
{
	size_t at = hash_text(t->seed, s, len) & (t->room - 1);

	while (t->list[at] && (strlen(t->list[at]) != len || memcmp(t->list[at], s, len)))
		at = (at + 1) & (t->room - 1);
	return at;
}

static int grow_texts(struct xsr_texts *t)
{
	struct xsr_texts old = *t;

	if (!t->room)
		t->seed = xsp_hash_seed(t);
	t->room = t->room ? t->room * 2 : 64;
	t->list = calloc(t->room, sizeof(*t->list));
	if (!t->list) {
		*t = old;
		return -ENOMEM;
	}
	for (size_t i = 0; i < old.room; i++)
		if (old.list[i])
			t->list[find_text(t, old.list[i], strlen(old.list[i]))] = old.list[i];
	free(old.list);
	return 0;
}

const char *xsr_text(struct xsr_texts *t, const char *s, size_t len)
{
	size_t at;
	char *copy;

	len = strnlen(s, len);
	if (t->used >= t->room / 4 * 3 && grow_texts(t))
		return NULL;
	at = find_text(t, s, len);
	if (t->list[at])
		return t->list[at];
	copy = xsp_pool_get(&t->pool, len + 1);
	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	copy[len] = 0;
	t->list[at] = copy;
	t->used++;
	return copy;
}

void xsr_texts_free(struct xsr_texts *t)
{
	xsp_pool_free(&t->pool);
	free(t->list);
	*t = (struct xsr_texts){ 0 };
}

/* ---- a buffer ------------------------------------------------------------------------------- */

static bool make_room(struct xsr_buf *b, size_t len)
{
	size_t room = b->room ? b->room : 64;
	char *s;

	if (b->err)
		return false;
	if (len < b->room - b->len && b->room)
		return true;
	while (room - b->len <= len) {
		if (room > PTRDIFF_MAX / 2)
			goto err;
		room *= 2;
	}
	s = realloc(b->s, room);
	if (!s)
		goto err;
	b->s = s;
	b->room = room;
	return true;

err:
	b->err = -ENOMEM;
	return false;
}

void xsr_put(struct xsr_buf *b, const char *s, size_t len)
{
	if (!make_room(b, len))
		return;
	memcpy(b->s + b->len, s, len);
	b->len += len;
	b->s[b->len] = 0;
}

void xsr_puts(struct xsr_buf *b, const char *s)
{
	xsr_put(b, s, strlen(s));
}

void xsr_printf(struct xsr_buf *b, const char *format, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, format);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n >= 0 && make_room(b, n)) {
		vsnprintf(b->s + b->len, (size_t)n + 1, format, again);
		b->len += n;
	}
	va_end(again);
}

void xsr_buf_free(struct xsr_buf *b)
{
	free(b->s);
	*b = (struct xsr_buf){ 0 };
}
