/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --metrics and --metrics-hz: which counters of GPUs are sampled, and how often.
 */
#ifndef XSPROF_RECORD_METRICS_H
#define XSPROF_RECORD_METRICS_H

/*
 * --metrics' argument, NULL for the default.  Return: -1; TOOL_USAGE after a message; an exit
 * status, when what there is was asked for and printed.
 */
int metrics_take(const char *text, const char **metrics);
/* Return: -1, or TOOL_USAGE after a message. */
int metrics_take_hz(const char *text, const char **hz);

#endif /* XSPROF_RECORD_METRICS_H */
