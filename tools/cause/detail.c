// SPDX-License-Identifier: GPL-2.0-only
/*
 * Details for those who ask why: segments of watched tasks, and where the tasks that they waited
 * for were meanwhile.  Nothing of it changes a sum.
 */
#include <stdlib.h>
#include <string.h>

#include "cause/local.h"

#define MOVED_MEMORY	(8u << 20)	/* of all tasks and CPUs */
#define MOVED_LEAST	32u
#define MOVED_MOST	1024u
#define RIVALS		16u		/* that are told apart on a CPU at a time */

/* ---- segments -------------------------------------------------------------------------------- */

/* Whom @segment waited for: nobody else was seen on @cpu since. */
static void tell_rival(const struct cause *cause, const struct cause_cpu *cpu,
		       struct cause_segment *segment)
{
	uint64_t rival = cpu->current;

	if (cause->partial && (!rival || cpu->proven < segment->from)) {
		/* It may have left before the wait began; who was there when it ended is known. */
		rival = cause->last;
		segment->partial = CAUSE_OTHERS_BEFORE;
	} else if (cause->partial) {
		segment->partial = CAUSE_OTHERS_AFTER;
	}
	if (rival == CAUSE_NOBODY_KNOWS || rival == segment->key || (cause->partial && !rival)) {
		segment->partial = 0;
		return;
	}
	segment->who = (struct cause_who){ .tid = rival, .vec = -1 };
}

void cause_tell(struct cause *cause, struct cause_task *task, uint64_t ns)
{
	struct cause_segment segment = {
		.key = task->key,
		.from = task->told > task->since ? task->told : task->since,
		.to = ns,
		.class = task->class,
		.cpu = task->cpu,
		.nr = task->nr,
		.who = { .context = CAUSE_IN_NOTHING, .vec = -1 },
	};
	const struct cause_cpu *cpu = cause_find_cpu(cause, task->cpu);

	if (!task->watched || !cause->tell || ns <= segment.from)
		return;
	task->told = ns;
	if (task->class == CAUSE_BLOCKED || task->class == CAUSE_IO || task->class == CAUSE_FAULT)
		segment.who = cause->waker;
	else if (task->class == CAUSE_RUNNABLE && cpu && cpu->known)
		tell_rival(cause, cpu, &segment);
	else if (task->class == CAUSE_IRQ || task->class == CAUSE_SOFTIRQ)
		cause_context(cause, task->cpu, &segment.who);
	cause->tell(cause->tell_data, &segment);
}

void cause_tell_waiters(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key, bool was)
{
	const struct cause_cpu *c = cause_find_cpu(cause, cpu);

	/* Nobody saw how it went from the one to the other. */
	cause->partial = c && c->known && c->current != key;
	cause->last = was ? key : CAUSE_NOBODY_KNOWS;
	for (uint32_t i = 0; i < cause->nr_watched; i++)
		if (cause->watched[i]->run == RUN_WAITS && cause->watched[i]->cpu == cpu)
			cause_tell(cause, cause->watched[i], ns);
	cause->partial = false;
}

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

static void grow_moved(struct cause *cause, struct cause_task *task)
{
	uint32_t room = task->room_moved ? task->room_moved * 2 : MOVED_LEAST;
	size_t more = (room - task->room_moved) * sizeof(*task->moved);
	struct cause_moved *moved;

	if (room > MOVED_MOST || cause->moved_bytes + more > MOVED_MEMORY)
		return;
	moved = malloc(room * sizeof(*moved));
	if (!moved)
		return;
	for (uint64_t i = task->head_moved - task->room_moved; i < task->head_moved; i++)
		moved[i % room] = task->moved[i % task->room_moved];
	free(task->moved);
	task->moved = moved;
	task->room_moved = room;
	cause->moved_bytes += more;
}

void cause_task_moved(struct cause *cause, struct cause_task *task, uint64_t ns, uint8_t class,
		      uint64_t waker)
{
	if (!cause->tell)
		return;
	if (!task->room_moved || task->head_moved % task->room_moved == 0)
		grow_moved(cause, task);
	if (task->room_moved)
		task->moved[task->head_moved++ % task->room_moved] = (struct cause_moved){
			ns << PAST_SHIFT | class, waker, task->cpu };
}

void cause_set_current(struct cause *cause, struct cause_cpu *cpu, uint64_t ns, uint64_t key)
{
	bool same = cpu->known && cpu->current == key;

	cpu->current = key;
	cpu->known = key != CAUSE_NOBODY_KNOWS;
	cpu->proven = ns;
	if (same || !cause->tell)
		return;
	if (!cpu->ran && cause->moved_bytes + CAUSE_RAN * sizeof(*cpu->ran) <= MOVED_MEMORY) {
		cpu->ran = malloc(CAUSE_RAN * sizeof(*cpu->ran));
		cause->moved_bytes += cpu->ran ? CAUSE_RAN * sizeof(*cpu->ran) : 0;
	}
	if (cpu->ran)
		cpu->ran[cpu->head_ran++ % CAUSE_RAN] = (struct cause_ran){ ns, key };
}

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
