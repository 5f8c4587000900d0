/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snapshot: a capture of the present contents of producers' rings. Nothing is consumed, no tail
 * is moved, no process is stopped; a recorder may drain the same rings.
 */
#ifndef XSPROF_SNAPSHOT_H
#define XSPROF_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/drain.h"

#define SNAPSHOT_POINTS	64u	/* producers whose own sync points are used */

/**
 * struct snapshot - state of a snapshot
 * @st: the output store
 * @cap: the capture
 * @zstd: the compressor
 * @since_ns: CLOCK_MONOTONIC; blocks of rings that end before are left out, 0: none are
 * @number: number of the next producer
 * @began: all clocks at the begin
 * @points: sync points of producers at their attach
 * @nr_points: number of @points
 * @slots: buffer for a ring
 * @nr_slots: its capacity
 * @kernel_syncs: the device's sync points are included
 * @path: of the file, for messages
 * @fd: descriptor of the file
 * @lost_records: records lost by these producers
 * @lost_slots: slots overwritten
 * @bad_slots: invalid slots
 * @reach_ns: how far back rings reach that do not hold all records, ns; 0: all rings do
 * @old: producers without a record since @since_ns
 */
struct snapshot {
	struct xsp_store		st;
	struct xsp_cap			cap;
	struct xsp_cap_compressor	zstd;
	uint64_t			since_ns;
	uint32_t			number;
	struct xsprof_sync		began;
	struct xsprof_sync		points[SNAPSHOT_POINTS];
	uint32_t			nr_points;
	struct xsprof_rec		*slots;
	uint64_t			nr_slots;
	bool				kernel_syncs;
	const char			*path;
	int				fd;
	uint64_t			lost_records;
	uint64_t			lost_slots;
	uint64_t			bad_slots;
	uint64_t			reach_ns;
	uint32_t			old;
};

/**
 * struct snapshot_options - options of a snapshot
 * @path: path of the file; an existing file is renamed to PATH.old
 * @is_open: the file is open, as @fd
 * @fd: from output_open_beside()
 * @command: text for the HOST chunk
 * @level: compression level, 0: none
 * @last_ns: only the last @last_ns ns, 0: all
 * @ops: callbacks like those of a drain; NULL: none
 * @data: passed to @ops
 */
struct snapshot_options {
	const char			*path;
	bool				is_open;
	int				fd;
	const char			*command;
	int				level;
	uint64_t			last_ns;
	const struct xsp_drain_ops	*ops;
	void				*data;
};

/* Return: 0, or TOOL_USAGE after a message. */
int snapshot_begin(struct snapshot *s, const struct snapshot_options *opts);


/* Adds a producer of a session. Return: 0, or -errno: it does not exist, or is no producer. */
int snapshot_add_file(struct snapshot *s, int dirfd, const char *name,
		      const struct xsprof_cap_exit *ended);

/* Adds the producer @id of the device; @fd is from xsp_device_open(). */
int snapshot_add_device(struct snapshot *s, int fd, uint64_t id);

/* Adds sync points that a recorder took. */
void snapshot_add_syncs(struct snapshot *s, const struct xsprof_sync *syncs, uint32_t nr);

/* Ends the snapshot, and prints a summary. Return: 0, or TOOL_FAILED after a message. */
int snapshot_end(struct snapshot *s, const char *verb, bool quiet);
/* Discards the snapshot. */
void snapshot_drop(struct snapshot *s);

#endif /* XSPROF_SNAPSHOT_H */
