// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks the threads that wait for the GIL, and its holder.
 */
#include <errno.h>
#include <stdlib.h>

#include "cause/gil.h"
#include "cause/gil-record.h"
#include "cause/local.h"
#include "cause/sched.h"

struct cause_gils {
	const struct xsprof_trace *trace;
	struct cause		*cause;
	bool			any;		/* a wait was seen */
	struct gil_names	names;
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

/*
 * Tracks ranges of a signal handler that begin and end during the wait. Return: this record is of
 * one.
 */
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

/* Only for watched tasks that wait: the holder changes no sum. */
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

static void range_changes(struct cause_gils *gils, const struct xsprof_event *ev, uint64_t key)
{
	struct cause_task *task = gils->any ? cause_task_find(gils->cause, key) : NULL;

	if (!task || !task->gil.waits || is_inner(task, ev->type == XSPROF_REC_BEGIN))
		return;
	ends(gils->cause, ev->ns, task);
	if (!gil_record_untaken(gils->trace, ev))
		changes(gils->cause, ev->ns, task->gil.lock, key, ev->tid);
}

void cause_gils_event(struct cause_gils *gils, const struct xsprof_event *ev, uint64_t key)
{
	enum gil_record what = ev->name && ev->type != XSPROF_REC_END ?
			       gil_record_of(&gils->names, gils->trace, ev->producer, ev->name) :
			       GIL_OTHER;
	struct cause_gil gil = { .waits = true };
	struct cause *cause = gils->cause;

	if (ev->type == XSPROF_REC_BEGIN && what == GIL_WAIT) {
		gils->any = true;
		gil.lock = gil_record_lock(gils->trace, ev, &gil.tid);
		if (gil.tid)
			gil.holder = cause_key(gils->trace, ev->producer, gil.tid);
		begins(cause, ev->ns, key, &gil);
	} else if (ev->type == XSPROF_REC_BEGIN || ev->type == XSPROF_REC_END) {
		range_changes(gils, ev, key);
	} else if (ev->type == XSPROF_REC_INSTANT && what == GIL_TAKEN) {
		changes(cause, ev->ns, gil_record_lock(gils->trace, ev, &gil.tid), key, ev->tid);
	} else if (ev->type == XSPROF_REC_SPAN && what == GIL_HELD) {
		changes(cause, ev->ns, gil_record_lock(gils->trace, ev, &gil.tid), 0, 0);
	}
}
