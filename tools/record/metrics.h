/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --metrics, --metrics-by and --metrics-hz: which counters of GPUs are read, of what, how often.
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
/* "device" or "kernel".  Return: as above. */
int metrics_take_by(const char *text, const char **by);
/* Whether these options fit together, @budget that of --gpu-budget.  Return: as above. */
int metrics_check(const char *metrics, const char *by, const char *hz, const char *budget);

#endif /* XSPROF_RECORD_METRICS_H */
