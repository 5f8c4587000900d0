// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions with a device measure ops of many threads, also sessions that end while ops run.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/stubs.h"

#define THREADS	8u
#define EACH	1500u
#define DEEP	100u

static void deep(unsigned int n)
{
	begin_op("deep");
	if (n)
		deep(n - 1);
	xsprof_op_end();
}

static void *work(void *unused)
{
	(void)unused;
	CHECK_EQ(xsprof_enable_profiler_in_child_thread(), 0);
	for (unsigned int i = 0; i < EACH; i++) {
		begin_op("many");
		xsprof_op_end();
	}
	deep(DEEP - 1);
	return NULL;
}

static void test_many(void)
{
	unsigned int have = 0, n = THREADS * (EACH + DEEP);
	struct xsprof_result *r;
	pthread_t thread[THREADS];

	dev.most = 0;
	CHECK_EQ(begin(XSPROF_PROFILER_KINETO_GPU_FALLBACK), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			tap_bail("no threads");
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	r = end();
	CHECK_EQ(xsprof_result_nr_events(r), n);
	for (unsigned int i = 0; i < n; i++)
		have += xsprof_event_device_elapsed_ns(xsprof_result_event(r, i)) == 250;
	CHECK_EQ(have, n);
	/* At most this many ended ops are kept, plus a batch per thread. */
	CHECK(dev.most <= (int)(2 * (4096 + THREADS * (512 + DEEP))));
	xsprof_result_free(r);
	tap_result("threads, deep ones, more than are kept back");
}

/* The session ends while other threads are inside ops; a forked child has no session. */
static void *rush(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) {
		(void)xsprof_enable_profiler_in_child_thread();
		deep(3);
	}
	return NULL;
}

static void test_end(void)
{
	bool stop = false;
	pthread_t thread[2];
	int status;
	pid_t pid;

	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, rush, &stop))
			tap_bail("no threads");
	for (unsigned int i = 0; i < 50; i++) {
		CHECK_EQ(begin(XSPROF_PROFILER_KINETO_GPU_FALLBACK), 0);
		deep(3);
		CHECK_EQ(xsprof_disable_profiler(NULL), 0);
		CHECK_EQ(dev.events, 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQ(begin(XSPROF_PROFILER_KINETO_GPU_FALLBACK), 0);
	begin_op("parent");
	pid = fork();
	if (!pid) {
		unsigned int had = dev.recorded;

		xsprof_op_end();
		deep(3);
		_exit(dev.recorded != had || xsprof_register_device_stubs(NULL));
	}
	if (waitpid(pid, &status, 0) != pid)
		tap_bail("fork: %s", strerror(errno));
	CHECK_EQ(status, 0);
	xsprof_op_end();
	xsprof_result_free(end());
	tap_result("sessions end while ops run, and in a forked child");
}

int main(void)
{
	dev.devices = 2;
	CHECK_EQ(xsprof_register_device_stubs(&stubs), 0);
	test_many();
	test_end();
	return tap_done();
}
