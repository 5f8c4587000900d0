/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snapshot: a capture of what producers' rings hold at this moment.  Nothing is consumed, no
 * tail is moved, nobody is stopped; a recorder may drain the same rings.
 */
#ifndef XSPROF_SNAPSHOT_H
#define XSPROF_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "drain/drain.h"

#define SNAPSHOT_POINTS	64u	/* producers whose own sync points are looked at */

/**
 * struct snapshot - one being made
 * @st: where it goes
 * @cap: the capture
 * @zstd: its compressor
 * @since_ns: CLOCK_MONOTONIC; blocks of rings that are older as a whole are left out, 0 for none
 * @number: of the next producer
 * @began: all clocks, when it began
 * @points: what producers were told at attach
 * @nr_points: how many
 * @slots: what a ring is copied to
 * @nr_slots: room in it
 * @kernel_syncs: those of the device are in it
 * @path: of the file, for messages
 * @fd: the file
 * @lost_records: of the producers in it
 * @lost_slots: overwritten
 * @bad_slots: refused
 * @reach_ns: rings that do not hold all reach back so far, ns; 0 where all do
 * @old: producers with no record since @since_ns
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
 * struct snapshot_options - how one is made
 * @path: its file; one that is there becomes PATH.old
 * @is_open: it is, as @fd; else it is opened
 * @fd: by output_open_beside()
 * @command: for the HOST chunk
 * @level: of compression, 0 for none
 * @last_ns: only the last so many ns, 0 for all
 * @ops: questions, as a drain's; NULL for none
 * @data: passed to them
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


/* A producer of a session.  Return: 0, or -errno: it is not there, or no producer. */
int snapshot_add_file(struct snapshot *s, int dirfd, const char *name,
		      const struct xsprof_cap_exit *ended);

/* A producer of the device, number @id there; @fd is xsp_device_open()'s. */
int snapshot_add_device(struct snapshot *s, int fd, uint64_t id);

/* Sync points that somebody took before. */
void snapshot_add_syncs(struct snapshot *s, const struct xsprof_sync *syncs, uint32_t nr);

/* Ends it, with a line that says what it holds.  Return: 0, or TOOL_FAILED after a message. */
int snapshot_end(struct snapshot *s, const char *verb, bool quiet);
/* Takes it back. */
void snapshot_drop(struct snapshot *s);

#endif /* XSPROF_SNAPSHOT_H */
