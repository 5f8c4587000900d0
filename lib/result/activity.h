/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Activities that a program timed itself: SPAN records that begin with a type and a place.
 */
#ifndef XSR_ACTIVITY_H
#define XSR_ACTIVITY_H

#include <xsprof/result.h>
#include <xsprof/trace.h>

#define XSR_STEP_NAME	"ProfilerStep"	/* name of steps from xsprof_profiler_step() */

#define XSR_ON_HOST	0x1u	/* on the CPU */
#define XSR_ON_DEVICE	0x2u	/* on a device; both: a call of its runtime */
#define XSR_ON_STREAM	0x4u	/* its place is a device and a stream */

/**
 * struct xsr_activity - type and place of an activity
 * @type: Kineto's name of the type
 * @device: process or device
 * @resource: thread or stream
 * @kind: the closest enum xsprof_event_kind
 * @on: XSR_ON_*
 * @device_type: type of the device
 */
struct xsr_activity {
	const char	*type;
	int64_t		device;
	int64_t		resource;
	uint16_t	kind;
	uint8_t		on;
	uint8_t		device_type;
};

/* Is it such an activity? Reads only its first argument. */
bool xsr_is_activity(const struct xsprof_event *ev);
/* Return: false if it is none, or incomplete. */
bool xsr_activity_read(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		       struct xsr_activity *activity);

#endif /* XSR_ACTIVITY_H */
