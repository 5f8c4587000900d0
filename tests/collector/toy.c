// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device's runtime: see toy.h.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "toy.h"

#define SECOND	1000000000u
#define AHEAD	(400000ull * SECOND)
#define JOBS	1024u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static const struct toy_tool *tool;
static struct toy_job jobs[JOBS];
static uint64_t first, last;	/* numbers of jobs: the next to run, and the newest */
static int runs;

uint64_t toy_clock(void)
{
	struct timespec ts;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	ns = (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
	return ns + ns / 100000 + AHEAD;
}

void toy_set_tool(const struct toy_tool *t)
{
	pthread_mutex_lock(&tool_lock);
	tool = t;
	pthread_mutex_unlock(&tool_lock);
}

int toy_has_tool(void)
{
	return __atomic_load_n(&tool, __ATOMIC_ACQUIRE) != NULL;
}

static void execute(struct toy_job *job)
{
	job->started = toy_clock();
	while (toy_clock() - job->started < job->ns)
		;
	job->ended = toy_clock();
	job->failed = !strncmp(job->name, "bad", 3);
	pthread_mutex_lock(&tool_lock);
	if (tool && tool->done)
		tool->done(job);
	pthread_mutex_unlock(&tool_lock);
}

static void *device(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (first > last)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		execute(&jobs[first % JOBS]);
		pthread_mutex_lock(&lock);
		first++;
		pthread_cond_broadcast(&changed);
	}
	return NULL;
}

/* The child of a fork has a device of its own. */
static void forget(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_mutex_init(&tool_lock, NULL);
	pthread_cond_init(&changed, NULL);
	runs = 0;
	first = last = 0;
}

static void start(void)
{
	static int told;
	pthread_t thread;

	first = 1;
	if (!told && pthread_atfork(NULL, NULL, forget))
		abort();
	told = 1;
	if (pthread_create(&thread, NULL, device, NULL))
		abort();
	pthread_detach(thread);
	runs = 1;
}

void toy_launch(uint32_t queue, const char *name, uint64_t ns)
{
	struct toy_job job = { .name = name, .queue = queue, .ns = ns };

	pthread_mutex_lock(&lock);
	if (!runs)
		start();
	while (last >= first && last - first >= JOBS - 2)
		pthread_cond_wait(&changed, &lock);
	job.id = last + 1;
	pthread_mutex_lock(&tool_lock);
	if (tool && tool->enter)
		tool->enter(&job);
	pthread_mutex_unlock(&tool_lock);
	job.queued = toy_clock();
	jobs[++last % JOBS] = job;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&tool_lock);
	if (tool && tool->leave)
		tool->leave(&job);
	pthread_mutex_unlock(&tool_lock);
}

void toy_wait(void)
{
	pthread_mutex_lock(&lock);
	while (runs && first <= last)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}
