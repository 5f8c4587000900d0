// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks open ranges: a stack for each thread inside a watched range, and watched async ranges.
 * Other threads cost nothing. It never reads a ring.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "watch/local.h"

static struct watch_thread *place(const struct watched *w, struct watch_thread *tab, uint32_t room,
				  uint32_t tid)
{
	uint32_t i = xsp_hash_place(tid, w->seed, room);

	while (tab[i].tid && tab[i].tid != tid)
		i = (i + 1) & (room - 1);
	return &tab[i];
}

/* Rehashes into a table of another size, without threads that have nothing open. */
static bool rehash(struct watched *w, uint32_t room)
{
	struct watch_thread *tab = calloc(room, sizeof(*tab));
	uint32_t i;

	if (!tab)
		return false;
	w->nr_threads = 0;
	for (i = 0; i < w->room_threads; i++) {
		struct watch_thread *t = &w->threads[i];

		if (!t->tid || !t->depth) {
			free(t->open);
			continue;
		}
		*place(w, tab, room, t->tid) = *t;
		w->nr_threads++;
	}
	free(w->threads);
	w->threads = tab;
	w->room_threads = room;
	return true;
}

static struct watch_thread *find(struct watched *w, uint32_t tid)
{
	struct watch_thread *t;

	if (!w->room_threads)
		return NULL;
	t = place(w, w->threads, w->room_threads, tid);
	return t->tid ? t : NULL;
}

static struct watch_thread *make(struct watched *w, uint32_t tid)
{
	struct watch_thread *t = find(w, tid);

	if (t || !tid)
		return t;
	/* Never completely full, so that every search ends. */
	if (2 * w->nr_threads >= w->room_threads) {
		uint32_t room = w->room_threads ? w->room_threads : 64;

		if (!rehash(w, room))
			return NULL;
		if (2 * w->nr_threads >= room && (w->nr_threads >= WATCH_THREADS ||
						  !rehash(w, 2 * room)))
			return NULL;
	}
	t = place(w, w->threads, w->room_threads, tid);
	t->tid = tid;
	w->nr_threads++;
	return t;
}

static void push(struct watch_thread *t, const struct xsprof_rec *rec, bool watched)
{
	if (t->depth == WATCH_DEPTH) {
		t->deep++;
		return;
	}
	if (t->depth == t->room) {
		uint32_t room = t->room ? 2 * t->room : 8;
		struct watch_open *open = realloc(t->open, room * sizeof(*open));

		if (!open) {
			t->deep++;
			return;
		}
		t->open = open;
		t->room = room;
	}
	t->open[t->depth++] = (struct watch_open){
		.begin = rec->ts, .name = rec->name, .watched = watched,
	};
}

static void begin(struct watched *w, const struct xsprof_rec *rec)
{
	bool watched = watch_is_name(w, rec->name);
	struct watch_thread *t = watched ? make(w, rec->tid) : find(w, rec->tid);

	if (t && (watched || t->depth))
		push(t, rec, watched);
}

static void end(struct watched *w, const struct xsprof_rec *rec)
{
	struct watch_thread *t = find(w, rec->tid);
	uint32_t at;

	if (!t || !t->depth)
		return;
	if (t->deep) {
		t->deep--;
		return;
	}
	at = t->depth;
	if (rec->name) {
		while (at && t->open[at - 1].name != rec->name)
			at--;
		/* The end of a range outside of all watched ones, or without a begin. */
		if (!at)
			return;
	}
	t->depth = rec->name ? at - 1 : t->depth - 1;
}

static void async_begin(struct watched *w, const struct xsprof_rec *rec)
{
	if (!watch_is_name(w, rec->name) || w->nr_async == WATCH_ASYNC)
		return;
	w->async[w->nr_async++] = (struct watch_open){
		.begin = rec->ts, .id = rec->value, .name = rec->name, .watched = true,
	};
}

static void async_end(struct watched *w, const struct xsprof_rec *rec)
{
	uint32_t i = w->nr_async;

	while (i--) {
		if (w->async[i].id != rec->value || w->async[i].name != rec->name)
			continue;
		w->async[i] = w->async[--w->nr_async];
		return;
	}
}

/* Ranges open when markers are disabled get no end: drop them and the ranges inside. */
static void control(struct watched *w, const struct xsprof_rec *rec)
{
	uint64_t enabled = rec->aux == XSPROF_CONTROL_PAUSE ? 0 : rec->value;
	uint32_t i, at;

	for (i = 0; i < w->room_threads; i++) {
		struct watch_thread *t = &w->threads[i];

		for (at = 0; at < t->depth; at++)
			if (!(enabled >> (t->open[at].name >> XSPROF_NAME_SHIFT) & 1))
				break;
		if (at < t->depth)
			t->depth = t->deep = 0;
	}
	for (i = 0; i < w->nr_async; )
		if (enabled >> (w->async[i].name >> XSPROF_NAME_SHIFT) & 1)
			i++;
		else
			w->async[i] = w->async[--w->nr_async];
}

/*
 * After lost records, a thread that keeps writing may have ended its ranges: its open ranges are
 * unknown. A silent thread is most likely still in them.
 */
static void moved_on(struct watched *w, uint32_t tid)
{
	struct watch_thread *t = find(w, tid);

	if (t && t->depth && t->open[0].unsure)
		t->depth = t->deep = 0;
}

void watch_record(struct watched *w, const struct xsprof_rec *rec)
{
	switch (rec->type) {
	case XSPROF_REC_BEGIN:
	case XSPROF_REC_OP:
		moved_on(w, rec->tid);
		begin(w, rec);
		break;
	case XSPROF_REC_END:
		moved_on(w, rec->tid);
		end(w, rec);
		break;
	case XSPROF_REC_ASYNC_BEGIN:
		async_begin(w, rec);
		break;
	case XSPROF_REC_ASYNC_END:
		async_end(w, rec);
		break;
	case XSPROF_REC_CONTROL:
		if (rec->aux >= XSPROF_CONTROL_ENABLE && rec->aux <= XSPROF_CONTROL_RESUME)
			control(w, rec);
		break;
	}
}

void watch_lost(struct watched *w)
{
	uint32_t i, at;

	for (i = 0; i < w->room_threads; i++)
		for (at = 0; at < w->threads[i].depth; at++)
			w->threads[i].open[at].unsure = true;
	for (i = 0; i < w->nr_async; i++)
		w->async[i].unsure = true;
}

void watch_quiet(struct watched *w, uint64_t ticks)
{
	uint32_t i, at;

	for (i = 0; i < w->room_threads; i++) {
		struct watch_thread *t = &w->threads[i];

		for (at = 0; at < t->depth && t->open[at].begin <= ticks; at++)
			;
		if (!at)
			continue;
		t->depth -= at;
		t->deep = 0;
		memmove(t->open, t->open + at, t->depth * sizeof(*t->open));
	}
	for (i = 0; i < w->nr_async; )
		if (w->async[i].begin > ticks)
			i++;
		else
			w->async[i] = w->async[--w->nr_async];
}

void watch_check(struct watched *w, uint64_t now, uint64_t ticks, double ns_per_tick)
{
	char buf[XSPROF_TEXT_MAX + 1];
	struct watch_stall stall;
	struct watch_open *open;
	uint32_t i, at;

	for (i = 0; i < w->room_threads + w->nr_async; i++) {
		bool thread = i < w->room_threads;
		uint32_t n = thread ? w->threads[i].depth : 1;

		for (at = 0; at < n; at++) {
			open = thread ? &w->threads[i].open[at] : &w->async[i - w->room_threads];
			if (!open->watched || open->told || now < open->begin ||
			    now - open->begin < ticks)
				continue;
			open->told = true;
			stall.name = watch_text_of(w, open->name, buf);
			stall.tid = thread ? w->threads[i].tid : 0;
			stall.open_ns = (uint64_t)((double)(now - open->begin) * ns_per_tick);
			stall.unsure = open->unsure;
			w->watch->stalled(w->watch->data, &stall);
		}
	}
}

void watch_threads_free(struct watched *w)
{
	uint32_t i;

	for (i = 0; i < w->room_threads; i++)
		free(w->threads[i].open);
	free(w->threads);
}
