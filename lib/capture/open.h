/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Opens the file of a capture. Its folder may belong to another user, who can replace the file at
 * any moment: only a new file, an empty one of ours, or a path that another user cannot have
 * redirected is written to.
 */
#ifndef XSP_CAP_OPEN_H
#define XSP_CAP_OPEN_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct xsp_cap_place - location of a capture
 * @path: its path
 * @worthless: may a file of ours be removed instead of kept as FILE.old? @file is a descriptor of
 *	it, whatever @path names by then. NULL: it may not
 * @kept: set: the existing file was renamed to FILE.old
 * @why: set: the error as text, NULL if errno suffices
 * @old: set: the error concerns FILE.old, not @path
 */
struct xsp_cap_place {
	const char	*path;
	bool		(*worthless)(const char *file, off_t size);
	bool		kept;
	const char	*why;
	bool		old;
};

/**
 * xsp_cap_open() - open the file
 * @place: location; @place->path and @place->worthless are set by the caller
 *
 * As perf does: an existing file is kept once, as FILE.old. The file is locked while it is open, so
 * that two recorders never write to one. A fifo or a device is written to directly.
 *
 * Return: a descriptor; -EBUSY: another recorder writes it; -errno.
 */
int xsp_cap_open(struct xsp_cap_place *place);

#endif /* XSP_CAP_OPEN_H */
