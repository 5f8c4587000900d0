// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ranges use besides time: what they allocate and free, and what ops compute. An allocation is
 * of the innermost range that is open on its thread, and of those around it; FLOPs come from the
 * inputs that an op begins with. Both are kept with a range while it is open; it never prints.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/pair.h"
#include "report/usage.h"
#include "result/flops.h"

#define SLOTS_MAX	(1u << 16)
#define NOTES_MAX	(4u << 20)	/* bytes of inputs of ops that begin, of all threads */

int report_usage_new(struct report *report, struct xsprof_pairer *pairer, bool rows,
		     struct report_usage **usage)
{
	*usage = calloc(1, sizeof(**usage));
	if (!*usage)
		return -ENOMEM;
	(*usage)->report = report;
	(*usage)->pairer = pairer;
	(*usage)->rows = rows;
	return 0;
}

void report_usage_free(struct report_usage *usage)
{
	if (!usage)
		return;
	for (uint32_t i = 0; i < usage->nr; i++)
		free(usage->slots[i].note);
	free(usage->slots);
	free(usage);
}

/* Numbers of a trace may be anything: they wrap. */
static void add(int64_t *to, int64_t what)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)what);
}

/* ---- slots ---------------------------------------------------------------------------------- */

static struct usage_slot *find_slot(const struct report_usage *usage,
				    const struct xsp_range *range)
{
	return range && range->tag ? &usage->slots[range->tag - 1] : NULL;
}

/* NULL: no room. */
static struct usage_slot *get_slot(struct report_usage *usage, struct xsp_range *range)
{
	struct usage_slot *slots;
	uint32_t at = usage->unused;

	if (range->tag)
		return &usage->slots[range->tag - 1];
	if (at) {
		usage->unused = usage->slots[at - 1].next;
	} else {
		if (usage->nr == usage->room) {
			uint32_t room = usage->room ? usage->room * 2 : 64;

			if (room > SLOTS_MAX)
				return NULL;
			slots = realloc(usage->slots, room * sizeof(*slots));
			if (!slots)
				return NULL;
			usage->slots = slots;
			usage->room = room;
		}
		at = ++usage->nr;
	}
	usage->slots[at - 1] = (struct usage_slot){ 0 };
	range->tag = at;
	return &usage->slots[at - 1];
}

static void forget_note(struct report_usage *usage, struct usage_slot *slot)
{
	usage->expecting -= slot->formula > 0;
	usage->notes -= slot->note_len;
	free(slot->note);
	slot->note = NULL;
	slot->note_len = 0;
	slot->formula = 0;
}

static void put_slot(struct report_usage *usage, struct xsp_range *range)
{
	struct usage_slot *slot = &usage->slots[range->tag - 1];

	forget_note(usage, slot);
	slot->next = usage->unused;
	usage->unused = (uint32_t)range->tag;
	range->tag = 0;
}

/* ---- FLOPs ---------------------------------------------------------------------------------- */

static uint32_t formula_of(struct report_usage *usage, const struct xsprof_event *ev)
{
	uint64_t key = ((uint64_t)ev->producer + 1) << 32 | ev->name;
	uint32_t at = (ev->name ^ ev->producer * 31) % (sizeof(usage->memo) / sizeof(*usage->memo));

	if (usage->memo[at].key != key) {
		usage->memo[at].key = key;
		usage->memo[at].formula = xsr_flops_formula(xsprof_trace_name(
			usage->report->source.trace, ev->producer, ev->name));
	}
	return usage->memo[at].formula;
}

static bool goes_on(const struct xsprof_event *ev)
{
	return ev->rec && ev->rec->size >> 4 & XSPROF_RECF_MORE;
}

static void count(struct report_usage *usage, struct xsp_range *top, uint32_t formula,
		  struct xsr_walk *walk)
{
	struct usage_slot *slot = get_slot(usage, top);

	if (!slot)
		return;
	slot->used.flops = xsr_flops_of(formula, walk);
	slot->unknown = !slot->used.flops;
	slot->all_flops += slot->used.flops;
}

/* Return: false: no space for more of its inputs. */
static bool keep(struct report_usage *usage, struct usage_slot *slot,
		 const struct xsprof_event *ev)
{
	char bytes[XSR_KEPT_MAX], *note;
	size_t len = xsr_keep_bytes(ev, bytes);

	if (!len || usage->notes + len > NOTES_MAX)
		return false;
	note = realloc(slot->note, slot->note_len + len);
	if (!note)
		return false;
	memcpy(note + slot->note_len, bytes, len);
	slot->note = note;
	slot->note_len += (uint32_t)len;
	usage->notes += len;
	return true;
}

static void op_begins(struct report_usage *usage, const struct xsprof_event *ev)
{
	uint32_t formula = formula_of(usage, ev);
	struct xsp_range *top = formula ? xst_pairer_top(usage->pairer, ev->producer, ev->tid) :
					  NULL;
	struct usage_slot *slot;
	struct xsr_walk walk;

	/* One that is too deep is not there. */
	if (!top || top->begin != ev->ns || top->name != ev->name)
		return;
	if (!goes_on(ev)) {
		xsr_walk_event(&walk, ev);
		count(usage, top, formula, &walk);
		return;
	}
	slot = get_slot(usage, top);
	if (!slot)
		return;
	/* Until the rest of its inputs has come. */
	slot->unknown = true;
	if (!keep(usage, slot, ev))
		return;
	slot->formula = formula;
	usage->expecting++;
}

/* More of the inputs that the innermost op has. */
static void op_goes_on(struct report_usage *usage, const struct xsprof_event *ev)
{
	struct xsp_range *top = xst_pairer_top(usage->pairer, ev->producer, ev->tid);
	struct usage_slot *slot = find_slot(usage, top);
	uint32_t formula = slot ? slot->formula : 0;
	struct xsr_walk walk;

	if (!formula)
		return;
	/* After a loss they may be another's. */
	if (top->lost || !keep(usage, slot, ev)) {
		forget_note(usage, slot);
		return;
	}
	if (goes_on(ev))
		return;
	xsr_walk_note(&walk, slot->note, slot->note_len);
	count(usage, top, formula, &walk);
	forget_note(usage, slot);
}

/* ---- memory --------------------------------------------------------------------------------- */

static bool is_wanted(const struct report_usage *usage, const struct xsprof_event *ev)
{
	const struct xsp_filter *filter = &usage->report->filter;

	return xsp_filter_thread(filter, ev->pid, ev->tid) && xsp_filter_time(filter, ev->ns);
}

static void allocation_failed(struct report_usage *usage, const struct xsprof_event *ev,
			      const struct xsr_mem *mem)
{
	const struct xsp_range *top;

	if (!is_wanted(usage, ev) || usage->nr_failed++ >= USAGE_FAILED)
		return;
	top = xst_pairer_top(usage->pairer, ev->producer, ev->tid);
	usage->failed[usage->nr_failed - 1] = (struct usage_failed){
		.mem = *mem, .producer = ev->producer, .pid = ev->pid, .tid = ev->tid,
		.name = top ? top->name : 0,
	};
}

static void allocated(struct report_usage *usage, const struct xsprof_event *ev,
		      const struct xsr_mem *mem)
{
	int kind = mem->device >> 16 == XSPROF_DEVICE_CPU ? XSP_USED_CPU : XSP_USED_DEVICE;
	struct xsp_range *top = xst_pairer_top(usage->pairer, ev->producer, ev->tid);
	struct usage_slot *slot = top ? get_slot(usage, top) : NULL;

	usage->memory++;
	if (slot) {
		add(&slot->used.bytes[kind], mem->bytes);
		add(&slot->used.self[kind], mem->bytes);
	} else if (top) {
		usage->crowded++;
	} else if (is_wanted(usage, ev)) {
		usage->apart.allocs += ev->type == XSPROF_REC_ALLOC;
		usage->apart.frees += ev->type == XSPROF_REC_FREE;
		add(&usage->apart.bytes[kind], mem->bytes);
	}
}

void report_usage_event(struct report_usage *usage, const struct xsprof_event *ev)
{
	struct xsr_mem mem;

	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		if (!(ev->flags & XSPROF_EVF_OP))
			break;
		usage->said |= ev->rec_size > sizeof(struct xsprof_rec_op);
		if (usage->rows)
			op_begins(usage, ev);
		break;
	case XSPROF_REC_ARGS:
		if (usage->expecting)
			op_goes_on(usage, ev);
		break;
	case XSPROF_REC_INSTANT:
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		if (!xsr_mem_event(usage->report->source.trace, ev, &mem))
			break;
		if (mem.failed)
			allocation_failed(usage, ev, &mem);
		else if (usage->rows && ev->ns >= usage->report->filter.from_ns)
			allocated(usage, ev, &mem);
		break;
	}
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void add_all(struct report_used *to, const struct usage_slot *slot)
{
	for (int k = 0; k < XSP_USED_KINDS; k++)
		add(&to->used.bytes[k], slot->used.bytes[k]);
	to->all_flops += slot->all_flops;
}

/* Its usage, and that of ended ranges in it, also counts for the range around it. */
static void pass_on(struct report_usage *usage, struct xsp_range *range,
		    const struct report_used *used)
{
	struct usage_slot *slot;

	if (!range || (!used->used.bytes[XSP_USED_CPU] && !used->used.bytes[XSP_USED_DEVICE] &&
		       !used->all_flops))
		return;
	slot = get_slot(usage, range);
	if (!slot) {
		usage->crowded++;
		return;
	}
	for (int k = 0; k < XSP_USED_KINDS; k++)
		add(&slot->used.bytes[k], used->used.bytes[k]);
	slot->all_flops += used->all_flops;
}

bool report_usage_of(struct report_usage *usage, struct report_used *used)
{
	const struct usage_slot *slot;
	struct xst_given given;

	if (!usage->nr || !xst_pairer_given(usage->pairer, &given) ||
	    (!given.range->tag && !given.inner))
		return false;
	*used = (struct report_used){ 0 };
	slot = find_slot(usage, given.range);
	if (slot) {
		add_all(used, slot);
		memcpy(used->used.self, slot->used.self, sizeof(used->used.self));
		used->used.flops = slot->used.flops;
		used->unknown = slot->unknown;
		put_slot(usage, given.range);
	}
	pass_on(usage, given.outer, used);
	/* They continue: they pass it on themselves. */
	for (uint32_t i = 1; i <= given.inner; i++) {
		slot = find_slot(usage, &given.range[i]);
		if (slot)
			add_all(used, slot);
	}
	return true;
}

void report_used_add(struct report_used *to, const struct report_used *part)
{
	for (int k = 0; k < XSP_USED_KINDS; k++) {
		add(&to->used.bytes[k], part->used.bytes[k]);
		add(&to->used.self[k], part->used.self[k]);
	}
	to->used.flops += part->used.flops;
	to->all_flops += part->all_flops;
	to->unknown |= part->unknown;
}

static void count_op(struct report_usage *usage, const struct report_used *used)
{
	usage->counted += used->used.flops > 0;
	usage->uncounted += used->unknown;
}

void report_usage_doubt(struct report_usage *usage, const struct report_used *used)
{
	count_op(usage, used);
	for (int k = 0; k < XSP_USED_KINDS; k++) {
		usage->doubtful |= used->used.self[k] != 0;
		add(&usage->doubt.self[k], used->used.self[k]);
	}
	usage->doubtful |= used->used.flops != 0;
	usage->doubt.flops += used->used.flops;
}

void report_usage_add_around(struct xsp_group *row, const struct report_used *used)
{
	for (int k = 0; k < XSP_USED_KINDS; k++)
		add(&row->used.bytes[k], used->used.bytes[k]);
	row->used.flops += used->all_flops;
}

void report_usage_add(struct report_usage *usage, struct xsp_group *row,
		      const struct report_used *used, bool named, bool inside)
{
	uint64_t flops = row->used.flops;

	count_op(usage, used);
	for (int k = 0; k < XSP_USED_KINDS; k++)
		add(&row->used.self[k], used->used.self[k]);
	if (!inside)
		report_usage_add_around(row, used);
	if (named)
		row->used.flops = flops + used->used.flops;
}

bool report_usage_said(const struct report_usage *usage)
{
	return usage->said;
}
