/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording shows of itself on stderr: a live line on a terminal, and the line that sums
 * it up.
 */
#ifndef XSPROF_PROGRESS_H
#define XSPROF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/drain.h"

/**
 * struct progress - a live line
 * @terminal: stderr is one that can rewrite a line
 * @live: there is one to be shown
 * @shown: it is on the terminal now
 * @start: when the recording began, CLOCK_MONOTONIC ns
 * @next: when it is due again
 */
struct progress {
	bool		terminal;
	bool		live;
	bool		shown;
	uint64_t	start;
	uint64_t	next;
};

/*
 * A live line, unless @quiet, stderr is no terminal that could rewrite one, or a command writes its
 * output to a terminal, where the line would be in the midst of it.
 */
void progress_begin(struct progress *p, bool quiet, bool command);

/* Shows it when it is due.  Return: ns until it is due again, UINT64_MAX for never. */
uint64_t progress_show(struct progress *p, const struct xsp_drain *d);

/* Wipes it, before anything else is written or for good: what follows begins a line. */
void progress_clear(struct progress *p);

/* Was anything lost, as the summary says it? */
bool progress_lost(const struct xsp_drain_stats *stats);

/**
 * progress_summary - "[ xsprof record: ... ]"
 * @verb: "record" or "recover"
 * @stats: what was recorded
 * @output: into what file
 */
void progress_summary(const char *verb, const struct xsp_drain_stats *stats, const char *did,
		      const char *output);

#endif /* XSPROF_PROGRESS_H */
