// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that makes every ITT call a known number of times, through a hand-made static part.
 * calls.py records it and compares the records. With the argument "hostile" it passes NULLs and
 * invalid values to every function instead: it must only survive.
 */
#include <pthread.h>
#include <unistd.h>

#include "part.h"

static struct part part;

#define F(type, api)	((type)part_func(&part, "__itt_" #api))
#define NO_ID		((struct itt_id){ 0, 0, 0 })
#define ID(n)		((struct itt_id){ n, 0, 0 })

typedef struct itt_domain dom;
typedef struct itt_string str;
typedef unsigned long long ull;
typedef void (*v_v)(void);
typedef void (*v_p)(const void *);
typedef int (*i_i)(int);

static dom *d, *d2;

static str *name(const char *text)
{
	return F(str *(*)(const char *), string_handle_create)(text);
}

static void begin(dom *domain, struct itt_id id, struct itt_id parent, str *n)
{
	F(void (*)(dom *, struct itt_id, struct itt_id, str *), task_begin)(domain, id, parent, n);
}

static void end(dom *domain)
{
	F(void (*)(dom *), task_end)(domain);
}

static ull now(void)
{
	return F(ull (*)(void), get_timestamp)();
}

static void tasks(void)
{
	str *shared = name("shared"), *step = name("step");

	for (int i = 0; i < 10; i++) {
		begin(d, NO_ID, NO_ID, shared);
		begin(d2, NO_ID, NO_ID, shared);	/* one handle, two domains */
		begin(d2, NO_ID, NO_ID, step);
		end(d2);
		end(d2);
		end(d);
	}
	begin(d, NO_ID, NO_ID, NULL);
	end(d);
	begin(d, ID(5), ID(4), name("with ids"));
	F(void (*)(dom *, int, struct itt_id), relation_add_to_current)(d, 1, ID(9));
	end(d);
	end(d);		/* nothing is open */
	F(void (*)(dom *, struct itt_id, struct itt_id, void *), task_begin_fn)(d, NO_ID, NO_ID,
										(void *)&now);
	end(d);
	F(void (*)(dom *, struct itt_id, struct itt_id, str *), task_group)(d, ID(1), NO_ID,
									    name("group"));
	F(void (*)(dom *, struct itt_id, struct itt_id, str *), task_group)(d, ID(90), NO_ID,
									    name("node"));
	F(void (*)(dom *, struct itt_id, int, struct itt_id), relation_add)(d, ID(1), 3, ID(2));
	F(void (*)(dom *, struct itt_id), id_create)(d, ID(1));
	F(void (*)(dom *, struct itt_id), id_destroy)(d, ID(1));
	F(void (*)(dom *, struct itt_id, str *, int), marker)(d, NO_ID, name("marker"), 1);
	F(void (*)(dom *, struct itt_id, str *, int), marker)(d, ID(3), name("marker"), 3);
}

static void overlapped(void)
{
	void (*ob)(dom *, struct itt_id, struct itt_id, str *) =
		F(void (*)(dom *, struct itt_id, struct itt_id, str *), task_begin_overlapped);
	void (*oe)(dom *, struct itt_id) = F(void (*)(dom *, struct itt_id), task_end_overlapped);

	for (ull i = 1; i <= 8; i++)
		ob(d, ID(i), NO_ID, name(i & 1 ? "odd" : "even"));
	for (ull i = 8; i >= 1; i--)
		oe(d, ID(i));
	oe(d, ID(77));	/* is not open */
	F(void (*)(dom *, struct itt_id, struct itt_id, str *), region_begin)(d, ID(1), ID(2),
									      name("region"));
	F(void (*)(dom *, struct itt_id), region_end)(d, ID(1));
	/* Like a node of oneTBB's flow graph: named like its group, begun again before its end. */
	for (ull i = 0; i < 3; i++)
		F(void (*)(dom *, struct itt_id, struct itt_id, str *), region_begin)(d, ID(90),
										      NO_ID, NULL);
	for (ull i = 0; i < 3; i++)
		F(void (*)(dom *, struct itt_id), region_end)(d, ID(90));
	F(void (*)(dom *, struct itt_id), region_end)(d, ID(90));	/* is not open */
}

/* A clock of 1000 ticks a second, at 5000 when it is read. */
static void clock_info(struct itt_clock_info *info, void *data)
{
	(void)data;
	info->freq = 1000;
	info->base = 5000;
}

static void given_times(void)
{
	struct itt_clock *clock = F(struct itt_clock *(*)(itt_clock_fn, void *),
				    clock_domain_create)(clock_info, NULL);
	ull a = now(), b;

	do
		b = now();
	while (b == a);
	F(void (*)(dom *, void *, ull, struct itt_id, struct itt_id, str *), task_begin_ex)
		(d, NULL, a, ID(1), NO_ID, name("told"));
	begin(d, NO_ID, NO_ID, name("inside told"));
	end(d);
	F(void (*)(dom *, void *, ull), task_end_ex)(d, NULL, b);
	/* 250 ms on the other clock. */
	F(void (*)(dom *, void *, ull, struct itt_id, struct itt_id, str *), task_begin_ex)
		(d, clock, 5000, NO_ID, NO_ID, name("other clock"));
	F(void (*)(dom *, void *, ull), task_end_ex)(d, clock, 5250);
	F(void (*)(dom *, void *, ull, struct itt_id, struct itt_id, str *),
	  task_begin_overlapped_ex)(d, NULL, a, ID(2), NO_ID, name("told overlapped"));
	F(void (*)(dom *, void *, ull, struct itt_id), task_end_overlapped_ex)(d, NULL, b, ID(2));
	F(void (*)(dom *, void *, ull, struct itt_id, struct itt_id, void *), task_begin_fn_ex)
		(d, NULL, 0, NO_ID, NO_ID, NULL);
	F(void (*)(dom *, void *, ull), task_end_ex)(d, NULL, 0);
	F(void (*)(dom *, void *, ull, struct itt_id, str *, int), marker_ex)
		(d, NULL, a, NO_ID, name("told marker"), 1);
	F(void (*)(dom *, void *, ull, int, struct itt_id), relation_add_to_current_ex)
		(d, NULL, 0, 1, ID(1));
	F(void (*)(dom *, void *, ull, struct itt_id, int, struct itt_id), relation_add_ex)
		(d, NULL, 0, ID(1), 2, ID(3));
	F(void (*)(dom *, void *, ull, struct itt_id), id_create_ex)(d, NULL, 0, ID(1));
	F(void (*)(dom *, void *, ull, struct itt_id), id_destroy_ex)(d, NULL, 0, ID(1));
	F(v_v, clock_domain_reset)();
}

static void frames(void)
{
	void (*submit)(dom *, struct itt_id *, ull, ull) =
		F(void (*)(dom *, struct itt_id *, ull, ull), frame_submit_v3);
	dom *f = F(dom *(*)(const char *), domain_create)("frames");
	struct itt_id id = ID(1);
	ull a = now();

	submit(f, NULL, a, now());
	submit(f, &id, a, ITT_TIMESTAMP_NONE);
	submit(f, &id, 0, 0);
	F(void (*)(dom *, struct itt_id *), frame_begin_v3)(f, &id);
	F(void (*)(dom *, struct itt_id *), frame_end_v3)(f, &id);
	F(v_p, frame_begin)(F(void *(*)(const char *), frame_create)("old frame"));
	F(v_p, frame_end)(F(void *(*)(const char *), frame_create)("old frame"));
}

static void metadata(void)
{
	void (*add)(dom *, struct itt_id, str *, int, size_t, void *) =
		F(void (*)(dom *, struct itt_id, str *, int, size_t, void *), metadata_add);
	void (*text)(dom *, struct itt_id, str *, const char *, size_t) =
		F(void (*)(dom *, struct itt_id, str *, const char *, size_t), metadata_str_add);
	unsigned char numbers[200 * 8] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	double pi[2] = { 3.25, -1 };
	float half = 0.5f;
	int16_t minus = -3;

	begin(d, NO_ID, NO_ID, name("described"));
	add(d, NO_ID, name("pi"), ITT_TYPE_DOUBLE, 2, pi);
	add(d, NO_ID, name("half"), ITT_TYPE_FLOAT, 1, &half);
	add(d, NO_ID, name("minus"), ITT_TYPE_S16, 1, &minus);
	add(d, NO_ID, name("unaligned"), ITT_TYPE_U64, 1, numbers + 1);
	text(d, NO_ID, name("text"), "whole", 0);
	text(d, NO_ID, name("text"), "half of it", 4);
	F(void (*)(dom *, str *, ...), formatted_metadata_add)(d, name("%d of %s"), 3, "four");
	end(d);
	add(d, ID(7), name("many"), ITT_TYPE_U64, 200, numbers);
	add(d, NO_ID, name("alone"), ITT_TYPE_U32, 1, numbers);
	add(d, NO_ID, name("nothing"), 99, 1, numbers);
	F(void (*)(dom *, int, str *, int, size_t, void *), metadata_add_with_scope)
		(d, ITT_SCOPE_GLOBAL, name("scoped"), ITT_TYPE_U16, 1, numbers);
	F(void (*)(dom *, int, str *, const char *, size_t), metadata_str_add_with_scope)
		(d, ITT_SCOPE_TRACK, name("scoped"), "text", 4);
	F(void (*)(dom *, struct itt_id, str *, ...), formatted_metadata_add_overlapped)
		(d, ID(8), name("x=%d"), 9);
}

static void counters(void)
{
	void *(*create)(const char *, const char *) =
		F(void *(*)(const char *, const char *), counter_create);
	void *(*typed)(const char *, const char *, int) =
		F(void *(*)(const char *, const char *, int), counter_create_typed);
	void *c = create("jobs", "queue"), *f = typed("load", "queue", ITT_TYPE_DOUBLE), *v;
	ull big = ~0ull;
	double x = 1.5;
	struct itt_context context[3] = {
		{ ITT_CONTEXT_UNITS, (void *)"jobs" }, { ITT_CONTEXT_MAX, &big }, { 99, &big },
	};

	if (c != create("jobs", "queue") || c == f) {
		fprintf(stderr, "calls: a counter is not found again\n");
		exit(1);
	}
	F(v_p, counter_inc)(c);
	F(void (*)(void *, ull), counter_inc_delta)(c, 41);
	F(v_p, counter_dec)(c);
	F(void (*)(void *, ull), counter_dec_delta)(c, 1);	/* 40 */
	F(void (*)(void *, void *), counter_set_value)(f, &x);
	F(v_p, counter_inc)(f);					/* 2.5 */
	v = F(void *(*)(dom *, const char *, int), counter_create_v3)(d, "v3", ITT_TYPE_U64);
	F(void (*)(void *, void *), counter_set_value_v3)(v, &big);
	F(void (*)(void *, void *, ull, void *), counter_set_value_ex)(f, NULL, 0, &x);
	F(void (*)(void *, size_t, void *), bind_context_metadata_to_counter)(c, 3, context);
	F(void (*)(dom *, str *), counter_inc_v3)(d, name("by name"));
	F(void (*)(dom *, str *, ull), counter_inc_delta_v3)(d, name("by name"), 9);
	F(void (*)(dom *, str *), counter_dec_v3)(d, name("by name"));
	F(void (*)(dom *, str *, ull), counter_dec_delta_v3)(d, name("by name"), 2);	/* 7 */
	F(v_p, counter_destroy)(c);
	F(v_p, counter_inc)(&big);	/* is no counter */
}

static void sync_objects(void)
{
	static int lock, other;

	F(void (*)(void *, const char *, const char *, int), sync_create)(&lock, "Mutex", "a", 2);
	F(v_p, sync_prepare)(&lock);
	F(v_p, sync_acquired)(&lock);
	F(v_p, sync_releasing)(&lock);
	F(void (*)(void *, const char *), sync_rename)(&lock, "renamed");
	F(v_p, fsync_prepare)(&lock);
	F(v_p, fsync_cancel)(&lock);
	F(v_p, notify_sync_acquired)(&lock);
	F(v_p, notify_sync_releasing)(&lock);
	F(v_p, sync_destroy)(&lock);
	F(v_p, sync_prepare)(&other);
	F(int (*)(void *, const char *, int, const char *, int, int), notify_sync_name)
		(&other, "Lock-", 4, "name", 4, 0);
	F(v_p, sync_acquired)(&other);
}

static void stitched(void)
{
	void *caller = F(void *(*)(void), stack_caller_create)();

	F(v_p, stack_callee_enter)(caller);
	F(v_p, stack_callee_leave)(caller);
	F(v_p, stack_caller_destroy)(caller);
}

static void events(void)
{
	int e = F(int (*)(const char *, int), event_create)("event-xyz", 5), m;

	for (int i = 0; i < 3; i++)
		F(i_i, event_start)(e);
	F(i_i, event_end)(e);
	F(i_i, event_end)(e + 100);
	m = F(int (*)(const char *), mark_create)("mark");
	F(int (*)(int, const char *), mark)(m, NULL);
	F(int (*)(int, const char *), mark)(m, "parameter");
	F(int (*)(int, const char *), mark_global)(m, NULL);
	F(i_i, mark_off)(m);
	F(i_i, mark_global_off)(m);
}

static void heaps(void)
{
	void *h = F(void *(*)(const char *, const char *), heap_function_create)("alloc", "pool");
	void *p = (void *)0x1000, *q = (void *)0x2000, *none = NULL;

	F(void (*)(void *, size_t, int), heap_allocate_begin)(h, 64, 0);
	F(void (*)(void *, void **, size_t, int), heap_allocate_end)(h, &p, 64, 0);
	F(void (*)(void *, void *, size_t, int), heap_reallocate_begin)(h, p, 128, 0);
	F(void (*)(void *, void *, void **, size_t, int), heap_reallocate_end)(h, p, &q, 128, 0);
	F(void (*)(void *, void *), heap_free_begin)(h, q);
	F(void (*)(void *, void *), heap_free_end)(h, q);
	F(void (*)(void *, void **, size_t, int), heap_allocate_end)(h, &none, 64, 0);
}

static void models(void)
{
	F(void (*)(void *, void *, const char *), model_site_begin)(NULL, NULL, "site");
	F(void (*)(const char *), model_task_beginA)("model task");
	F(v_p, model_lock_acquire)(&part);
	F(v_p, model_lock_release)(&part);
	F(v_v, model_task_end_2)();
	F(void (*)(const char *, size_t), model_task_beginAL)("model task and more", 10);
	F(void (*)(void *, void *), model_task_end)(NULL, NULL);
	F(void (*)(void *, void *), model_site_end)(NULL, NULL);
	F(void (*)(void *, size_t), model_record_allocation)(&part, 100);
	F(v_p, model_record_deallocation)(&part);
}

static void *named_thread(void *arg)
{
	(void)arg;
	F(void (*)(const char *), thread_set_name)("a named thread");
	begin(d, NO_ID, NO_ID, name("in the thread"));
	end(d);
	return NULL;
}

static void process(void)
{
	struct itt_section section = { .name = ".text", .start = (void *)0x400000 };
	struct itt_module module = { .version = 1, .name = "m.so", .sections = &section,
				     .nr_sections = 1 };
	struct itt_track_group *group;
	struct itt_track *track;
	void *histogram;
	pthread_t thread;
	ull values[40] = { 1, 2, 3 };

	if (pthread_create(&thread, NULL, named_thread, NULL))
		exit(1);
	pthread_join(thread, NULL);
	F(void (*)(void *, void *, const char *), module_load)(NULL, &part, "/lib/x.so");
	F(v_p, module_unload)(NULL);
	F(v_p, module_load_with_sections)(&module);
	F(v_p, module_unload_with_sections)(&module);
	group = F(void *(*)(str *, int), track_group_create)(name("tracks"), 0);
	track = F(void *(*)(void *, str *, int), track_create)(group, name("track"), 0);
	F(v_p, set_track)(track);
	histogram = F(void *(*)(dom *, const char *, int, int), histogram_create)
		(d, "histogram", ITT_TYPE_U64, ITT_TYPE_U64);
	F(void (*)(void *, size_t, void *, void *), histogram_submit)(histogram, 3, NULL, values);
	F(void (*)(void *, size_t, void *, void *), histogram_submit)(histogram, 40, NULL, values);
	begin(d, NO_ID, NO_ID, name("around a resume"));
	F(v_v, resume)();	/* of what is not paused */
	end(d);
	begin(d, NO_ID, NO_ID, name("before the pause"));
	F(v_v, pause)();
	begin(d, NO_ID, NO_ID, name("while paused"));
	end(d);
	begin(d, NO_ID, NO_ID, name("while paused"));
	F(v_v, resume)();
	begin(d, NO_ID, NO_ID, name("after resume"));
	end(d);
	end(d);
	end(d);
}

/* Calls without a record: five times each, to be found as counters. */
static void missed(void)
{
	static const char *const apis[] = {
		"thread_ignore", "suppress_push", "heap_record", "model_induction_uses",
		"memory_read", "av_save", "state_get",
	};
	char text[64];

	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++)
		for (int k = 0; k < 5; k++) {
			snprintf(text, sizeof(text), "__itt_%s", apis[i]);
			((uintptr_t (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
					uintptr_t))part_func(&part, text))(1, 2, 3, 4, 5, 6);
		}
}

/*
 * NULL for every pointer and nonsense for every number. Registers carry the first arguments and the
 * stack the others, so one shape fits all; ids passed by value are zeros on the stack.
 */
static void hostile(void)
{
	typedef uintptr_t (*any)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
				 struct itt_id, struct itt_id, uintptr_t);
	static const uintptr_t numbers[] = { 0, 1, 77, ~(uintptr_t)0 };

	for (size_t i = 0; i < PART_NR; i++)
		((any)part_func(&part, part_apis[i]))(0, 0, 0, 0, 0, 0, NO_ID, NO_ID, 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int n = (int)numbers[i];

		F(i_i, event_start)(n);
		F(i_i, event_end)(n);
		F(int (*)(int, const char *), mark)(n, NULL);
		F(i_i, mark_off)(n);
		F(int (*)(const char *, int), event_create)("x", n);
		F(int (*)(const char *, int), thr_name_set)("x", n);
		F(void (*)(dom *, struct itt_id, str *, int, size_t, void *), metadata_add)
			(d, ID(numbers[i]), NULL, n, 1, (void *)numbers);
		F(void (*)(dom *, void *, ull, struct itt_id, struct itt_id, str *),
		  task_begin_ex)(d, NULL, numbers[i], NO_ID, NO_ID, NULL);
		F(void (*)(dom *, struct itt_id *, ull, ull), frame_submit_v3)
			(d, NULL, ~numbers[i], numbers[i]);
		F(void *(*)(const char *, const char *, int), counter_create_typed)("c", NULL, n);
		F(void (*)(int), pause_scoped)(n);
		F(void (*)(int), resume_scoped)(n);
	}
	for (int i = 0; i < 100; i++)	/* deeper than is kept */
		begin(d, ID(i + 1), NO_ID, name("deep"));
	for (int i = 0; i < 200; i++)
		end(d);
	for (ull i = 0; i < 100000; i++)	/* more than can be open */
		F(void (*)(dom *, struct itt_id, struct itt_id, str *), task_begin_overlapped)
			(d, ID(i + 1), NO_ID, name("open"));
	for (uintptr_t i = 0; i < 100000; i++)
		F(void (*)(uintptr_t, const char *, const char *, int), sync_create)
			(i * 64, "S", NULL, 0);
	for (int i = 0; i < 100000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "name %d", i);
		F(void *(*)(const char *, const char *), counter_create)(text, NULL);
		if (i < 30000)
			F(int (*)(const char *), mark_create)(text);
		if (i < 300)
			F(dom *(*)(const char *), domain_create)(text);
		if (i < 10000)
			F(void *(*)(void *, void *), clock_domain_create)(NULL, NULL);
	}
}

int main(int argc, char **argv)
{
	void *lib = part_open();

	part_fill(&part);
	((part_init_t)dlsym(lib, "__itt_api_init"))(&part.global, -1);
	d = F(dom *(*)(const char *), domain_create)("one");
	d2 = F(dom *(*)(const char *), domain_create)("two");
	if (argc > 1 && !strcmp(argv[1], "hostile")) {
		hostile();
		return 0;
	}
	tasks();
	overlapped();
	given_times();
	frames();
	metadata();
	counters();
	sync_objects();
	stitched();
	events();
	heaps();
	models();
	process();
	missed();
	if (argc > 1 && !strcmp(argv[1], "_exit"))
		_exit(0);
	return 0;
}
