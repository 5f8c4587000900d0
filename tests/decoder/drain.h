/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a trace to its end as a careful user would, keeps copies of its events, and checks the
 * guarantees of trace.h for every trace, including hostile ones.
 */
#ifndef TESTS_DECODER_DRAIN_H
#define TESTS_DECODER_DRAIN_H

#include <xsprof/trace.h>

/* A copy of an event, and of its record. */
struct taken {
	struct xsprof_event	ev;
	uint8_t			rec[XSPROF_RECORD_SLOTS * XSPROF_SLOT_SIZE];
};

/**
 * struct drained - what a trace gave
 * @trace: that trace, while it is open
 * @list: events
 * @nr: how many
 * @open: what xsprof_trace_open() returned; all else is 0 then
 * @end: what the last xsprof_trace_next_batch() returned
 * @info: at the end
 * @warnings: how many
 * @text: the first of them, and the last error
 * @lost: sum of the LOST events that count records
 * @lost_slots: sum of those that count slots
 */
struct drained {
	const struct xsprof_trace	*trace;
	struct taken			*list;
	size_t				nr;
	int				open;
	int				end;
	struct xsprof_trace_info	info;
	unsigned int			warnings;
	char				text[600];
	char				error[600];
	uint64_t			lost;
	uint64_t			lost_slots;
};

/* @batch: events a call, 0 for xsprof_trace_next().  Breaches are reported by tap_wrong(). */
void drain(struct drained *d, const char *path, const struct xsprof_trace_options *opts,
	   size_t batch);
void drained_free(struct drained *d);
/* The rest of an open trace. */
void drain_open(struct drained *d, struct xsprof_trace *t, size_t batch);
/* Events of @type; the @nth of them. */
size_t drained_count(const struct drained *d, uint16_t type);
const struct taken *drained_at(const struct drained *d, uint16_t type, size_t nth);
/* Calls everything of trace.h on @t, with ids that exist and ids that do not. */
void touch(struct xsprof_trace *t);
/* Walks the arguments of @ev; Return: how many.  They must lie inside the record. */
size_t touch_args(const struct xsprof_event *ev);

#endif /* TESTS_DECODER_DRAIN_H */
