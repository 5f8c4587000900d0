/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Opening the file of a capture.  The folder may be another user's, who can put anything in the
 * file's place at any moment: what is written to is a new file, an empty one of ours, or what the
 * path cannot have been made to name by another user.
 */
#ifndef XSP_CAP_OPEN_H
#define XSP_CAP_OPEN_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct xsp_cap_place - where a capture goes
 * @path: its name
 * @worthless: may a file of ours be removed, and not kept as FILE.old?  @file names it, whatever
 *	@path names by then.  NULL: it may not
 * @kept: set: FILE.old is what had the name
 * @why: set: what is wrong, NULL where the errno says it
 * @old: set: that is wrong with FILE.old, and not with @path
 */
struct xsp_cap_place {
	const char	*path;
	bool		(*worthless)(const char *file, off_t size);
	bool		kept;
	const char	*why;
	bool		old;
};

/**
 * xsp_cap_open() - open it
 * @place: where; @place->path is set, and @place->worthless
 *
 * As perf does: what is overwritten is kept once, as FILE.old.  A file is locked for as long as it
 * is open, so that two recorders never write to one.  A pipe or a device is written to as it is.
 *
 * Return: a descriptor; -EBUSY: another recorder writes it; -errno.
 */
int xsp_cap_open(struct xsp_cap_place *place);

#endif /* XSP_CAP_OPEN_H */
