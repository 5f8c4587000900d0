/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `xsprof recover` takes out of the device.
 */
#ifndef XSPROF_RECOVER_LOCAL_H
#define XSPROF_RECOVER_LOCAL_H

#include "cli/attach.h"
#include "cli/session.h"
#include "drain/drain.h"
#include "recover/scan.h"

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

#endif /* XSPROF_RECOVER_LOCAL_H */
