// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The bell by which the collector's thread is woken before its time.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "gpu/opencl/local.h"

#define SECOND	1000000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;
static bool rung, ended;

void opencl_bell_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &attr);
	pthread_condattr_destroy(&attr);
}

void opencl_bell_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	rung = ended = false;
}

void opencl_bell_ring(bool end)
{
	pthread_mutex_lock(&lock);
	rung = true;
	ended |= end;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
}

bool opencl_bell_wait(uint64_t deadline_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(deadline_ns / SECOND), .tv_nsec = (long)(deadline_ns % SECOND),
	};
	bool go_on;

	pthread_mutex_lock(&lock);
	while (!rung && pthread_cond_timedwait(&wake, &lock, &until) != ETIMEDOUT)
		;
	rung = false;
	go_on = !ended;
	pthread_mutex_unlock(&lock);
	return go_on;
}
