// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Threads of a session, and when they joined. Owns the list of threads and, if a recorder records
 * all ops, the times of ops that do not belong to the session. Called with the session's lock held.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/members.h"

static int add_tid(struct xsp_members *m, uint32_t tid)
{
	for (uint32_t i = 0; i < m->nr_tids; i++)
		if (m->tids[i] == tid)
			return 0;
	if (m->nr_tids == m->room_tids) {
		uint32_t room = m->room_tids ? 2 * m->room_tids : 16;
		void *tids = realloc(m->tids, room * sizeof(*m->tids));

		if (!tids)
			return -ENOMEM;
		m->tids = tids;
		m->room_tids = room;
	}
	m->tids[m->nr_tids++] = tid;
	return 0;
}

/* Ops of @tid from @from to @to are recorded, but do not belong to this session. */
static int add_absence(struct xsp_members *m, uint32_t tid, uint64_t from, uint64_t to)
{
	if (m->nr_absences == m->room_absences) {
		uint32_t room = m->room_absences ? 2 * m->room_absences : 16;
		void *list = reallocarray(m->absences, room, sizeof(*m->absences));

		if (!list)
			return -ENOMEM;
		m->absences = list;
		m->room_absences = room;
	}
	m->absences[m->nr_absences++] = (struct xsprof_absence){
		.from = from, .to = to, .tid = tid,
	};
	return 0;
}

/* The last absence of @tid, NULL: none. */
static struct xsprof_absence *last_absence(const struct xsp_members *m, uint32_t tid)
{
	for (uint32_t i = m->nr_absences; i--;)
		if (m->absences[i].tid == tid)
			return &m->absences[i];
	return NULL;
}

int xsp_members_begin(struct xsp_members *m)
{
	m->nr_tids = m->nr_absences = 0;
	return add_tid(m, (uint32_t)syscall(SYS_gettid));
}

int xsp_members_join(struct xsp_members *m, bool shared)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	struct xsprof_absence *last = last_absence(m, tid);
	int err = add_tid(m, tid);

	if (err)
		return err;
	if (!last)
		return shared ? add_absence(m, tid, 0, xsprof_now()) : 0;
	/* It had left; the recorder, too, may have done so since. */
	if (last->to == UINT64_MAX)
		last->to = xsprof_now();
	return 0;
}

int xsp_members_leave(struct xsp_members *m, bool shared)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	return shared ? add_absence(m, tid, xsprof_now(), UINT64_MAX) : 0;
}

int xsp_members_toggle(struct xsp_members *m, bool shared, bool on)
{
	struct xsprof_absence *last = last_absence(m, 0);
	bool off = last && last->to == UINT64_MAX;

	if (on && off)
		last->to = xsprof_now();
	return shared && !on && !off ? add_absence(m, 0, xsprof_now(), UINT64_MAX) : 0;
}
