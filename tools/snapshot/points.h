/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sync points of a snapshot, in addition to those that a recorder took.
 */
#ifndef XSPROF_SNAPSHOT_POINTS_H
#define XSPROF_SNAPSHOT_POINTS_H

#include "snapshot/snapshot.h"

/* Adds a point now, on every clock that a producer has. */
void snapshot_add_now(struct snapshot *s);
/* Adds the points of producers at their attach, if they are consistent with the present rate. */
void snapshot_add_points(struct snapshot *s);

#endif /* XSPROF_SNAPSHOT_POINTS_H */
