// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of scheduler events of a process equals the kernel's count of switches, also during
 * CPU hotplug.
 */
#include <sys/wait.h>

#include "sched.h"

#define BIG_RING	(4 << 20)

/* ---- the kernel's own counts ---------------------------------------------------------------- */

FIXTURE(counts)
{
};

FIXTURE_VARIANT(counts)
{
	uid_t		uid;
	uint32_t	mode;
	uint32_t	flags;
};

/* Nobody in particular, with no privilege. */
FIXTURE_VARIANT_ADD(counts, user) { 1000, XSPROF_MODE_DISCARD, 0 };
FIXTURE_VARIANT_ADD(counts, root) { 0, XSPROF_MODE_OVERWRITE, 0 };
FIXTURE_VARIANT_ADD(counts, mono) { 1000, XSPROF_MODE_DISCARD, XSPROF_ATTACH_MONO };

FIXTURE_SETUP(counts)
{
}

FIXTURE_TEARDOWN(counts)
{
}

TEST_F(counts, switches)
{
	struct sched_pair pair = { .rounds = env_figure(2000, 200) };
	struct xsprof_attach a = dev_attach_defaults();
	struct sched_count all = { 0 };
	struct sched s;

	if (variant->uid) {
		ASSERT_EQ(0, setgid(variant->uid));
		ASSERT_EQ(0, setuid(variant->uid));
	}
	a.mode = variant->mode;
	a.flags = variant->flags;
	a.kernel_size = BIG_RING;
	ASSERT_EQ(0, dev_attach_as(&s.d, &a));
	sched_view(&s);
	ASSERT_EQ(0, sched_switch_to(s.d.fd, XSPROF_SCHED_ON, NULL));
	pair.s = &s;
	ASSERT_EQ(0, sched_run_pair(&pair));
	EXPECT_EQ(pair.counted[0], pair.found[0]);
	EXPECT_EQ(pair.counted[1], pair.found[1]);
	EXPECT_EQ(0, pair.torn[0] + pair.torn[1]);
	EXPECT_LT(pair.rounds / 4, pair.found[0]);
	EXPECT_EQ(0, sched_walk(&s, sched_count_one, &all));
	EXPECT_EQ(0, all.bad);
	EXPECT_EQ(0, sched_drops(&s));
	TH_LOG("%llu and %llu switches", (unsigned long long)pair.found[0],
	       (unsigned long long)pair.found[1]);
	dev_close(&s.d);
}

/* ---- CPUs that come and go ------------------------------------------------------------------ */

static void *switch_cpus(void *arg)
{
	uint32_t *stop = arg;

	for (unsigned int i = 0; !__atomic_load_n(stop, __ATOMIC_RELAXED); i++)
		env_file_put("/sys/devices/system/cpu/cpu1/online", i & 1 ? "1" : "0");
	env_file_put("/sys/devices/system/cpu/cpu1/online", "1");
	__atomic_store_n(stop, 2, __ATOMIC_RELEASE);
	return NULL;
}

#define LAP	1000	/* rounds that a big ring holds without a reader */

TEST(hotplug)
{
	uint64_t rounds = env_figure(1000, 100);
	pthread_t thread;
	struct sched s;

	if (env_file_put("/sys/devices/system/cpu/cpu1/online", "1"))
		SKIP(return, "no CPU here can be switched off");
	for (uint64_t i = 0; i < rounds; i += LAP) {
		struct sched_pair pair = { .rounds = rounds < LAP ? (uint32_t)rounds : LAP };
		uint32_t stop = 0;

		ASSERT_EQ(0, sched_attach(&s, XSPROF_MODE_DISCARD, BIG_RING));
		pair.s = &s;
		pair.stop = &stop;
		ASSERT_EQ(0, pthread_create(&thread, NULL, switch_cpus, &stop));
		ASSERT_EQ(0, sched_run_pair(&pair));
		pthread_join(thread, NULL);
		EXPECT_EQ(pair.counted[0], pair.found[0]);
		EXPECT_EQ(pair.counted[1], pair.found[1]);
		EXPECT_EQ(0, pair.torn[0] + pair.torn[1]);
		EXPECT_EQ(0, sched_drops(&s));
		dev_close(&s.d);
	}
}

TEST_HARNESS_MAIN
