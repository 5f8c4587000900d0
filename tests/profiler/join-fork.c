// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recorder comes while another thread of the process forks. The names' lock is held for that:
 * here for long, by a handler that runs between those of the library.
 */
#include <pthread.h>

#include <xsprof/collector.h>

#include "lib/numbers.h"
#include "profiler/other-recorder.h"

#define TURNS		5u
#define LONG_US		100000u

static bool forks;	/* a fork is under way, with the lock held */
static bool ends;

static void prepare(void)
{
	__atomic_store_n(&forks, true, __ATOMIC_RELEASE);
	usleep(LONG_US);
}

static void parent(void)
{
	__atomic_store_n(&forks, false, __ATOMIC_RELEASE);
}

static void register_first(void)
{
	pthread_atfork(prepare, parent, NULL);
}

/* Before the library's: of handlers registered first, prepare() runs last, and parent() first. */
__attribute__((section(".preinit_array"), used)) static void (*const begin)(void) = register_first;

static void *fork_often(void *unused)
{
	pid_t pid;

	while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			tap_bail("fork: %s", strerror(errno));
		/* Time for others to have the lock. */
		usleep(1000);
	}
	return unused;
}

static int run(void)
{
	struct recorder r;
	unsigned int all = 0;
	pthread_t thread;

	recorder_begin(&r);
	if (pthread_create(&thread, NULL, fork_often, NULL))
		tap_bail("no threads");
	for (unsigned int i = 0; i < TURNS; i++) {
		while (!__atomic_load_n(&forks, __ATOMIC_ACQUIRE))
			usleep(100);
		CHECK_EQ(xsprof_join(r.session, 0), 0);
		numbers(0, 10);
		collect(getpid());
		all += collect_count(XSPROF_REC_COUNTER_I64, name);
		xsprof_leave();
	}
	__atomic_store_n(&ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK_EQ(all, 10 * TURNS);
	CHECK_EQ(got.drops, 0);
	recorder_end(&r);
	tap_result("a recorder comes while another thread forks");
	return tap_done();
}

int main(void)
{
	name = xsprof_name("number");
	return run();
}
