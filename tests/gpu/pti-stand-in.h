/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-ins for libpti_view and for Level Zero's loader: they define their functions, and these, by
 * which a test controls the program's work and the behaviour of PTI.
 */
#ifndef PTI_STAND_IN_H
#define PTI_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How it behaves; all 0 is as usual. */
struct pti_stand_in {
	bool		old;		/* 0.12: records are shorter */
	int		refuse;		/* a result of ptiViewEnable() */
	bool		empty;		/* libpti_view found no libpti: it can do nothing */
	bool		no_time;	/* an activity behind each fourth record has no time */
	bool		strange;	/* every eighth record is of a kind that is not asked for */
	bool		broken;		/* a record that nobody knows is in the first buffer */
	bool		reverse;	/* buffers come back in no order, from another thread */
};

extern struct pti_stand_in pti_stand_in;

/* What the collector has done. */
extern uint32_t pti_stand_in_enabled[16], pti_stand_in_refused;

/* Functions of Level Zero that the stand-in has names for, and those of SYCL: 1. */
enum {
	PTI_ZE_INIT = 1, PTI_ZE_LAUNCH, PTI_ZE_COPY, PTI_ZE_FILL, PTI_ZE_WAIT, PTI_ZE_DEVICE_GET,
	PTI_ZE_NEWER,
};

/*
 * A call by its number, and what a device does for it: device 0 or 1.  Return: the correlation id.
 */
uint32_t pti_stand_in_call(uint32_t group, uint32_t function, uint32_t result);
void pti_stand_in_kernel(uint32_t correlation, int device, uintptr_t queue, const char *name);
void pti_stand_in_copy(uint32_t correlation, int device, uintptr_t queue, uint64_t bytes);
void pti_stand_in_peer(uint32_t correlation, uintptr_t queue, uint64_t bytes);
void pti_stand_in_fill(uint32_t correlation, int device, uintptr_t queue, uint64_t bytes);
void pti_stand_in_sync(uint32_t correlation, uintptr_t queue, uint32_t type);

#endif /* PTI_STAND_IN_H */
