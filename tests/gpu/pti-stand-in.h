/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-ins for libpti_view and Level Zero's loader: they define these libraries' functions, and
 * these, by which a test controls the program's work and PTI's behaviour.
 */
#ifndef PTI_STAND_IN_H
#define PTI_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Its behaviour; all 0 is normal. */
struct pti_stand_in {
	bool		old;		/* plays 0.12, whose records are shorter */
	int		refuse;		/* a result of ptiViewEnable() */
	bool		empty;		/* libpti_view found no libpti, so it fails */
	bool		no_time;	/* every fourth record: then an activity without times */
	bool		strange;	/* every eighth record has a kind that was not enabled */
	bool		broken;		/* the first buffer has a record of an unknown kind */
	bool		reverse;	/* buffers are returned out of order, by another thread */
};

extern struct pti_stand_in pti_stand_in;

/* What the collector has done. */
extern uint32_t pti_stand_in_enabled[16], pti_stand_in_refused;

/* Level Zero functions that the stand-in has names for; SYCL's are 1. */
enum {
	PTI_ZE_INIT = 1, PTI_ZE_LAUNCH, PTI_ZE_COPY, PTI_ZE_FILL, PTI_ZE_WAIT, PTI_ZE_DEVICE_GET,
	PTI_ZE_NEWER,
};

/*
 * Makes a call by its number, and device activities for it: device 0 or 1. Return: the correlation
 * id.
 */
uint32_t pti_stand_in_call(uint32_t group, uint32_t function, uint32_t result);
void pti_stand_in_kernel(uint32_t correlation, int device, uintptr_t queue, const char *name);
void pti_stand_in_copy(uint32_t correlation, int device, uintptr_t queue, uint64_t bytes);
void pti_stand_in_peer(uint32_t correlation, uintptr_t queue, uint64_t bytes);
void pti_stand_in_fill(uint32_t correlation, int device, uintptr_t queue, uint64_t bytes);
void pti_stand_in_sync(uint32_t correlation, uintptr_t queue, uint32_t type);

#endif /* PTI_STAND_IN_H */
