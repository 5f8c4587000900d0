// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Functions with an explicit time (..._ex), and clock domains.
 *
 * A task whose begin has an explicit time is written at its end, as a span. A clock domain's time
 * is read when the domain is created and when the program resets it; together with our clock at
 * that moment it converts the domain's times.
 */
#include <time.h>

#include "collect/itt/names.h"

#define MAX_CLOCKS	1024u

/* Records that cannot hold an explicit time: the time of the call is used. */
static void given_time_lost(unsigned long long timestamp)
{
	if (timestamp && timestamp != ITT_TIMESTAMP_NONE)
		itt_miss(ITT_MISS_TIMESTAMP);
}

/* ---- clock domains --------------------------------------------------------------------------- */

struct made_clock {
	struct itt_clock	clock;
	uint64_t		base;	/* our ticks when clock.info was taken */
	struct made_clock	*next;
};

static struct made_clock *clocks;
static uint32_t nr_clocks;

static void take_info(struct made_clock *c)
{
	struct itt_clock_info info = { 0, 0 };
	uint64_t before = xsprof_now(), after;

	if (c->clock.fn)
		c->clock.fn(&info, c->clock.data);
	after = xsprof_now();
	__atomic_store_n(&c->base, before + (after - before) / 2, __ATOMIC_RELAXED);
	__atomic_store_n(&c->clock.info.base, info.base, __ATOMIC_RELAXED);
	__atomic_store_n(&c->clock.info.freq, info.freq, __ATOMIC_RELEASE);
}

static struct itt_clock *clock_domain_create(itt_clock_fn fn, void *data)
{
	struct made_clock *c = NULL;

	itt_lock();
	if (nr_clocks < MAX_CLOCKS)
		c = itt_alloc(sizeof(*c));
	if (c)
		nr_clocks++;
	itt_unlock();
	if (!c) {
		itt_miss(ITT_MISS_MEMORY);
		return NULL;
	}
	c->clock.fn = fn;
	c->clock.data = data;
	take_info(c);	/* without the lock: it calls a function of the program */

	itt_lock();
	c->next = clocks;
	__atomic_store_n(&clocks, c, __ATOMIC_RELEASE);
	itt_unlock();
	return &c->clock;
}
ITT_EXPORT(clock_domain_create, clock_domain_create);

static void clock_domain_reset(void)
{
	struct made_clock *c = __atomic_load_n(&clocks, __ATOMIC_ACQUIRE);

	for (; c; c = c->next)
		take_info(c);
}
ITT_EXPORT(clock_domain_reset, clock_domain_reset);

/* Our clock's rate: ticks since the attachment against CLOCK_MONOTONIC. */
static double ticks_per_second(void)
{
	const struct xsprof_ctl *ctl = &xsprof_ctl_page.ctl;
	struct timespec t;
	double ns;

	if (ctl->clock.freq)
		return (double)ctl->clock.freq;
	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = (double)t.tv_sec * 1e9 + (double)t.tv_nsec - (double)ctl->attach.mono;
	if (!ctl->attach.ticks || ns <= 0)
		return 0;
	return (double)(xsprof_now() - ctl->attach.ticks) / ns * 1e9;
}

/* An explicit time in our ticks; 0: none was given, or it cannot be converted. */
static uint64_t to_ticks(const struct itt_clock *clock, unsigned long long timestamp)
{
	const struct made_clock *c = (const struct made_clock *)clock;
	double ticks, rate;
	uint64_t freq;

	if (!timestamp || timestamp == ITT_TIMESTAMP_NONE)
		return 0;
	if (!c)
		return timestamp;	/* from our __itt_get_timestamp() */
	freq = __atomic_load_n(&c->clock.info.freq, __ATOMIC_ACQUIRE);
	rate = freq ? ticks_per_second() : 0;
	if (!(rate > 0)) {
		itt_miss(ITT_MISS_TIMESTAMP);
		return 0;
	}
	ticks = (double)(int64_t)(timestamp - c->clock.info.base) / (double)freq * rate;
	/* Out of range: not a time. */
	if (!(ticks > -9e18 && ticks < 9e18) || (ticks < 0 && -ticks >= (double)c->base)) {
		itt_miss(ITT_MISS_TIMESTAMP);
		return 0;
	}
	return c->base + (uint64_t)(int64_t)ticks;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static bool begin_late(xsprof_name_t name, uint64_t begin, uint64_t id, uint64_t parent)
{
	struct itt_thread *t = &itt_thread;

	if (!begin)
		return false;
	if (t->nr_late == ITT_LATE) {
		itt_miss(ITT_MISS_LATE_FULL);
		return false;
	}
	itt_task_push(id);
	t->late[t->nr_late++] = (struct itt_late){
		.name = name, .depth = t->depth, .begin = begin, .id = id, .parent = parent,
	};
	return true;
}

static void task_begin_ex(const struct itt_domain *domain, const struct itt_clock *clock,
			  unsigned long long timestamp, struct itt_id task, struct itt_id parent,
			  struct itt_string *name)
{
	xsprof_name_t d = itt_domain_name(domain);

	if (!begin_late(itt_string_name(d, name), to_ticks(clock, timestamp), itt_id(d, &task),
			itt_id(d, &parent)))
		itt_task_begin(domain, task, parent, name);
}
ITT_EXPORT(task_begin_ex, task_begin_ex);

static struct itt_string of_function = { .text = "task of a function" };

static void task_begin_fn_ex(const struct itt_domain *domain, const struct itt_clock *clock,
			     unsigned long long timestamp, struct itt_id task,
			     struct itt_id parent, void *fn)
{
	(void)fn;
	task_begin_ex(domain, clock, timestamp, task, parent, &of_function);
}
ITT_EXPORT(task_begin_fn_ex, task_begin_fn_ex);

static void task_end_ex(const struct itt_domain *domain, const struct itt_clock *clock,
			unsigned long long timestamp)
{
	(void)domain;
	itt_task_end(to_ticks(clock, timestamp));
}
ITT_EXPORT(task_end_ex, task_end_ex);

static void task_begin_overlapped_ex(const struct itt_domain *domain,
				     const struct itt_clock *clock, unsigned long long timestamp,
				     struct itt_id task, struct itt_id parent,
				     struct itt_string *name)
{
	xsprof_name_t d = itt_domain_name(domain);

	itt_open_begin(d, itt_string_name(d, name), to_ticks(clock, timestamp),
		       itt_id(d, &task), itt_id(d, &parent));
}
ITT_EXPORT(task_begin_overlapped_ex, task_begin_overlapped_ex);

static void task_end_overlapped_ex(const struct itt_domain *domain, const struct itt_clock *clock,
				   unsigned long long timestamp, struct itt_id task)
{
	xsprof_name_t d = itt_domain_name(domain);

	itt_open_end(d, to_ticks(clock, timestamp), itt_id(d, &task));
}
ITT_EXPORT(task_end_overlapped_ex, task_end_overlapped_ex);

/* ---- the rest: recorded at the time of the call ---------------------------------------------- */

static void marker_ex(const struct itt_domain *domain, const struct itt_clock *clock,
		      unsigned long long timestamp, struct itt_id id, struct itt_string *name,
		      int scope)
{
	xsprof_name_t d = itt_domain_name(domain), n = itt_string_name(d, name);
	uint64_t at = to_ticks(clock, timestamp);

	if (!at)
		itt_marker(domain, id, name, scope);
	else if (xsprof_wants(n))
		xsprof_span(n, at, at, itt_id(d, &id), 0);
}
ITT_EXPORT(marker_ex, marker_ex);

static void id_create_ex(const struct itt_domain *domain, const struct itt_clock *clock,
			 unsigned long long timestamp, struct itt_id id)
{
	(void)domain;
	(void)clock;
	(void)timestamp;
	(void)id;
}
ITT_EXPORT(id_create_ex, id_create_ex);
ITT_EXPORT(id_destroy_ex, id_create_ex);

static void relation_add_ex(const struct itt_domain *domain, const struct itt_clock *clock,
			    unsigned long long timestamp, struct itt_id head, int relation,
			    struct itt_id tail)
{
	(void)clock;
	given_time_lost(timestamp);
	itt_relation_add(domain, head, relation, tail);
}
ITT_EXPORT(relation_add_ex, relation_add_ex);

static void relation_add_to_current_ex(const struct itt_domain *domain,
				       const struct itt_clock *clock,
				       unsigned long long timestamp, int relation,
				       struct itt_id tail)
{
	(void)clock;
	given_time_lost(timestamp);
	itt_relation_add_to_current(domain, relation, tail);
}
ITT_EXPORT(relation_add_to_current_ex, relation_add_to_current_ex);

const struct itt_entry itt_late_entries[] = {
	ITT_ENTRY(clock_domain_create, clock_domain_create),
	ITT_ENTRY(clock_domain_reset, clock_domain_reset),
	ITT_ENTRY(task_begin_ex, task_begin_ex),
	ITT_ENTRY(task_begin_fn_ex, task_begin_fn_ex),
	ITT_ENTRY(task_end_ex, task_end_ex),
	ITT_ENTRY(task_begin_overlapped_ex, task_begin_overlapped_ex),
	ITT_ENTRY(task_end_overlapped_ex, task_end_overlapped_ex),
	ITT_ENTRY(marker_ex, marker_ex),
	ITT_ENTRY(id_create_ex, id_create_ex),
	ITT_ENTRY(id_destroy_ex, id_create_ex),
	ITT_ENTRY(relation_add_ex, relation_add_ex),
	ITT_ENTRY(relation_add_to_current_ex, relation_add_to_current_ex),
	{ NULL, NULL }
};
