// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tasks, overlapped tasks, markers, ids and relations.
 *
 * Tasks of a thread nest and become ranges. Overlapped tasks become asynchronous ranges; their end
 * passes only an id, so the name is kept in a map. A thread's depth is kept even while nothing is
 * recorded: an end without a begin must not close a range that the program opened by other means.
 */
#include "collect/itt/names.h"

__thread struct itt_thread itt_thread __attribute__((tls_model("initial-exec")));
/* Open overlapped tasks: v = name, begin (0: recorded), parent. */
static struct itt_map open_tasks;
uint32_t itt_pauses;

void itt_note(xsprof_name_t name, const struct xsprof_kv *kv, size_t n)
{
	if (!xsprof_wants(name))
		return;
	if (n)
		xsprof_instant_args(name, kv, n);
	else
		xsprof_instant(name);
}

size_t itt_id_args(struct xsprof_kv kv[2], uint64_t id, uint64_t parent)
{
	size_t n = 0;

	if (id)
		kv[n++] = xsprof_u64(XSPROF_NAME("id"), id);
	if (parent)
		kv[n++] = xsprof_u64(XSPROF_NAME("parent"), parent);
	return n;
}

/* ---- tasks that nest ------------------------------------------------------------------------- */

/*
 * A pause ends all open tasks in the trace, and tasks that begin during the pause are not recorded:
 * the ends of all of these must be left out too.
 */
static inline void look_for_pause(struct itt_thread *t)
{
	uint32_t pauses = __atomic_load_n(&itt_pauses, __ATOMIC_RELAXED);

	if (unlikely(t->pauses != pauses)) {
		t->pauses = pauses;
		t->dead = t->depth;
	}
}

void itt_task_push(uint64_t id)
{
	struct itt_thread *t = &itt_thread;

	look_for_pause(t);
	if (likely(t->depth < ITT_DEPTH))
		t->ids[t->depth] = id;
	t->depth++;
}

static void begin_with_ids(xsprof_name_t name, uint64_t id, uint64_t parent)
{
	struct xsprof_kv kv[2];

	xsprof_begin_args(name, kv, itt_id_args(kv, id, parent));
}

void itt_task_begin(const struct itt_domain *domain, struct itt_id task, struct itt_id parent,
		    struct itt_string *name)
{
	xsprof_name_t d = itt_domain_name(domain);
	xsprof_name_t n = itt_string_name(itt_worker_name(d), name);
	uint64_t id = itt_id(d, &task), up = itt_id(d, &parent);

	itt_task_push(id);
	if (likely(!(id | up)) || !xsprof_wants(n))
		xsprof_begin(n);
	else
		begin_with_ids(n, id, up);
}
ITT_EXPORT(task_begin, itt_task_begin);

static struct itt_string of_function = { .text = "task of a function" };

static void task_begin_fn(const struct itt_domain *domain, struct itt_id task,
			  struct itt_id parent, void *fn)
{
	xsprof_name_t d = itt_domain_name(domain);
	uint64_t id = itt_id(d, &task), up = itt_id(d, &parent);
	xsprof_name_t n = itt_string_name(d, &of_function);
	struct xsprof_kv kv[3];
	size_t nr;

	itt_task_push(id);
	if (!xsprof_wants(n)) {
		xsprof_begin(n);
		return;
	}
	nr = itt_id_args(kv, id, up);
	kv[nr++] = xsprof_ptr(XSPROF_NAME("function"), fn);
	xsprof_begin_args(n, kv, nr);
}
ITT_EXPORT(task_begin_fn, task_begin_fn);

void itt_task_end(uint64_t end)
{
	struct itt_thread *t = &itt_thread;

	if (unlikely(!t->depth)) {
		itt_miss(ITT_MISS_END);
		return;
	}
	look_for_pause(t);
	if (unlikely(t->nr_late && t->late[t->nr_late - 1].depth == t->depth)) {
		const struct itt_late *late = &t->late[--t->nr_late];

		if (!end)
			end = xsprof_now();
		if (xsprof_wants(late->name))
			xsprof_span(late->name, late->begin, end > late->begin ? end : late->begin,
				    late->id, late->parent);
	} else if (likely(t->depth > t->dead)) {
		if (unlikely(end))
			itt_miss(ITT_MISS_TIMESTAMP);
		xsprof_end();
	}
	t->depth--;
	if (unlikely(t->dead > t->depth))
		t->dead = t->depth;
}

static void task_end(const struct itt_domain *domain)
{
	(void)domain;
	itt_task_end(0);
}
ITT_EXPORT(task_end, task_end);

/* ---- tasks that do not nest ------------------------------------------------------------------ */

void itt_open_begin(xsprof_name_t domain, xsprof_name_t name, uint64_t begin, uint64_t id,
		    uint64_t parent)
{
	const uint64_t v[3] = { name, begin, parent };

	/* The null id names no instance: one task per domain may be open. */
	if (!itt_map_put(&open_tasks, id ? id : domain, v)) {
		itt_miss(ITT_MISS_OPEN_FULL);
		begin = 0;
	}
	if (begin)
		return;		/* recorded at its end, as a span */
	xsprof_async_begin(name, id);
	if (parent)
		xsprof_relation(ITT_RELATION_CHILD_OF, id, parent);
}

void itt_open_end(xsprof_name_t domain, uint64_t end, uint64_t id)
{
	xsprof_name_t name;
	uint64_t v[3];

	if (!itt_map_take(&open_tasks, id ? id : domain, v)) {
		itt_miss(ITT_MISS_OVERLAPPED_END);
		return;
	}
	name = (xsprof_name_t)v[0];
	if (!v[1]) {
		if (end)
			itt_miss(ITT_MISS_TIMESTAMP);
		xsprof_async_end(name, id);
		return;
	}
	if (!end)
		end = xsprof_now();
	if (xsprof_wants(name))
		xsprof_span(name, v[1], end > v[1] ? end : v[1], id, v[2]);
}

static void task_begin_overlapped(const struct itt_domain *domain, struct itt_id task,
				  struct itt_id parent, struct itt_string *name)
{
	xsprof_name_t d = itt_domain_name(domain);

	itt_open_begin(d, itt_string_name(d, name), 0, itt_id(d, &task), itt_id(d, &parent));
}
ITT_EXPORT(task_begin_overlapped, task_begin_overlapped);

static void task_end_overlapped(const struct itt_domain *domain, struct itt_id task)
{
	xsprof_name_t d = itt_domain_name(domain);

	itt_open_end(d, 0, itt_id(d, &task));
}
ITT_EXPORT(task_end_overlapped, task_end_overlapped);

/* ---- markers, ids, relations ----------------------------------------------------------------- */

static uint32_t scope_of(int scope)
{
	switch (scope) {
	case ITT_SCOPE_GLOBAL:
		return XSPROF_SCOPE_GLOBAL;
	case ITT_SCOPE_TRACK_GROUP:
		return XSPROF_SCOPE_PROCESS;
	default:
		return XSPROF_SCOPE_THREAD;
	}
}

void itt_marker(const struct itt_domain *domain, struct itt_id id, struct itt_string *name,
		int scope)
{
	xsprof_name_t d = itt_domain_name(domain), n = itt_string_name(d, name);
	uint64_t h = itt_id(d, &id);
	struct xsprof_kv kv[2];

	if (!h) {
		xsprof_mark(n, scope_of(scope));
		return;
	}
	kv[0] = xsprof_u64(XSPROF_NAME("id"), h);
	kv[1] = xsprof_i64(XSPROF_NAME("scope"), scope_of(scope));
	itt_note(n, kv, 2);
}
ITT_EXPORT(marker, itt_marker);

/* An id alone records nothing. */
static void id_create(const struct itt_domain *domain, struct itt_id id)
{
	(void)domain;
	(void)id;
}
ITT_EXPORT(id_create, id_create);
ITT_EXPORT(id_destroy, id_create);

void itt_relation_add(const struct itt_domain *domain, struct itt_id head, int relation,
		      struct itt_id tail)
{
	xsprof_name_t d = itt_domain_name(domain);

	xsprof_relation((uint32_t)relation, itt_id(d, &head), itt_id(d, &tail));
}
ITT_EXPORT(relation_add, itt_relation_add);

void itt_relation_add_to_current(const struct itt_domain *domain, int relation,
				 struct itt_id tail)
{
	const struct itt_thread *t = &itt_thread;
	xsprof_name_t d = itt_domain_name(domain);

	if (!t->depth || t->depth > ITT_DEPTH || !t->ids[t->depth - 1])
		itt_miss(ITT_MISS_RELATION);
	else
		xsprof_relation((uint32_t)relation, t->ids[t->depth - 1], itt_id(d, &tail));
}
ITT_EXPORT(relation_add_to_current, itt_relation_add_to_current);

const struct itt_entry itt_task_entries[] = {
	ITT_ENTRY(task_begin, itt_task_begin),
	ITT_ENTRY(task_begin_fn, task_begin_fn),
	ITT_ENTRY(task_end, task_end),
	ITT_ENTRY(task_begin_overlapped, task_begin_overlapped),
	ITT_ENTRY(task_end_overlapped, task_end_overlapped),
	ITT_ENTRY(marker, itt_marker),
	ITT_ENTRY(id_create, id_create),
	ITT_ENTRY(id_destroy, id_create),
	ITT_ENTRY(relation_add, itt_relation_add),
	ITT_ENTRY(relation_add_to_current, itt_relation_add_to_current),
	{ NULL, NULL }
};
