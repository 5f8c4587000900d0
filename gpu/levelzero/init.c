// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How a program that uses Level Zero comes here: by libxsprof-preload.so, which is preloaded and
 * sees its first call, or, as SYCL opens Level Zero for itself, as a subscriber of SYCL's tracing,
 * which loads the libraries that XPTI_SUBSCRIBERS names before SYCL looks for devices.
 */
#include <errno.h>
#include <pthread.h>

#include "gpu/levelzero/local.h"

#define EXPORT		__attribute__((visibility("default")))

EXPORT void xsprof_levelzero_begin(void);
EXPORT void xptiTraceInit(unsigned int major, unsigned int minor, const char *version,
			  const char *stream);
EXPORT void xptiTraceFinish(const char *stream);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* PTI initialises Level Zero as well, and is seen doing so. */
static __thread bool inside;

/* Attaches if need be. */
static bool is_recording(void)
{
	int err = xsprof_init(NULL);

	return !err || err == -EAGAIN || err == -EBUSY || err == -EALREADY;
}

/* SYCL has devices of other kinds as well, and says itself that it has none of these. */
static void tell_driver(int err, bool sycl)
{
	if (err == -ENOSYS)
		xsprof_say("this driver is older than Level Zero 1.3: PTI cannot record it");
	else if (!sycl)
		xsprof_say("Level Zero has no driver for a GPU here: nothing of it is recorded");
}

static void record(void)
{
	uint64_t begin = xsprof_now();
	int err;

	if (levelzero_open())
		return;
	levelzero_record_init();
	/* The rate is measured now, not in the program's first call. */
	(void)xsprof_ticks_ns(0);
	err = levelzero_views_on();
	if (err)
		levelzero_tell(err);
	else if (!levelzero_thread_start())
		levelzero_record_start(begin);
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
	/* Another thread that initialises Level Zero waits until it is recorded. */
	pthread_mutex_lock(&lock);
	if (!done && is_recording()) {
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

/* Level Zero was initialised, or could not be. */
void xsprof_levelzero_begin(void)
{
	begin(false);
}

void xptiTraceInit(unsigned int major, unsigned int minor, const char *version, const char *stream)
{
	begin(true);
	/* That of PTI, whose streams are the same. */
	if (pti.sycl_begins)
		pti.sycl_begins(major, minor, version, stream);
}

void xptiTraceFinish(const char *stream)
{
	(void)stream;
}
