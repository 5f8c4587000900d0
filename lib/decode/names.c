// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Public functions that look up texts of a capture: facts, notes, names of markers and threads,
 * stacks and maps. texts.c stores the texts.
 */
#include <errno.h>
#include <string.h>

#include "decode/local.h"

/* ---- facts, notes ------------------------------------------------------------------------ */

static int fact_at(const struct xst_facts *facts, uint32_t index, const char **key,
		   const char **value)
{
	if (index >= facts->nr)
		return -ENOENT;
	*key = facts->list[index].key->s;
	*value = facts->list[index].value->s;
	return 0;
}

const char *xsprof_trace_host_fact(const struct xsprof_trace *t, const char *key)
{
	return xst_facts_get(&t->found.host, key);
}

int xsprof_trace_host_fact_at(const struct xsprof_trace *t, uint32_t index, const char **key,
			      const char **value)
{
	return fact_at(&t->found.host, index, key, value);
}

const char *xsprof_trace_fact(const struct xsprof_trace *t, uint32_t producer, const char *key)
{
	const struct xst_producer *p = xst_producer_find(t, producer);

	return p ? xst_facts_get(&p->facts, key) : NULL;
}

int xsprof_trace_fact_at(const struct xsprof_trace *t, uint32_t producer, uint32_t index,
			 const char **key, const char **value)
{
	const struct xst_producer *p = xst_producer_find(t, producer);

	return p ? fact_at(&p->facts, index, key, value) : -ENOENT;
}

const char *xsprof_trace_note(const struct xsprof_trace *t, uint32_t index)
{
	return index < t->found.nr_notes ? t->found.notes[index]->s : NULL;
}

/* ---- names ------------------------------------------------------------------------------- */

#define TEN(what, t) what t "0", what t "1", what t "2", what t "3", what t "4", what t "5", \
	what t "6", what t "7", what t "8", what t "9"
#define HUNDRED(what, h) TEN(what, h "0"), TEN(what, h "1"), TEN(what, h "2"), \
	TEN(what, h "3"), TEN(what, h "4"), TEN(what, h "5"), TEN(what, h "6"), \
	TEN(what, h "7"), TEN(what, h "8"), TEN(what, h "9")
/* 0 to 255 */
#define PLACES(what) TEN(what, ""), TEN(what, "1"), TEN(what, "2"), TEN(what, "3"), \
	TEN(what, "4"), TEN(what, "5"), TEN(what, "6"), TEN(what, "7"), TEN(what, "8"), \
	TEN(what, "9"), HUNDRED(what, "1"), TEN(what, "20"), TEN(what, "21"), \
	TEN(what, "22"), TEN(what, "23"), TEN(what, "24"), what "250", what "251", \
	what "252", what "253", what "254", what "255"

/* Keys of reserved names. */
static const char *known_key(uint32_t name)
{
	static const char *const inputs[] = { PLACES("input ") };
	static const char *const items[] = { PLACES("item ") };

	static const char *const others[] = {
		"module", "left out", "activity", "device", "resource", "line",
	};

	_Static_assert(sizeof(inputs) / sizeof(inputs[0]) == XSPROF_KEY_PLACES, "a text each");
	if (name >= XSPROF_KEY_MODULE)
		return others[name - XSPROF_KEY_MODULE];
	if (name >= XSPROF_KEY_ITEM)
		return items[name - XSPROF_KEY_ITEM];
	return inputs[name - XSPROF_KEY_INPUT];
}

const char *xsprof_trace_name_len(const struct xsprof_trace *t, uint32_t producer, uint32_t name,
				  size_t *len)
{
	const struct xst_text *text = NULL;
	uint32_t index = name & XSPROF_NAME_MASK;

	if (name >= XSPROF_KEY_INPUT && name <= XSPROF_KEY_LINE) {
		const char *known = known_key(name);

		*len = strlen(known);
		return known;
	}
	if (index && index != XSPROF_NAME_FULL)
		text = xst_map_get(&t->found.names, producer, index);
	if (!text) {
		*len = 1;
		return "?";
	}
	*len = text->len;
	return text->s;
}

const char *xsprof_trace_name(const struct xsprof_trace *t, uint32_t producer, uint32_t name)
{
	size_t len;

	return xsprof_trace_name_len(t, producer, name, &len);
}

const char *xsprof_trace_category(const struct xsprof_trace *t, uint32_t producer, uint32_t name)
{
	uint32_t category = name >> XSPROF_NAME_SHIFT;
	const struct xst_text *text = xst_map_get(&t->found.categories, producer, category);

	if (text)
		return text->s;
	return category ? "?" : "default";
}

static const struct xst_text *stack_text(const struct xsprof_trace *t, uint32_t producer,
					 uint64_t stack, struct xst_stack_head *head)
{
	const struct xst_text *text = NULL;

	if (stack <= UINT32_MAX)
		text = xst_map_get(&t->found.stacks, producer, (uint32_t)stack);
	if (text)
		memcpy(head, text->s, sizeof(*head));
	return text;
}

const uint64_t *xsprof_trace_stack(const struct xsprof_trace *t, uint32_t producer, uint64_t stack,
				   size_t *nr, uint32_t *left_out)
{
	struct xst_stack_head head = { 0 };
	const struct xst_text *text = stack_text(t, producer, stack, &head);

	*nr = text ? (text->len - sizeof(head)) / 8 : 0;
	if (left_out)
		*left_out = head.left_out;
	return text ? (const uint64_t *)(text->s + sizeof(head)) : NULL;
}

uint32_t xsprof_trace_stack_maps(const struct xsprof_trace *t, uint32_t producer, uint64_t stack)
{
	struct xst_stack_head head = { 0 };

	stack_text(t, producer, stack, &head);
	return head.maps;
}

const char *xsprof_trace_map(const struct xsprof_trace *t, uint32_t producer, uint32_t index)
{
	const struct xst_producer *p = xst_producer_find(t, producer);

	return p && index < p->maps.nr ? p->maps.list[index]->s : NULL;
}

static const struct xst_text *given(const struct xsprof_trace *t, uint32_t producer, uint32_t tid)
{
	const struct xst_text *text = xst_map_get(&t->found.threads, producer, tid);

	return text ? text : xst_map_get(&t->found.others, producer, tid);
}

const struct xst_text *xst_thread_text(const struct xsprof_trace *t, uint32_t producer,
				       uint32_t tid)
{
	const struct xst_text *text = given(t, producer, tid);

	return text ? text : xst_map_get(&t->found.comms, producer, tid);
}

const char *xsprof_trace_thread_given(const struct xsprof_trace *t, uint32_t producer, uint32_t tid)
{
	const struct xst_text *text = given(t, producer, tid);

	return text ? text->s : "";
}

const char *xsprof_trace_thread(const struct xsprof_trace *t, uint32_t producer, uint32_t tid)
{
	const struct xst_text *text = xst_thread_text(t, producer, tid);

	return text ? text->s : "";
}
