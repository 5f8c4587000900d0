// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Determines the process of a thread, and its number in another pid namespace.
 *
 * For tasks that are gone when the recording ends, only their creation event tells the process, and
 * only their exit event the last name: the tracer keeps names only for some time.
 *
 * If the program or the recorder is in a pid namespace of its own, the kernel's tracer uses other
 * thread numbers than the program, and nothing readable maps them. But a record states on which CPU
 * its thread ran, and the tracer which thread that was: the kernel thread with the most
 * coincidences is that thread.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"
#include "decode/tid.h"

#define MAX_CPUS	8192u
#define MAX_TIDS	(1u << 20)
#define SURE		255u

/* ---- new tasks ------------------------------------------------------------------------------ */

#define IS_THREAD	0x10000u	/* CLONE_THREAD */
#define NAME_MAX_LEN	64u
/* Limit of names learnt, which stay in memory; beyond it the tracer's names are used. */
#define RENAMED_MAX	65536u

void xst_tids_new_task(struct xsprof_trace *t, const struct xsprof_event *ev)
{
	struct xst_kernel *k = &t->found.kernel;
	uint64_t tid, flags, tgid;

	/* There the program's numbers are not the kernel's. */
	if (k->namespaced || !xsprof_kernel_value(ev, k->new_pid, &tid) ||
	    !xsprof_kernel_value(ev, k->new_flags, &flags) || !tid || tid >= XST_MAX_TASKS ||
	    (k->tgids.used >= XST_MAX_TASKS && !xst_map_get(&k->tgids, 0, (uint32_t)tid)))
		return;
	/* What the recorder saw at the end may be of a later task with that number. */
	if (xst_tgid_get(k, (uint32_t)tid) & 1)
		return;
	tgid = flags & IS_THREAD ? xsprof_trace_tgid(t, ev->tid) : tid;
	/* Without memory, or with an unknown creator, the process stays as it was. */
	if (tgid && !xst_full(t))
		(void)xst_tgid_set(k, (uint32_t)tid, (uint32_t)tgid, false);
}

void xst_tids_gone(struct xsprof_trace *t, const struct xsprof_event *ev)
{
	struct xst_kernel *k = &t->found.kernel;
	const struct xst_text *old, *comm;
	const char *s;
	uint64_t tid;
	size_t len;

	/* A task that lives at the end has its current name. */
	if (!xsprof_kernel_value(ev, k->exit_pid, &tid) || !tid || tid >= XST_MAX_TASKS ||
	    xst_tgid_get(k, (uint32_t)tid) & 1 || k->renamed >= RENAMED_MAX)
		return;
	s = xsprof_kernel_bytes(ev, k->exit_comm, &len);
	old = xst_map_get(&k->tasks, 0, (uint32_t)tid);
	if (!s || !len || len > NAME_MAX_LEN || xst_full(t) ||
	    (old && old->len == len && !memcmp(old->s, s, len)) ||
	    (!old && k->tasks.used >= XST_MAX_TASKS))
		return;
	/* Without memory the name stays. */
	comm = xst_pool_text(&t->found.pool, s, len);
	if (comm && !xst_map_set(&k->tasks, 0, (uint32_t)tid, comm))
		k->renamed++;
}

int xst_tids_settle(struct xsprof_trace *t)
{
	const struct xsprof_kernel_event *kind =
		xsprof_trace_kernel_find(t, "task", "task_newtask");
	const char *fact = xsprof_trace_host_fact(t, "command_pid");
	uint32_t pid = fact ? xst_number_of(fact, strlen(fact)) : 0;
	struct xst_kernel *k = &t->found.kernel;

	k->new_pid = xsprof_kernel_field(kind, "pid");
	k->new_flags = xsprof_kernel_field(kind, "clone_flags");
	k->new_id = kind ? kind->id : UINT32_MAX;
	kind = xsprof_trace_kernel_find(t, "sched", "sched_process_exit");
	k->exit_pid = xsprof_kernel_field(kind, "pid");
	k->exit_comm = xsprof_kernel_field(kind, "comm");
	k->exit_id = kind ? kind->id : UINT32_MAX;
	/* The command existed before the tracer, and may be gone. */
	if (!k->any || k->namespaced || !pid || pid >= XST_MAX_TASKS ||
	    xst_map_get(&k->tgids, 0, pid))
		return 0;
	return xst_tgid_set(k, pid, pid, false);
}

/* ---- numbers of pid namespaces --------------------------------------------------------------- */

/* A running majority vote, in a pointer's bits: the kernel's number, and its lead. */
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

/* The map stores numbers as pointers, which are never dereferenced; 0: none. */
static uint32_t elected(const struct xst_kernel *k, uint32_t producer, uint32_t kernel_tid)
{
	return (uint32_t)(uintptr_t)xst_map_get(&k->elected, producer, kernel_tid);
}

static bool is_foreign(const struct xsprof_trace *t, const struct xst_producer *p)
{
	return t->found.kernel.namespaced || p->nameless || p->pid != p->own_pid;
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
	/* The idle task runs on all CPUs, and writes no records. */
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
	/* Without memory the thread stays unknown. */
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

/*
 * Threads of a producer have distinct numbers: of several candidates for one number the one with
 * most votes wins, of two equal ones the lower. Without memory for a candidate nothing is known of
 * it.
 */
void xst_tids_elect(struct xsprof_trace *t)
{
	struct xst_kernel *k = &t->found.kernel;
	uint32_t producer, tid, other, lead;
	const void *its, *first;

	for (size_t i = 0; i < k->votes.room; i++) {
		if (!k->votes.keys[i])
			continue;
		xst_map_key(k->votes.keys[i], &producer, &tid);
		its = xst_map_get(&k->votes, producer, tid);
		other = elected(k, producer, voted(its));
		first = other ? xst_map_get(&k->votes, producer, other) : NULL;
		lead = first ? lead_of(first) : 0;
		if (lead_of(its) > lead || (lead_of(its) == lead && tid < other))
			(void)xst_map_set(&k->elected, producer, voted(its),
					  (void *)(uintptr_t)tid);
	}
}

uint32_t xst_tids_own(const struct xsprof_trace *t, const struct xst_producer *p, uint32_t tid)
{
	const struct xst_kernel *k = &t->found.kernel;
	uint32_t own;

	if (!is_foreign(t, p))
		return tid;
	if (!k->namespaced && !p->nameless && tid == p->pid)
		return p->own_pid;
	own = elected(k, p->number, tid);
	return own && xsprof_trace_kernel_tid(t, p->number, own) == tid ? own : 0;
}

uint32_t xsprof_trace_kernel_tid(const struct xsprof_trace *t, uint32_t producer, uint32_t tid)
{
	const struct xst_producer *p = xst_producer_find(t, producer);
	const struct xst_kernel *k = &t->found.kernel;
	const void *known;

	if (!p || !is_foreign(t, p))
		return tid;
	if (!k->namespaced && tid == p->own_pid && !p->nameless)
		return p->pid;
	known = xst_map_get(&k->votes, producer, tid);
	if (!known || elected(k, producer, voted(known)) != tid)
		return 0;
	/* That number is the first thread's. */
	return !k->namespaced && !p->nameless && voted(known) == p->pid ? 0 : voted(known);
}

uint32_t xst_tid_shown(const struct xsprof_trace *t, uint32_t producer, uint32_t tid)
{
	uint32_t known = xsprof_trace_kernel_tid(t, producer, tid);
	const struct xst_producer *p = xst_producer_find(t, producer);

	if (known)
		return known;
	return p && xst_tids_own(t, p, tid) ? tid + XST_TID_APART : tid;
}
