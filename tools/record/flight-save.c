// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of the flight recorder: when one is taken, its file name, its contents.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/ctl-check.h"
#include "cli/output.h"
#include "cli/tool.h"
#include "record/flight-local.h"

/* Processes of a job that die of one cause do so within this time. */
#define GATHER_NS	100000000u
#define SYNC_GAP_NS	1000000000u

void flight_save_clocks(struct flight *f)
{
	uint64_t now = xsp_clock_ns(CLOCK_MONOTONIC);
	uint32_t i;

	if (f->nr_syncs && now - f->sync_ns < SYNC_GAP_NS)
		return;
	f->sync_ns = now;
	/* Drop every other one, so that they still reach back to the beginning. */
	if (f->nr_syncs == FLIGHT_SYNCS) {
		for (i = 1; 2 * i < FLIGHT_SYNCS; i++)
			f->syncs[i] = f->syncs[2 * i];
		f->nr_syncs = FLIGHT_SYNCS / 2;
	}
	xsp_sync_read(&f->syncs[f->nr_syncs++], xsp_clock_kind());
}

void flight_save_ask(struct flight *f, const char *tag, uint32_t pid, const char *reason)
{
	if (*f->reason)
		return;
	snprintf(f->tag, sizeof(f->tag), "%s-%u", tag, pid);
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
	f->due_ns = xsp_clock_ns(CLOCK_MONOTONIC) + GATHER_NS;
}

/* @fd: descriptor of the file, -1 if it is not open. */
static int take(struct flight *f, const char *path, int fd, const char *reason)
{
	struct snapshot_options opts = {
		.path = path,
		.is_open = fd >= 0,
		.fd = fd,
		.command = f->opts->argv[0] ? f->opts->argv[0] : "",
		.level = f->opts->level,
		.last_ns = f->opts->flight.last_ns,
		.ops = f->st.ops,
		.data = f->st.data,
	};
	struct flight_member *m;
	struct snapshot snap;
	char verb[256];
	int status;

	status = snapshot_begin(&snap, &opts);
	if (status)
		return status;
	snapshot_add_syncs(&snap, f->syncs, f->nr_syncs);
	if (*reason)
		xsp_cap_note(&snap.cap, reason);
	if (f->forgotten)
		xsp_store_note(&snap.st, "%u processes had ended and are not in it", f->forgotten);
	for (m = f->first; m; m = m->next) {
		int err;

		if (m->p.id)
			err = snapshot_add_device(&snap, f->device, m->p.id);
		else
			err = snapshot_add_file(&snap, f->session.dirfd, m->p.name,
						m->exit.ticks ? &m->exit : NULL);
		if (err)
			xsp_store_note(&snap.st, "%s: left out: %s", m->p.name,
				       xsp_ctl_strerror(err));
	}
	if (*reason)
		snprintf(verb, sizeof(verb), "flight: %s", reason);
	else
		strcpy(verb, "flight");
	return snapshot_end(&snap, verb, f->opts->quiet);
}

/*
 * FILE.N.REASON-PID, with another number if that cannot be created: another user of the folder must
 * not prevent it.
 */
static bool take_named(struct flight *f, const char *name)
{
	char path[PATH_MAX];
	int fd;

	strcpy(path, name);
	fd = output_open_beside(path, sizeof(path));
	return fd >= 0 && !take(f, path, fd, f->reason);
}

/* FILE.N.REASON-PID: beside the file of -o, numbered, distinct from FILE.old. */
void flight_save_due(struct flight *f, uint64_t now)
{
	uint32_t most = f->opts->flight.files ? f->opts->flight.files : FLIGHT_FILES;
	char path[PATH_MAX];

	if (!*f->reason || now < f->due_ns)
		return;
	if (f->files == most) {
		if (!f->refused++ && !f->opts->quiet)
			tool_note("%s: this and later triggers write no file: the limit of %u is "
				  "reached (--flight-files)", f->reason, most);
	} else if (snprintf(path, sizeof(path), "%s.%u.%s", f->opts->output, ++f->files, f->tag) >=
		   (int)sizeof(path)) {
		tool_error("%s: the path is too long", f->opts->output);
		f->failed = true;
	} else if (!take_named(f, path)) {
		f->failed = true;
	}
	*f->reason = '\0';
}

int flight_save_last(struct flight *f)
{
	/* A snapshot that is due now would be the same: the final one states its reason. */
	return take(f, f->opts->output, -1, f->reason);
}
