// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Improves the end times of producers by other evidence: a process that executed another program
 * had done so by the time the new program attached, however late the recorder noticed; and the
 * kernel's tracer saw the threads of a process exit, which ends its last program.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/local.h"

struct attach {
	uint32_t	pid;
	uint32_t	kind;
	uint64_t	ticks;
};

static int by_process(const void *pa, const void *pb)
{
	const struct attach *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static bool may_be_early(const struct xst_producer *p)
{
	return p && p->known && p->has_exit && p->pid &&
	       (p->how == XSPROF_HOW_EXEC || p->how == XSPROF_HOW_VANISHED);
}

/* The first attach of that process after its old program last ran. */
static const struct attach *next_of(const struct xst_producer *p, const struct attach *list,
				    size_t nr)
{
	const struct attach key = {
		.pid = p->pid,
		.kind = p->clock_kind,
		/* +1: its own attach does not count. */
		.ticks = (p->lived_ticks > p->attach.ticks ? p->lived_ticks : p->attach.ticks) + 1,
	};
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_process(&list[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == nr || list[low].pid != key.pid || list[low].kind != key.kind)
		return NULL;
	return &list[low];
}

int xst_ends_settle(struct xsprof_trace *t)
{
	const struct attach *next;
	struct attach *list;
	size_t nr = 0;
	uint32_t i;
	bool any = false;

	for (i = 0; i < t->found.nr_producers && !any; i++)
		any = may_be_early(t->found.producers[i]);
	if (!any)
		return 0;
	list = calloc(t->found.nr_producers, sizeof(*list));
	if (!list)
		return xst_fail(t, -ENOMEM, "no memory for %u producers", t->found.nr_producers);
	for (i = 0; i < t->found.nr_producers; i++) {
		const struct xst_producer *p = t->found.producers[i];

		if (p && p->known && p->attach.ticks)
			list[nr++] = (struct attach){ p->pid, p->clock_kind, p->attach.ticks };
	}
	qsort(list, nr, sizeof(*list), by_process);
	for (i = 0; i < t->found.nr_producers; i++) {
		struct xst_producer *p = t->found.producers[i];

		next = may_be_early(p) ? next_of(p, list, nr) : NULL;
		if (!next || next->ticks >= p->end_ticks)
			continue;
		/*
		 * If it vanished before or when the other came, the recorder could not tell the
		 * reason.
		 */
		if (p->how == XSPROF_HOW_EXEC)
			p->end_ticks = next->ticks;
		else
			p->followed = true;
	}
	free(list);
	return 0;
}

/* ---- what the kernel saw -------------------------------------------------------------------- */

#define EXITS_MAX	(1u << 18)

/* The recorder knows its end only as an interval, and it ended with its process. */
static bool is_bounded(const struct xst_producer *p)
{
	return p && p->has_exit && !p->followed && p->lived_ticks &&
	       p->lived_ticks < p->end_ticks && p->how != XSPROF_HOW_RUNNING &&
	       p->how != XSPROF_HOW_EXEC;
}

uint64_t xst_exits_until(struct xsprof_trace *t)
{
	const struct xsprof_kernel_event *kind =
		xsprof_trace_kernel_find(t, "sched", "sched_process_exit");
	struct xst_exits *exits = &t->found.kernel.exits;
	uint64_t until = 0, ns;

	exits->pid = xsprof_kernel_field(kind, "pid");
	exits->kind = kind ? kind->id : UINT32_MAX;
	for (uint32_t i = 0; i < t->found.nr_producers && exits->pid; i++) {
		const struct xst_producer *p = t->found.producers[i];

		ns = is_bounded(p) ? xst_fit_ns(p->fit, p->end_ticks) : 0;
		until = ns > until ? ns : until;
	}
	return until;
}

/* Exits that find no room leave ends unimproved. */
static void add_exit(struct xsprof_trace *t, uint32_t tid, uint64_t ns)
{
	struct xst_exits *exits = &t->found.kernel.exits;
	uint32_t tgid = xsprof_trace_tgid(t, tid);

	if (exits->nr == exits->room) {
		uint32_t room = exits->room ? exits->room * 2 : 256;
		struct xst_exit *list = NULL;

		if (room <= EXITS_MAX)
			list = realloc(exits->list, room * sizeof(*list));
		if (!list)
			return;
		exits->list = list;
		exits->room = room;
	}
	exits->list[exits->nr++] = (struct xst_exit){ .pid = tgid ? tgid : tid, .ns = ns };
}

void xst_exits_learn(struct xsprof_trace *t, const struct xsprof_event *evs, size_t n)
{
	const struct xst_exits *exits = &t->found.kernel.exits;
	uint64_t tid;

	for (size_t i = 0; i < n; i++)
		if (evs[i].type == XSPROF_EV_KERNEL && evs[i].name == exits->kind &&
		    xsprof_kernel_value(&evs[i], exits->pid, &tid))
			add_exit(t, (uint32_t)tid, evs[i].ns);
}

static int by_pid(const void *pa, const void *pb)
{
	const struct xst_exit *a = pa, *b = pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* The last exit of a thread of that process at or before @ns, 0 for none. */
static uint64_t last_exit(const struct xst_exits *exits, uint32_t pid, uint64_t ns)
{
	const struct xst_exit key = { .pid = pid, .ns = ns };
	size_t low = 0, high = exits->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_pid(&exits->list[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && exits->list[low - 1].pid == pid ? exits->list[low - 1].ns : 0;
}

/*
 * When the last thread of @p exited, 0: not seen. An exit before the process was last seen alive is
 * not the last one, as the event of another may be lost. A process remains visible for a while
 * after its exit event, until it is gone.
 */
static uint64_t exit_of(const struct xsprof_trace *t, uint32_t number, const struct xst_producer *p,
			bool lost)
{
	uint64_t lived = xst_fit_ns(p->fit, p->lived_ticks), ns;
	uint64_t since = p->attach.ticks ? xst_fit_ns(p->fit, p->attach.ticks) : lived;

	ns = last_exit(&t->found.kernel.exits, xsprof_trace_kernel_tid(t, number, p->own_pid),
		       xst_fit_ns(p->fit, p->end_ticks));
	if (ns <= lived && (lost || ns <= since || lived - ns > XST_GOING_NS))
		return 0;
	return ns;
}

void xst_exits_settle(struct xsprof_trace *t)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	struct xst_exits *exits = &t->found.kernel.exits;

	xsprof_trace_get_kernel(t, &kernel);
	if (exits->nr)
		qsort(exits->list, exits->nr, sizeof(*exits->list), by_pid);
	for (uint32_t i = 0; i < t->found.nr_producers && exits->nr; i++) {
		struct xst_producer *p = t->found.producers[i];

		if (is_bounded(p))
			p->exit_ns = exit_of(t, i, p, kernel.lost);
	}
	free(exits->list);
	*exits = (struct xst_exits){ 0 };
}
