/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sync points of a snapshot, besides those that somebody took before.
 */
#ifndef XSPROF_SNAPSHOT_POINTS_H
#define XSPROF_SNAPSHOT_POINTS_H

#include "snapshot/snapshot.h"

/* A point on every clock that a producer of it has. */
void snapshot_add_now(struct snapshot *s);
/* What producers were told at attach, as far as it goes with the rate of now. */
void snapshot_add_points(struct snapshot *s);

#endif /* XSPROF_SNAPSHOT_POINTS_H */
