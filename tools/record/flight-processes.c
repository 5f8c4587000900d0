// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes of a flight recording: new ones, ended ones, stalled ones. Reads only records of
 * watched ranges.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/ctl-check.h"
#include "base/proc.h"
#include "cli/signal-name.h"
#include "cli/tool.h"
#include "record/flight-local.h"
#include "text/escape.h"

/*
 * Processes that have changed their user may fill the folder: a step reads a limited number of
 * names, and the next one continues.
 */
#define STEP_NAMES	512u
#define LAST_STEPS	2048u

/* ---- who has come -------------------------------------------------------------------------- */

static struct flight_member *find(const struct flight *f, const char *name)
{
	struct flight_member *m;

	for (m = f->first; m; m = m->next)
		if (!strcmp(m->p.name, name))
			return m;
	return NULL;
}

/* Not all are our children: use their pidfd to be notified of their end. */
static void wait_for(struct flight *f, const struct flight_member *m)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT };

	/* Without a pidfd their end must be polled. */
	if (m->p.pidfd < 0 || epoll_ctl(f->epoll, EPOLL_CTL_ADD, m->p.pidfd, &ev))
		f->asking = true;
}

static void join(struct flight *f, struct flight_member *m)
{
	struct flight_member **at;

	if (f->watch.nr)
		m->watched = watched_new(&f->watch, &m->p.rf);
	for (at = &f->first; *at; at = &(*at)->next)
		;
	*at = m;
	f->live++;
	if (f->opts->verbose)
		tool_note("%s: process %d joined", m->p.name, (int)m->p.pid);
}

static void take_up(struct flight *f, const char *name)
{
	struct flight_member *m;
	struct stat st;
	int err;

	if (find(f, name))
		return;
	m = calloc(1, sizeof(*m));
	if (!m)
		return;
	err = xsp_ring_file_open(&m->p.rf, f->session.dirfd, name);
	if (err) {
		/* Gone again, or incomplete: the next scan tries again. */
		if (err != -ENOENT && err != -EAGAIN && f->opts->verbose)
			tool_note("%s: %s", name, xsp_ctl_strerror(err));
		free(m);
		return;
	}
	strcpy(m->p.name, name);
	if (!fstat(m->p.rf.fd, &st)) {
		m->p.dev = st.st_dev;
		m->p.ino = st.st_ino;
	}
	xsp_producer_watch(&f->st, &m->p);
	wait_for(f, m);
	join(f, m);
}

/* A producer of the device, which reports all ends itself. */
static int take_up_device(void *data, const struct xsprof_info *info)
{
	struct flight *f = data;
	struct flight_member *m;
	int err;

	if (!xsp_device_wants(&f->filter, info, f->began))
		return 0;
	for (m = f->first; m; m = m->next)
		if (m->p.id == info->id)
			return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	err = xsp_device_open_ring(&m->p.rf, f->device, info->id, false);
	if (err) {
		/* Dropped meanwhile. */
		if (err != -ENOENT && f->opts->verbose)
			tool_note("process %u (%s): %s", info->pid, info->comm, strerror(-err));
		free(m);
		return 0;
	}
	m->p.id = info->id;
	m->p.pid = info->pid;
	m->p.start = m->p.rf.ctl.start_time;
	m->p.info = *info;
	m->p.pidfd = -1;
	snprintf(m->p.name, sizeof(m->p.name), "device producer %" PRIu64, (uint64_t)info->id);
	join(f, m);
	return 0;
}

/* e.PID.START.0: a line with the reason why a process is not recorded. */
static void take_message(struct flight *f, const char *name)
{
	char line[XSP_MESSAGE];
	struct stat st;

	/* A message not written yet is read by the next scan. */
	if (!fstatat(f->session.dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    xsp_messages_take(&f->messages, xsp_share_of(&f->shares, st.st_uid),
			      f->session.dirfd, name, line) && !f->opts->quiet)
		tool_note("%s", line);
}

static void hear(void *data, const struct xsp_notice *notice)
{
	struct flight *f = data;
	char line[XSP_MESSAGE];

	if (xsp_messages_hear(&f->messages, xsp_share_of(&f->shares, notice->uid), notice, line) &&
	    !f->opts->quiet)
		tool_note("%s", line);
}

void flight_processes_hear(struct flight *f, bool last)
{
	if (!xsp_notices_hear(&f->notices, last, hear, f) && last && !f->opts->quiet)
		tool_note(XSP_NOTICES_LEFT);
}

static bool open_folder(struct flight *f)
{
	int fd = openat(f->session.dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	f->appeared = false;
	f->folder = fd < 0 ? NULL : fdopendir(fd);
	if (!f->folder && fd >= 0)
		close(fd);
	return f->folder;
}

void flight_processes_scan(struct flight *f)
{
	struct dirent *entry = NULL;
	uint32_t names = STEP_NAMES;

	/* Listing acknowledges events: the next arrival or end wakes us. */
	if (f->device >= 0)
		xsp_device_each(f->device, 0, take_up_device, f);
	if (f->session.dirfd < 0)
		return;
	if (!f->folder && !open_folder(f))
		return;
	while (names-- && (entry = readdir(f->folder))) {
		if (xsp_file_is(entry->d_name, 'p'))
			take_up(f, entry->d_name);
		else if (xsp_file_is(entry->d_name, 'e'))
			take_message(f, entry->d_name);
	}
	if (!entry)
		flight_processes_unscan(f);
}

void flight_processes_unscan(struct flight *f)
{
	if (f->folder)
		closedir(f->folder);
	f->folder = NULL;
}

void flight_processes_scan_last(struct flight *f)
{
	uint32_t steps = LAST_STEPS;

	flight_processes_unscan(f);
	do
		flight_processes_scan(f);
	while (f->folder && --steps);
	if (f->folder)
		tool_note("%s: too many names: some were not checked", f->session.path);
	flight_processes_unscan(f);
}

/* ---- who has ended ------------------------------------------------------------------------- */

static void free_member(struct flight_member *m)
{
	watched_free(m->watched);
	if (m->p.pidfd >= 0)
		close(m->p.pidfd);
	xsp_ring_file_close(&m->p.rf);
	free(m);
}

static void forget(struct flight *f, struct flight_member *m)
{
	struct flight_member **at;

	for (at = &f->first; *at != m; at = &(*at)->next)
		;
	*at = m->next;
	/* The kernel keeps it within its own limits once we release it; until then it is listed. */
	if (!m->p.id)
		unlinkat(f->session.dirfd, m->p.name, 0);
	else if (xsp_ended_add(&f->ended, 0, m->p.id))
		tool_note("%s: out of memory: it may be saved again", m->p.name);
	free_member(m);
	f->forgotten++;
}

/* Rings of ended processes cost memory: drop the first that ended. */
static void bound_ended(struct flight *f, uint64_t now)
{
	for (;;) {
		struct flight_member *m, *oldest = NULL;
		uint64_t bytes = 0;
		uint32_t nr = 0;

		for (m = f->first; m; m = m->next) {
			if (!m->ended_ns)
				continue;
			nr++;
			bytes += m->bytes;
			if (!oldest || m->ended_ns < oldest->ended_ns)
				oldest = m;
		}
		if (!oldest)
			return;
		if (nr <= FLIGHT_ENDED_MAX && bytes <= FLIGHT_ENDED_BYTES &&
		    (!f->opts->flight.last_ns || now - oldest->ended_ns < f->opts->flight.last_ns))
			return;
		forget(f, oldest);
	}
}

static const char *reason_of(const struct flight_member *m, char *buf, size_t size)
{
	const char *name = signal_name(m->exit.status);

	if (m->exit.how == XSPROF_HOW_VANISHED)
		snprintf(buf, size, "process %d ended without its exit handler", (int)m->p.pid);
	else if (name)
		snprintf(buf, size, "process %d was killed by SIG%s", (int)m->p.pid, name);
	else
		snprintf(buf, size, "process %d was killed by signal %d", (int)m->p.pid,
			 m->exit.status);
	return buf;
}

static void has_ended(struct flight *f, struct flight_member *m, uint64_t now)
{
	struct stat st;
	char reason[128];

	f->live--;
	m->ended_ns = now;
	if (m->watched)
		watched_names(m->watched);
	if (!m->exit.ticks)
		m->exit.ticks = 1;
	if (m->p.id)
		m->bytes = m->p.info.bytes;
	else if (!fstat(m->p.rf.fd, &st))
		m->bytes = (uint64_t)st.st_blocks * 512;
	if (m->exit.how == XSPROF_HOW_KILLED)
		flight_save_ask(f, "killed", m->p.pid, reason_of(m, reason, sizeof(reason)));
	else if (m->exit.how == XSPROF_HOW_VANISHED)
		flight_save_ask(f, "vanished", m->p.pid, reason_of(m, reason, sizeof(reason)));
}

void flight_processes_look(struct flight *f)
{
	uint64_t now = xsp_clock_ns(CLOCK_MONOTONIC);
	struct flight_member *m;

	f->asking = false;
	for (m = f->first; m; m = m->next) {
		if (m->ended_ns)
			continue;
		if (m->p.id)
			xsp_producer_ask(&m->p);
		if (xsp_producer_ended(&f->st, &m->p, &m->exit)) {
			has_ended(f, m, now);
			continue;
		}
		m->exit.ticks = 0;
		f->asking |= !m->p.id && m->p.pidfd < 0;
	}
	bound_ended(f, now);
}

void flight_processes_switch_off(struct flight *f)
{
	struct flight_member *m;
	bool any = false;

	for (m = f->first; m; m = m->next) {
		/* Rings of the device overwrite by themselves, and continue. */
		if (m->ended_ns || m->p.id || m->p.rf.mem.broken)
			continue;
		xsp_ring_switch_off(&m->p.rf);
		any = true;
	}
	/* A marker that saw its bit enabled publishes within a moment. */
	if (any)
		usleep(2000);
}

void flight_processes_drop(struct flight *f)
{
	struct flight_member *m;

	for (m = f->first; m; m = m->next)
		if (m->p.id && m->ended_ns && f->filter.session)
			xsp_device_drop(&m->p.rf, false);
}

void flight_processes_free(struct flight *f)
{
	struct flight_member *m;

	while ((m = f->first)) {
		f->first = m->next;
		free_member(m);
	}
	xsp_ended_free(&f->ended);
	xsp_messages_free(&f->messages);
}

/* ---- who is stuck -------------------------------------------------------------------------- */

static void stalled(void *data, const struct watch_stall *stall)
{
	struct flight *f = data;
	char reason[192], time[32], thread[48] = "", name[8 * 65];

	/* Names come from the program, and must not control the terminal. */
	*xsp_escape_text(name, stall->name, strnlen(stall->name, 64)) = '\0';
	if (stall->tid)
		snprintf(thread, sizeof(thread), "thread %u of ", stall->tid);
	/* Known from the look before; the file will show a longer time. */
	snprintf(reason, sizeof(reason), "%sprocess %d has been in %.100s for at least %s%s",
		 thread, (int)f->looking->p.pid, name,
		 tool_format_time(time, sizeof(time), stall->open_ns),
		 stall->unsure ? " (uncertain: some records were overwritten unseen)" : "");
	flight_save_ask(f, "stall", f->looking->p.pid, reason);
}

void flight_processes_watch(struct flight *f)
{
	struct flight_member *m;

	f->watch.stalled = stalled;
	f->watch.data = f;
	for (m = f->first; m; m = m->next) {
		if (m->ended_ns || !m->watched)
			continue;
		f->looking = m;
		watched_look(m->watched);
	}
}

void flight_processes_unmet(struct flight *f)
{
	struct flight_member *m;
	uint32_t i;

	if (!f->first && !f->forgotten)
		return;
	for (m = f->first; m; m = m->next)
		if (!m->ended_ns && m->watched)
			watched_names(m->watched);
	for (i = 0; i < f->watch.nr; i++)
		if (!f->met[i])
			tool_note("--watch: no process had a range named '%s': 'xsprof report' "
				  "lists the names", f->watch.globs[i]);
}
