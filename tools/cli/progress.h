/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Progress of a recording on stderr: a live line on a terminal, and the summary line.
 */
#ifndef XSPROF_PROGRESS_H
#define XSPROF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/drain.h"

/**
 * struct progress - a live line
 * @terminal: stderr is a terminal that can rewrite a line
 * @live: a live line is wanted
 * @shown: the line is on the terminal now
 * @start: start of the recording, CLOCK_MONOTONIC ns
 * @next: time of the next update
 */
struct progress {
	bool		terminal;
	bool		live;
	bool		shown;
	uint64_t	start;
	uint64_t	next;
};

/*
 * Starts a live line, unless @quiet, stderr is not such a terminal, or a command writes to a
 * terminal, where the line would mix with its output.
 */
void progress_begin(struct progress *p, bool quiet, bool command);

/* Updates the line when due. Return: ns until the next update, UINT64_MAX for never. */
uint64_t progress_show(struct progress *p, const struct xsp_drain *d);

/* Clears the line, before other output or at the end. */
void progress_clear(struct progress *p);

/* Does the summary report losses? */
bool progress_lost(const struct xsp_drain_stats *stats);

/**
 * progress_summary - "[ xsprof record: ... ]"
 * @verb: "record" or "recover"
 * @stats: totals
 * @output: the file
 */
void progress_summary(const char *verb, const struct xsp_drain_stats *stats, const char *did,
		      const char *output);

#endif /* XSPROF_PROGRESS_H */
