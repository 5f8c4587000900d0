// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks, their time by class, and their changes: A(t) for any t in the kept history. machine.c
 * decides about changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cause/local.h"

#define BUCKETS		(1u << 16)
#define PAST_MEMORY	(16u << 20)	/* of all tasks */
#define PAST_LEAST	128u		/* changes */
#define PAST_OTHERS	1024u		/* of a task that writes no markers */
#define OPEN_MEMORY	(8u << 20)
#define OPEN_DEPTH	4096u		/* as deep as ranges are paired */

int cause_new(struct cause **out)
{
	struct cause *cause = calloc(1, sizeof(*cause));

	*out = cause;
	if (!cause)
		return -ENOMEM;
	cause->buckets = calloc(BUCKETS, sizeof(*cause->buckets));
	if (!cause->buckets) {
		free(cause);
		*out = NULL;
		return -ENOMEM;
	}
	if (getrandom(&cause->seed, sizeof(cause->seed), GRND_NONBLOCK) < 0)
		cause->seed = (uintptr_t)cause;
	cause->seed |= 1;
	return 0;
}

static struct cause_task **bucket(const struct cause *cause, uint64_t key)
{
	uint64_t h = (key ^ cause->seed >> 17) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32) * cause->seed;
	return &cause->buckets[h >> 48];
}

struct cause_task *cause_task_find(const struct cause *cause, uint64_t key)
{
	struct cause_task *task = *bucket(cause, key);

	while (task && task->key != key)
		task = task->next;
	return task;
}

static size_t past_bytes(uint32_t room)
{
	return room * sizeof(uint64_t) + room / CAUSE_BLOCK * sizeof(struct cause_sum);
}

static void free_task(struct cause *cause, struct cause_task *task)
{
	if (task->on_prev) {
		*task->on_prev = task->on_next;
		if (task->on_next)
			task->on_next->on_prev = task->on_prev;
	}
	cause->past_bytes -= past_bytes(task->room);
	cause->moved_bytes -= task->room_moved * sizeof(*task->moved);
	cause->open_bytes -= task->room_open * sizeof(*task->open);
	cause->nr_tasks--;
	free(task->past);
	free(task->sums);
	free(task->moved);
	free(task->open);
	free(task);
}

/* Tasks that have ended or are unknown, and that no query will need. */
static void sweep(struct cause *cause)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct cause_task **link = &cause->buckets[i], *task;

		while ((task = *link)) {
			bool gone = task->run == RUN_DEAD ||
				    (task->run == RUN_UNKNOWN && !task->marked);

			if (!gone || task->nr_open || task->watched) {
				link = &task->next;
				continue;
			}
			*link = task->next;
			free_task(cause, task);
		}
	}
}

static bool room_for_task(struct cause *cause)
{
	if (cause->nr_tasks < CAUSE_TASKS)
		return true;
	/* Not again for every event if there is nothing to free. */
	if (cause->stats.refused++ % (CAUSE_TASKS / 4) == 0)
		sweep(cause);
	return cause->nr_tasks < CAUSE_TASKS;
}

struct cause_task *cause_task_get(struct cause *cause, uint64_t key)
{
	struct cause_task *task = cause_task_find(cause, key), **head;

	if (task || !room_for_task(cause))
		return task;
	task = calloc(1, sizeof(*task));
	if (!task) {
		cause->stats.refused++;
		return NULL;
	}
	task->key = key;
	task->cpu = -1;
	task->nr = -1;
	task->class = CAUSE_UNKNOWN;
	head = bucket(cause, key);
	task->next = *head;
	*head = task;
	cause->nr_tasks++;
	return task;
}

void cause_tasks_all(struct cause *cause,
		     void (*fn)(struct cause *cause, struct cause_task *task, uint64_t ns),
		     uint64_t ns)
{
	for (uint32_t i = 0; i < BUCKETS; i++)
		for (struct cause_task *task = cause->buckets[i]; task; task = task->next)
			fn(cause, task, ns);
}

void cause_tasks_free(struct cause *cause)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct cause_task *task;

		while ((task = cause->buckets[i])) {
			cause->buckets[i] = task->next;
			free_task(cause, task);
		}
	}
	free(cause->buckets);
}

/* ---- the past ------------------------------------------------------------------------------- */

/* The oldest kept change, with its sum. */
static uint64_t oldest(const struct cause_task *task)
{
	if (task->head <= task->room)
		return 0;
	return (task->head - task->room + CAUSE_BLOCK - 1) / CAUSE_BLOCK * CAUSE_BLOCK;
}

static uint64_t past_at(const struct cause_task *task, uint64_t i)
{
	return task->past[i % task->room];
}

static uint64_t time_at(const struct cause_task *task, uint64_t i)
{
	return past_at(task, i) >> PAST_SHIFT;
}

static bool grow_past(struct cause *cause, struct cause_task *task)
{
	uint32_t room = task->room ? task->room * 2 : PAST_LEAST;
	struct cause_sum *sums;
	uint64_t *past;

	if ((!task->marked && room > PAST_OTHERS) ||
	    cause->past_bytes - past_bytes(task->room) + past_bytes(room) > PAST_MEMORY)
		return false;
	past = malloc(room * sizeof(*past));
	sums = malloc(room / CAUSE_BLOCK * sizeof(*sums));
	if (!past || !sums) {
		free(past);
		free(sums);
		return false;
	}
	for (uint64_t i = task->room ? oldest(task) : 0; i < task->head; i++) {
		if (i % CAUSE_BLOCK == 0)
			sums[i % room / CAUSE_BLOCK] =
				task->sums[i % task->room / CAUSE_BLOCK];
		past[i % room] = task->past[i % task->room];
	}
	cause->past_bytes += past_bytes(room) - past_bytes(task->room);
	free(task->past);
	free(task->sums);
	task->past = past;
	task->sums = sums;
	task->room = room;
	return true;
}

static void push_past(struct cause *cause, struct cause_task *task, uint64_t past)
{
	/* With details there are no queries for sums. */
	if (cause->tell)
		return;
	/* If it may not grow, it overwrites the oldest, and tries again each time. */
	if (!task->room || task->head % task->room == 0)
		grow_past(cause, task);
	if (task->room) {
		if (task->head % CAUSE_BLOCK == 0)
			task->sums[task->head % task->room / CAUSE_BLOCK] = task->sum;
		task->past[task->head % task->room] = past;
		task->head++;
	}
}

static void settle(struct cause_task *task, uint64_t ns)
{
	task->sum.v[task->class] += ns - task->since;
	task->since = ns;
}

void cause_task_change(struct cause *cause, struct cause_task *task, uint64_t ns, uint8_t class)
{
	settle(task, ns);
	task->class = class;
	push_past(cause, task, ns << PAST_SHIFT | class);
}

void cause_task_fault(struct cause *cause, struct cause_task *task, uint64_t ns)
{
	settle(task, ns);
	push_past(cause, task, ns << PAST_SHIFT | PAST_FAULT | task->class);
	task->sum.v[CAUSE_FAULTS]++;
}

void cause_task_infer(struct cause *cause, struct cause_task *task, uint8_t class)
{
	uint64_t from = cause->lost > task->since ? cause->lost : task->since;

	if (task->run != RUN_UNKNOWN || !task->before)
		return;
	task->before = RUN_UNKNOWN;
	/* It may have run, unseen, on a CPU without events since the loss. */
	if (cause->nr_blind)
		return;
	/* Ranges that began since then have saved sums, which are not rewritten. */
	if (task->nr_open && task->open[task->nr_open - 1].ns > from)
		return;
	cause_tell(cause, task, from);
	cause_task_change(cause, task, from, class);
	cause_task_moved(cause, task, from, class, 0);
}

void cause_task_doubt(struct cause *cause, struct cause_task *task, uint64_t from, uint64_t ns)
{
	uint8_t class = task->class;

	if (from < task->since)
		from = task->since;
	if (from > ns)
		from = ns;
	/* Sums saved at the begins of later ranges contain time that is now unknown. */
	for (uint32_t i = task->nr_open; i-- && task->open[i].ns > from; ) {
		uint64_t more = task->open[i].ns - from;

		task->open[i].sum.v[class] -= more;
		task->open[i].sum.v[CAUSE_UNKNOWN] += more;
	}
	cause_task_change(cause, task, from, CAUSE_UNKNOWN);
	cause_task_moved(cause, task, from, CAUSE_UNKNOWN, 0);
}

/* The last change at or before @ns; @oldest if there is none, which is then later. */
static uint64_t search(const struct cause_task *task, uint64_t ns)
{
	uint64_t low = oldest(task), high = task->head;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (time_at(task, middle) <= ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* A(@ns). Return: false: only an estimate, whose classes still add up. */
static bool sum_at(const struct cause_task *task, uint64_t ns, struct cause_sum *sum)
{
	uint64_t i, at, first;

	if (!task) {
		*sum = (struct cause_sum){ .v[CAUSE_UNKNOWN] = ns };
		return true;
	}
	*sum = task->sum;
	if (ns >= task->since) {
		sum->v[task->class] += ns - task->since;
		return true;
	}
	if (!task->room) {
		/* Modulo 2^64: the difference of two sums is right. */
		sum->v[CAUSE_UNKNOWN] -= task->since - ns;
		return false;
	}
	i = search(task, ns);
	first = i / CAUSE_BLOCK * CAUSE_BLOCK;
	*sum = task->sums[first % task->room / CAUSE_BLOCK];
	at = time_at(task, first);
	if (at > ns) {
		sum->v[CAUSE_UNKNOWN] -= at - ns;
		return first == 0;
	}
	for (; first <= i; first++) {
		uint64_t past = past_at(task, first);
		uint64_t end = first < i ? time_at(task, first + 1) : ns;

		sum->v[past & PAST_CLASS] += end - (past >> PAST_SHIFT);
		sum->v[CAUSE_FAULTS] += !!(past & PAST_FAULT);
	}
	return true;
}

/* ---- tasks ---------------------------------------------------------------------------------- */

void cause_count_from(struct cause *cause, uint64_t ns)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		for (struct cause_task *task = cause->buckets[i]; task; task = task->next) {
			task->base = task->sum;
			if (ns > task->since)
				task->base.v[task->class] += ns - task->since;
			task->switches = 0;
		}
	}
}

void cause_each(const struct cause *cause, uint64_t ns,
		void (*fn)(void *data, uint64_t key, const struct cause_sum *sum,
			   uint64_t switches),
		void *data)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		for (const struct cause_task *task = cause->buckets[i]; task; task = task->next) {
			struct cause_sum sum = task->sum;

			if (ns > task->since)
				sum.v[task->class] += ns - task->since;
			for (int k = 0; k < CAUSE_SUMS; k++)
				sum.v[k] -= task->base.v[k];
			fn(data, task->key, &sum, task->switches);
		}
	}
}

/* ---- ranges --------------------------------------------------------------------------------- */

void cause_begin(struct cause *cause, uint64_t ns, uint64_t key)
{
	struct cause_task *task = cause->stats.switches ? cause_task_get(cause, key) : NULL;

	/* Looks up older times in the history; before the first event the state is unknown. */
	if (!task || task->nr_open == OPEN_DEPTH)
		return;
	if (task->nr_open == task->room_open) {
		uint32_t room = task->room_open ? task->room_open * 2 : 8;
		size_t more = (room - task->room_open) * sizeof(*task->open);
		struct cause_open *open;

		if (cause->open_bytes + more > OPEN_MEMORY)
			return;
		open = realloc(task->open, room * sizeof(*open));
		if (!open)
			return;
		cause->open_bytes += more;
		task->open = open;
		task->room_open = room;
	}
	task->open[task->nr_open].ns = ns;
	sum_at(task, ns, &task->open[task->nr_open++].sum);
}

void cause_clip(struct cause *cause, uint64_t ns)
{
	for (uint32_t i = 0; i < BUCKETS; i++)
		for (struct cause_task *task = cause->buckets[i]; task; task = task->next)
			for (uint32_t k = 0; k < task->nr_open; k++) {
				task->open[k].ns = ns;
				sum_at(task, ns, &task->open[k].sum);
			}
}

static bool take_open(struct cause_task *task, uint64_t ns, struct cause_sum *sum)
{
	uint32_t i = task->nr_open;

	/* Ranges end innermost first, except those that a pause removes from the middle. */
	while (i && task->open[i - 1].ns > ns)
		i--;
	if (!i || task->open[i - 1].ns != ns)
		return false;
	*sum = task->open[i - 1].sum;
	memmove(&task->open[i - 1], &task->open[i], (task->nr_open - i) * sizeof(*task->open));
	task->nr_open--;
	return true;
}

void cause_range(struct cause *cause, uint64_t key, uint64_t begin, uint64_t end, bool kept,
		 struct cause_sum *out)
{
	struct cause_task *task = cause_task_find(cause, key);
	uint64_t wall = end > begin ? end - begin : 0, all = 0;
	struct cause_sum from, to;
	bool known = true;

	if (!kept || !task || !take_open(task, begin, &from))
		known = sum_at(task, begin, &from);
	sum_at(task, wall ? end : begin, &to);
	cause->stats.forgotten += !known;
	for (int i = 0; i < CAUSE_SUMS; i++)
		out->v[i] = to.v[i] - from.v[i];
	for (int i = 0; i < CAUSE_CLASSES; i++) {
		if (out->v[i] > wall)
			all = UINT64_MAX / 2;
		all += out->v[i];
	}
	/* Impossible times. */
	if (all != wall)
		*out = (struct cause_sum){ .v[CAUSE_UNKNOWN] = wall };
}
