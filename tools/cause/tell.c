// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps details for --why while the machine runs: emits segments of watched tasks, and keeps where
 * tasks were and which task had a CPU. It never changes a sum.
 */
#include <stdlib.h>

#include "cause/local.h"

#define MOVED_MEMORY	(8u << 20)	/* of all tasks and CPUs */
#define MOVED_LEAST	32u
#define MOVED_MOST	1024u

/* The task that @segment waited for: no other task was seen on @cpu since. */
static void tell_rival(const struct cause *cause, const struct cause_cpu *cpu,
		       struct cause_segment *segment)
{
	uint64_t rival = cpu->current;

	if (cause->partial && (!rival || cpu->proven < segment->from)) {
		/*
		 * It may have left before the wait began; the task at the end of the wait is known.
		 */
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

static void tell_holder(const struct cause_task *task, struct cause_segment *segment)
{
	if (!task->gil.holder)
		return;
	segment->who = (struct cause_who){ .tid = task->gil.holder, .vec = -1 };
	segment->holder = task->gil.tid;
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
	else if (task->class == CAUSE_GIL)
		tell_holder(task, &segment);
	else if (task->class == CAUSE_RUNNABLE && cpu && cpu->known)
		tell_rival(cause, cpu, &segment);
	else if (task->class == CAUSE_IRQ || task->class == CAUSE_SOFTIRQ)
		cause_context(cause, task->cpu, &segment.who);
	cause->tell(cause->tell_data, &segment);
}

void cause_tell_waiters(struct cause *cause, int32_t cpu, uint64_t ns, uint64_t key, bool was)
{
	const struct cause_cpu *c = cause_find_cpu(cause, cpu);

	/* The switch from the one to the other was not seen. */
	cause->partial = c && c->known && c->current != key;
	cause->last = was ? key : CAUSE_NOBODY_KNOWS;
	for (uint32_t i = 0; i < cause->nr_watched; i++)
		if (cause->watched[i]->run == RUN_WAITS && cause->watched[i]->cpu == cpu)
			cause_tell(cause, cause->watched[i], ns);
	cause->partial = false;
}

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
