// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Parses a producer's arena: names, categories, threads' names, facts. The program wrote it, so
 * invalid entries are refused and counted. Never looks at records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

#define ENTRY_MAX	(1u << 16)	/* later minor versions may have longer ones */

static int refuse(struct xsprof_trace *t, const struct xst_producer *p, const char *why)
{
	t->found.bad_entries++;
	xst_warn(t, XST_WARN_ARENA, "producer %u: %s: entry of the arena left out", p->number, why);
	return 0;
}

static int add_name(struct xsprof_trace *t, struct xst_producer *p, uint32_t id, const char *s,
		    size_t len)
{
	uint32_t index = id & XSPROF_NAME_MASK;
	const struct xst_text *text;

	if (!index || index > XSPROF_NAME_MAX_INDEX)
		return refuse(t, p, "an invalid name id");
	text = xst_map_get(&t->found.names, p->number, index);
	if (text) {
		if (text->len == len && !memcmp(text->s, s, len))
			return 0;
		return refuse(t, p, "a second text for one name id");
	}
	text = xst_pool_text(&t->found.pool, s, len);
	return text ? xst_map_set(&t->found.names, p->number, index, text) : -ENOMEM;
}

static int add_text(struct xsprof_trace *t, struct xsp_map *map, uint32_t producer, uint32_t id,
		    const char *s, size_t len)
{
	const struct xst_text *text = xst_map_get(map, producer, id);

	if (text && text->len == len && !memcmp(text->s, s, len))
		return 0;
	text = xst_pool_text(&t->found.pool, s, len);
	return text ? xst_map_set(map, producer, id, text) : -ENOMEM;
}

static int add_fact(struct xsprof_trace *t, struct xst_producer *p, const char *s, size_t len)
{
	int err = xst_facts_add(&p->facts, &t->found.pool, s, len);

	if (err == -EINVAL)
		return refuse(t, p, "a fact without key=value");
	if (err == -E2BIG)
		return refuse(t, p, "more facts than a process can have");
	t->found.lists += XST_FACT_BYTES;
	return err;
}

static int add_map(struct xsprof_trace *t, struct xst_producer *p, const char *s, size_t len)
{
	int err = xst_lines_add(&t->found.pool, &p->maps, s, len);

	t->found.lists += 2 * sizeof(*p->maps.list);
	return err == -E2BIG ? refuse(t, p, "more mappings than a process can have") : err;
}

/* Adds addresses of a stack to those known. */
static int add_stack(struct xsprof_trace *t, struct xst_producer *p,
		     const struct xsprof_entry *entry, const char *s)
{
	const struct xst_stack_head head = { .left_out = entry->aux, .maps = p->maps.nr };
	char words[XSPROF_TEXT_MAX + sizeof(head)];
	const struct xst_text *text;

	if (!entry->id || entry->text_len % 8 || !entry->text_len)
		return refuse(t, p, "a stack of an invalid size");
	if (xst_map_get(&t->found.stacks, p->number, entry->id))
		return 0;
	memcpy(words, &head, sizeof(head));
	memcpy(words + sizeof(head), s, entry->text_len);
	text = xst_pool_text(&t->found.pool, words, sizeof(head) + entry->text_len);
	return text ? xst_map_set(&t->found.stacks, p->number, entry->id, text) : -ENOMEM;
}

static int add_entry(struct xsprof_trace *t, struct xst_producer *p,
		     const struct xsprof_entry *entry, const char *s)
{
	size_t len = entry->text_len;

	if (len > XSPROF_TEXT_MAX || sizeof(*entry) + len > entry->size)
		return refuse(t, p, "a text longer than its entry");
	if (xst_full(t))
		return refuse(t, p, "far more data than fits the file's size");
	if (entry->type == XSPROF_ENTRY_STACK)
		return add_stack(t, p, entry, s);
	if (memchr(s, 0, len))
		return refuse(t, p, "a text with a zero byte");
	switch (entry->type) {
	case XSPROF_ENTRY_CATEGORY:
		if (entry->id >= XSPROF_MAX_CATEGORIES)
			return refuse(t, p, "a category number above 63");
		return add_text(t, &t->found.categories, p->number, entry->id, s, len);
	case XSPROF_ENTRY_NAME:
		return add_name(t, p, entry->id, s, len);
	case XSPROF_ENTRY_THREAD:
		return xst_thread_entry(t, p, entry, s);
	case XSPROF_ENTRY_FACT:
		return add_fact(t, p, s, len);
	case XSPROF_ENTRY_MAP:
		return add_map(t, p, s, len);
	default:
		t->found.unknown++;
		return 0;
	}
}

/* Appends to a cut entry: takes memory for what has arrived, not for what may still come. */
static int carry(struct xsprof_trace *t, struct xst_producer *p, const uint8_t *data, size_t len)
{
	uint32_t room = p->room_carry ? p->room_carry : 64;
	char *more;

	while (room < p->carried + len)
		room *= 2;
	if (room > p->room_carry) {
		more = realloc(p->carry, room);
		if (!more)
			return -ENOMEM;
		t->found.lists += room - p->room_carry;
		p->carry = more;
		p->room_carry = room;
	}
	memcpy(p->carry + p->carried, data, len);
	p->carried += len;
	return 0;
}

/* Keeps the first part of an entry until the chunk with the rest arrives. */
static int keep(struct xsprof_trace *t, struct xst_producer *p, const uint8_t *data, size_t len)
{
	p->carried = 0;
	return len ? carry(t, p, data, len) : 0;
}

/* Parses entries of [@data, @len). Return: bytes used, or -errno. */
static ssize_t parse(struct xsprof_trace *t, struct xst_producer *p, const uint8_t *data,
		     size_t len)
{
	struct xsprof_entry entry;
	size_t at = 0;

	while (len - at >= sizeof(entry)) {
		int err;

		memcpy(&entry, data + at, sizeof(entry));
		if (entry.size < sizeof(entry) || entry.size % 8 || entry.size > ENTRY_MAX) {
			/* Without a size the next entry cannot be found. */
			refuse(t, p, "an invalid entry size");
			return len;
		}
		if (entry.size > len - at)
			break;
		err = add_entry(t, p, &entry, (const char *)data + at + sizeof(entry));
		if (err)
			return err;
		at += entry.size;
	}
	return at;
}

/* Completes a cut entry, bytewise if necessary. Return: bytes of @data used. */
static ssize_t finish_carried(struct xsprof_trace *t, struct xst_producer *p, const uint8_t *data,
			      size_t len)
{
	struct xsprof_entry entry;
	size_t used = 0;
	ssize_t n;
	int err;

	if (p->carried < sizeof(entry)) {
		used = sizeof(entry) - p->carried;
		if (used > len)
			used = len;
		err = carry(t, p, data, used);
		if (err)
			return err;
		if (p->carried < sizeof(entry))
			return used;
	}
	memcpy(&entry, p->carry, sizeof(entry));
	if (entry.size > p->carried && entry.size <= ENTRY_MAX) {
		size_t more = entry.size - p->carried;

		if (more > len - used)
			more = len - used;
		err = carry(t, p, data + used, more);
		if (err)
			return err;
		used += more;
		if (p->carried < entry.size)
			return used;
	}
	n = parse(t, p, (const uint8_t *)p->carry, p->carried);
	p->carried = 0;
	return n < 0 ? n : (ssize_t)used;
}

int xst_arena_parse(struct xsprof_trace *t, struct xst_producer *p, uint64_t pos,
		    const uint8_t *data, size_t len)
{
	ssize_t n = 0;

	if (pos != p->arena_pos) {
		if (pos < p->arena_pos)
			return refuse(t, p, "a part of the arena appears twice");
		refuse(t, p, "a part of the arena is missing");
		p->carried = 0;
	}
	p->arena_pos = pos + len;
	if (p->carried) {
		n = finish_carried(t, p, data, len);
		if (n < 0)
			return n;
		if (p->carried)
			return 0;
		data += n;
		len -= n;
	}
	n = parse(t, p, data, len);
	if (n < 0)
		return n;
	return keep(t, p, data + n, len - n);
}
