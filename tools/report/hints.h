/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of a Python that other options of `xsprof report` show: counts for the hints above the
 * tables.
 */
#ifndef XSPROF_REPORT_HINTS_H
#define XSPROF_REPORT_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

struct report;

/**
 * struct report_hints - counts
 * @samples: samples that --by function shows
 * @missed: samples that failed
 * @gil_waits: waits for the GIL that --gil shows
 * @python: there are records of a Python
 */
struct report_hints {
	uint64_t	samples;
	uint64_t	missed;
	uint64_t	gil_waits;
	bool		python;
};

/* Counts an event of the time shown. */
void report_hints_event(struct report *report, const struct xsprof_event *ev);
void report_hints_print(const struct report *report);
/* Rows are by line or module, and the capture has stack samples but neither. */
bool report_hints_lack_places(const struct report *report);

#endif /* XSPROF_REPORT_HINTS_H */
