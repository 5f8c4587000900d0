// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes a snapshot: names, slots, counts and the end of each producer. The caller chooses the
 * producers; points.c has the clocks, rings.c reads the rings.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ctl-check.h"
#include "base/proc.h"
#include "capture/host.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "cli/why.h"
#include "snapshot/points.h"
#include "snapshot/rings.h"

#define BULK_SLOTS	((32u << 20) >> XSPROF_SLOT_SHIFT)	/* limit of one copy */

int snapshot_begin(struct snapshot *s, const struct snapshot_options *opts)
{
	char *more = NULL;
	int err;

	memset(s, 0, sizeof(*s));
	s->path = opts->path;
	s->fd = opts->is_open ? opts->fd : output_open(opts->path);
	if (s->fd < 0)
		return TOOL_USAGE;
	if (opts->last_ns)
		s->since_ns = xsp_clock_ns(CLOCK_MONOTONIC) - opts->last_ns;
	s->st.buf = malloc(XSP_CAP_RAW_MAX);
	err = s->st.buf ? 0 : -ENOMEM;
	if (!err && opts->level)
		err = compress_open(&s->zstd, opts->level);
	if (!err)
		err = xsp_cap_create(&s->cap, s->fd, opts->level ? &s->zstd : NULL);
	if (!err && asprintf(&more, "command=%s\nmode=snapshot\n", opts->command) < 0)
		err = -ENOMEM;
	if (!err)
		err = xsp_host_store(&s->cap, more);
	free(more);
	if (err) {
		tool_error("%s: cannot be written: %s: name another file with -o", s->path,
			   strerror(-err));
		snapshot_drop(s);
		return TOOL_USAGE;
	}
	s->st.cap = &s->cap;
	s->st.chunk_slots = SNAPSHOT_CHUNK_SLOTS;
	s->st.pid_ns = xsp_proc_pid_ns();
	s->st.ops = opts->ops;
	s->st.data = opts->data;
	s->st.kinds = 1u << xsp_clock_kind();
	xsp_sync_read(&s->began, xsp_clock_kind());
	snapshot_add_syncs(s, &s->began, 1);
	return 0;
}

/* A buffer for the slots of a ring, up to a limit. */
static int make_room(struct snapshot *s, uint64_t slots)
{
	struct xsprof_rec *more;

	if (slots > BULK_SLOTS)
		slots = BULK_SLOTS;
	if (slots <= s->nr_slots)
		return 0;
	more = malloc(slots << XSPROF_SLOT_SHIFT);
	if (!more)
		return -ENOMEM;
	free(s->slots);
	s->slots = more;
	s->nr_slots = slots;
	return 0;
}

/* Its end was not seen: it lived when it wrote its last record. */
static void find_end(struct snapshot *s, struct xsp_producer *p, uint64_t last,
		     struct xsprof_cap_exit *exit)
{
	uint64_t said = __atomic_load_n(&xsp_ring_ctl(&p->rf)->exit_ticks, __ATOMIC_RELAXED);

	if (!xsp_producer_ended(&s->st, p, exit)) {
		exit->how = XSPROF_HOW_RUNNING;
		exit->status = 0;
		exit->ticks = xsp_ticks(p->rf.ctl.clock.kind);
		exit->lived = exit->ticks;
		return;
	}
	/* The end was not seen: it may have been any time before now. */
	exit->lived = 0;
	if (said && said >= last)
		exit->ticks = said;
	else if (last)
		exit->ticks = last;
}

/* Adds the present contents of a producer, and frees it. @ended: how it ended, NULL: find out. */
static void add_producer(struct snapshot *s, struct xsp_producer *p,
			 const struct xsprof_cap_exit *ended)
{
	struct xsprof_cap_exit exit = { 0 };
	uint64_t last = 0, skipped, bad;

	if (make_room(s, xsp_ring_most_slots(&p->rf))) {
		xsp_store_note(&s->st, "%s: left out: no memory for its rings", p->name);
		xsp_producer_free(p);
		return;
	}
	if (s->nr_points < SNAPSHOT_POINTS)
		s->points[s->nr_points++] = p->rf.ctl.attach;
	snapshot_read_rings(s, p, &last);
	if (ended)
		exit = *ended;
	else
		find_end(s, p, last, &exit);
	xsp_producer_exit(&s->st, p, &exit);
	s->lost_records += xsp_producer_lost(p) + p->unsaved;
	xsp_producer_lost_slots(p, &skipped, &bad);
	s->lost_slots += skipped;
	s->bad_slots += bad;
	xsp_producer_free(p);
}

int snapshot_add_file(struct snapshot *s, int dirfd, const char *name,
		      const struct xsprof_cap_exit *ended)
{
	struct xsp_producer *p;
	int err;

	if (s->number >= XSPROF_CAP_MAX_PRODUCERS)
		return -EUSERS;
	err = xsp_producer_open(&s->st, dirfd, name, &s->number, &p);
	if (!err)
		add_producer(s, p, ended);
	return err;
}

int snapshot_add_device(struct snapshot *s, int fd, uint64_t id)
{
	struct xsp_producer *p;
	int err, n;

	if (s->number >= XSPROF_CAP_MAX_PRODUCERS)
		return -EUSERS;
	err = xsp_producer_open_device(&s->st, fd, id, false, &s->number, &p);
	if (err)
		return err;
	/* Adds the kernel's own points, which reach back to the first recorder: once. */
	if (!s->kernel_syncs) {
		struct xsprof_sync *syncs = malloc(XSP_DEVICE_SYNCS * sizeof(*syncs));

		n = syncs ? xsp_device_syncs(fd, syncs) : 0;
		if (n > 0)
			snapshot_add_syncs(s, syncs, n);
		free(syncs);
		s->kernel_syncs = true;
	}
	add_producer(s, p, NULL);
	return 0;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void free_all(struct snapshot *s)
{
	xsp_cap_free(&s->cap);
	if (s->zstd.data)
		compress_close(&s->zstd);
	free(s->st.buf);
	free(s->slots);
}

void snapshot_drop(struct snapshot *s)
{
	free_all(s);
	output_drop(s->path, s->fd);
}

int snapshot_end(struct snapshot *s, const char *verb, bool quiet)
{
	struct xsprof_cap_end end = { .why = WHY_SNAPSHOT };
	struct xsp_drain_stats stats = {
		.records = s->st.records,
		.slots = s->st.slots,
		.lost_records = s->lost_records,
		.lost_slots = s->lost_slots,
		.bad_slots = s->bad_slots,
		.producers = s->number,
	};
	char reach[32];
	int err;

	snapshot_add_points(s);
	snapshot_add_now(s);
	if (s->st.error)
		xsp_cap_retry(&s->cap);
	end.ticks = xsp_ticks(xsp_clock_kind());
	end.slots = s->st.slots;
	end.lost_records = s->lost_records;
	end.lost_slots = s->lost_slots;
	end.producers = s->number;
	xsp_cap_end(&s->cap, &end);
	err = s->st.error ? s->st.error : s->cap.error;
	stats.bytes = s->cap.size;
	free_all(s);
	/* Reports errors that file systems delay until close(), such as NFS and quotas. */
	if (close(s->fd) && !err)
		err = -errno;
	if (err)
		return tool_error("%s: %s: the file is incomplete", s->path,
				  strerror(-err));
	if (!quiet)
		progress_summary(verb, &stats, "wrote", s->path);
	if (!quiet && s->reach_ns)
		fprintf(stderr, "[ xsprof %s: complete for the last %s, and some earlier records "
			"]\n", verb, tool_format_time(reach, sizeof(reach), s->reach_ns));
	return 0;
}
