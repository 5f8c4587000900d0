/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Events of the kernel's tracer in a trace: kinds, fields, tasks.  Part of <xsprof/trace.h>, which
 * includes it.
 */
#ifndef XSPROF_TRACE_KERNEL_H
#define XSPROF_TRACE_KERNEL_H

#include <xsprof/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the kernel's tracer -------------------------------------------------------------------- */

#define XSPROF_KFIELD_SIGNED	0x1u
#define XSPROF_KFIELD_ARRAY	0x2u	/* @size bytes of elements */
#define XSPROF_KFIELD_STRING	0x4u	/* of char */
#define XSPROF_KFIELD_DYNAMIC	0x8u	/* a __data_loc word: offset and length of the data */

/**
 * struct xsprof_kernel_field - a field of a kernel event
 * @name: its name
 * @type: as the kernel writes it
 * @offset: bytes from the event's start
 * @size: bytes
 * @flags: XSPROF_KFIELD_*
 */
struct xsprof_kernel_field {
	const char	*name;
	const char	*type;
	uint16_t	offset;
	uint16_t	size;
	uint32_t	flags;
};

/**
 * struct xsprof_kernel_event - a kind of event
 * @system: "sched"
 * @name: "sched_switch"
 * @id: as in struct xsprof_event.name
 * @nr_fields: how many
 * @fields: the fields, the common ones first
 * @format: the kernel's format description
 * @format_len: bytes of it
 */
struct xsprof_kernel_event {
	const char			*system;
	const char			*name;
	uint32_t			id;
	uint32_t			nr_fields;
	const struct xsprof_kernel_field *fields;
	const char			*format;
	size_t				format_len;
};

/* A kind by its id or its names; NULL if the trace does not have it. Valid until close. */
const struct xsprof_kernel_event *xsprof_trace_kernel_event(const struct xsprof_trace *trace,
							    uint32_t id);
const struct xsprof_kernel_event *xsprof_trace_kernel_find(const struct xsprof_trace *trace,
							   const char *system, const char *name);
/* The next kind after @id in the order of ids, UINT32_MAX for the first; NULL after the last. */
const struct xsprof_kernel_event *xsprof_trace_kernel_next(const struct xsprof_trace *trace,
							   uint32_t id);
/* A field by its name; NULL if there is none. */
const struct xsprof_kernel_field *xsprof_kernel_field(const struct xsprof_kernel_event *kind,
						      const char *name);

/**
 * xsprof_kernel_value() - a field of an event as a number
 * @ev: event of type XSPROF_EV_KERNEL
 * @field: of its kind; NULL is no field
 * @value: set to the value, sign-extended if the field is signed
 *
 * Return: false if the event is too short, or the field is not a number.
 */
bool xsprof_kernel_value(const struct xsprof_event *ev, const struct xsprof_kernel_field *field,
			 uint64_t *value);
/**
 * xsprof_kernel_bytes() - the bytes of a field, fixed or dynamic
 * @ev: event of type XSPROF_EV_KERNEL
 * @field: of its kind; NULL is no field
 * @len: set to how many; of a string, those before its end
 *
 * Return: a pointer into the event; NULL if the event is too short.
 */
const char *xsprof_kernel_bytes(const struct xsprof_event *ev,
				const struct xsprof_kernel_field *field, size_t *len);

/* A task's name, "" if not known; and its process id, 0 if not known. */
const char *xsprof_trace_comm(const struct xsprof_trace *trace, uint32_t tid);
uint32_t xsprof_trace_tgid(const struct xsprof_trace *trace, uint32_t tid);
/**
 * xsprof_trace_kernel_tid() - thread id in kernel events of a thread of a program
 * @trace: handle
 * @producer: its producer
 * @tid: thread id as its records have it
 *
 * The two are the same unless the program or the recorder was in a pid namespace: then they are
 * matched by which task ran on which CPU, before the first event is returned.
 *
 * Return: the kernel's thread id; 0 if not known, or if no event was requested yet.
 */
uint32_t xsprof_trace_kernel_tid(const struct xsprof_trace *trace, uint32_t producer,
				 uint32_t tid);
/* Text number @index of saved symbols, lines "address name"; NULL past the last. */
const char *xsprof_trace_symbols(const struct xsprof_trace *trace, uint32_t index);
/* The same of printk_formats. */
const char *xsprof_trace_printk(const struct xsprof_trace *trace, uint32_t index);

/**
 * struct xsprof_trace_kernel - facts about the kernel's tracer
 * @size: sizeof(struct xsprof_trace_kernel)
 * @cpus: CPUs with events
 * @kinds: kinds of events described
 * @clock: its clock, as tracefs names it; "" if there is none
 * @release: release of the kernel
 * @refused: why its events cannot be used, NULL if they can
 * @events: events returned so far
 * @lost: events that the tracer overwrote or dropped, by its own counts
 * @lost_slots: missing parts of its sub-buffers, in units of 32 bytes
 * @bad_slots: damaged parts of its sub-buffers, in units of 32 bytes
 * @error_ns: bound of the error between its times and those of the markers
 * @until_ns: every event of it up to then is in the capture, and of what came later nothing is
 *	known, even where there are a few more events; 0 if the capture does not tell
 */
struct xsprof_trace_kernel {
	size_t		size;
	uint32_t	cpus;
	uint32_t	kinds;
	const char	*clock;
	const char	*release;
	const char	*refused;
	uint64_t	events;
	uint64_t	lost;
	uint64_t	lost_slots;
	uint64_t	bad_slots;
	uint64_t	error_ns;
	uint64_t	until_ns;
};

/* Return: 0; -ENOENT if the trace has no kernel events. */
int xsprof_trace_get_kernel(const struct xsprof_trace *trace, struct xsprof_trace_kernel *kernel);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_TRACE_KERNEL_H */
