/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of the kernel's tracer as text, for all outputs: "prev_comm=a ..." as the kernel itself
 * prints it. Common kinds are formatted here, the others by libtraceevent.
 */
#ifndef XSPROF_OUT_KERNEL_H
#define XSPROF_OUT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

/*
 * The most that xsp_kernel_info() writes: the 8192 bytes of libtraceevent, each of which may become
 * four, or 64 fields with a name of 64 bytes and 128 bytes that become four each.
 */
#define XSP_KERNEL_ROOM	(40u << 10)

/**
 * struct xsp_kernel_kind - a kind of event, prepared for outputs
 * @kind: its description in the trace; NULL: none
 * @name: "sched_switch", or "event-372"
 * @name_len: bytes of it
 * @match: result of the filter: 0 not tested, 1 matches, 2 does not
 */
struct xsp_kernel_kind {
	const struct xsprof_kernel_event *kind;
	const char		*name;
	uint16_t		name_len;
	uint8_t			match;
	uint8_t			printer;
	uint16_t		at[7];		/* offsets of the fields for the printer */
	uint16_t		least;		/* minimum bytes of an event */
	char			text[48];
	bool			refused;	/* it kills the formatting process */
};

struct xsp_kernel;

int xsp_kernel_new(const struct xsprof_trace *trace, struct xsp_kernel **kernel);
void xsp_kernel_free(struct xsp_kernel *kernel);

/* The event's kind; never NULL, valid until xsp_kernel_free(). */
struct xsp_kernel_kind *xsp_kernel_kind(struct xsp_kernel *kernel, const struct xsprof_event *ev);

/**
 * struct xsp_kernel_unprinted - events that could not be formatted, and are shown field by field
 * @events: number of events
 * @kinds: number of kinds that crashed libtraceevent or did not end; 0: see @err
 * @name: name of one kind
 * @err: 0, or -errno: the formatting process cannot be started
 */
struct xsp_kernel_unprinted {
	uint64_t		events;
	uint32_t		kinds;
	const char		*name;
	int			err;
};

void xsp_kernel_unprinted(const struct xsp_kernel *kernel, struct xsp_kernel_unprinted *out);

/*
 * Before xsp_kernel_info() of many events: begins a batch, and adds each event that will be
 * requested, in that order. The events for libtraceevent are then formatted together (apart.h).
 */
void xsp_kernel_batch(struct xsp_kernel *kernel);
void xsp_kernel_soon(struct xsp_kernel *kernel, const struct xsprof_event *ev);

/* Formats the event at @p. Return: the end. */
char *xsp_kernel_info(struct xsp_kernel *kernel, const struct xsprof_event *ev, char *p);

/*
 * The name of a task: "<idle>" for 0, "<...>" if not known. To be called in the order of the
 * events, after xsp_kernel_seen() for each: names in events are remembered.
 */
const char *xsp_kernel_comm(struct xsp_kernel *kernel, uint32_t tid);
void xsp_kernel_seen(struct xsp_kernel *kernel, const struct xsprof_event *ev);

#endif /* XSPROF_OUT_KERNEL_H */
