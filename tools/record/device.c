// SPDX-License-Identifier: GPL-2.0-only
/*
 * --backend: /dev/xsprof or files on tmpfs. Processes choose by what they find; this only decides
 * whether the recorder reads the device.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "read/ring-device.h"
#include "record/device.h"

#define SAID_DEVICE	1u
#define SAID_TMPFS	2u

/* Without the option, the environment that the command would see counts. */
static const char *backend(const struct record_options *opts)
{
	const char *env = getenv("XSPROF_BACKEND");

	if (opts->backend)
		return opts->backend;
	return env && *env ? env : "auto";
}

static void no_sched(const struct record_options *opts, const char *why)
{
	if (opts->sched && !opts->quiet)
		tool_note("--sched: needs the module xsprof (%s), or root and -e sched; all else "
			  "is recorded", why);
}

int record_device_open(struct record_options *opts, int *fd)
{
	const char *kind = backend(opts);

	*fd = -1;
	if (opts->load)
		return 0;
	if (attach_on(&opts->attach))
		return attach_device(&opts->attach, fd, true);
	if (!strcmp(kind, "tmpfs") || !strcmp(kind, "none")) {
		no_sched(opts, "and not --backend=tmpfs");
		return 0;
	}
	*fd = xsp_device_open();
	if (*fd >= 0)
		return 0;
	if (strcmp(kind, "device")) {
		no_sched(opts, *fd == -EACCES || *fd == -EPERM ?
			 XSPROF_DEVICE_PATH " may not be opened" :
			 "which 'modprobe xsprof' loads");
		return 0;
	}
	tool_error("--backend=device: " XSPROF_DEVICE_PATH " %s; --backend=auto uses tmpfs "
		   "instead", xsp_device_strerror(*fd));
	return TOOL_USAGE;
}

int record_device_add(const struct record_options *opts, const char *session, int fd,
		      struct xsp_drain *drain)
{
	struct xsp_device_filter filter = { .session = xsp_recording_cookie(session) };

	if (fd < 0)
		return 0;
	if (attach_on(&opts->attach))
		filter = attach_filter(&opts->attach);
	filter.sched = opts->sched;
	return xsp_drain_add_device(drain, fd, &filter);
}

void record_device_say(const struct xsp_drain_stats *stats, bool all, uint32_t *said)
{
	if (stats->on_device && !(*said & SAID_DEVICE)) {
		tool_note("rings: " XSPROF_DEVICE_PATH " (kernel)");
		*said |= SAID_DEVICE;
	}
	/* Without the module this is normal. */
	if ((all || stats->on_device) && stats->producers > stats->on_device &&
	    !(*said & SAID_TMPFS)) {
		tool_note("rings: tmpfs");
		*said |= SAID_TMPFS;
	}
}
