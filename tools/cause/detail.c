// SPDX-License-Identifier: GPL-2.0-only
/*
 * Details for those who ask why: which tasks are watched, and where the tasks that they waited for
 * were meanwhile.  Nothing of it changes a sum.
 */
#include <stdlib.h>
#include <string.h>

#include "cause/local.h"

#define RIVALS		16u		/* that are told apart on a CPU at a time */

/* ---- who is watched -------------------------------------------------------------------------- */

void cause_hook(struct cause *cause, void (*tell)(void *data, const struct cause_segment *segment),
		void *data)
{
	cause->tell = tell;
	cause->tell_data = data;
	cause->waker = (struct cause_who){ .context = CAUSE_IN_NOTHING, .vec = -1 };
}

bool cause_watch(struct cause *cause, uint64_t key)
{
	struct cause_task *task = cause_task_get(cause, key);

	if (!task)
		return false;
	if (!task->watched && cause->nr_watched == cause->room_watched) {
		uint32_t room = cause->room_watched ? cause->room_watched * 2 : 16;
		struct cause_task **list = realloc(cause->watched, room * sizeof(*list));

		if (!list)
			return false;
		cause->watched = list;
		cause->room_watched = room;
	}
	if (!task->watched++)
		cause->watched[cause->nr_watched++] = task;
	return true;
}

void cause_unwatch(struct cause *cause, uint64_t key)
{
	struct cause_task *task = cause_task_find(cause, key);

	if (!task || !task->watched || --task->watched)
		return;
	for (uint32_t i = 0; i < cause->nr_watched; i++) {
		if (cause->watched[i] != task)
			continue;
		cause->watched[i] = cause->watched[--cause->nr_watched];
		return;
	}
}

void cause_flush(struct cause *cause, uint64_t key, uint64_t ns)
{
	struct cause_task *task = cause_task_find(cause, key);

	if (task)
		cause_tell(cause, task, ns);
}

/* ---- where tasks were ------------------------------------------------------------------------ */

/* Who had the CPU for most of the time between. */
static uint64_t who_ran(const struct cause *cause, int32_t cpu, uint64_t from, uint64_t to)
{
	const struct cause_cpu *c = cause_find_cpu(cause, cpu);
	uint64_t times[RIVALS] = { 0 }, keys[RIVALS];
	uint32_t n = 0, best = 0, i;

	for (uint64_t k = 0; c && c->ran && k < c->head_ran && k < CAUSE_RAN; k++) {
		const struct cause_ran *ran = &c->ran[(c->head_ran - 1 - k) % CAUSE_RAN];
		uint64_t begin = ran->ns > from ? ran->ns : from;

		if (begin < to) {
			for (i = 0; i < n && keys[i] != ran->key; i++)
				;
			if (i == n && n < RIVALS)
				keys[n++] = ran->key;
			if (i < n)
				times[i] += to - begin;
			to = begin;
		}
		if (ran->ns <= from)
			break;
	}
	for (i = 1; i < n; i++)
		if (times[i] > times[best])
			best = i;
	return n && keys[best] != CAUSE_NOBODY_KNOWS ? keys[best] : 0;
}

bool cause_did(struct cause *cause, uint64_t key, uint64_t from, uint64_t to,
	       struct cause_did *did)
{
	const struct cause_task *task = cause_task_find(cause, key);
	struct cause_did of[CAUSE_CLASSES];
	const struct cause_moved *next = NULL;
	uint32_t best = CAUSE_UNKNOWN;
	uint64_t end = to;

	memset(of, 0, sizeof(of));
	for (uint64_t n = 0; task && n < task->head_moved && n < task->room_moved; n++) {
		const struct cause_moved *m = &task->moved[(task->head_moved - 1 - n) %
							   task->room_moved];
		uint64_t at = m->at >> PAST_SHIFT, begin = at > from ? at : from;
		struct cause_did *d = &of[m->at & PAST_CLASS];

		if (begin < end) {
			d->ns += end - begin;
			if (end - begin > d->to - d->from) {
				d->from = begin;
				d->to = end;
				d->who = (m->at & PAST_CLASS) == CAUSE_RUNNABLE ?
					 who_ran(cause, m->cpu, begin, end) :
					 next ? next->waker : 0;
			}
		}
		if (at <= from)
			break;
		if (at < end)
			end = at;
		next = m;
	}
	for (uint32_t c = 0; c < CAUSE_CLASSES; c++)
		if (of[c].ns > of[best].ns)
			best = c;
	*did = of[best];
	did->class = best;
	return did->ns > 0;
}
