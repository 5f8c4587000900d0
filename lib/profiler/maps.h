/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Records the memory mappings of code addresses for readers of the trace.
 */
#ifndef XSP_PROFILER_MAPS_H
#define XSP_PROFILER_MAPS_H

#include <stdint.h>

#include "base/own.h"

/*
 * Adds the mappings of these addresses unless they are in the arena; names among them are skipped.
 * Called without the names' lock; takes no other lock if the C library has _dl_find_object().
 */
void xsp_maps_note(const uint64_t *address, uint32_t nr) XSP_HIDDEN;
/* A new arena has no mappings yet. Called with the names' lock held. */
void xsp_maps_forget(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_MAPS_H */
