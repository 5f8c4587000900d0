// SPDX-License-Identifier: GPL-2.0-only
/*
 * A complete collector for the device of toy.h, for programs that do not use xsprof.
 *	gcc -shared -fPIC -o toy.so example.c $(pkg-config --cflags --libs xsprof-user)
 *	XSPROF_COLLECTORS=$PWD/toy.so xsprof record -- ./program
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <xsprof/collector.h>
#include "toy.h"

#define JOBS	4096u

enum { MISS_FAILED, MISS_FULL };
static struct xsprof_miss misses[] = {
	{ "jobs that failed", 0, 0 }, { "jobs, as too many were over at once", 0, 0 },
};
static struct xsprof_collector collector;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct toy_job over[JOBS], jobs[JOBS];	/* jobs that are not written yet; being written */
static uint32_t nr_over;
static atomic_int device = -1;			/* its number */
static toy_set_tool_fn *set_tool;
static uint64_t (*device_clock)(void);

/* What readers show of the device. */
static void declare(void)
{
	static const struct xsprof_device toy = {
		.size = sizeof(toy), .kind = "toy", .name = "Toy 1000", .uuid = "TOY-0001",
	};

	device = xsprof_device_add(&toy);
	if (device < 0)
		return;
	(void)xsprof_stream_name((uint32_t)device, 1, 0, "compute");
	(void)xsprof_stream_name((uint32_t)device, 1, 1, "copies");
}

static struct xsprof_device_activity activity(const struct toy_job *job, uint32_t kind,
					      const char *name)
{
	return (struct xsprof_device_activity){
		.size = sizeof(struct xsprof_device_activity), .kind = kind,
		.name = xsprof_name_in(xsprof_category("toy"), name),
		.correlation = XSPROF_CORRELATION(device) + job->id,
		.device = (uint32_t)device, .context = 1, .stream = job->queue,
	};
}

/* A thread of the program launches a job. */
static void enter(struct toy_job *job)
{
	/* The child of a fork is a process of its own: it declares the device again. */
	if (xsprof_enabled() && device < 0 && !xsprof_collector_add(&collector))
		declare();
	job->tool[0] = xsprof_now();
}

static void leave(struct toy_job *job)
{
	struct xsprof_device_activity call;

	if (!xsprof_enabled() || device < 0)
		return;
	call = activity(job, XSPROF_GPU_RUNTIME, "toy_launch");
	call.begin = job->tool[0];
	call.end = xsprof_now();
	call.thread = xsprof_thread_id();
	xsprof_device_activity(&call, NULL, 0);
	xsprof_device_clock(call.device, job->queued, call.begin, call.end);	/* within it */
}

/* The device has done one. */
static void done(const struct toy_job *job)
{
	pthread_mutex_lock(&lock);
	if (job->failed)
		xsprof_collector_missed(&misses[MISS_FAILED], 1);
	else if (nr_over == JOBS)
		xsprof_collector_missed(&misses[MISS_FULL], 1);
	else
		over[nr_over++] = *job;
	pthread_mutex_unlock(&lock);
}

static const struct toy_tool tool = { .enter = enter, .leave = leave, .done = done };

/* These the library calls, in the collector's thread. */
static uint64_t work(void *data)
{
	uint64_t before = xsprof_now(), now = device_clock(), n;

	xsprof_device_clock((uint32_t)device, now, before, xsprof_now());
	pthread_mutex_lock(&lock);
	n = nr_over;
	memcpy(jobs, over, n * sizeof(*jobs));
	nr_over = 0;
	pthread_mutex_unlock(&lock);
	for (const struct toy_job *job = jobs; job < jobs + n; job++) {
		struct xsprof_device_activity a = activity(job, XSPROF_GPU_KERNEL, job->name);

		a.begin = xsprof_device_ticks(a.device, job->started);
		a.end = xsprof_device_ticks(a.device, job->ended);
		xsprof_collector_put(data, &a, NULL, 0);
	}
	return 50000000;	/* ns */
}

static int start(void *data)
{
	(void)data;
	set_tool(&tool);
	return 0;
}

static void stop(void *data, int last)
{
	(void)last;
	set_tool(NULL);
	(void)work(data);
}

static void forget(void *data)
{
	(void)data;
	pthread_mutex_init(&lock, NULL);
	nr_over = 0;
	device = -1;
}

static struct xsprof_collector collector = {
	.size = sizeof(collector), .version = XSPROF_COLLECTOR_VERSION, .name = "toy",
	.category = "toy", .misses = misses, .nr_misses = 2, .data = &collector,
	.start = start, .work = work, .stop = stop, .forget = forget,
};

XSPROF_COLLECTOR_ENTRY(version)
{
	*(void **)&set_tool = dlsym(RTLD_DEFAULT, "toy_set_tool");
	*(void **)&device_clock = dlsym(RTLD_DEFAULT, "toy_clock");
	if (version < 1 || !set_tool || !device_clock)
		return NULL;	/* this program does not use the device */
	declare();
	set_tool(&tool);	/* not later: the program may launch before start() */
	return &collector;
}
