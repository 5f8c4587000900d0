/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the flight recorder, for the files that are it: flight.c (the command, and what
 * is waited for), flight-processes.c (its processes), flight-save.c (the snapshots).
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
 * Ended processes are kept, for what they were in may be what is asked about: as many as this, and
 * rings of as many bytes.  The oldest go first.
 */
#define FLIGHT_ENDED_MAX	256u
#define FLIGHT_ENDED_BYTES	(512ull << 20)

#define FLIGHT_SYNCS		64u
#define FLIGHT_FILES		16u
#define FLIGHT_STALL_NS		10000000000ull

/**
 * struct flight_member - a process with rings
 * @next: the one that came after it
 * @p: the producer, for what drain/producer.h asks
 * @exit: how it ended; its ticks are 0 while it lives
 * @ended_ns: when, CLOCK_MONOTONIC
 * @bytes: memory of its rings, once it has ended
 * @watched: the ranges watched, NULL for none
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
 * struct flight - one run
 * @opts: what was asked for
 * @session: where the processes put their rings; not there with -p and -a
 * @device: the kernel's, -1 for none
 * @filter: whose of them are meant
 * @began: when we did, CLOCK_MONOTONIC
 * @launch: the command
 * @st: what producers are asked with; nothing is stored through it
 * @inotify: of the session, -1 for none
 * @notices: processes that cannot reach the session
 * @messages: processes that could not be recorded
 * @shares: what each user has said of that
 * @epoll: whatever there is to wait for
 * @folder: the session's, where it is being looked through; NULL else
 * @appeared: something came there since that began
 * @asking: some member's end has to be asked after
 * @first: the members, in the order in which they came
 * @live: of them, not ended
 * @forgotten: ended ones that were not kept
 * @ended: of these, the device's
 * @watch: what is watched
 * @met: which of its names some process has
 * @stalls: ranges found stalled at this look
 * @reason: what the next snapshot is for, empty for none
 * @tag: the same in a file's name
 * @due_ns: when it is to be taken
 * @files: automatic ones taken
 * @refused: of these not taken, for there were too many
 * @syncs: clocks taken now and then
 * @nr_syncs: how many
 * @sync_ns: when the latest was
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

/* Takes up who has come: a step of that, where the folder is large. */
void flight_processes_scan(struct flight *f);
void flight_processes_unscan(struct flight *f);
/* From the start to the end. */
void flight_processes_scan_last(struct flight *f);
/* Says which processes cannot reach the session.  @last: there is no later time. */
void flight_processes_hear(struct flight *f, bool last);
/* Who has ended, and how; one with no goodbye asks for a snapshot. */
void flight_processes_look(struct flight *f);
/* Looks at what is watched; a stall asks for a snapshot. */
void flight_processes_watch(struct flight *f);
/* Says what was watched for and is no process' name. */
void flight_processes_unmet(struct flight *f);
/* Markers of those that our session records are off from now on. */
void flight_processes_switch_off(struct flight *f);
/* All is in a file: what the kernel keeps of the ended ones of our session it need not keep. */
void flight_processes_drop(struct flight *f);
void flight_processes_free(struct flight *f);

/* ---- flight-save.c ------------------------------------------------------------------------- */

/* All clocks, now and then; what a snapshot's times are fitted to. */
void flight_save_clocks(struct flight *f);
/* A snapshot is wanted; what else happens in the next moments is the same one's. */
void flight_save_ask(struct flight *f, const char *tag, uint32_t pid, const char *reason);
/* Takes it, when it is due. */
void flight_save_due(struct flight *f, uint64_t now);
/* The one at the end, into the file of -o.  Return: 0, or an exit status after a message. */
int flight_save_last(struct flight *f);

#endif /* XSPROF_FLIGHT_LOCAL_H */
