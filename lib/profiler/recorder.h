/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Drains the rings of this process into the file of a session.
 */
#ifndef XSP_PROFILER_RECORDER_H
#define XSP_PROFILER_RECORDER_H

#include <xsprof/profiler.h>

#include "base/own.h"

struct xsp_recorder;

/**
 * struct xsp_recorder_lost - losses of a file
 * @records: records lost: dropped, or read but not stored for lack of room in the file
 * @slots: overwritten before they were read
 * @bad_slots: invalid slots
 */
struct xsp_recorder_lost {
	uint64_t	records;
	uint64_t	slots;
	uint64_t	bad_slots;
};

/**
 * xsp_recorder_open() - record this process into an unnamed file
 * @out: set to the recorder
 *
 * Without a recorder of the process it makes the process a producer of its own; else it reads what
 * the recorder reads, and consumes nothing.  When that recorder ends, it goes on with rings of its
 * own, from its next look on.
 */
int xsp_recorder_open(const struct xsprof_profiler_config *config, struct xsp_recorder **out)
	XSP_HIDDEN;
/*
 * Ends it: the file is complete. @fd: set to its descriptor, owned by the caller. @lost: set to the
 * losses; may be NULL.
 */
int xsp_recorder_close(struct xsp_recorder *recorder, int *fd, struct xsp_recorder_lost *lost)
	XSP_HIDDEN;
/* Copies the records so far into a file of its own; @fd and @lost as above. Recording continues. */
int xsp_recorder_copy(struct xsp_recorder *recorder, int *fd, struct xsp_recorder_lost *lost)
	XSP_HIDDEN;
/* Waits until everything recorded before the call is in the file. */
void xsp_recorder_catch_up(struct xsp_recorder *recorder) XSP_HIDDEN;
/* The recorder whose rings it reads is about to leave: it reads what is in them. */
void xsp_recorder_leaves(struct xsp_recorder *recorder) XSP_HIDDEN;
/* That has left: it goes on with rings of its own. */
void xsp_recorder_left(struct xsp_recorder *recorder) XSP_HIDDEN;

#endif /* XSP_PROFILER_RECORDER_H */
