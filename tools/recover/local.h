/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of `xsprof recover`.
 */
#ifndef XSPROF_RECOVER_LOCAL_H
#define XSPROF_RECOVER_LOCAL_H

#include "capture/writer.h"
#include "cli/attach.h"
#include "cli/session.h"
#include "drain/drain.h"
#include "recover/scan.h"

/**
 * recover_open_output - open the output file, positioned at its end
 * @scan: set to the contents of the capture
 * @output: -o: a copy of the capture; NULL: the capture itself, truncated to its last whole chunk
 * @seen: the session; if its capture is gone, or holds another recording, a new file is created
 * @cap: the writer, with descriptor @fd
 * @path: set to the file's path, at most @size bytes
 *
 * Return: 0, or an exit status after a message.
 */
int recover_open_output(struct scan *scan, const char *output, const struct session_seen *seen,
			struct xsp_cap *cap, char *path, size_t size, int *fd);

/**
 * recover_add_device - add the device producers of a dead recorder
 * @seen: the session
 * @scan: the contents of its capture
 * @drain: the drain to which they are added
 * @ids: set to memory that the caller frees after closing the drain
 *
 * These are the producers of the session, and those that the capture has begun and not ended: a
 * recorder of running processes has no session of its own. Without a device there are none.
 *
 * Return: 0 or -errno.
 */
int recover_add_device(const struct session_seen *seen, const struct scan *scan,
		       struct xsp_drain *drain, uint64_t **ids);

/* Removes the session's producers from the device. Return: 0 or -errno. */
int recover_remove_device(const struct session_seen *seen);

/* Writes the contents of the rings of these processes to a new file. Return: an exit status. */
int recover_pids(struct attach *pids, const char *output, bool allow_lost);

/**
 * recover_verify - read back the written file
 * @fd: the file
 * @cap: its writer, after its end
 *
 * Return: 0; -EIO: the contents differ; -errno.
 */
int recover_verify(int fd, const struct xsp_cap *cap);

#endif /* XSPROF_RECOVER_LOCAL_H */
