// SPDX-License-Identifier: GPL-2.0-only
/*
 * Details for --why: the watched tasks, and what the tasks that they waited for did meanwhile. It
 * never changes a sum.
 */
#include <stdlib.h>
#include <string.h>

#include "cause/local.h"

#define RIVALS		16u		/* per class, the latest; older ones have no name */

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

/*
 * struct rivals - the tasks that share a class of a task's time
 * @ns: time of all
 * @nr: number of entries
 * @key: key of each; 0 no task
 * @sum: time of each, in ns
 * @from: begin of the longest piece of each
 * @to: end
 */
struct rivals {
	uint64_t	ns;
	uint32_t	nr;
	uint64_t	key[RIVALS];
	uint64_t	sum[RIVALS];
	uint64_t	from[RIVALS];
	uint64_t	to[RIVALS];
};

static void add_rival(struct rivals *r, uint64_t key, uint64_t from, uint64_t to)
{
	uint32_t i;

	for (i = 0; i < r->nr && r->key[i] != key; i++)
		;
	if (i == RIVALS)
		return;
	if (i == r->nr) {
		r->nr++;
		r->key[i] = key;
	}
	r->sum[i] += to - from;
	if (to - from > r->to[i] - r->from[i]) {
		r->from[i] = from;
		r->to[i] = to;
	}
}

/* The tasks that had the CPU in between. */
static void add_ran(struct rivals *r, const struct cause *cause, int32_t cpu, uint64_t from,
		    uint64_t to)
{
	const struct cause_cpu *c = cause_find_cpu(cause, cpu);

	for (uint64_t k = 0; c && c->ran && k < c->head_ran && k < CAUSE_RAN; k++) {
		const struct cause_ran *ran = &c->ran[(c->head_ran - 1 - k) % CAUSE_RAN];
		uint64_t begin = ran->ns > from ? ran->ns : from;

		if (begin < to) {
			add_rival(r, ran->key, begin, to);
			to = begin;
		}
		if (ran->ns <= from)
			return;
	}
	/* Earlier than the kept history. */
	if (from < to)
		add_rival(r, CAUSE_NOBODY_KNOWS, from, to);
}

static void judge(const struct rivals *r, struct cause_did *did)
{
	uint32_t best = 0;

	did->ns = r->ns;
	for (uint32_t i = 1; i < r->nr; i++)
		if (r->sum[i] > r->sum[best])
			best = i;
	if (!r->nr || r->key[best] == CAUSE_NOBODY_KNOWS)
		return;
	did->who = r->key[best];
	did->who_ns = r->sum[best];
	did->from = r->from[best];
	did->to = r->to[best];
}

bool cause_did(struct cause *cause, uint64_t key, uint64_t from, uint64_t to,
	       struct cause_did *did)
{
	const struct cause_task *task = cause_task_find(cause, key);
	struct rivals of[CAUSE_CLASSES];
	const struct cause_moved *next = NULL;
	uint32_t best = CAUSE_UNKNOWN;
	uint64_t end = to;

	memset(of, 0, sizeof(of));
	for (uint64_t n = 0; task && n < task->head_moved && n < task->room_moved; n++) {
		const struct cause_moved *m = &task->moved[(task->head_moved - 1 - n) %
							   task->room_moved];
		uint64_t at = m->at >> PAST_SHIFT, begin = at > from ? at : from;
		uint32_t class = m->at & PAST_CLASS;

		if (begin < end) {
			of[class].ns += end - begin;
			if (class == CAUSE_RUNNABLE)
				add_ran(&of[class], cause, m->cpu, begin, end);
			else
				add_rival(&of[class], next ? next->waker : 0, begin, end);
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
	*did = (struct cause_did){ .class = best };
	judge(&of[best], did);
	return did->ns > 0;
}
