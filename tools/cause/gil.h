/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes the records of the GIL to cause.h.
 */
#ifndef XSPROF_CAUSE_GIL_H
#define XSPROF_CAUSE_GIL_H

#include "cause/cause.h"

struct cause_gils;

/* Return: 0 or -ENOMEM. */
int cause_gils_new(const struct xsprof_trace *trace, struct cause *cause, struct cause_gils **out);
void cause_gils_free(struct cause_gils *gils);
/* A record of the thread with @key; call cause_marker() for it first. */
void cause_gils_event(struct cause_gils *gils, const struct xsprof_event *ev, uint64_t key);

#endif /* XSPROF_CAUSE_GIL_H */
