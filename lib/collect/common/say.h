/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Messages of collectors to the user. Each collector is linked with its own copy; nothing is
 * exported.
 */
#ifndef XSPROF_COLLECT_SAY_H
#define XSPROF_COLLECT_SAY_H

/* Receives the lines, without newline; NULL: none. */
extern void (*collect_listener)(const char *line) __attribute__((visibility("hidden")));

/* Prints a line on standard error, or passes it to the listener. */
void collect_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* XSPROF_COLLECT_SAY_H */
