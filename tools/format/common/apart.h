/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that calls libtraceevent (library.h) for a dump.  What a capture says of an event may
 * crash the library or never end, and may do so for some values only: so it prints every event in
 * a process of its own, many at a time.  When that process dies, or works on one event for two
 * seconds, a new one goes on behind that event, and no event of its kind is asked for again.
 */
#ifndef XSPROF_OUT_APART_H
#define XSPROF_OUT_APART_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#define XSP_APART_EVENTS	256u	/* that are printed together */

struct xsp_apart;
struct xsp_kernel_kind;

/* Return: 0 or -ENOMEM. */
int xsp_apart_new(const struct xsprof_trace *trace, struct xsp_apart **apart);
void xsp_apart_free(struct xsp_apart *apart);

/* Ends the batch that was; the events of the next are added in the order in which they are used. */
void xsp_apart_begin(struct xsp_apart *apart);
/* What is too long, or too many, is asked for alone later. */
void xsp_apart_add(struct xsp_apart *apart, struct xsp_kernel_kind *kind,
		   const struct xsprof_event *ev);

/*
 * The text of @ev, added before or not; good until the next call.  NULL: it has none.
 */
const char *xsp_apart_text(struct xsp_apart *apart, struct xsp_kernel_kind *kind,
			   const struct xsprof_event *ev, size_t *len);

/* Kinds that ended the process, and one of them. */
uint32_t xsp_apart_refused(const struct xsp_apart *apart, const char **name);
/* Why no process could be started, or 0: -errno. */
int xsp_apart_error(const struct xsp_apart *apart);

#endif /* XSPROF_OUT_APART_H */
