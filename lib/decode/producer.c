// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The producers of a trace and their losses, as far as the trace has been read. Never reads
 * records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

struct xst_producer *xst_producer_find(const struct xsprof_trace *t, uint32_t number)
{
	return number < t->found.nr_producers ? t->found.producers[number] : NULL;
}

static int make_room(struct xsprof_trace *t, uint32_t number)
{
	struct xst_producer **list;
	uint32_t room = t->found.room_producers ? t->found.room_producers : 16;

	while (room <= number)
		room *= 2;
	if (room == t->found.room_producers)
		return 0;
	list = realloc(t->found.producers, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memset(list + t->found.room_producers, 0, (room - t->found.room_producers) * sizeof(*list));
	t->found.producers = list;
	t->found.room_producers = room;
	return 0;
}

struct xst_producer *xst_producer_get(struct xsprof_trace *t, uint32_t number)
{
	struct xst_producer *p = xst_producer_find(t, number);

	if (p)
		return p;
	if (number >= XSPROF_CAP_MAX_PRODUCERS || make_room(t, number))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	t->found.lists += sizeof(*p) + 3 * sizeof(struct xst_mark);
	p->number = number;
	p->own_rings = XSPROF_MAX_RINGS;
	p->all_rings = XSPROF_MAX_RINGS;
	p->fit = &t->found.fit;
	t->found.producers[number] = p;
	if (number >= t->found.nr_producers)
		t->found.nr_producers = number + 1;
	return p;
}

void xst_producer_set_ctl(struct xst_producer *p, const struct xsprof_ctl *ctl)
{
	p->known = true;
	p->clock_kind = ctl->clock.kind <= XSPROF_CLOCK_MONO_RAW ? ctl->clock.kind : 0;
	p->mode = ctl->mode;
	p->nr_rings = ctl->nr_rings;
	p->all_rings = XSPROF_MAX_RINGS;
	p->own_rings = XSPROF_MAX_RINGS;
	if (ctl->nr_rings <= XSPROF_MAX_RINGS && ctl->nr_lock_rings <= XSPROF_MAX_LOCK_RINGS &&
	    ctl->nr_kernel_rings <= XSPROF_MAX_RINGS &&
	    ctl->nr_rings + ctl->nr_lock_rings + ctl->nr_kernel_rings < XSPROF_MAX_RINGS) {
		p->own_rings = ctl->nr_rings + ctl->nr_lock_rings;
		p->all_rings = p->own_rings + ctl->nr_kernel_rings;
	}
	p->attach = ctl->attach;
	p->clock = ctl->clock;
	p->own_pid = ctl->pid;
	p->nameless = !p->pid;
	if (p->nameless)
		p->pid = ctl->pid;
}

/* Limited to one per chunk, so that memory is in proportion to the file. */
int xst_producer_switch(struct xst_producer *p, uint64_t ticks, uint64_t enabled)
{
	/* The capacity doubles at each power of two. */
	if (!(p->nr_switches & (p->nr_switches - 1))) {
		size_t room = p->nr_switches ? 2 * (size_t)p->nr_switches : 1;
		struct xst_switch *list = realloc(p->switches, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		p->switches = list;
	}
	p->switches[p->nr_switches++] = (struct xst_switch){ ticks, enabled };
	return 0;
}

void xst_producers_free(struct xsprof_trace *t)
{
	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		struct xst_producer *p = t->found.producers[i];

		if (!p)
			continue;
		xst_facts_free(&p->facts);
		free(p->maps.list);
		free(p->carry);
		free(p->switches);
		free(p->renewed);
		free(p->ctl);
		free(p);
	}
	free(t->found.producers);
}

/* ---- the account ------------------------------------------------------------------------- */

/*
 * The ledger counts; but a ledger written before the ring's last records (the recorder was killed)
 * has lower counts than they do.
 */
static void count_stream(const struct xst_stream *s, struct xst_account *sum)
{
	uint64_t records = s->has_ledger ? s->ledger.drops + s->ledger.busy : 0;

	/* LOST records count both: drops, and records without a lock. */
	sum->lost_records += records > s->lost_value ? records : s->lost_value;
	sum->lost_slots += s->has_ledger ? s->ledger.skipped : s->gaps;
	sum->bad_slots += s->bad_slots + (s->has_ledger ? s->ledger.bad : 0);
}

static struct xst_account add_up(const struct xst_producer *p)
{
	struct xst_account sum = { .lost_records = p->nomem + p->late, .unsaved = p->unsaved };

	for (const struct xst_stream *s = p->streams; s; s = s->next)
		count_stream(s, &sum);
	return sum;
}

/* Cached: it does not change between two batches. */
static const struct xst_account *account_of(const struct xsprof_trace *t, struct xst_producer *p)
{
	if (p->account.turn != t->reading.turn + 1) {
		p->account = add_up(p);
		p->account.turn = t->reading.turn + 1;
	}
	return &p->account;
}

/* Events in the handle's own batch have not been yielded yet. */
static uint64_t waiting(const struct xsprof_trace *t, uint32_t producer, bool all)
{
	uint64_t n = 0;

	for (size_t i = t->reading.ev_next; i < t->reading.ev_nr; i++)
		n += t->reading.evs[i].rec && t->reading.evs[i].type != XSPROF_REC_ARGS &&
		     (all || t->reading.evs[i].producer == producer);
	return n;
}

static const struct xsprof_ctl *get_ctl(struct xsprof_trace *t, struct xst_producer *p)
{
	static const struct xsprof_ctl unknown;
	struct xsprof_chunk chunk;
	const uint8_t *raw;

	if (t->found.snapshot)
		return &t->found.ring_ctl;
	if (!p->known)
		return &unknown;
	if (p->ctl)
		return p->ctl;
	p->ctl = calloc(1, sizeof(*p->ctl));
	if (!p->ctl)
		return NULL;
	if (xst_chunk_header(&t->file, p->ctl_at, &chunk) == 1 &&
	    chunk.raw >= sizeof(struct xsprof_cap_producer) &&
	    !xst_chunk_load(&t->file, p->ctl_at, &chunk, &raw))
		memcpy(p->ctl, raw + offsetof(struct xsprof_cap_producer, ctl), sizeof(*p->ctl));
	return p->ctl;
}

uint64_t xst_producer_end_ns(const struct xst_producer *p)
{
	if (p->exit_ns)
		return p->exit_ns;
	return p->end_ticks ? xst_fit_ns(p->fit, p->end_ticks) : 0;
}

static uint64_t end_ns(const struct xst_producer *p)
{
	return p->has_exit ? xst_producer_end_ns(p) : 0;
}

/* When it was last known to run, at most its end. */
static uint64_t lived_ns(const struct xst_producer *p)
{
	uint64_t end = end_ns(p), lived;

	if (!p->has_exit || !p->lived_ticks || p->exit_ns)
		return end;
	lived = xst_fit_ns(p->fit, p->lived_ticks);
	return lived < end ? lived : end;
}

uint64_t xsprof_trace_lived_ns(const struct xsprof_trace *t, uint32_t number)
{
	const struct xst_producer *p = xst_producer_find(t, number);

	return p ? lived_ns(p) : 0;
}

uint64_t xsprof_trace_ran_ns(const struct xsprof_trace *t, uint32_t number)
{
	const struct xst_producer *p = xst_producer_find(t, number);
	uint64_t end, ran;

	if (!p)
		return 0;
	end = end_ns(p);
	/* The kernel's event of an exit comes before memory is freed: until then it ran. */
	if (!end || !p->ran_ticks || p->exit_ns)
		return lived_ns(p);
	ran = xst_fit_ns(p->fit, p->ran_ticks);
	return ran < end ? ran : end;
}

static uint32_t exit_within(const struct xst_producer *p)
{
	uint64_t within = end_ns(p) - lived_ns(p);

	return within < UINT32_MAX ? within : UINT32_MAX;
}

int xsprof_trace_get_producer(struct xsprof_trace *t, uint32_t number,
			      struct xsprof_trace_producer *producer)
{
	struct xst_producer *p = xst_producer_find(t, number);
	const struct xst_account *sum;

	if (!p)
		return -ENOENT;
	*producer = (struct xsprof_trace_producer){
		.number = number,
		.pid = p->pid,
		.ctl = get_ctl(t, p),
		.how = p->how,
		.status = p->status,
		.exit_ns = end_ns(p),
		.records = p->records - waiting(t, number, false),
		.rings = p->rings,
		.exit_within_ns = exit_within(p),
	};
	if (!producer->ctl)
		return xst_fail(t, -ENOMEM, "no memory");
	sum = account_of(t, p);
	producer->lost_records = sum->lost_records + sum->unsaved;
	producer->lost_slots = sum->lost_slots;
	producer->bad_slots = sum->bad_slots;
	return 0;
}

int xsprof_trace_get_ledger(struct xsprof_trace *t, uint32_t producer, uint32_t index,
			    struct xsprof_cap_ledger *ledger)
{
	struct xst_producer *p = xst_producer_find(t, producer);
	const struct xst_stream *s;
	uint32_t at = 0;

	if (!p)
		return -ENOENT;
	s = p->streams;
	/* Callers iterate in order: continue at the last one; new ones are added in front. */
	if (p->asked && p->asked_of == s && index >= p->asked_index) {
		s = p->asked;
		at = p->asked_index;
	}
	for (; s; s = s->next) {
		if (!s->has_ledger || at++ != index)
			continue;
		p->asked = s;
		p->asked_of = p->streams;
		p->asked_index = index;
		*ledger = s->ledger;
		return 0;
	}
	return -ENOENT;
}

static struct xst_account sum_up(const struct xsprof_trace *t)
{
	struct xst_account all = { 0 };

	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		struct xst_account sum;

		if (!t->found.producers[i])
			continue;
		sum = add_up(t->found.producers[i]);
		all.lost_records += sum.lost_records;
		all.unsaved += sum.unsaved;
		all.lost_slots += sum.lost_slots;
		all.bad_slots += sum.bad_slots;
	}
	return all;
}

static const struct xst_account *account_of_all(struct xsprof_trace *t)
{
	if (t->reading.account.turn != t->reading.turn + 1) {
		t->reading.account = sum_up(t);
		t->reading.account.turn = t->reading.turn + 1;
	}
	return &t->reading.account;
}

bool xst_found_no_room(const struct xsprof_trace *t)
{
	return t->found.end.lost_records > sum_up(t).lost_records;
}

static void describe_clock(const struct xsprof_trace *t, struct xsprof_trace_info *info)
{
	info->clock_kind = t->found.main_kind;
	info->clock_points = t->found.fit.points;
	info->clock_freq = t->found.fit.freq;
	info->clock_error_ns = xst_clocks_error(t, 0, UINT64_MAX);
	if (t->found.nr_syncs)
		info->real_offset_ns = (int64_t)(t->found.syncs[0].real - t->found.syncs[0].mono);
	info->first_ns = xst_first_ns(t);
	info->last_ns = xst_last_ns(t);
}

int xsprof_trace_get_info(struct xsprof_trace *t, struct xsprof_trace_info *info)
{
	size_t size = info->size_of ? info->size_of : sizeof(*info);
	struct xsprof_trace_info all = { .size_of = size };
	const struct xst_account *sum = account_of_all(t);

	if (size < offsetof(struct xsprof_trace_info, chunks))
		return xst_fail(t, -EINVAL, "xsprof_trace_get_info: invalid size_of");
	all.producers = t->found.nr_producers;
	all.truncated = t->found.truncated;
	all.chunks = t->found.chunks;
	all.size = t->file.src.size;
	all.bad_chunks = t->found.bad_index + t->reading.bad_read;
	all.records = t->reading.records - waiting(t, 0, true);
	all.end = t->found.has_end ? &t->found.end : NULL;
	all.lost_records = sum->lost_records + sum->unsaved;
	all.lost_slots = sum->lost_slots;
	all.bad_slots = sum->bad_slots;
	/* Records without room in the file: counted by the recorder, not always per producer. */
	if (t->found.no_room && t->found.end.lost_records > all.lost_records)
		all.lost_records = t->found.end.lost_records;
	describe_clock(t, &all);
	memcpy(info, &all, size < sizeof(all) ? size : sizeof(all));
	return 0;
}
