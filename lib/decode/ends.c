// SPDX-License-Identifier: LGPL-2.1-only
/*
 * When producers ended, as far as others tell: a process that executed another program had done
 * so when the new program attached, however late the recorder saw the old one gone.
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
	return p && p->known && p->has_exit && p->how == XSPROF_HOW_EXEC && p->pid;
}

/* The first attach of that process after it last ran the old program. */
static const struct attach *next_of(const struct xst_producer *p, const struct attach *list,
				    size_t nr)
{
	const struct attach key = {
		.pid = p->pid,
		.kind = p->clock_kind,
		/* Its own attach is not after itself. */
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
		if (next && next->ticks < p->end_ticks)
			p->end_ticks = next->ticks;
	}
	free(list);
	return 0;
}
