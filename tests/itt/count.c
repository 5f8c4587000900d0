// SPDX-License-Identifier: GPL-2.0-only
/*
 * A collector that only counts, for comparison with the real one: calls per ITT function, and
 * tasks, groups, frames and threads per name. It shares only the layouts with the real one.
 *
 * The counts are in a file that all processes of a run map shared, named by XSPROF_TEST_COUNTS, so
 * that they survive any end of a process. The file is an array of struct line.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collect/itt/itt-abi.h"

#define LINES		8192u
#define TEXT		240u
#define MAX_APIS	512u

struct line {
	uint64_t	n;
	uint32_t	ready;
	uint32_t	claimed;
	char		text[TEXT];
};

_Static_assert(sizeof(struct line) == 256, "read by other programs");

#define EXPORT	__attribute__((visibility("default")))

static struct line *lines;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t hash(const char *text)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static void count(const char *kind, const char *domain, const char *name)
{
	char text[TEXT];
	uint32_t at, tries;

	if (!lines)
		return;
	snprintf(text, sizeof(text), "%s\t%s\t%s", kind, domain ? domain : "", name ? name : "");
	at = hash(text);
	for (tries = 0; tries < LINES; tries++, at++) {
		struct line *l = &lines[at % LINES];
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&l->claimed, &none, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			memcpy(l->text, text, sizeof(text));
			__atomic_store_n(&l->ready, 1, __ATOMIC_RELEASE);
		}
		while (!__atomic_load_n(&l->ready, __ATOMIC_ACQUIRE))
			;
		if (!strcmp(l->text, text)) {
			__atomic_add_fetch(&l->n, 1, __ATOMIC_RELAXED);
			return;
		}
	}
	abort();	/* an incomplete count is worse than none */
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("XSPROF_TEST_COUNTS");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *p;

	if (fd < 0 || ftruncate(fd, sizeof(struct line) * LINES))
		return;
	p = mmap(NULL, sizeof(struct line) * LINES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p != MAP_FAILED)
		lines = p;
}

/* ---- functions whose arguments matter -------------------------------------------------------- */

static const char *domain_text(const struct itt_domain *domain)
{
	return domain && domain->name ? domain->name : "itt";
}

static const char *string_text(const struct itt_string *string)
{
	return string && string->text ? string->text : "(no name)";
}

static struct itt_domain *domain_create(const char *name)
{
	static struct itt_domain *list;
	struct itt_domain *d;

	count("api", "", "__itt_domain_create");
	pthread_mutex_lock(&lock);
	for (d = list; d && strcmp(d->name, name); d = d->next)
		;
	if (!d) {
		d = calloc(1, sizeof(*d));
		if (!d || !(d->name = strdup(name)))
			abort();
		d->flags = 1;
		d->next = list;
		list = d;
	}
	pthread_mutex_unlock(&lock);
	return d;
}

static struct itt_string *string_handle_create(const char *text)
{
	static struct itt_string *list;
	struct itt_string *s;

	count("api", "", "__itt_string_handle_create");
	pthread_mutex_lock(&lock);
	for (s = list; s && strcmp(s->text, text); s = s->next)
		;
	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s || !(s->text = strdup(text)))
			abort();
		s->next = list;
		list = s;
	}
	pthread_mutex_unlock(&lock);
	return s;
}

static void task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
		       struct itt_string *name)
{
	(void)id;
	(void)parent;
	count("api", "", "__itt_task_begin");
	count("task", domain_text(domain), string_text(name));
}

static void task_end(const struct itt_domain *domain)
{
	(void)domain;
	count("api", "", "__itt_task_end");
}

static void task_group(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
		       struct itt_string *name)
{
	(void)id;
	(void)parent;
	count("api", "", "__itt_task_group");
	count("group", domain_text(domain), string_text(name));
}

static void frame_submit_v3(const struct itt_domain *domain, const struct itt_id *id,
			    unsigned long long begin, unsigned long long end)
{
	(void)id;
	(void)begin;
	(void)end;
	count("api", "", "__itt_frame_submit_v3");
	count("frame", domain_text(domain), "");
}

static void thread_set_name(const char *name)
{
	count("api", "", "__itt_thread_set_name");
	count("thread", "", name);
}

static int thr_name_set(const char *name, int len)
{
	(void)len;
	count("api", "", "__itt_thr_name_set");
	count("thread", "", name);
	return 0;
}

static unsigned long long get_timestamp(void)
{
	struct timespec t;

	count("api", "", "__itt_get_timestamp");
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

static void *stack_caller_create(void)
{
	count("api", "", "__itt_stack_caller_create");
	return &lock;
}

static const struct {
	const char	*name;
	void		*func;
} known[] = {
	{ "__itt_domain_create", (void *)domain_create },
	{ "__itt_string_handle_create", (void *)string_handle_create },
	{ "__itt_task_begin", (void *)task_begin },
	{ "__itt_task_end", (void *)task_end },
	{ "__itt_task_group", (void *)task_group },
	{ "__itt_frame_submit_v3", (void *)frame_submit_v3 },
	{ "__itt_thread_set_name", (void *)thread_set_name },
	{ "__itt_thr_name_set", (void *)thr_name_set },
	{ "__itt_get_timestamp", (void *)get_timestamp },
	{ "__itt_stack_caller_create", (void *)stack_caller_create },
};

/* ---- the others: one function each, which counts and returns 0 ------------------------------- */

static const char *stub_names[MAX_APIS];
static uint32_t nr_stubs;

#define STUB(n) \
	static uintptr_t stub_##n(void) \
	{ \
		count("api", "", stub_names[0x##n]); \
		return 0; \
	}
#define REF(n)		(void *)stub_##n,
#define ROW(M, H)	M(H##0) M(H##1) M(H##2) M(H##3) M(H##4) M(H##5) M(H##6) M(H##7) \
			M(H##8) M(H##9) M(H##a) M(H##b) M(H##c) M(H##d) M(H##e) M(H##f)
#define ALL(M)		ROW(M, 0) ROW(M, 1) ROW(M, 2) ROW(M, 3) ROW(M, 4) ROW(M, 5) ROW(M, 6) \
			ROW(M, 7) ROW(M, 8) ROW(M, 9) ROW(M, a) ROW(M, b) ROW(M, c) ROW(M, d) \
			ROW(M, e) ROW(M, f)
ALL(STUB)

static void *const stubs[] = { ALL(REF) };

static void *func_for(const char *name)
{
	uint32_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return known[i].func;
	for (i = 0; i < nr_stubs; i++)
		if (!strcmp(stub_names[i], name))
			return stubs[i];
	if (nr_stubs == sizeof(stubs) / sizeof(stubs[0]))
		abort();
	stub_names[nr_stubs] = strdup(name);
	return stubs[nr_stubs++];
}

EXPORT void __itt_api_init(struct itt_global *global, int groups);

void __itt_api_init(struct itt_global *global, int groups)
{
	(void)groups;
	count("init", "", "");
	pthread_mutex_lock(&lock);
	for (struct itt_api *a = global->api_list; a->name; a++)
		*a->func = func_for(a->name);
	pthread_mutex_unlock(&lock);
	for (struct itt_domain *d = global->domain_list; d; d = d->next)
		d->flags = 1;
}

/* ---- code generated at run time, reported by another interface ------------------------------- */

EXPORT unsigned int Initialize(void);
EXPORT int NotifyEvent(unsigned int event, void *data);

unsigned int Initialize(void)
{
	return 1;
}

/* All versions of the data begin with an id and a name. */
int NotifyEvent(unsigned int event, void *data)
{
	const char *const *name = (const char *const *)data + 1;

	if (event == 13 || event == 21 || event == 22)
		count("jit", "", *name);
	return 1;
}
