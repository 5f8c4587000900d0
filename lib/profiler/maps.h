/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which file an address of code is of, written for the reader of the trace.
 */
#ifndef XSP_PROFILER_MAPS_H
#define XSP_PROFILER_MAPS_H

#include <stdint.h>

#include "base/own.h"

/*
 * Writes the mappings that those addresses are in, unless they are in the arena; names among them
 * have none.  The names' lock is not held; where the C library has _dl_find_object() no other is
 * taken.
 */
void xsp_maps_note(const uint64_t *address, uint32_t nr) XSP_HIDDEN;
/* There is another arena, which has none.  The names' lock is held. */
void xsp_maps_forget(void) XSP_HIDDEN;

#endif /* XSP_PROFILER_MAPS_H */
