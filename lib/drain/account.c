// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes what the capture holds about a producer besides its records: thread names and the counts
 * of its rings. Moves no cursor.
 */
#include <errno.h>
#include <string.h>

#include "base/proc.h"
#include "drain/producer.h"

static bool learn(const struct xsp_producer *p, struct xsp_tid *t)
{
	char comm[16];

	/* The thread is gone or invisible to us: it keeps the name it has. */
	if (xsp_proc_comm(p->pid, t->tid, comm) || !memcmp(comm, t->comm, sizeof(comm)))
		return false;
	memcpy(t->comm, comm, sizeof(comm));
	return true;
}

void xsp_producer_threads(struct xsp_store *st, struct xsp_producer *p, bool again)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_THREADS,
		.producer = p->number,
	};
	struct xsprof_cap_thread *out = st->buf;
	uint32_t wanted = XSP_TID_NEW | (again ? XSP_TID_SEEN : 0);
	/*
	 * Thread ids in records are in the producer's namespace: in ours they mean other threads.
	 */
	bool visible = p->pid && p->rf.ctl.pid_ns == st->pid_ns;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < p->tids.room; i++) {
		struct xsp_tid *t = &p->tids.tab[i];

		if (!t->tid || !(t->flags & wanted))
			continue;
		t->flags = 0;
		if (!visible || !learn(p, t))
			continue;
		memset(&out[n], 0, sizeof(out[n]));
		out[n].tid = t->tid;
		memcpy(out[n].comm, t->comm, sizeof(t->comm));
		if (++n < XSP_CAP_RAW_MAX / sizeof(*out))
			continue;
		xsp_store_chunk(st, &chunk, out, n * sizeof(*out));
		n = 0;
	}
	if (n)
		xsp_store_chunk(st, &chunk, out, n * sizeof(*out));
	p->tids.fresh = 0;
	/* So that the next record of the last walked thread marks it as seen again. */
	p->tids.last = 0;
}

static void fill_ledger(const struct xsp_producer *p, uint32_t k, struct xsprof_cap_ledger *out)
{
	const struct xsprof_ring_writer *writer = xsp_ring_writer(&p->rf, k);
	const struct xsp_producer_ring *r = &p->rings[k];

	memset(out, 0, sizeof(*out));
	out->ring = k;
	out->kind = __atomic_load_n(&writer->kind, __ATOMIC_RELAXED);
	out->head = __atomic_load_n(&writer->head, __ATOMIC_RELAXED);
	/* For a truncated file report what is known. */
	if (out->head < r->seen || p->goes_on)
		out->head = r->seen;
	/* The cursor of an OVERWRITE ring may have been moved by a newer head. */
	if (p->goes_on && out->head < r->tail)
		out->head = r->tail;
	out->read = r->read;
	out->skipped = r->skipped;
	out->bad = r->bad;
	out->drops = __atomic_load_n(&writer->drops, __ATOMIC_RELAXED);
	out->busy = __atomic_load_n(&writer->busy, __ATOMIC_RELAXED);
	out->unsaved = r->unsaved;
}

void xsp_producer_ledger(struct xsp_store *st, struct xsp_producer *p)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_LEDGER,
		.producer = p->number,
	};
	struct xsprof_cap_ledger *out = st->buf;
	size_t n = 0;
	uint32_t k;

	for (k = 0; k < p->rf.rings; k++) {
		if (!xsp_ring_ready(&p->rf, k) && !p->rings[k].seen)
			continue;
		fill_ledger(p, k, &out[n]);
		if (++n < XSP_CAP_RAW_MAX / sizeof(*out))
			continue;
		xsp_store_chunk(st, &chunk, out, n * sizeof(*out));
		n = 0;
	}
	if (n)
		xsp_store_chunk(st, &chunk, out, n * sizeof(*out));
}

static void put_switch(struct xsp_store *st, const struct xsp_producer *p, uint64_t ticks,
		       uint64_t enabled)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_SWITCH,
		.producer = p->number,
		.first = ticks,
		.last = ticks,
	};
	struct xsprof_cap_switch change = {
		.ticks = ticks,
		.count = p->switches,
		.enabled = enabled,
	};

	xsp_store_chunk(st, &chunk, &change, sizeof(change));
}

/*
 * Switching all categories off has a count of its own, which later switches must not hide, since
 * ranges ended there. The times belong to these counts, or to later ones, which come next.
 */
void xsp_producer_switches(struct xsp_store *st, struct xsp_producer *p)
{
	const struct xsprof_ctl *ctl = xsp_ring_ctl(&p->rf);
	uint64_t switches = __atomic_load_n(&ctl->switches, __ATOMIC_ACQUIRE);
	uint64_t quiets = __atomic_load_n(&ctl->quiets, __ATOMIC_ACQUIRE);
	bool changed = switches != p->switches;
	uint64_t enabled;

	p->switches = switches;
	if (quiets != p->quiets) {
		p->quiets = quiets;
		put_switch(st, p, __atomic_load_n(&ctl->quiet_ticks, __ATOMIC_RELAXED), 0);
	}
	enabled = __atomic_load_n(&ctl->switched, __ATOMIC_RELAXED);
	if (changed && enabled)
		put_switch(st, p, __atomic_load_n(&ctl->switch_ticks, __ATOMIC_RELAXED), enabled);
}

uint64_t xsp_producer_lost(const struct xsp_producer *p)
{
	const struct xsprof_arena *arena = xsp_ring_arena(&p->rf);
	struct xsprof_cap_ledger ledger;
	uint64_t lost;
	uint32_t k;

	lost = __atomic_load_n(&arena->nomem, __ATOMIC_RELAXED) +
	       __atomic_load_n(&arena->late, __ATOMIC_RELAXED);
	for (k = 0; k < p->rf.rings; k++) {
		if (!xsp_ring_ready(&p->rf, k))
			continue;
		fill_ledger(p, k, &ledger);
		lost += ledger.drops + ledger.busy;
	}
	return lost;
}

uint64_t xsp_producer_late(const struct xsp_producer *p)
{
	return __atomic_load_n(&xsp_ring_arena(&p->rf)->late, __ATOMIC_RELAXED);
}

uint32_t xsp_producer_refused(const struct xsp_producer *p)
{
	uint32_t err = __atomic_load_n(&xsp_ring_arena(&p->rf)->refused, __ATOMIC_RELAXED);

	/* The module uses EPERM for a user's limit (ulimit -l). */
	return p->rf.device && err == EPERM ? ENOMEM : err;
}

void xsp_producer_lost_slots(const struct xsp_producer *p, uint64_t *skipped, uint64_t *bad)
{
	uint32_t k;

	*skipped = 0;
	*bad = 0;
	for (k = 0; k < p->rf.rings; k++) {
		*skipped += p->rings[k].skipped - p->rings[k].before;
		*bad += p->rings[k].bad;
	}
}

void xsp_producer_exit(struct xsp_store *st, struct xsp_producer *p, struct xsprof_cap_exit *exit)
{
	const struct xsprof_arena *arena = xsp_ring_arena(&p->rf);
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_EXIT,
		.producer = p->number,
	};

	xsp_producer_ledger(st, p);
	exit->nomem = __atomic_load_n(&arena->nomem, __ATOMIC_RELAXED);
	exit->late = __atomic_load_n(&arena->late, __ATOMIC_RELAXED);
	exit->unsaved = p->unsaved;
	exit->arena_missed = __atomic_load_n(&arena->missed, __ATOMIC_RELAXED);
	if (exit->arena_missed)
		xsp_store_note(st, "%s: %llu names, threads or facts did not fit: events with such "
			       "names are named ?; set XSPROF_ARENA_SIZE=16M in the program's "
			       "environment for more (default 1M), or 64M for a million, the "
			       "maximum", p->name,
			       (unsigned long long)exit->arena_missed);
	chunk.first = exit->ticks;
	chunk.last = exit->ticks;
	xsp_store_chunk(st, &chunk, exit, sizeof(*exit));
}
