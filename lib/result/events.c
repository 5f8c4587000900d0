// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Adds events to a result being built, with the arguments of their record and its continuations.
 * build.c and records.c decide which records become events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "result/absence.h"
#include "result/build-local.h"

bool xsr_thread_wanted(const struct xsprof_result *r, uint32_t tid)
{
	return xsr_tid_wanted(&r->opts, tid);
}

const char *xsr_name_of(struct xsr_builder *b, uint32_t producer, uint32_t name)
{
	uint64_t key = xsr_key(producer, name), *found = xsp_map_get(&b->names, key);
	const char *s, *text;
	size_t len;

	if (found)
		return (const char *)(uintptr_t)*found;
	s = xsprof_trace_name_len(b->r->trace, producer, name, &len);
	text = xsr_text(&b->r->texts, s, len);
	if (!text || xsp_map_set(&b->names, key, (uintptr_t)text))
		return NULL;
	return text;
}

/* Adds an event and sets its common fields; NULL: no memory. */
struct xsprof_profiler_event *xsr_add_event(struct xsr_builder *b, uint16_t kind,
					    const char *name, uint64_t begin, uint64_t end)
{
	struct xsprof_result *r = b->r;
	struct xsprof_profiler_event *e;

	if (r->nr == r->room) {
		uint32_t room = r->room > XSR_MAX_EVENTS / 2 ? XSR_MAX_EVENTS :
				r->room ? r->room * 2 : 64;
		void *events = NULL;

		if (room > r->room)
			events = realloc(r->events, (size_t)room * sizeof(*e));
		if (!events)
			return NULL;
		r->events = events;
		r->room = room;
	}
	if (!name)
		return NULL;
	e = &r->events[r->nr++];
	*e = (struct xsprof_profiler_event){
		.result = r, .name = name, .begin = begin, .end = end > begin ? end : begin,
		.producer = b->ev->producer, .pid = b->ev->pid, .tid = b->ev->tid,
		.end_tid = b->ev->tid, .kind = kind, .parent = XSR_NONE, .child = XSR_NONE,
		.next = XSR_NONE,
	};
	return e;
}

/* Stores the arguments of the current record for event @index. */
int xsr_keep_args(struct xsr_builder *b, uint32_t index)
{
	const struct xsprof_event *ev = b->ev;
	struct xsr_thread *th = xsr_thread_get(&b->threads, ev->producer, ev->tid);
	struct xsprof_trace_arg arg;
	size_t pos = 0, from, size;
	struct xsr_piece *piece;

	if (!th)
		return -ENOMEM;
	if (ev->type != XSPROF_REC_ARGS) {
		th->more = index;
		th->tail = index == XSR_NONE ? NULL : b->r->events[index].args;
		while (th->tail && th->tail->next)
			th->tail = th->tail->next;
	}
	if (th->more == XSR_NONE || !xsprof_trace_args(ev, &pos, &arg))
		return 0;
	from = pos - sizeof(struct xsprof_arg) - (((size_t)arg.len + 15) & ~(size_t)15);
	size = ev->rec_size - from;
	piece = xsp_pool_get(&b->r->pool, sizeof(*piece) + size);
	if (!piece)
		return -ENOMEM;
	*piece = (struct xsr_piece){ .size = (uint32_t)(sizeof(*piece) + size) };
	memcpy(piece + 1, (const char *)ev->rec + from, size);
	*(th->tail ? &th->tail->next : &b->r->events[th->more].args) = piece;
	th->tail = piece;
	return 0;
}

/* Completes the event just added from the current record. */
int xsr_finish_event(struct xsr_builder *b, const struct xsprof_profiler_event *e)
{
	return e ? xsr_keep_args(b, (uint32_t)(e - b->r->events)) : -ENOMEM;
}
