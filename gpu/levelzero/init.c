// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry points. Native programs: libxsprof-preload.so is preloaded and intercepts the first call.
 * SYCL, which opens Level Zero itself: the collector is a subscriber of SYCL's tracing
 * (XPTI_SUBSCRIBERS), which loads it before SYCL looks for devices.
 */
#include <errno.h>
#include <pthread.h>

#include "gpu/common/refused.h"
#include "gpu/common/start.h"
#include "gpu/levelzero/local.h"

#define EXPORT		__attribute__((visibility("default")))

EXPORT void xsprof_levelzero_begin(void);
EXPORT void xptiTraceInit(unsigned int major, unsigned int minor, const char *version,
			  const char *stream);
EXPORT void xptiTraceFinish(const char *stream);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Set while PTI initialises Level Zero, a call that we intercept too. */
static __thread bool inside;

/* Prints the reason. SYCL has other devices too, and reports a missing driver itself. */
static void tell_driver(int err, bool sycl)
{
	if (err == -ENOSYS)
		gpu_refused("this driver is older than Level Zero 1.3: PTI cannot record it");
	else if (!sycl)
		gpu_refused("Level Zero has no GPU driver here: it is not recorded");
}

static void record(void)
{
	uint64_t begin = xsprof_now();
	int err;

	if (levelzero_open())
		return;
	levelzero_record_init();
	/* Measures the clock's rate now rather than in the program's first recorded call. */
	(void)xsprof_ticks_ns(0);
	err = levelzero_views_on();
	if (err)
		levelzero_tell(err);
	else if (!levelzero_thread_start())
		gpu_started(levelzero_category(), "Start of PTI", begin);
	else
		levelzero_views_off();
}

static void begin(bool sycl)
{
	static bool done;
	int err;

	if (inside)
		return;
	inside = true;
	/* A second thread that initialises Level Zero waits until recording has started. */
	pthread_mutex_lock(&lock);
	if (!done && gpu_is_recording()) {
		done = true;
		err = levelzero_driver(sycl);
		if (!err)
			record();
		else
			tell_driver(err, sycl);
	}
	pthread_mutex_unlock(&lock);
	inside = false;
}

/* Called after the program's zeInit(), whether it succeeded or not. */
void xsprof_levelzero_begin(void)
{
	begin(false);
}

void xptiTraceInit(unsigned int major, unsigned int minor, const char *version, const char *stream)
{
	begin(true);
	/* Pass the stream on to PTI, which subscribes to the same ones. */
	if (pti.sycl_begins)
		pti.sycl_begins(major, minor, version, stream);
}

void xptiTraceFinish(const char *stream)
{
	(void)stream;
}
