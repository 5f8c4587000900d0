// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Threads that the kernel's tracer knows by other numbers than the program does: one of the two
 * was in a pid namespace of its own, and nothing that a recorder may read there says which number
 * is which.  But a record says on which CPU its thread ran, and the tracer who did: whom most of
 * a thread's records fall on is that thread.
 */
#include <stdlib.h>

#include "decode/local.h"

#define MAX_CPUS	8192u
#define MAX_TIDS	(1u << 20)
#define SURE		255u

/* A majority under way, in a pointer's bits: the kernel's number, and by how many it leads. */
static void *vote(uint32_t tid, uint32_t lead)
{
	return (void *)((uintptr_t)tid << 8 | lead);
}

static uint32_t voted(const void *vote)
{
	return (uintptr_t)vote >> 8;
}

static uint32_t lead_of(const void *vote)
{
	return (uintptr_t)vote & 0xff;
}

static bool is_foreign(const struct xsprof_trace *t, const struct xst_producer *p)
{
	return t->found.kernel.namespaced || p->pid != p->own_pid;
}

bool xst_tids_wanted(const struct xsprof_trace *t)
{
	for (uint32_t i = 0; i < t->found.nr_producers; i++)
		if (t->found.producers[i] && is_foreign(t, t->found.producers[i]))
			return true;
	return false;
}

static void saw_current(struct xst_kernel *k, const struct xsprof_event *ev)
{
	uint64_t next = ev->tid;

	if (ev->cpu < 0 || (uint32_t)ev->cpu >= MAX_CPUS)
		return;
	if (!k->current)
		k->current = calloc(MAX_CPUS, sizeof(*k->current));
	if (!k->current)
		return;
	if (k->next_pid && ev->name == k->switch_id && !xsprof_kernel_value(ev, k->next_pid, &next))
		next = 0;
	/* The idle task is on all CPUs at once, and writes no records. */
	k->current[ev->cpu] = (uint32_t)next;
}

static void saw_record(struct xsprof_trace *t, const struct xsprof_event *ev)
{
	struct xst_kernel *k = &t->found.kernel;
	const struct xst_producer *p;
	uint32_t now, lead;
	const void *old;

	if (ev->cpu < 0 || (uint32_t)ev->cpu >= MAX_CPUS || !ev->tid)
		return;
	now = k->current[ev->cpu];
	p = xst_producer_find(t, ev->producer);
	if (!now || !p || !is_foreign(t, p))
		return;
	old = xst_map_get(&k->votes, ev->producer, ev->tid);
	lead = old ? lead_of(old) : 0;
	if (old && voted(old) == now) {
		if (lead == SURE)
			return;
		lead++;
	} else if (lead > 1) {
		now = voted(old);
		lead--;
	} else {
		lead = 1;
	}
	if (!old && k->votes.used >= MAX_TIDS)
		return;
	/* With no memory for it the thread stays unknown, as it was. */
	(void)xst_map_set(&k->votes, ev->producer, ev->tid, vote(now, lead));
}

void xst_tids_learn(struct xsprof_trace *t, const struct xsprof_event *evs, size_t n)
{
	struct xst_kernel *k = &t->found.kernel;
	const struct xsprof_kernel_event *kind;

	if (!k->next_pid) {
		kind = xsprof_trace_kernel_find(t, "sched", "sched_switch");
		k->next_pid = xsprof_kernel_field(kind, "next_pid");
		k->switch_id = kind ? kind->id : UINT32_MAX;
	}
	for (size_t i = 0; i < n; i++) {
		if (evs[i].type == XSPROF_EV_KERNEL)
			saw_current(k, &evs[i]);
		else if (k->current && evs[i].type < XSPROF_REC_SCHED_IN)
			saw_record(t, &evs[i]);
	}
}

uint32_t xsprof_trace_kernel_tid(const struct xsprof_trace *t, uint32_t producer, uint32_t tid)
{
	const struct xst_producer *p = xst_producer_find(t, producer);
	const void *known;

	if (!p || !is_foreign(t, p))
		return tid;
	if (!t->found.kernel.namespaced && tid == p->own_pid && p->pid)
		return p->pid;
	known = xst_map_get(&t->found.kernel.votes, producer, tid);
	return known ? voted(known) : 0;
}
