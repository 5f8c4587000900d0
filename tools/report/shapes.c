// SPDX-License-Identifier: GPL-2.0-only
/*
 * The inputs and modules of ranges, for rows by these. Both are in the begin of an op, and its row
 * is found at its end: they are kept for each thread in between.
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

/**
 * struct shape_open - a range that is open
 * @begin: ns
 * @name: name id
 * @word: number of the text of its inputs, 0: none
 * @module: its module
 * @left: elements to come of a list among the inputs
 * @first: the next element is the list's first
 */
struct shape_open {
	uint64_t	begin;
	uint32_t	name;
	uint32_t	word;
	uint32_t	left;
	bool		first;
	struct report_module	module;
};

/**
 * struct shape_thread - a thread with ranges
 * @open: those that are open
 * @depth: their number
 * @room: capacity of @open
 * @fresh: the next record of the thread may continue the arguments of the innermost
 */
struct shape_thread {
	struct shape_open	*open;
	uint32_t		depth;
	uint32_t		room;
	bool			fresh;
};

/**
 * struct report_shapes - inputs of open ranges
 * @trace: the trace
 * @groups: holds the texts
 * @by: REPORT_BY_*
 * @flat: ranges inside others count as well
 * @modules: NULL if rows are not by module
 * @by_thread: index in @threads
 * @threads: threads
 * @nr: how many
 * @room: total capacity of all threads
 * @full: number of the text for inputs that do not fit
 * @crowded: ops whose inputs did not fit
 * @any: a range had inputs
 */
struct report_shapes {
	struct xsprof_trace	*trace;
	struct xsp_groups	*groups;
	unsigned int		by;
	bool			flat;
	struct report_modules	*modules;
	struct xsp_map		by_thread;
	struct shape_thread	*threads;
	uint32_t		nr;
	uint32_t		room;
	uint32_t		full;
	uint64_t		crowded;
	bool			any;
};

int report_shapes_new(struct xsprof_trace *trace, struct xsp_groups *groups, unsigned int by,
		      bool flat, struct report_shapes **shapes)
{
	*shapes = calloc(1, sizeof(**shapes));
	if (!*shapes)
		return -ENOMEM;
	(*shapes)->trace = trace;
	(*shapes)->groups = groups;
	(*shapes)->by = by;
	(*shapes)->flat = flat && !(by & REPORT_BY_NAME);
	(*shapes)->full = xsp_groups_intern(groups, "...", 3);
	return by & REPORT_BY_PLACE ? report_modules_new(trace, groups, by & REPORT_BY_LINE,
							 &(*shapes)->modules) : 0;
}

void report_shapes_free(struct report_shapes *shapes)
{
	if (!shapes)
		return;
	for (uint32_t i = 0; i < shapes->nr; i++)
		free(shapes->threads[i].open);
	free(shapes->threads);
	report_modules_free(shapes->modules);
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
	/* Capacity doubles at each power of two. */
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
	open = &th->open[th->depth++];
	*open = (struct shape_open){ .begin = ev->ns, .name = ev->name };
	if (shapes->modules)
		report_modules_begin(shapes->modules, ev, th->depth > 1 ? &open[-1].module : NULL,
				     &open->module);
	return true;
}

static bool is_item(const struct xsprof_trace_arg *arg)
{
	return arg->key >= XSPROF_KEY_ITEM && arg->key < XSPROF_KEY_ITEM + XSPROF_KEY_PLACES;
}

/* Also an element of a list. */
static bool is_input(const struct xsprof_trace_arg *arg)
{
	return (arg->key >= XSPROF_KEY_INPUT &&
		arg->key < XSPROF_KEY_INPUT + XSPROF_KEY_PLACES) || is_item(arg);
}

/* The value of a number is not a shape. */
static size_t put_input(const struct report_shapes *shapes, uint32_t producer,
			const struct xsprof_trace_arg *arg, char *p, size_t room)
{
	size_t len;
	char *end;

	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		/* Nor are strides. */
		len = xsprof_trace_arg_text(shapes->trace, producer, arg, p, room);
		end = memchr(p, ']', len);
		return end ? (size_t)(end + 1 - p) : len;
	case XSPROF_ARG_NONE:
		return xsprof_trace_arg_text(shapes->trace, producer, arg, p, room);
	default:
		return (size_t)snprintf(p, room, "-");
	}
}

static size_t put_comma(char *p, size_t len)
{
	if (len)
		memcpy(p + len, ", ", 2);
	return len ? len + 2 : 0;
}

/* A list of tensors is printed as "[...]", other lists as "-". Return: bytes written to @p. */
static size_t put_listed(const struct report_shapes *shapes, struct shape_open *open,
			 uint32_t producer, const struct xsprof_trace_arg *arg, char *p,
			 size_t len)
{
	if (arg->type == XSPROF_ARG_LIST) {
		open->left = (uint32_t)arg->u.u64;
		open->first = true;
		len = put_comma(p, len);
		memcpy(p + len, "[]", 2);
		return len + (open->left ? 1 : 2);
	}
	if (!open->left)
		return len;
	open->left--;
	if (open->first && arg->type != XSPROF_ARG_TENSOR) {
		/* Its other elements are ignored. */
		open->left = 0;
		p[len - 1] = '-';
		return len;
	}
	if (!open->first)
		len = put_comma(p, len);
	open->first = false;
	len += put_input(shapes, producer, arg, p + len, 200);
	if (!open->left)
		p[len++] = ']';
	return len;
}

/* Adds the inputs in a further record of the range. */
static void add_inputs(struct report_shapes *shapes, struct shape_thread *th,
		       const struct xsprof_event *ev)
{
	struct shape_open *open = &th->open[th->depth - 1];
	uint32_t *word = &open->word;
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
		/* A string in several records is one input. */
		if (!is_input(&arg) || arg.flags & XSPROF_ARGF_CONT)
			continue;
		if (arg.type == XSPROF_ARG_LIST || is_item(&arg)) {
			len = put_listed(shapes, open, ev->producer, &arg, text, len);
			continue;
		}
		len = put_comma(text, len);
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
	/* Ends of ranges that are too deep find no range. */
	if (begins) {
		th->fresh = push(shapes, th, ev);
		shapes->crowded += !th->fresh && ev->flags & XSPROF_EVF_OP;
		th->fresh = th->fresh && ev->flags & XSPROF_EVF_OP;
	} else if (ev->type != XSPROF_REC_ARGS && ev->type < XSPROF_REC_SCHED_IN) {
		th->fresh = false;
	}
	if (th->fresh && shapes->by & REPORT_BY_SHAPE)
		add_inputs(shapes, th, ev);
	if (th->fresh && !begins && shapes->modules)
		report_modules_args(shapes->modules, ev, &th->open[th->depth - 1].module);
}

bool report_shapes_any(const struct report_shapes *shapes)
{
	return shapes->any;
}

const struct report_modules *report_shapes_modules(const struct report_shapes *shapes)
{
	return shapes->modules;
}

/* Is a range of the same row open below @at? */
static bool is_inside(const struct report_shapes *shapes, const struct shape_thread *th,
		      uint32_t at, const struct shape_open *open)
{
	bool names = shapes->by & REPORT_BY_NAME, modules = shapes->by & REPORT_BY_PLACE;

	while (!shapes->flat && at--)
		if ((!names || th->open[at].name == open->name) &&
		    th->open[at].word == open->word &&
		    (!modules || th->open[at].module.word == open->module.word))
			return true;
	return false;
}

/* Removes a range; because of pauses it may be in the middle. */
static void take(struct report_shapes *shapes, struct shape_thread *th, uint32_t at)
{
	th->depth--;
	/* A pause by another thread, or the end of the process, ends it as well. */
	th->fresh &= at < th->depth;
	memmove(&th->open[at], &th->open[at + 1], (th->depth - at) * sizeof(th->open[0]));
	if (th->depth)
		return;
	/* Threads come and go: memory that is not used is freed. */
	shapes->room -= th->room;
	free(th->open);
	th->open = NULL;
	th->room = 0;
}

static bool is_in(const struct report_shapes *shapes, uint32_t module, uint32_t outer)
{
	while (module && module != outer)
		module = report_modules_outer(shapes->modules, module);
	return module;
}

/* The modules around its own to which it adds; ranges below @at are around it. */
static void find_outer(const struct report_shapes *shapes, const struct shape_thread *th,
		       uint32_t at, uint32_t module, struct report_range_words *words)
{
	uint32_t outer = module, i;

	if (shapes->flat)
		at = 0;
	/* The usual case: the range around it adds to all of them. */
	if (at && th->open[at - 1].module.word == module)
		return;
	while (words->nr_outer < REPORT_OUTER &&
	       (outer = report_modules_outer(shapes->modules, outer))) {
		for (i = at; i && !is_in(shapes, th->open[i - 1].module.word, outer); i--)
			;
		if (!i)
			words->outer[words->nr_outer++] = outer;
	}
}

/* Its module, and the modules around it. With names, a row is of one module. */
static void add_module(const struct report_shapes *shapes, const struct shape_thread *th,
		       uint32_t at, const struct shape_open *open,
		       struct report_range_words *words)
{
	words->module = open->module.word;
	if (shapes->modules && words->module && !(shapes->by & REPORT_BY_NAME))
		find_outer(shapes, th, at, words->module, words);
}

/* A range that was written at its end: open ranges are around it. */
static void of_whole(const struct report_shapes *shapes, const struct shape_thread *th,
		     const struct xsprof_range *range, struct report_range_words *words)
{
	struct shape_open open = { .name = range->name };

	if (range->kind != XSPROF_REC_COMPLETE || !th->depth ||
	    th->open[th->depth - 1].begin > range->begin_ns)
		return;
	open.module = th->open[th->depth - 1].module;
	add_module(shapes, th, th->depth, &open, words);
	words->inside = is_inside(shapes, th, th->depth, &open);
}

void report_shapes_of(struct report_shapes *shapes, const struct xsprof_range *range,
		      struct report_range_words *words)
{
	struct shape_thread *th = find(shapes, range->producer, range->tid);
	struct shape_open open;
	uint32_t at;

	*words = (struct report_range_words){ 0 };
	if (!th)
		return;
	if (range->kind != XSPROF_REC_BEGIN) {
		of_whole(shapes, th, range, words);
		return;
	}
	for (at = th->depth; at && th->open[at - 1].begin >= range->begin_ns; at--) {
		open = th->open[at - 1];
		if (open.begin != range->begin_ns || open.name != range->name)
			continue;
		words->inside = is_inside(shapes, th, at - 1, &open);
		words->shape = open.word;
		add_module(shapes, th, at - 1, &open, words);
		take(shapes, th, at - 1);
		return;
	}
}

uint64_t report_shapes_crowded(const struct report_shapes *shapes)
{
	return shapes->crowded + (shapes->modules ? report_modules_crowded(shapes->modules) : 0);
}
