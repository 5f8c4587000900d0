// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many threads in the collector at once, with forks in between. Each thread creates strings that
 * all others create too, uses them in its own and shared domains, opens overlapped tasks that
 * another thread ends, names and waits on sync objects and counts; forked children execute tasks
 * and call _exit(). threads.py has the expected sums.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "part.h"

#define THREADS		4
#define ROUNDS		2000
#define FORKS		8

static struct part part;

typedef struct itt_domain dom;
typedef struct itt_string str;
typedef unsigned long long ull;

static dom *(*domain_create)(const char *);
static str *(*string_create)(const char *);
static void (*task_begin)(dom *, struct itt_id, struct itt_id, str *);
static void (*task_end)(dom *);
static void (*open_begin)(dom *, struct itt_id, struct itt_id, str *);
static void (*open_end)(dom *, struct itt_id);
static void *(*counter_create)(const char *, const char *);
static void (*counter_inc)(void *);
static void (*counter_inc_v3)(dom *, str *);
static void (*sync_create)(void *, const char *, const char *, int);
static void (*sync_acquired)(void *);
static void (*sync_destroy)(void *);

static dom *all;
static pthread_barrier_t barrier;

static const struct itt_id none;

static void *work(void *arg)
{
	unsigned int me = (unsigned int)(uintptr_t)arg, other = (me + 1) % THREADS;
	static char locks[THREADS][64];
	char text[32];
	void *counter;
	dom *own;

	snprintf(text, sizeof(text), "own %u", me);
	pthread_barrier_wait(&barrier);
	own = domain_create(text);
	counter = counter_create("shared", "counters");
	for (unsigned int i = 0; i < ROUNDS; i++) {
		str *name;

		snprintf(text, sizeof(text), "name %u", i % 50);
		name = string_create(text);
		task_begin(all, none, none, name);
		task_begin(own, none, none, name);
		counter_inc(counter);
		counter_inc_v3(all, name);
		task_end(own);
		task_end(all);
		sync_create(&locks[me][i % 64], "Lock", NULL, 0);
		sync_acquired(&locks[me][i % 64]);
		sync_destroy(&locks[me][i % 64]);
	}
	pthread_barrier_wait(&barrier);
	for (ull i = 1; i <= 100; i++)
		open_begin(all, (struct itt_id){ me + 1, i, 0 }, none, string_create("open"));
	pthread_barrier_wait(&barrier);
	for (ull i = 1; i <= 100; i++)
		open_end(all, (struct itt_id){ other + 1, i, 0 });
	return NULL;
}

static void forks(void)
{
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			exit(1);
		if (!pid) {
			dom *d = domain_create("of children");

			for (int k = 0; k < 10; k++) {
				task_begin(d, none, none, string_create("in a child"));
				task_end(d);
			}
			_exit(0);
		}
		if (waitpid(pid, &(int){ 0 }, 0) != pid)
			exit(1);
	}
}

int main(void)
{
	void *lib = part_open();
	pthread_t threads[THREADS];

	part_fill(&part);
	((part_init_t)dlsym(lib, "__itt_api_init"))(&part.global, -1);
	domain_create = part_func(&part, "__itt_domain_create");
	string_create = part_func(&part, "__itt_string_handle_create");
	task_begin = part_func(&part, "__itt_task_begin");
	task_end = part_func(&part, "__itt_task_end");
	open_begin = part_func(&part, "__itt_task_begin_overlapped");
	open_end = part_func(&part, "__itt_task_end_overlapped");
	counter_create = part_func(&part, "__itt_counter_create");
	counter_inc = part_func(&part, "__itt_counter_inc");
	counter_inc_v3 = part_func(&part, "__itt_counter_inc_v3");
	sync_create = part_func(&part, "__itt_sync_create");
	sync_acquired = part_func(&part, "__itt_sync_acquired");
	sync_destroy = part_func(&part, "__itt_sync_destroy");

	all = domain_create("of all");
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	forks();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
