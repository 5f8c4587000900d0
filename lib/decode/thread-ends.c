// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Ends of threads whose process continued, as seen by the kernel: their open ranges are closed.
 * When a process ends, its threads end within the time it takes to disappear: their open ranges
 * were open at the process' end, which closes them.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/local.h"

bool xst_went_on(const struct xst_producer *p, uint64_t ns)
{
	uint64_t ran = p->ran_ticks ? p->ran_ticks : p->lived_ticks;

	/* A process without an end here: unknown what its threads ended with. */
	if (!p->has_exit || !p->end_ticks)
		return false;
	if (p->how == XSPROF_HOW_RUNNING)
		return ns < xst_fit_ns(p->fit, p->end_ticks);
	/* A killed process remains until its memory is freed: that is no continuation. */
	return ns + XST_GOING_NS < xst_fit_ns(p->fit, ran ? ran : p->end_ticks);
}

/* ---- whose a thread is ----------------------------------------------------------------------- */

/* Limit of programs that a process executes within a second. */
#define AT_ONCE	16u

/* A producer by its process' number or, if that is unknown, by each of its threads' numbers. */
struct xst_owner {
	uint64_t			key;
	uint64_t			since;		/* ns, 0: unknown */
	const struct xst_producer	*producer;
};

static uint64_t key_of(bool by_thread, uint32_t number)
{
	return (uint64_t)by_thread << 32 | number;
}

/* In another namespace the process' number means nothing here. */
static bool is_by_thread(const struct xsprof_trace *t, const struct xst_producer *p)
{
	return t->found.kernel.namespaced || p->nameless;
}

static int by_key(const void *pa, const void *pb)
{
	const struct xst_owner *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->since > b->since) - (a->since < b->since);
}

static void add(struct xst_owners *owners, uint64_t key, const struct xst_producer *p)
{
	owners->list[owners->nr++] = (struct xst_owner){
		.key = key,
		.since = p->attach.ticks ? xst_fit_ns(p->fit, p->attach.ticks) : 0,
		.producer = p,
	};
}

int xst_thread_ends_settle(struct xsprof_trace *t)
{
	struct xst_kernel *k = &t->found.kernel;
	size_t room = t->found.nr_producers + k->elected.used;
	struct xst_owners *owners = &k->owners;
	const struct xst_producer *p;
	uint32_t number, tid;

	if (owners->list || !room || k->exit_id == UINT32_MAX || t->flags & XSPROF_TRACE_FOLLOW)
		return 0;
	owners->list = malloc(room * sizeof(*owners->list));
	if (!owners->list)
		return xst_fail(t, -ENOMEM, "no memory for the ends of threads");
	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		p = t->found.producers[i];
		if (p && p->known && !is_by_thread(t, p))
			add(owners, key_of(false, p->pid), p);
	}
	for (size_t i = 0; i < k->elected.room; i++) {
		if (!k->elected.keys[i])
			continue;
		xst_map_key(k->elected.keys[i], &number, &tid);
		p = xst_producer_find(t, number);
		if (p && p->known && is_by_thread(t, p))
			add(owners, key_of(true, tid), p);
	}
	qsort(owners->list, owners->nr, sizeof(*owners->list), by_key);
	return 0;
}

/* The index after all entries of @key that existed at @ns. */
static size_t after(const struct xst_owners *owners, uint64_t key, uint64_t ns)
{
	size_t low = 0, high = owners->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct xst_owner *o = &owners->list[middle];

		if (o->key < key || (o->key == key && o->since <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool ends_in(const struct xsprof_trace *t, uint64_t key, uint32_t kernel_tid, uint64_t ns,
		    struct xsprof_event *ended)
{
	const struct xst_owners *owners = &t->found.kernel.owners;
	size_t end = after(owners, key, ns);

	for (size_t i = end; i > 0 && end - i < AT_ONCE && owners->list[i - 1].key == key; i--) {
		const struct xst_producer *p = owners->list[i - 1].producer;
		uint32_t tid = xst_went_on(p, ns) ? xst_tids_own(t, p, kernel_tid) : 0;

		if (!tid)
			continue;
		xst_event_init(ended, p, XSPROF_EV_THREAD_EXIT, ns);
		ended->tid = tid;
		return true;
	}
	return false;
}

void xst_thread_ends(struct xsprof_trace *t, const struct xsprof_event *ev,
		     struct xsprof_event *ended)
{
	const struct xst_kernel *k = &t->found.kernel;
	uint64_t number;
	uint32_t tid;

	if (!k->owners.nr || !xsprof_kernel_value(ev, k->exit_pid, &number) || !number ||
	    number > UINT32_MAX)
		return;
	tid = (uint32_t)number;
	if (!ends_in(t, key_of(false, xsprof_trace_tgid(t, tid)), tid, ev->ns, ended))
		ends_in(t, key_of(true, tid), tid, ev->ns, ended);
}
