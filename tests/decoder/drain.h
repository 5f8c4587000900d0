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
 * struct drained - contents of a trace
 * @trace: that trace, while it is open
 * @list: events
 * @nr: number of events
 * @open: what xsprof_trace_open() returned; if it failed, all else is 0
 * @end: what the last xsprof_trace_next_batch() returned
 * @info: info at the end
 * @warnings: number of warnings
 * @text: the first warnings, and the last error
 * @lost: sum of the LOST events that count records
 * @lost_slots: sum of the LOST events that count slots
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

/* @batch: events per call, 0 for xsprof_trace_next(). Reports broken guarantees by tap_wrong(). */
void drain(struct drained *d, const char *path, const struct xsprof_trace_options *opts,
	   size_t batch);
void drained_free(struct drained *d);
/* Reads the rest of an open trace. */
void drain_open(struct drained *d, struct xsprof_trace *t, size_t batch);
/* Counts the events of @type; returns the @nth of them. */
size_t drained_count(const struct drained *d, uint16_t type);
const struct taken *drained_at(const struct drained *d, uint16_t type, size_t nth);
/* Makes every call of trace.h on @t, with ids that exist and ids that do not. */
void touch(struct xsprof_trace *t);
/* Walks the arguments of @ev, which must lie inside the record. Return: their number. */
size_t touch_args(const struct xsprof_event *ev);

#endif /* TESTS_DECODER_DRAIN_H */
