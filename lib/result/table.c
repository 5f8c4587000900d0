// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Sums over events: walks the tree once, and adds each range's time, memory and launches to its
 * row; a range inside another one of the same row adds nothing to the row's totals.
 *
 * Device activities have rows of their own beside those of the ops that launched them; the table's
 * total counts them once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "result/frames.h"
#include "result/table.h"

enum { CLASS_OP, CLASS_ANNOTATION, CLASS_CALL, CLASS_MEMORY, CLASS_DEVICE };

/* Sums inside an event during the walk. */
struct inside {
	uint64_t	device_ns;
	int64_t		cpu_memory;
	int64_t		device_memory;
};

struct walk {
	struct xsprof_table	*t;
	uint64_t		*launched;	/* ns, by index of the launching event */
	struct inside		*stack;
	size_t			depth;
	size_t			room;
};

/* Overflows wrap instead of being undefined. */
static void add(int64_t *to, int64_t what)
{
	*to = (int64_t)((uint64_t)*to + (uint64_t)what);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int class_of(const struct xsprof_profiler_event *e)
{
	switch (e->kind) {
	case XSPROF_EVENT_OP:
		return CLASS_OP;
	case XSPROF_EVENT_ANNOTATION:
		return CLASS_ANNOTATION;
	case XSPROF_EVENT_RUNTIME:
	case XSPROF_EVENT_DRIVER:
		return CLASS_CALL;
	case XSPROF_EVENT_MEMORY:
		return CLASS_MEMORY;
	case XSPROF_EVENT_KERNEL:
	case XSPROF_EVENT_MEMCPY:
	case XSPROF_EVENT_MEMSET:
	case XSPROF_EVENT_VULKAN:
		return CLASS_DEVICE;
	default:
		return -1;
	}
}

static const char *stack_of(const struct xsprof_table *t, const struct xsprof_profiler_event *e)
{
	const struct xsr_stack *stack = xsr_event_stack(e);
	struct xsr_buf b = { 0 };
	const char *text;

	for (size_t i = 0; stack && i < stack->nr && i < t->depth; i++) {
		xsr_puts(&b, i ? "\n" : "");
		xsr_puts(&b, stack->frames[i]);
	}
	text = b.err ? NULL : xsr_text(&t->result->texts, b.s ? b.s : "", b.len);
	xsr_buf_free(&b);
	return text;
}

static bool same(const struct xsr_row *a, const struct xsr_row *b)
{
	/* The result's texts are unique: compare pointers. */
	return a->row.name == b->row.name && a->row.shapes == b->row.shapes &&
	       a->row.stack == b->row.stack && a->class == b->class && a->device == b->device;
}

static uint64_t mix(uint64_t key, uint64_t word)
{
	return xsp_hash_pair(key, word);
}

static struct xsr_row *new_row(struct xsprof_table *t, const struct xsr_row *like)
{
	if (t->nr == t->room) {
		uint32_t room = t->room ? t->room * 2 : 64;
		void *rows = realloc(t->rows, room * sizeof(*t->rows));

		if (!rows)
			return NULL;
		t->rows = rows;
		t->room = room;
	}
	t->rows[t->nr] = *like;
	return &t->rows[t->nr++];
}

/* The row of an event, created if new; NULL: no memory. */
static struct xsr_row *row_of(struct xsprof_table *t, const struct xsprof_profiler_event *e)
{
	struct xsr_row like = { .row = { .name = e->name, .shapes = "", .stack = "" },
				.class = (uint32_t)class_of(e) }, *row;
	const char *empty = xsr_text(&t->result->texts, "", 0);
	uint64_t key, *first;

	if (t->by & XSPROF_BY_SHAPE)
		like.row.shapes = xsprof_event_shapes(e);
	/* "" from the accessor is not one of the unique texts. */
	if (!*like.row.shapes)
		like.row.shapes = empty;
	like.row.stack = t->by & XSPROF_BY_STACK ? stack_of(t, e) : empty;
	if (t->by & XSPROF_BY_DEVICE)
		like.device = e->device;
	if (!empty || !like.row.stack)
		return NULL;
	key = mix(mix(mix(like.class, (uintptr_t)like.row.name), (uintptr_t)like.row.shapes),
		  (uintptr_t)like.row.stack);
	key = mix(key, like.device) | 1;
	first = xsp_map_get(&t->index, key);
	like.next = first ? (uint32_t)*first : XSR_NONE;
	for (uint32_t i = like.next; i != XSR_NONE; i = t->rows[i].next)
		if (same(&t->rows[i], &like))
			return &t->rows[i];
	row = new_row(t, &like);
	if (!row || xsp_map_set(&t->index, key, t->nr - 1))
		return NULL;
	return row;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static int count_memory(struct walk *w, const struct xsprof_profiler_event *e)
{
	const struct xsprof_profiler_event *parent = xsprof_event_parent(e);
	int64_t cpu = e->device >> 16 ? 0 : e->u.mem.bytes;
	int64_t device = e->device >> 16 ? e->u.mem.bytes : 0;
	struct xsr_row *row = row_of(w->t, parent ? parent : e);

	if (!row)
		return -ENOMEM;
	add(&row->row.self_cpu_memory, cpu);
	add(&row->row.self_device_memory, device);
	if (parent) {
		add(&w->stack[w->depth - 1].cpu_memory, cpu);
		add(&w->stack[w->depth - 1].device_memory, device);
		return 0;
	}
	/* Memory that was allocated outside of all ranges. */
	row->row.count++;
	add(&row->row.cpu_memory, cpu);
	add(&row->row.device_memory, device);
	return 0;
}

static int enter(struct walk *w, const struct xsprof_profiler_event *e)
{
	bool uncertain = xsprof_event_uncertain(e);
	struct xsr_row *row;
	uint64_t launched;

	if (w->depth == w->room) {
		size_t room = w->room ? w->room * 2 : 64;
		void *stack = realloc(w->stack, room * sizeof(*w->stack));

		if (!stack)
			return -ENOMEM;
		w->stack = stack;
		w->room = room;
	}
	launched = xsprof_event_device_elapsed_ns(e) < 0 ? w->launched[xsr_index(e)] : 0;
	w->stack[w->depth++] = (struct inside){ .device_ns = launched };
	if (class_of(e) < 0)
		return 0;
	row = row_of(w->t, e);
	if (!row)
		return -ENOMEM;
	row->row.count++;
	row->row.uncertain += uncertain;
	row->row.self_cpu_ns += uncertain ? 0 : e->self;
	row->row.self_device_ns += launched;
	row->row.flops += xsprof_event_flops(e);
	if (!row->open++ && !uncertain)
		row->row.cpu_ns += e->end - e->begin;
	return 0;
}

static int leave(struct walk *w, const struct xsprof_profiler_event *e)
{
	struct inside in = w->stack[--w->depth];
	struct xsr_row *row = class_of(e) < 0 ? NULL : row_of(w->t, e);
	int64_t elapsed = xsprof_event_device_elapsed_ns(e);

	if (!row && class_of(e) >= 0)
		return -ENOMEM;
	/* Measured by device events: includes everything between them. */
	if (elapsed >= 0) {
		uint64_t self = (uint64_t)elapsed > in.device_ns ?
				(uint64_t)elapsed - in.device_ns : 0;

		row->row.self_device_ns += self;
		w->t->elapsed_ns += self;
		in.device_ns = (uint64_t)elapsed;
	}
	if (row && !--row->open) {
		row->row.device_ns += in.device_ns;
		add(&row->row.cpu_memory, in.cpu_memory);
		add(&row->row.device_memory, in.device_memory);
	}
	if (!w->depth)
		return 0;
	w->stack[w->depth - 1].device_ns += in.device_ns;
	add(&w->stack[w->depth - 1].cpu_memory, in.cpu_memory);
	add(&w->stack[w->depth - 1].device_memory, in.device_memory);
	return 0;
}

static int walk_tree(struct walk *w)
{
	const struct xsprof_profiler_event *e = xsprof_result_tree(w->t->result), *next;
	int err = 0;

	while (e && !err) {
		bool flat = e->flags & XSR_EVF_INSTANT;

		if (flat)
			err = e->kind == XSPROF_EVENT_MEMORY ? count_memory(w, e) : 0;
		else
			err = enter(w, e);
		next = xsprof_event_child(e);
		if (err || next) {
			e = next;
			continue;
		}
		if (!flat)
			err = leave(w, e);
		while (!err && !(next = xsprof_event_next(e))) {
			e = xsprof_event_parent(e);
			if (!e)
				return 0;
			err = leave(w, e);
		}
		e = next;
	}
	return err;
}

/* Events outside of the tree: each counts by itself. */
static int count_apart(struct walk *w, const struct xsprof_profiler_event *e)
{
	bool device = e->flags & XSR_EVF_DEVICE, uncertain = xsprof_event_uncertain(e);
	uint64_t time = e->end - e->begin, launched = w->launched[xsr_index(e)];
	struct xsr_row *row;

	if (class_of(e) < 0 || e->flags & XSR_EVF_INSTANT)
		return 0;
	row = row_of(w->t, e);
	if (!row)
		return -ENOMEM;
	row->row.count++;
	row->row.uncertain += uncertain;
	row->row.flops += xsprof_event_flops(e);
	row->row.cpu_ns += device || uncertain ? 0 : time;
	row->row.self_cpu_ns += device || uncertain ? 0 : e->self;
	row->row.device_ns += device ? time : launched;
	row->row.self_device_ns += device ? time : launched;
	return 0;
}

static int add_all(struct walk *w)
{
	struct xsprof_result *r = w->t->result;
	int err;

	w->launched = calloc(r->nr + 1ul, sizeof(*w->launched));
	if (!w->launched)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr; i++) {
		const struct xsprof_profiler_event *e = &r->events[i];

		if (class_of(e) == CLASS_DEVICE && e->parent < r->nr)
			w->launched[e->parent] += e->end - e->begin;
	}
	err = walk_tree(w);
	for (uint32_t i = 0; i < r->nr && !err; i++)
		if (r->events[i].flags & (XSR_EVF_ASYNC | XSR_EVF_DEVICE))
			err = count_apart(w, &r->events[i]);
	return err;
}

/* ---- order and sums ------------------------------------------------------------------------- */

static int64_t weight(const struct xsprof_table_row *row, uint32_t sort)
{
	int64_t memory = row->cpu_memory;

	switch (sort) {
	case XSPROF_SORT_SELF_CPU:
		return (int64_t)row->self_cpu_ns;
	case XSPROF_SORT_CPU:
		return (int64_t)row->cpu_ns;
	case XSPROF_SORT_SELF_DEVICE:
		return (int64_t)row->self_device_ns;
	case XSPROF_SORT_DEVICE:
		return (int64_t)row->device_ns;
	case XSPROF_SORT_COUNT:
		return (int64_t)row->count;
	case XSPROF_SORT_FLOPS:
		return (int64_t)(row->flops >> 1);
	case XSPROF_SORT_MEMORY:
		add(&memory, row->device_memory);
		return memory;
	default:
		return 0;
	}
}

static int compare(const void *one, const void *two, void *sort)
{
	const struct xsr_row *a = one, *b = two;
	int64_t x = weight(&a->row, *(uint32_t *)sort), y = weight(&b->row, *(uint32_t *)sort);
	int n;

	if (x != y)
		return x > y ? -1 : 1;
	n = strcmp(a->row.name, b->row.name);
	if (!n)
		n = strcmp(a->row.shapes, b->row.shapes);
	if (!n)
		n = strcmp(a->row.stack, b->row.stack);
	if (!n && a->class != b->class)
		n = a->class < b->class ? -1 : 1;
	return n ? n : a->device < b->device ? -1 : a->device > b->device;
}

static void sum(struct xsprof_table *t)
{
	struct xsprof_table_row *total = &t->total;

	*total = (struct xsprof_table_row){ .name = "", .shapes = "", .stack = "" };
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct xsprof_table_row *row = &t->rows[i].row;

		total->count += row->count;
		total->uncertain += row->uncertain;
		total->cpu_ns += row->cpu_ns;
		total->self_cpu_ns += row->self_cpu_ns;
		total->flops += row->flops;
		if (t->rows[i].class == CLASS_DEVICE) {
			total->device_ns += row->device_ns;
			total->self_device_ns += row->self_device_ns;
		}
		add(&total->cpu_memory, row->cpu_memory);
		add(&total->device_memory, row->device_memory);
		add(&total->self_cpu_memory, row->self_cpu_memory);
		add(&total->self_device_memory, row->self_device_memory);
	}
	/* Adds device times of ops that have no rows of device activities. */
	total->device_ns += t->elapsed_ns;
	total->self_device_ns += t->elapsed_ns;
}

int xsprof_result_table(struct xsprof_result *r, uint32_t by, uint32_t depth, uint32_t sort,
			struct xsprof_table **table)
{
	struct xsprof_table *t;
	struct walk w = { 0 };
	int err;

	*table = NULL;
	if (by & ~(XSPROF_BY_SHAPE | XSPROF_BY_STACK | XSPROF_BY_DEVICE) ||
	    sort > XSPROF_SORT_NAME)
		return xsr_fail(r, -EINVAL, "unknown kind of table");
	err = xsr_build(r);
	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t)
		return xsr_fail(r, -ENOMEM, "no memory for a table");
	t->result = r;
	t->by = by;
	t->depth = depth;
	w.t = t;
	err = add_all(&w);
	free(w.launched);
	free(w.stack);
	xsp_map_free(&t->index);
	if (err) {
		free(t->rows);
		free(t);
		return xsr_fail(r, err, "no memory for a table");
	}
	if (t->nr)
		qsort_r(t->rows, t->nr, sizeof(*t->rows), compare, &sort);
	sum(t);
	t->after = r->tables;
	if (r->tables)
		r->tables->before = t;
	r->tables = t;
	*table = t;
	return 0;
}

void xsprof_table_free(struct xsprof_table *t)
{
	if (!t)
		return;
	*(t->before ? &t->before->after : &t->result->tables) = t->after;
	if (t->after)
		t->after->before = t->before;
	free(t->rows);
	free(t);
}

void xsr_tables_free(struct xsprof_result *r)
{
	while (r->tables)
		xsprof_table_free(r->tables);
}

size_t xsprof_table_nr_rows(const struct xsprof_table *t)
{
	return t->nr;
}

const struct xsprof_table_row *xsprof_table_get_row(const struct xsprof_table *t, size_t index)
{
	return index < t->nr ? &t->rows[index].row : NULL;
}

const struct xsprof_table_row *xsprof_table_total(const struct xsprof_table *t)
{
	return &t->total;
}
