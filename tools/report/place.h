/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in the program ops were called, for ops that are shown one by one: each is requested by its
 * begin, and found while the trace is read once more. Rows by module and line are in modules.c.
 */
#ifndef XSPROF_REPORT_PLACE_H
#define XSPROF_REPORT_PLACE_H

#include <stddef.h>

#include <xsprof/trace.h>

struct report_places;

/* Identifies an op. */
struct report_op {
	uint64_t	begin;		/* ns */
	uint32_t	producer;
	uint32_t	tid;
	uint32_t	name;
};

/* For up to @n ops. Return: 0 or -ENOMEM. */
int report_places_new(size_t n, struct report_places **places);
void report_places_free(struct report_places *places);
void report_places_ask(struct report_places *places, const struct report_op *op);
/* To be called after all requests, before the first event. */
void report_places_begin(struct report_places *places);
/* Handles an event of a program, in order of time. */
void report_places_event(struct report_places *places, const struct xsprof_event *ev);

/* " (module Net.stem, line train.py(12): train)"; nothing if neither is known. */
void report_print_place(const struct xsprof_trace *trace, const struct report_places *places,
			const struct report_op *op);
/* ",\"module\":\"Net.stem\",\"line\":..." */
void report_json_place(const struct xsprof_trace *trace, const struct report_places *places,
		       const struct report_op *op);

#endif /* XSPROF_REPORT_PLACE_H */
