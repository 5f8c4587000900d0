/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of the kernel's tracer as text, for every output that has them: "prev_comm=a ..." as the
 * kernel itself prints it.  The common kinds are written here; libtraceevent does the others.
 */
#ifndef XSPROF_OUT_KERNEL_H
#define XSPROF_OUT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

/*
 * The most that xsp_kernel_info() writes: libtraceevent's 8192 bytes, each of which may become
 * four, or 64 fields with a name of 64 bytes and 128 bytes that become four each.
 */
#define XSP_KERNEL_ROOM	(40u << 10)

/**
 * struct xsp_kernel_kind - a kind of event, as outputs want it
 * @kind: as the trace describes it; NULL: it does not
 * @name: "sched_switch", or "event-372"
 * @name_len: bytes of it
 * @match: for the filter: 0 not looked at, 1 wanted, 2 not
 */
struct xsp_kernel_kind {
	const struct xsprof_kernel_event *kind;
	const char		*name;
	uint16_t		name_len;
	uint8_t			match;
	uint8_t			printer;
	uint16_t		at[7];		/* offsets of what the printer prints */
	uint16_t		least;		/* bytes that an event must have for it */
	char			text[48];
	bool			refused;	/* it ends the process that prints it */
};

struct xsp_kernel;

int xsp_kernel_new(const struct xsprof_trace *trace, struct xsp_kernel **kernel);
void xsp_kernel_free(struct xsp_kernel *kernel);

/* The event's kind; never NULL, and good until xsp_kernel_free(). */
struct xsp_kernel_kind *xsp_kernel_kind(struct xsp_kernel *kernel, const struct xsprof_event *ev);

/**
 * struct xsp_kernel_unprinted - events that could not be formatted, and were shown field by field
 * @events: how many
 * @kinds: of so many kinds, each of which crashed libtraceevent or did not end; 0: see @err
 * @name: one of them
 * @err: 0, or -errno: no process can be started that formats events
 */
struct xsp_kernel_unprinted {
	uint64_t		events;
	uint32_t		kinds;
	const char		*name;
	int			err;
};

void xsp_kernel_unprinted(const struct xsp_kernel *kernel, struct xsp_kernel_unprinted *out);

/*
 * Before xsp_kernel_info() of many events: a new batch, and each event that will be asked for, in
 * that order.  What must be formatted by libtraceevent is then formatted together (apart.h).
 */
void xsp_kernel_batch(struct xsp_kernel *kernel);
void xsp_kernel_soon(struct xsp_kernel *kernel, const struct xsprof_event *ev);

/* What the event says, at @p.  Return: its end. */
char *xsp_kernel_info(struct xsp_kernel *kernel, const struct xsprof_event *ev, char *p);

/*
 * The name of a task: "<idle>" for 0, "<...>" where nobody knows.  To be asked in the order of
 * the events, each of which was given to xsp_kernel_seen(): what they tell is remembered.
 */
const char *xsp_kernel_comm(struct xsp_kernel *kernel, uint32_t tid);
void xsp_kernel_seen(struct xsp_kernel *kernel, const struct xsprof_event *ev);

#endif /* XSPROF_OUT_KERNEL_H */
