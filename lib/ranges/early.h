/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Activities of a device that began before the call that launched them: an error of the device's
 * clock, which outputs mark and never correct.
 */
#ifndef XSP_EARLY_H
#define XSP_EARLY_H

#include <stdbool.h>

#include <xsprof/trace.h>

#include "ranges/device-work.h"

struct xsp_early_slot;

/**
 * struct xsp_early - calls and their activities; all zeros is empty
 * @slots: the latest ones, by hash of their correlation id
 */
struct xsp_early {
	struct xsp_early_slot	*slots;
};

/*
 * Handles a call or an activity; ignores others.  Without memory nothing is marked.  @device: set
 * to the number of the activity's device, if the result is not 0.  Return: xsp_early_ns().
 */
uint64_t xsp_early_event(struct xsp_early *early, const struct xsprof_event *ev,
			 uint32_t *device);

/*
 * By how many ns an activity began before its call, 0: it did not, or its call is not known yet.
 * For a call: by how many ns an activity began before it that was read before it, and so is not
 * marked itself.  0 too if a newer id has taken its slot, one of 65,536 by hash.
 */
uint64_t xsp_early_ns(const struct xsp_early *early, const struct xsprof_event *ev);

/* The key of that in outputs. */
static inline const char *xsp_early_key(const struct xsprof_event *ev)
{
	return xsp_device_is_call(ev->aux) ? "after what it launched (ns)" :
					    "before its launch (ns)";
}

void xsp_early_free(struct xsp_early *early);

#endif /* XSP_EARLY_H */
