// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovers from the device: the kernel keeps the records that a killed recorder had not read, and
 * its position. It never stops the recording of a process.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/host.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "read/ring-device.h"
#include "recover/local.h"

static const struct xsp_drain_ops ops = {
	.say = tool_say,
};

/* Adds producers that the capture has begun and not ended. */
static int begun(const struct scan *scan, uint64_t **ids, uint32_t *nr)
{
	uint32_t i;

	*nr = 0;
	*ids = calloc(scan->nr + 1, sizeof(**ids));
	if (!*ids)
		return -ENOMEM;
	for (i = 0; i < scan->nr; i++)
		if (scan->producers[i].known && !scan->producers[i].ended &&
		    scan->producers[i].ctl.id)
			(*ids)[(*nr)++] = scan->producers[i].ctl.id;
	return 0;
}

int recover_add_device(const struct session_seen *seen, const struct scan *scan,
		       struct xsp_drain *drain, uint64_t **ids)
{
	struct xsp_device_filter filter = { 0 };
	char text[8];
	int fd, err;

	*ids = NULL;
	fd = xsp_device_open();
	if (fd < 0)
		return 0;
	if (xsp_recording_fact(&seen->s, "attached", text, sizeof(text)) > 0) {
		filter.go_on = true;
		err = begun(scan, ids, &filter.nr_ids);
		if (err) {
			close(fd);
			return err;
		}
		filter.ids = *ids;
	} else {
		filter.session = xsp_recording_cookie(seen->name);
	}
	return xsp_drain_add_device(drain, fd, &filter);
}

/**
 * struct removal - producers being removed
 * @cookie: of their session
 * @fd: the device
 */
struct removal {
	uint64_t	cookie;
	int		fd;
};

static int remove_one(void *data, const struct xsprof_info *info)
{
	const struct removal *r = data;
	struct xsp_ring_file rf;
	int err;

	if (info->session != r->cookie)
		return 0;
	err = xsp_device_open_ring(&rf, r->fd, info->id, true);
	if (err)
		return err == -ENOENT ? 0 : err;
	/* A living producer is removed with its process; until then its markers are disabled. */
	if (info->state == XSPROF_STATE_LIVE)
		err = xsp_ring_switch_off(&rf) ?: xsp_device_drop(&rf, true);
	else
		err = xsp_device_drop(&rf, false);
	xsp_ring_file_close(&rf);
	return err;
}

int recover_remove_device(const struct session_seen *seen)
{
	struct removal r = { .cookie = xsp_recording_cookie(seen->name) };
	int err;

	r.fd = xsp_device_open();
	if (r.fd < 0)
		return 0;
	err = xsp_device_each(r.fd, 0, remove_one, &r);
	close(r.fd);
	return err;
}

static int drain_into(struct xsp_cap *cap, struct attach *pids, int device, const char *path,
		      bool *lost)
{
	struct xsp_device_filter filter = attach_filter(pids);
	struct xsp_drain_stats stats;
	struct xsp_drain *drain;
	int err;

	err = xsp_drain_open(-1, cap, &ops, NULL, 0, &drain);
	if (err) {
		close(device);
		return err;
	}
	err = xsp_drain_add_device(drain, device, &filter);
	if (!err)
		err = xsp_drain_finish(drain, 3);
	xsp_drain_get_stats(drain, &stats);
	xsp_drain_close(drain);
	if (!err)
		progress_summary("recover", &stats, "wrote", path);
	*lost = progress_lost(&stats);
	return err;
}

static int failed(const char *output, int err)
{
	return tool_error("%s: %s: free some space and try again, or name another file with "
			  "-o", output,
			  strerror(-err));
}

int recover_pids(struct attach *pids, const char *output, bool allow_lost)
{
	bool lost = false;
	struct xsp_cap cap;
	int device, fd, err, status;

	status = attach_device(pids, &device, true);
	if (status)
		return status;
	fd = output_open(output);
	if (fd < 0) {
		close(device);
		return TOOL_FAILED;
	}
	memset(&cap, 0, sizeof(cap));
	err = xsp_cap_create(&cap, fd, NULL);
	if (!err)
		err = xsp_host_store(&cap, NULL);
	if (err) {
		close(device);
		xsp_cap_free(&cap);
		output_drop(output, fd);
		return failed(output, err);
	}
	err = drain_into(&cap, pids, device, output, &lost);
	xsp_cap_free(&cap);
	if (close(fd) && !err)
		err = -errno;
	if (!err)
		return lost && !allow_lost ? TOOL_LOST : 0;
	return failed(output, err);
}
