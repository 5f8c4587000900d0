/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What collectors tell the user: each is linked with its own copy, of which nothing is exported.
 */
#ifndef XSPROF_COLLECT_SAY_H
#define XSPROF_COLLECT_SAY_H

/* A line on standard error. */
void collect_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* XSPROF_COLLECT_SAY_H */
