/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Activities that a program timed itself, as their records have them: SPANs that begin with a type
 * and a place.  Declarations only.
 */
#ifndef XSR_ACTIVITY_H
#define XSR_ACTIVITY_H

#include <xsprof/result.h>
#include <xsprof/trace.h>

#define XSR_STEP_NAME	"ProfilerStep"	/* of what xsprof_profiler_step() marks */

#define XSR_ON_HOST	0x1u	/* of the CPU */
#define XSR_ON_DEVICE	0x2u	/* of a device; of both: a call of its runtime */
#define XSR_ON_STREAM	0x4u	/* where it was is a device and a stream of it */

/**
 * struct xsr_activity - what a record says of where it belongs
 * @type: as Kineto calls it
 * @device: process or device
 * @resource: thread or stream
 * @kind: enum xsprof_event_kind that comes nearest
 * @on: XSR_ON_*
 * @device_type: of whom
 */
struct xsr_activity {
	const char	*type;
	int64_t		device;
	int64_t		resource;
	uint16_t	kind;
	uint8_t		on;
	uint8_t		device_type;
};

/* Is it of any thread, whoever wrote it?  Without a look at more than its first argument. */
bool xsr_is_activity(const struct xsprof_event *ev);
/* Return: false where it is none, or no whole one. */
bool xsr_activity_read(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		       struct xsr_activity *activity);

#endif /* XSR_ACTIVITY_H */
