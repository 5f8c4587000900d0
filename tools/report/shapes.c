// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ranges had as inputs, for rows by shape.  An op's inputs are in its begin, and its row is
 * found when it ends: between the two its thread keeps them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/local.h"

#define THREADS_MAX	16384u
#define DEPTH_MAX	512u
#define OPEN_MAX	(1u << 20)	/* of all threads */
#define TEXT_MAX	1024u

struct shape_open {
	uint64_t	begin;
	uint32_t	name;
	uint32_t	word;
};

/**
 * struct shape_thread - a thread with ranges
 * @open: those that are open
 * @depth: how many
 * @room: room in @open
 * @fresh: the innermost one's arguments may go on in the thread's next record
 */
struct shape_thread {
	struct shape_open	*open;
	uint32_t		depth;
	uint32_t		room;
	bool			fresh;
};

/**
 * struct report_shapes - inputs of ranges that are open
 * @trace: the trace
 * @groups: texts are theirs
 * @by_thread: places of threads
 * @threads: those
 * @nr: how many
 * @room: room for ranges of all of them
 * @full: text for inputs that there was no room for
 * @crowded: ops with inputs that there was no room for
 * @any: a range had inputs
 */
struct report_shapes {
	struct xsprof_trace	*trace;
	struct xsp_groups	*groups;
	struct xsp_map		by_thread;
	struct shape_thread	*threads;
	uint32_t		nr;
	uint32_t		room;
	uint32_t		full;
	uint64_t		crowded;
	bool			any;
};

int report_shapes_new(struct xsprof_trace *trace, struct xsp_groups *groups,
		      struct report_shapes **shapes)
{
	*shapes = calloc(1, sizeof(**shapes));
	if (!*shapes)
		return -ENOMEM;
	(*shapes)->trace = trace;
	(*shapes)->groups = groups;
	(*shapes)->full = xsp_groups_intern(groups, "...", 3);
	return 0;
}

void report_shapes_free(struct report_shapes *shapes)
{
	if (!shapes)
		return;
	for (uint32_t i = 0; i < shapes->nr; i++)
		free(shapes->threads[i].open);
	free(shapes->threads);
	xsp_map_free(&shapes->by_thread);
	free(shapes);
}

static uint64_t key_of(uint32_t producer, uint32_t tid)
{
	return ((uint64_t)producer + 1) << 32 | tid;
}

static struct shape_thread *find(const struct report_shapes *shapes, uint32_t producer,
				 uint32_t tid)
{
	const uint64_t *at = xsp_map_get(&shapes->by_thread, key_of(producer, tid));

	return at ? &shapes->threads[*at] : NULL;
}

static struct shape_thread *get(struct report_shapes *shapes, const struct xsprof_event *ev)
{
	struct shape_thread *th = find(shapes, ev->producer, ev->tid);

	if (th || shapes->nr == THREADS_MAX)
		return th;
	/* Room doubles at each power of two. */
	if (!(shapes->nr & (shapes->nr - 1))) {
		th = realloc(shapes->threads, (shapes->nr ? shapes->nr * 2 : 1) * sizeof(*th));
		if (!th)
			return NULL;
		shapes->threads = th;
	}
	if (xsp_map_set(&shapes->by_thread, key_of(ev->producer, ev->tid), shapes->nr))
		return NULL;
	th = &shapes->threads[shapes->nr++];
	*th = (struct shape_thread){ 0 };
	return th;
}

static bool push(struct report_shapes *shapes, struct shape_thread *th,
		 const struct xsprof_event *ev)
{
	struct shape_open *open;
	uint32_t room;

	if (th->depth == th->room) {
		room = th->room ? th->room * 2 : 16;
		if (room > DEPTH_MAX || shapes->room + room > OPEN_MAX)
			return false;
		open = realloc(th->open, room * sizeof(*open));
		if (!open)
			return false;
		shapes->room += room - th->room;
		th->open = open;
		th->room = room;
	}
	th->open[th->depth++] = (struct shape_open){ .begin = ev->ns, .name = ev->name };
	return true;
}

/* Also one of a list. */
static bool is_input(const struct xsprof_trace_arg *arg)
{
	return (arg->key >= XSPROF_KEY_INPUT &&
		arg->key < XSPROF_KEY_INPUT + XSPROF_KEY_PLACES) ||
	       (arg->key >= XSPROF_KEY_ITEM && arg->key < XSPROF_KEY_ITEM + XSPROF_KEY_PLACES);
}

/* Of a number its value is no shape. */
static size_t put_input(const struct report_shapes *shapes, uint32_t producer,
			const struct xsprof_trace_arg *arg, char *p, size_t room)
{
	size_t len;
	char *end;

	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		/* Strides are no shape either. */
		len = xsprof_trace_arg_text(shapes->trace, producer, arg, p, room);
		end = memchr(p, ']', len);
		return end ? (size_t)(end + 1 - p) : len;
	case XSPROF_ARG_LIST:
	case XSPROF_ARG_NONE:
		return xsprof_trace_arg_text(shapes->trace, producer, arg, p, room);
	default:
		return (size_t)snprintf(p, room, "-");
	}
}

/* The inputs in a record behind those that the range has. */
static void add_inputs(struct report_shapes *shapes, struct shape_thread *th,
		       const struct xsprof_event *ev)
{
	uint32_t *word = &th->open[th->depth - 1].word;
	struct xsprof_trace_arg arg;
	char text[TEXT_MAX + 256];
	size_t len = 0, pos = 0, had;
	const char *old;

	if (*word && *word == shapes->full)
		return;
	if (*word) {
		old = xsp_groups_word(shapes->groups, *word, &len);
		len = len < TEXT_MAX ? len : TEXT_MAX;
		memcpy(text, old, len);
	}
	had = len;
	while (xsprof_trace_args(ev, &pos, &arg) && len < TEXT_MAX) {
		/* A string that goes on is one input. */
		if (!is_input(&arg) || arg.flags & XSPROF_ARGF_CONT)
			continue;
		if (len) {
			memcpy(text + len, ", ", 2);
			len += 2;
		}
		len += put_input(shapes, ev->producer, &arg, text + len, 200);
	}
	if (len == had)
		return;
	if (len >= TEXT_MAX)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ", ...");
	shapes->any = true;
	*word = xsp_groups_intern(shapes->groups, text, len);
	if (*word)
		return;
	*word = shapes->full;
	shapes->crowded++;
}

void report_shapes_event(struct report_shapes *shapes, const struct xsprof_event *ev)
{
	bool begins = ev->type == XSPROF_REC_BEGIN;
	struct shape_thread *th;

	th = begins ? get(shapes, ev) : find(shapes, ev->producer, ev->tid);
	if (!th) {
		shapes->crowded += begins && ev->flags & XSPROF_EVF_OP;
		return;
	}
	/* The ends of those that are too deep find nothing. */
	if (begins) {
		th->fresh = push(shapes, th, ev);
		shapes->crowded += !th->fresh && ev->flags & XSPROF_EVF_OP;
		th->fresh = th->fresh && ev->flags & XSPROF_EVF_OP;
	} else if (ev->type != XSPROF_REC_ARGS && ev->type < XSPROF_REC_SCHED_IN) {
		th->fresh = false;
	}
	if (th->fresh)
		add_inputs(shapes, th, ev);
}

bool report_shapes_any(const struct report_shapes *shapes)
{
	return shapes->any;
}

/* Is a range of that name with these inputs open at or below @at? */
static bool is_inside(const struct shape_thread *th, uint32_t at, const struct shape_open *open)
{
	while (at--)
		if (th->open[at].name == open->name && th->open[at].word == open->word)
			return true;
	return false;
}

/* Takes it out of those that are open: of a pause it may be in the middle. */
static void take(struct report_shapes *shapes, struct shape_thread *th, uint32_t at)
{
	th->depth--;
	memmove(&th->open[at], &th->open[at + 1], (th->depth - at) * sizeof(th->open[0]));
	if (th->depth)
		return;
	/* Threads come and go: what is not needed is given back. */
	shapes->room -= th->room;
	free(th->open);
	th->open = NULL;
	th->room = 0;
}

uint32_t report_shapes_of(struct report_shapes *shapes, const struct xsprof_range *range,
			  bool *inside)
{
	struct shape_thread *th = find(shapes, range->producer, range->tid);
	struct shape_open open;
	uint32_t at;

	*inside = false;
	if (!th || range->kind != XSPROF_REC_BEGIN)
		return 0;
	for (at = th->depth; at && th->open[at - 1].begin >= range->begin_ns; at--) {
		open = th->open[at - 1];
		if (open.begin != range->begin_ns || open.name != range->name)
			continue;
		*inside = is_inside(th, at - 1, &open);
		take(shapes, th, at - 1);
		return open.word;
	}
	return 0;
}

uint64_t report_shapes_crowded(const struct report_shapes *shapes)
{
	return shapes->crowded;
}
