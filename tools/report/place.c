// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where in the program ops were called: see place.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/local.h"
#include "report/place.h"
#include "text/json.h"

/* An op, and its module and line: name ids of its process, 0: none. */
struct place {
	struct report_op	op;
	uint32_t		module;
	uint32_t		line;
};

/**
 * struct report_places - requested places
 * @list: sorted by the begins of their ops
 * @nr: number of places
 * @next: the first whose op has not begun
 * @open: places whose op's record continues
 * @nr_open: their number
 */
struct report_places {
	struct place	*list;
	size_t		nr;
	size_t		next;
	size_t		*open;
	size_t		nr_open;
};

int report_places_new(size_t n, struct report_places **places)
{
	*places = calloc(1, sizeof(**places));
	if (!*places)
		return -ENOMEM;
	(*places)->list = calloc(n + 1, sizeof(struct place));
	(*places)->open = calloc(n + 1, sizeof(size_t));
	return (*places)->list && (*places)->open ? 0 : -ENOMEM;
}

void report_places_free(struct report_places *places)
{
	if (!places)
		return;
	free(places->list);
	free(places->open);
	free(places);
}

void report_places_ask(struct report_places *places, const struct report_op *op)
{
	places->list[places->nr++].op = *op;
}

static int compare(const void *pa, const void *pb)
{
	const struct report_op *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->producer != b->producer)
		return a->producer < b->producer ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

void report_places_begin(struct report_places *places)
{
	/* The op is the first member of struct place. */
	qsort(places->list, places->nr, sizeof(*places->list), compare);
}

/* ---- the second reading --------------------------------------------------------------------- */

/* Return: the next record of the thread continues this one. */
static bool take(struct place *place, const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (xsprof_trace_args(ev, &pos, &arg)) {
		if (arg.type != XSPROF_ARG_NAME)
			continue;
		if (arg.key == XSPROF_KEY_MODULE)
			place->module = (uint32_t)arg.u.u64;
		else if (arg.key == XSPROF_KEY_LINE)
			place->line = (uint32_t)arg.u.u64;
	}
	return ev->rec && ev->rec->size >> 4 & XSPROF_RECF_MORE;
}

static void go_on(struct report_places *places, const struct xsprof_event *ev)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->nr_open; i++) {
		struct place *place = &places->list[places->open[i]];

		if (place->op.producer != ev->producer || place->op.tid != ev->tid ||
		    (ev->type == XSPROF_REC_ARGS && take(place, ev)))
			places->open[kept++] = places->open[i];
	}
	places->nr_open = kept;
}

void report_places_event(struct report_places *places, const struct xsprof_event *ev)
{
	const struct report_op op = {
		.begin = ev->ns, .producer = ev->producer, .tid = ev->tid, .name = ev->name,
	};

	if (places->nr_open && ev->rec && ev->type < XSPROF_REC_SCHED_IN)
		go_on(places, ev);
	if (ev->type != XSPROF_REC_BEGIN || !(ev->flags & XSPROF_EVF_OP))
		return;
	while (places->next < places->nr && places->list[places->next].op.begin < ev->ns)
		places->next++;
	for (size_t i = places->next; i < places->nr && places->list[i].op.begin == ev->ns; i++)
		if (!compare(&places->list[i].op, &op) && take(&places->list[i], ev))
			places->open[places->nr_open++] = i;
}

/* ---- what is known -------------------------------------------------------------------------- */

static const struct place *find(const struct report_places *places, const struct report_op *op)
{
	if (!places || !places->nr)
		return NULL;
	return bsearch(op, places->list, places->nr, sizeof(*places->list), compare);
}

static bool print_name(const char *before, const struct xsprof_trace *trace, uint32_t producer,
		       uint32_t name)
{
	size_t len;
	const char *s = xsprof_trace_name_len(trace, producer, name, &len);

	if (!name)
		return false;
	fputs(before, stdout);
	report_print_text(s, len, 0);
	return true;
}

void report_print_place(const struct xsprof_trace *trace, const struct report_places *places,
			const struct report_op *op)
{
	const struct place *place = find(places, op);
	bool module;

	if (!place)
		return;
	module = print_name(" (module ", trace, op->producer, place->module);
	if (print_name(module ? ", line " : " (line ", trace, op->producer, place->line) || module)
		putchar(')');
}

static void json_name(const char *key, const struct xsprof_trace *trace, uint32_t producer,
		      uint32_t name)
{
	size_t len;
	const char *s = xsprof_trace_name_len(trace, producer, name, &len);

	if (!name)
		return;
	printf(",\"%s\":", key);
	xsp_json_print(stdout, s, len);
}

void report_json_place(const struct xsprof_trace *trace, const struct report_places *places,
		       const struct report_op *op)
{
	const struct place *place = find(places, op);

	if (!place)
		return;
	json_name("module", trace, op->producer, place->module);
	json_name("line", trace, op->producer, place->line);
}
