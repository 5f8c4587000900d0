/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that calls libtraceevent (library.h) for a dump. A capture's description of an event
 * may crash the library or make it loop, perhaps for some values only: so a separate process
 * formats all events, many at a time. If that process dies, or works on one event for two seconds,
 * a new one continues after that event, and no event of its kind is requested again.
 */
#ifndef XSPROF_OUT_APART_H
#define XSPROF_OUT_APART_H

#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#define XSP_APART_EVENTS	256u	/* in a batch */

struct xsp_apart;
struct xsp_kernel_kind;

/* Return: 0 or -ENOMEM. */
int xsp_apart_new(const struct xsprof_trace *trace, struct xsp_apart **apart);
void xsp_apart_free(struct xsp_apart *apart);

/* Ends the previous batch; the events of the next are added in the order of their use. */
void xsp_apart_begin(struct xsp_apart *apart);
/* Events that are too long, or too many, are requested alone later. */
void xsp_apart_add(struct xsp_apart *apart, struct xsp_kernel_kind *kind,
		   const struct xsprof_event *ev);

/*
 * The text of @ev, added before or not; valid until the next call. NULL: none.
 */
const char *xsp_apart_text(struct xsp_apart *apart, struct xsp_kernel_kind *kind,
			   const struct xsprof_event *ev, size_t *len);

/* Number of kinds that killed the process, and the name of one. */
uint32_t xsp_apart_refused(const struct xsp_apart *apart, const char **name);
/* Why no process can be started: -errno, or 0. */
int xsp_apart_error(const struct xsp_apart *apart);

#endif /* XSPROF_OUT_APART_H */
