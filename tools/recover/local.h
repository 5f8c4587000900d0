/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of `xsprof recover` share.
 */
#ifndef XSPROF_RECOVER_LOCAL_H
#define XSPROF_RECOVER_LOCAL_H

#include "capture/writer.h"
#include "cli/attach.h"
#include "cli/session.h"
#include "drain/drain.h"
#include "recover/scan.h"

/**
 * recover_open_output - the file to write, at its end
 * @scan: filled with what the capture holds
 * @output: -o: a copy of the capture; NULL for the capture itself, cut to its last whole chunk
 * @seen: the session; where its capture is gone, or holds another recording by now, the file is new
 * @cap: the file's writer, @fd its descriptor
 * @path: set to its name, of @size bytes at most
 *
 * Return: 0, or an exit status after a message.
 */
int recover_open_output(struct scan *scan, const char *output, const struct session_seen *seen,
			struct xsp_cap *cap, char *path, size_t size, int *fd);

/**
 * recover_add_device - the device's producers of a dead recorder
 * @seen: its session
 * @scan: its capture, as far as it came
 * @drain: where to
 * @ids: set to what the caller frees after the drain is closed
 *
 * Those of the session, and those that the capture has begun and not ended: a recorder of
 * running processes has no session that they know.  Without a device there are none.
 *
 * Return: 0 or -errno.
 */
int recover_add_device(const struct session_seen *seen, const struct scan *scan,
		       struct xsp_drain *drain, uint64_t **ids);

/* Removes what the device holds of a session.  Return: 0 or -errno. */
int recover_remove_device(const struct session_seen *seen);

/* What the rings of these processes hold, into a new file.  Return: an exit status. */
int recover_pids(struct attach *pids, const char *output, bool allow_lost);

/**
 * recover_verify - reads back what was written
 * @fd: its file
 * @cap: its writer, which has ended it
 *
 * Return: 0; -EIO it is not what was written; -errno.
 */
int recover_verify(int fd, const struct xsp_cap *cap);

#endif /* XSPROF_RECOVER_LOCAL_H */
