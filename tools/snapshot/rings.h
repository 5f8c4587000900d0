/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the rings of a producer for a snapshot.
 */
#ifndef XSPROF_SNAPSHOT_RINGS_H
#define XSPROF_SNAPSHOT_RINGS_H

#include "snapshot/snapshot.h"

/* Slots of a chunk: whole blocks, and small, as a decoder holds one chunk of each ring. */
#define SNAPSHOT_CHUNK_SLOTS	((XSP_CAP_RAW_MAX / 4) >> XSPROF_SLOT_SHIFT)

/* Writes the names and rings of @p; sets @last to the ticks of its latest record. */
void snapshot_read_rings(struct snapshot *s, struct xsp_producer *p, uint64_t *last);

#endif /* XSPROF_SNAPSHOT_RINGS_H */
