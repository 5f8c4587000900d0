/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What collectors tell the user: each is linked with its own copy, of which nothing is exported.
 */
#ifndef XSPROF_COLLECT_SAY_H
#define XSPROF_COLLECT_SAY_H

/* NULL, or who gets the lines, without their end. */
extern void (*collect_listener)(const char *line) __attribute__((visibility("hidden")));

/* A line on standard error, unless there is a listener. */
void collect_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* XSPROF_COLLECT_SAY_H */
