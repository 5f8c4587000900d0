// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The task of asyncio that a thread runs: its name becomes a frame around that of its coroutine.
 *
 * Which task is current is read where asyncio keeps it (tasks-find.c): in the thread's state since
 * 3.14, before in a dict from event loops to tasks. That memory may change while it is read, so a
 * task counts only if the frame of its coroutine is on the thread's stack. Otherwise nothing is
 * recorded of it: tasks written in Python, or coroutines of other compilers, have no name here.
 *
 * A server may make a task for each request, each with a name of its own. So the number of names
 * is limited, and that of stacks with tasks, which otherwise take the place of all other stacks.
 *
 * One thread writes the table of names; a signal handler whose answer is late may read it at the
 * same time.
 */
#include <stdio.h>
#include <string.h>

#include "collect/common/say.h"
#include "collect/python/sample.h"

#define SLOTS		2048u	/* of the table, a power of two */
#define NAMES		1024u
#define STACKS		2048u
#define LOOPS		512u	/* bytes read of the dict: more than ten event loops */

struct python_tasks python_tasks;
int python_tasks_state;

static struct {
	uint64_t	id;
	xsprof_name_t	name;
} known[SLOTS];

static uint32_t nr_names, nr_stacks;
static bool spent;	/* no further name, or no further stack */
static int category;

void python_tasks_init(int c)
{
	category = c;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Return: the slot of the id, or a free one. */
static uint32_t place_of(uint64_t id)
{
	uint32_t at = (uint32_t)(id >> 40) % SLOTS;

	while (known[at].id && known[at].id != id)
		at = (at + 1) % SLOTS;
	return at;
}

static void spend(void)
{
	if (!spent)
		collect_say("more than %u tasks of asyncio, or %u stacks in them, were met: "
			    "samples of further ones do not name the task", NAMES, STACKS);
	__atomic_store_n(&spent, true, __ATOMIC_RELAXED);
}

bool python_tasks_spent(void)
{
	return __atomic_load_n(&spent, __ATOMIC_RELAXED);
}

bool python_task_stack(void)
{
	if (nr_stacks == STACKS) {
		spend();
		return false;
	}
	nr_stacks++;
	return true;
}

void python_task_name(struct python_task *task)
{
	char text[PYTHON_TASK_MAX + 16];
	uint32_t place;

	if (!task->id || task->name)
		return;
	place = place_of(task->id);
	if (known[place].id) {
		task->name = known[place].name;
		return;
	}
	if (nr_names == NAMES) {
		spend();
		return;
	}
	snprintf(text, sizeof(text), "asyncio task: %s", task->text);
	task->name = python_user.name(category, text);
	known[place].name = task->name;
	/* Release: pairs with the acquire in take_name(). */
	__atomic_store_n(&known[place].id, task->id, __ATOMIC_RELEASE);
	nr_names++;
}

/* ---- one task -------------------------------------------------------------------------------- */

/* Return: false: not a name, as if the memory was freed. */
static bool read_name(struct python_reading *r, const char *name)
{
	struct python_task *task = &r->task;
	char head[PYTHON_TEXT_HEAD];
	const void *type;
	uint64_t tag;
	uint32_t digit;

	if (!sample_peek(head, name, sizeof(head)))
		return false;
	memcpy(&type, head + sizeof(void *), sizeof(type));
	if (type == python.text_type) {
		task->id = python_text_id(name, head, sizeof(head), r->window, sizeof(r->window));
		return task->id;
	}
	/* Since 3.13 a name that nobody has asked for is the task's number. */
	if (!python_tasks.number || type != python_tasks.number_type)
		return false;
	memcpy(&tag, head + python_tasks.number - sizeof(tag), sizeof(tag));
	memcpy(&digit, head + python_tasks.number, sizeof(digit));
	if (tag != python_tasks.number_has[0] && tag != python_tasks.number_has[1])
		return false;
	task->id = (digit + 1ull) * 0x9e3779b97f4a7c15u;
	snprintf(task->text, sizeof(task->text), "Task-%u", digit);
	return true;
}

/* Sets the name, or what it is to be called. */
static bool take_name(struct python_reading *r, const void *name)
{
	struct python_task *task = &r->task;
	uint32_t place;

	task->text[0] = '\0';
	if (!read_name(r, name))
		return false;
	place = place_of(task->id);
	/* Acquire: if the slot was just given to another id, the task counts as new. */
	if (__atomic_load_n(&known[place].id, __ATOMIC_ACQUIRE) == task->id) {
		task->name = known[place].name;
		return true;
	}
	return !python_tasks_spent() &&
	       (task->text[0] || python_text_read(name, task->text, sizeof(task->text), r->window,
						  sizeof(r->window)));
}

/* Finds the frame of a coroutine. Return: false: it does not run in this thread. */
static bool find_frame(struct python_reading *r, uintptr_t coroutine)
{
	uintptr_t frame = coroutine + python_tasks.frame;

	if (!python_tasks.frame_inside &&
	    !sample_peek(&frame, (void *)(coroutine + python_tasks.frame), sizeof(frame)))
		return false;
	for (uint32_t i = 0; i < r->nr; i++)
		if (r->frame[i] == frame) {
			r->task.at = i;
			return true;
		}
	return false;
}

/* @at: what may be a task. */
static bool take(struct python_reading *r, uintptr_t at)
{
	uintptr_t word[2];	/* its coroutine and its name */
	const struct iovec to[2] = { { &word[0], sizeof(word[0]) }, { &word[1], sizeof(word[1]) } };
	const struct iovec from[2] = {
		{ (void *)(at + python_tasks.coroutine), sizeof(word[0]) },
		{ (void *)(at + python_tasks.name), sizeof(word[1]) },
	};

	return at >= PYTHON_PAGE && !(at % sizeof(at)) &&
	       sample_peek_many(to, from, 2, sizeof(word)) && find_frame(r, word[0]) &&
	       take_name(r, (const void *)word[1]);
}

/* The dict's keys and values; what follows may be unmapped. */
static size_t read_loops(char *to)
{
	struct iovec local[2], remote[2];
	uintptr_t at;
	size_t here;

	if (!sample_peek(&at, python_tasks.loops + python_tasks.keys, sizeof(at)))
		return 0;
	here = PYTHON_PAGE - at % PYTHON_PAGE;
	here = here < LOOPS ? here : LOOPS;
	local[0] = (struct iovec){ to, here };
	remote[0] = (struct iovec){ (void *)at, here };
	local[1] = (struct iovec){ to + here, LOOPS - here };
	remote[1] = (struct iovec){ (void *)(at + here), LOOPS - here };
	return sample_peek_some(local, remote, here < LOOPS ? 2 : 1);
}

/* Whichever of its words lead to a task whose coroutine is here: no more need be known of dicts. */
static void take_of_loops(struct python_reading *r)
{
	/* Not on the stack, of which a handler has little; the line table is no longer needed. */
	size_t n = read_loops(r->lines);
	uintptr_t word;

	for (size_t at = 0; at + sizeof(word) <= n; at += sizeof(word)) {
		memcpy(&word, r->lines + at, sizeof(word));
		if (take(r, word))
			return;
	}
	r->task.id = 0;
}

/* If it is not known what is where, it is found out. */
static bool is_ready(void)
{
	int is = PYTHON_TASKS_NEW;

	/* Acquire: pairs with the release in find() of tasks-find.c. */
	if (__atomic_load_n(&python_tasks_state, __ATOMIC_ACQUIRE) == PYTHON_TASKS_READY)
		return true;
	(void)__atomic_compare_exchange_n(&python_tasks_state, &is, PYTHON_TASKS_WANTED, false,
					  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return false;
}

void python_task_read(struct python_reading *r, const void *state)
{
	uintptr_t at;

	if (!is_ready())
		return;
	if (python_tasks.loops) {
		take_of_loops(r);
		return;
	}
	if (!sample_peek(&at, (const char *)state + python_tasks.state, sizeof(at)) || !take(r, at))
		r->task.id = 0;
}
