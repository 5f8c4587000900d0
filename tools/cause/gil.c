// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that wait for Python's lock, and who has it meanwhile. What is recorded (collect/python):
 *
 *	BEGIN and END of "GIL wait"	a thread waits; behind the end it has the lock
 *	INSTANT of "GIL taken"		it had not to wait, and took it while others wait
 *	SPAN of "GIL held, wanted"	it had the lock while others waited, and has left it
 *
 * all in the category "python". An interpreter's own lock has a number, an argument "gil".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cause/gil.h"
#include "cause/local.h"
#include "cause/sched.h"

#define NAMES	1024u

enum what { NOT_SEEN, OTHER, WAIT, TAKEN, HELD };

struct cause_gils {
	const struct xsprof_trace *trace;
	struct cause		*cause;
	bool			any;		/* a wait was seen */
	struct {
		uint64_t	key;		/* producer, name */
		enum what	what;
	} names[NAMES];				/* the latest of each place */
};

int cause_gils_new(const struct xsprof_trace *trace, struct cause *cause, struct cause_gils **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->trace = trace;
	(*out)->cause = cause;
	return 0;
}

void cause_gils_free(struct cause_gils *gils)
{
	free(gils);
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void begins(struct cause *cause, uint64_t ns, uint64_t key, const struct cause_gil *gil)
{
	struct cause_task *task = cause_task_get(cause, key);

	if (!task)
		return;
	cause_tell(cause, task, ns);
	task->gil = *gil;
	cause_task_update(cause, task, ns);
}

/* Another range of the thread began or ended meanwhile, in a signal handler.  Return: that. */
static bool is_inner(struct cause_task *task, bool begin)
{
	if (begin)
		task->gil.depth++;
	else if (!task->gil.depth)
		return false;
	else
		task->gil.depth--;
	return true;
}

static void ends(struct cause *cause, uint64_t ns, struct cause_task *task)
{
	cause_tell(cause, task, ns);
	task->gil.waits = false;
	cause_task_update(cause, task, ns);
}

/* Those that are watched, and wait for it: who has it matters for no sum. */
static void changes(struct cause *cause, uint64_t ns, uint64_t lock, uint64_t holder, uint32_t tid)
{
	for (uint32_t i = 0; i < cause->nr_watched; i++) {
		struct cause_task *task = cause->watched[i];

		if (!task->gil.waits || task->gil.lock != lock || task->gil.holder == holder)
			continue;
		cause_tell(cause, task, ns);
		task->gil.holder = holder;
		task->gil.tid = tid;
	}
}

/* ---- records --------------------------------------------------------------------------------- */

static enum what what_of(struct cause_gils *gils, const struct xsprof_event *ev)
{
	uint64_t key = (uint64_t)ev->producer << 32 | ev->name;
	uint32_t at = (uint32_t)xsp_hash_mix(key) % NAMES;
	const char *name;

	if (gils->names[at].what != NOT_SEEN && gils->names[at].key == key)
		return gils->names[at].what;
	name = xsprof_trace_name(gils->trace, ev->producer, ev->name);
	gils->names[at].key = key;
	gils->names[at].what = !strcmp(name, "GIL wait") ? WAIT :
			       !strcmp(name, "GIL taken") ? TAKEN :
			       !strcmp(name, "GIL held, wanted") ? HELD : OTHER;
	if (gils->names[at].what != OTHER &&
	    strcmp(xsprof_trace_category(gils->trace, ev->producer, ev->name), "python"))
		gils->names[at].what = OTHER;
	return gils->names[at].what;
}

/* @holder: what the record says, 0 where it says nothing.  Return: the lock. */
static uint64_t lock_of(const struct cause_gils *gils, const struct xsprof_event *ev,
			uint32_t *holder)
{
	uint64_t number = ev->type == XSPROF_REC_SPAN ? ev->value : 0;
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	*holder = 0;
	while (xsprof_trace_args(ev, &pos, &arg)) {
		const char *key = xsprof_trace_name(gils->trace, ev->producer, arg.key);

		if (arg.type != XSPROF_ARG_U64)
			continue;
		if (!strcmp(key, "held_by"))
			*holder = (uint32_t)arg.u.u64;
		else if (!strcmp(key, "gil"))
			number = arg.u.u64;
	}
	return (uint64_t)ev->producer << 32 | (uint32_t)number;
}

static void range_changes(struct cause_gils *gils, const struct xsprof_event *ev, uint64_t key)
{
	struct cause_task *task = gils->any ? cause_task_find(gils->cause, key) : NULL;

	if (!task || !task->gil.waits || is_inner(task, ev->type == XSPROF_REC_BEGIN))
		return;
	ends(gils->cause, ev->ns, task);
	changes(gils->cause, ev->ns, task->gil.lock, key, ev->tid);
}

void cause_gils_event(struct cause_gils *gils, const struct xsprof_event *ev, uint64_t key)
{
	enum what what = ev->name && ev->type != XSPROF_REC_END ? what_of(gils, ev) : OTHER;
	struct cause_gil gil = { .waits = true };
	struct cause *cause = gils->cause;

	if (ev->type == XSPROF_REC_BEGIN && what == WAIT) {
		gils->any = true;
		gil.lock = lock_of(gils, ev, &gil.tid);
		if (gil.tid)
			gil.holder = cause_key(gils->trace, ev->producer, gil.tid);
		begins(cause, ev->ns, key, &gil);
	} else if (ev->type == XSPROF_REC_BEGIN || ev->type == XSPROF_REC_END) {
		range_changes(gils, ev, key);
	} else if (ev->type == XSPROF_REC_INSTANT && what == TAKEN) {
		changes(cause, ev->ns, lock_of(gils, ev, &gil.tid), key, ev->tid);
	} else if (ev->type == XSPROF_REC_SPAN && what == HELD) {
		changes(cause, ev->ns, lock_of(gils, ev, &gil.tid), 0, 0);
	}
}
