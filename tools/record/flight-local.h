/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private header of the flight recorder: flight.c (the command, and waiting), flight-processes.c
 * (its processes), flight-save.c (snapshots).
 */
#ifndef XSPROF_FLIGHT_LOCAL_H
#define XSPROF_FLIGHT_LOCAL_H

#include <dirent.h>

#include "base/notice.h"
#include "drain/messages.h"
#include "read/recording.h"
#include "record/flight.h"
#include "record/launch.h"
#include "record/options.h"
#include "snapshot/snapshot.h"
#include "watch/watch.h"

/*
 * Ended processes are kept, because a snapshot may be about them: up to this number, and this size
 * of rings. The oldest are dropped first.
 */
#define FLIGHT_ENDED_MAX	256u
#define FLIGHT_ENDED_BYTES	(512ull << 20)

#define FLIGHT_SYNCS		64u
#define FLIGHT_FILES		16u
#define FLIGHT_STALL_NS		10000000000ull

/**
 * struct flight_member - a process with rings
 * @next: the next newer one
 * @p: the producer, for functions of drain/producer.h
 * @exit: its end; ticks are 0 while it lives
 * @ended_ns: time of its end, CLOCK_MONOTONIC
 * @bytes: memory of its rings, after its end
 * @watched: watched ranges, NULL for none
 */
struct flight_member {
	struct flight_member	*next;
	struct xsp_producer	p;
	struct xsprof_cap_exit	exit;
	uint64_t		ended_ns;
	uint64_t		bytes;
	struct watched		*watched;
};

/**
 * struct flight - a run of the flight recorder
 * @opts: what was asked for
 * @session: where processes create their rings; unused with -p and -a
 * @device: the kernel's, -1 for none
 * @filter: selects its producers
 * @began: start time, CLOCK_MONOTONIC
 * @launch: the command
 * @st: store for functions of producers; nothing is written through it
 * @inotify: of the session, -1 for none
 * @notices: of processes that cannot reach the session
 * @messages: of processes that could not be recorded
 * @shares: number of such messages by user
 * @epoll: everything to wait for
 * @folder: the session's folder during a scan; else NULL
 * @appeared: a file appeared since the scan began
 * @asking: some member's end must be polled
 * @first: members, in order of appearance
 * @live: number of living members
 * @forgotten: number of ended ones that were dropped
 * @ended: ended producers of the device
 * @watch: what is watched
 * @met: which of its names have been seen
 * @stalls: stalled ranges found by the last check
 * @reason: reason of the next snapshot, empty for none
 * @tag: reason in the file's name
 * @due_ns: time of the next snapshot
 * @files: number of automatic snapshots taken
 * @refused: number of snapshots beyond the limit
 * @syncs: sync points
 * @nr_syncs: number of @syncs
 * @sync_ns: time of the latest one
 * @failed: a snapshot could not be written
 */
struct flight {
	const struct record_options	*opts;
	struct xsp_recording		session;
	int				device;
	struct xsp_device_filter	filter;
	uint64_t			began;
	struct launch			launch;
	struct xsp_store		st;
	int				inotify;
	struct xsp_notices		notices;
	struct xsp_messages		messages;
	struct xsp_shares		shares;
	int				epoll;
	DIR				*folder;
	bool				appeared;
	bool				asking;
	struct flight_member		*first;
	uint32_t			live;
	uint32_t			forgotten;
	struct xsp_ended		ended;
	struct watch			watch;
	bool				met[FLIGHT_WATCH_MAX];
	struct flight_member		*looking;
	uint32_t			stalls;
	char				reason[192];
	char				tag[64];
	uint64_t			due_ns;
	uint32_t			files;
	uint32_t			refused;
	struct xsprof_sync		syncs[FLIGHT_SYNCS];
	uint32_t			nr_syncs;
	uint64_t			sync_ns;
	bool				failed;
};

/* ---- flight-processes.c --------------------------------------------------------------------- */

/* Takes up new processes: one step, if the folder is large. */
void flight_processes_scan(struct flight *f);
void flight_processes_unscan(struct flight *f);
/* The whole folder. */
void flight_processes_scan_last(struct flight *f);
/* Reports processes that cannot reach the session. @last: there is no later call. */
void flight_processes_hear(struct flight *f, bool last);
/* Checks which processes have ended; an end without a goodbye requests a snapshot. */
void flight_processes_look(struct flight *f);
/* Checks watched ranges; a stall requests a snapshot. */
void flight_processes_watch(struct flight *f);
/* Reports watched names that no process has. */
void flight_processes_unmet(struct flight *f);
/* Disables markers of our session's processes. */
void flight_processes_switch_off(struct flight *f);
/* After everything was saved: lets the kernel free ended producers of our session. */
void flight_processes_drop(struct flight *f);
void flight_processes_free(struct flight *f);

/* ---- flight-save.c ------------------------------------------------------------------------- */

/* Takes sync points now and then, for the times of snapshots. */
void flight_save_clocks(struct flight *f);
/* Requests a snapshot; further reasons within the next moments share it. */
void flight_save_ask(struct flight *f, const char *tag, uint32_t pid, const char *reason);
/* Takes the snapshot if it is due. */
void flight_save_due(struct flight *f, uint64_t now);
/* The final snapshot, into the file of -o. Return: 0, or an exit status after a message. */
int flight_save_last(struct flight *f);

#endif /* XSPROF_FLIGHT_LOCAL_H */
