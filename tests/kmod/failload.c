// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading the module fails: each allocation of its init fails in turn, while its parameters are
 * written. It undoes what it has done. For kernels with fault injection.
 */
#include <pthread.h>

#include "fault.h"
#include "module.h"
#include "user.h"

#define TRIES	400	/* far more than it allocates */
#define NEVER	1000000	/* the same of all that loads a module */

/* Its parameters are there a little longer than it. */
TEST(load)
{
	const char *path = getenv("XSPROF_MODULE");
	uint64_t seed = env_seed();
	/* In tier quick each fifth, from any of the first five. */
	int nth = fault_open(), left, err, fired = 0, step = env_full() ? 1 : 5;
	bool over = false, done = false;
	pthread_t thread;

	if (nth < 0 || !path || access(path, R_OK))
		SKIP(return, "no faults here, or XSPROF_MODULE names no module");
	while (user_counter("live") > 0)
		sched_yield();
	ASSERT_EQ(0, module_unload());
	/* What is allocated before its own code runs, which refuses this at once. */
	ASSERT_EQ(0, fault_set(nth, NEVER));
	ASSERT_EQ(-EINVAL, module_load(path, "mode=07777"));
	left = fault_end(nth);
	ASSERT_LT(0, left);
	ASSERT_EQ(0, pthread_create(&thread, NULL, module_change_limits, &over));
	for (int n = NEVER - left - 10 + (int)(seed % (uint64_t)step);
	     !done && n < NEVER - left + TRIES; n += step) {
		ASSERT_EQ(0, fault_set(nth, n));
		err = module_load(path, "");
		done = fault_end(nth) > 0;
		fired += !done;
		EXPECT_TRUE(!err || (!done && fault_excuses(err))) {
			TH_LOG("allocation %d failing: %d", n, err);
		}
		while (!err && (err = module_unload()) == -EWOULDBLOCK)
			sched_yield();
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	TH_LOG("%d allocations failed", fired);
	EXPECT_TRUE(done);
	EXPECT_LT(10 / step, fired);
	EXPECT_EQ(0, module_load(path, ""));
	close(nth);
}

TEST_HARNESS_MAIN
