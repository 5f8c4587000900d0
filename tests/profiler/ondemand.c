// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces on demand, from the daemon's text to the file: by time, by iterations, of memory; refused
 * requests, and a client that fails.
 *
 *	ondemand path=0|1
 */
#include "profiler/demand-client.h"

static void test_client(void)
{
	struct {
		struct xsprof_client	c;
		char			more[16];
	} later = { .c = client };
	struct xsprof_client c = client;

	CHECK_EQ(xsprof_register_client(&client), 0);
	CHECK_EQ(xsprof_register_client(NULL), 0);
	c.size = sizeof(c) - 1;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	/* A program built before @snapshot existed. */
	c.size = offsetof(struct xsprof_client, snapshot);
	CHECK_EQ(xsprof_register_client(&c), 0);
	c.size--;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	c = client;
	c.start = NULL;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	c = client;
	c.stop = NULL;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	c = client;
	c.save = NULL;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	c = client;
	c.stop_memory_profile = NULL;
	CHECK_EQ(xsprof_register_client(&c), -EINVAL);
	later.c.size = sizeof(later);
	CHECK_EQ(xsprof_register_client(&later.c), 0);
	later.more[3] = 1;
	CHECK_EQ(xsprof_register_client(&later.c), -E2BIG);
	CHECK_EQ(xsprof_register_client(&client), 0);
	CHECK_EQ(xsprof_ondemand_cancel(), -ENOENT);
	tap_result("clients that are taken, and that are not");
}

static void test_begin(void)
{
	unsigned int contexts = fake_count(&fake, &fake.contexts);
	unsigned int threads = entries("/proc/self/task");

	errno = 17;
	CHECK_EQ(xsprof_ondemand_init(), 0);
	CHECK_EQ(xsprof_ondemand_init(), 0);
	CHECK_EQ(errno, 17);
	fake_more(&fake, &fake.idle, 3);
	pthread_mutex_lock(&fake.lock);
	CHECK(fake.contexts > contexts);
	CHECK_EQ(fake.gpu, 3);
	CHECK_EQ(fake.pids[0], getpid());
	CHECK_EQ(fake.job, 77);
	CHECK_EQ(fake.wrong, 0);
	CHECK_EQ(fake.busy, 0);
	pthread_mutex_unlock(&fake.lock);
	CHECK_EQ(entries("/proc/self/task"), threads + 1);
	tap_result("registers, and goes on asking");
}

static void test_by_time(void)
{
	long begun = now_ms();

	forget();
	/* As dyno sends it: blanks before the keys, and a start two seconds from now. */
	fake_configure(&fake, "\n    ACTIVITIES_LOG_FILE=%s/sub/time.json\n"
		       "PROFILE_START_TIME=0\nACTIVITIES_DURATION_MSECS=300\n"
		       "PROFILE_REPORT_INPUT_SHAPES=true\nPROFILE_WITH_STACK=true\n"
		       "PROFILE_WITH_FLOPS=false\nPROFILE_WITH_MODULES=false\n"
		       "    REQUEST_TRACE_ID=1\n", traces);
	until(SAVE, 1);
	until_idle();
	CHECK_ORDER(INIT, PREPARE, START, STOP, SAVE);
	CHECK(got.flag[0] && !got.flag[1] && got.flag[2] && !got.flag[3] && !got.flag[4]);
	CHECK(!got.signals);
	/* Too early is an error on any machine; late only means that this one is slow. */
	CHECK(got.ms[START] - begun >= 1990);
	CHECK(got.ms[STOP] - got.ms[START] >= 290);
	CHECK(taken("sub/time", getpid()));
	CHECK_EQ(entries(in_traces("sub")), 0);
	CHECK(fake_count(&fake, &fake.busy) > 0);
	tap_result("by time: begins when it should, and is saved in its place");

	forget();
	begun = real_ms();
	fake_configure(&fake, "PROFILE_START_TIME=%lld\nACTIVITIES_DURATION_MSECS=1\n",
		       real_ms() + 400);
	until(SAVE, 1);
	CHECK(real_ms() >= begun + 400);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, SAVE);
	CHECK(taken("libkineto_activities", getpid()));
	tap_result("by a time of its own, into the file that has no other name");
}

static void test_busy(void)
{
	unsigned int handed;

	forget();
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/long.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", traces, real_ms());
	until(START, 1);
	/* The next request stays with the daemon, which does not drop us meanwhile. */
	handed = later_please("next", 5);
	CHECK_EQ(xsprof_register_client(NULL), -EBUSY);
	/* A request that comes nevertheless is dropped. */
	pthread_mutex_lock(&fake.lock);
	fake_send(&fake, "req", "ACTIVITIES_ITERATIONS=1", 23);
	pthread_mutex_unlock(&fake.lock);
	fake_more(&fake, &fake.busy, 2);
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	CHECK_EQ(xsprof_ondemand_cancel(), -ENOENT);
	fake_until(&fake, &fake.handed, handed);
	until(SAVE, 1);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, DISCARD, PREPARE, START, STOP, SAVE);
	CHECK(!taken("long", getpid()));
	CHECK(taken("next", getpid()));
	tap_result("one at a time; what is cancelled is thrown away");
}

static void test_by_iteration(void)
{
	int64_t first;

	iterations("steps", 2, 0, 10, 3, false);
	first = made() + 1 + 2;
	first += (10 - first % 10) % 10;
	for (unsigned int i = 0; i < 30; i++)
		step();
	until(SAVE, 1);
	until_idle();
	/* The client's own prepare() makes one more step. */
	CHECK_ORDER(PREPARE, START, STOP, SAVE);
	CHECK_EQ(got.at[PREPARE], first - 2 + 1);
	CHECK_EQ(got.at[START], first);
	CHECK_EQ(got.at[STOP], first + 3);
	CHECK(taken("steps", getpid()));
	tap_result("by iterations: at the next round number, with those of the warm-up before it");

	iterations("later", 0, made() + 20, 0, 1, true);
	first = made() + 20;
	for (unsigned int i = 0; i < 25; i++)
		step();
	until(SAVE, 1);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, SAVE);
	/* The step in prepare() counts: the requested iteration is over after it. */
	CHECK_EQ(got.at[START], first + 1);
	CHECK_EQ(got.at[STOP], first + 2);
	CHECK(taken("later", getpid()));
	tap_result("by a number of its own, whatever time is asked for as well");

	iterations("past", 0, 1, 0, 4, false);
	first = made() + 1;
	for (unsigned int i = 0; i < 10; i++)
		step();
	until(SAVE, 1);
	until_idle();
	CHECK_EQ(got.at[START], first + 1);
	CHECK_EQ(got.at[STOP], first + 4);
	CHECK(taken("past", getpid()));
	tap_result("an iteration that is over means the next one");

	iterations("cancelled", 0, 0, 0, 1000, false);
	step();
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	step();
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, DISCARD);
	tap_result("by iterations: cancelled");
}

/* A text without effect: the daemon delivers it, and no callback runs. */
static void nothing_of(const char *why, const char *config)
{
	unsigned int handed;

	forget();
	handed = fake_configure(&fake, "%s", config);
	fake_until(&fake, &fake.handed, handed);
	until_idle();
	if (got.total)
		tap_wrong("taken: %s", why);
}

static void test_refused(void)
{
	char text[1000];

	if (!made()) {
		snprintf(text, sizeof(text), "ACTIVITIES_LOG_FILE=%s/x.json\n"
			 "PROFILE_START_ITERATION=0\nACTIVITIES_ITERATIONS=1\n", traces);
		nothing_of("iterations of a program that makes none", text);
		return;
	}
	snprintf(text, sizeof(text), "PROFILE_START_TIME=%lld\nACTIVITIES_DURATION_MSECS=1\n",
		 real_ms() - 11000);
	nothing_of("a start 11 s ago", text);
	snprintf(text, sizeof(text), "PROFILE_START_TIME=%lld\nACTIVITIES_DURATION_MSECS=1\n",
		 real_ms() + 90000000);
	nothing_of("a start in more than a day", text);
	nothing_of("no request", "PROFILE_WITH_STACK=true\n");
	nothing_of("not enabled", "ACTIVITIES_ENABLED=false\nACTIVITIES_DURATION_MSECS=1\n");
	nothing_of("no time", "ACTIVITIES_DURATION_MSECS=0\n");
	nothing_of("more than a day", "ACTIVITIES_DURATION_SECS=86401\n");
	nothing_of("nonsense", "ACTIVITIES_DURATION_MSECS=1\nnonsense\n");
	nothing_of("outside", "ACTIVITIES_LOG_FILE=/etc/x.json\nACTIVITIES_DURATION_MSECS=1\n");
	snprintf(text, sizeof(text), "ACTIVITIES_DURATION_MSECS=1\n"
		 "ACTIVITIES_LOG_FILE=%s/../x.json\n", traces);
	nothing_of("above", text);
	snprintf(text, sizeof(text), "ACTIVITIES_DURATION_MSECS=1\n"
		 "ACTIVITIES_LOG_FILE=%s/link/x.json\n", traces);
	nothing_of("through a link", text);
	snprintf(text, sizeof(text), "ACTIVITIES_DURATION_MSECS=1\n"
		 "ACTIVITIES_LOG_FILE=%s/none/x.json\n", traces);
	nothing_of("no such folder", text);
	tap_result("requests that are refused");
}

static void test_failures(void)
{
	static const struct {
		enum what	what;
		unsigned int	calls;
	} fails[] = { { PREPARE, 1 }, { START, 2 }, { STOP, 3 }, { SAVE, 4 } };

	for (unsigned int i = 0; i < 4; i++) {
		forget();
		pthread_mutex_lock(&lock);
		seen.fail[fails[i].what] = -EIO;
		pthread_mutex_unlock(&lock);
		now_please("fails");
		until(fails[i].what, 1);
		until_idle();
		CHECK_EQ(got.total, fails[i].calls);
		CHECK(!taken("fails", getpid()));
	}
	CHECK_EQ(entries(traces), 2);
	forget();
	now_please("works");
	until(SAVE, 1);
	until_idle();
	CHECK(taken("works", getpid()));
	tap_result("a client that fails ends its request, and the next one works");
}

static void test_memory(void)
{
	struct xsprof_client c = client;
	char text[500];

	forget();
	snprintf(text, sizeof(text), "ACTIVITIES_LOG_FILE=%s/memory.json\nPROFILE_START_TIME=%lld\n"
		 "ACTIVITIES_DURATION_MSECS=50\nPROFILE_PROFILE_MEMORY=true\n"
		 "PROFILE_MEMORY=true\nPROFILE_MEMORY_DURATION_MSECS=50\n", traces, real_ms());
	fake_configure(&fake, "%s", text);
	until(MEM_STOP, 1);
	until_idle();
	CHECK_ORDER(PREPARE, MEM_START, MEM_EXPORT, MEM_STOP);
	CHECK(got.flag[1]);
	CHECK(got.ms[MEM_EXPORT] - got.ms[MEM_START] >= 49);
	CHECK(taken("memory", getpid()));
	c.start_memory_profile = NULL;
	c.stop_memory_profile = NULL;
	c.export_memory_profile = NULL;
	CHECK_EQ(xsprof_register_client(&c), 0);
	nothing_of("a snapshot by nobody", text);
	CHECK_EQ(xsprof_register_client(&client), 0);
	tap_result("a snapshot of memory");
}

int main(int argc, char **argv)
{
	if (!demand_begin(arg_number(argc, argv, "path", 0))) {
		printf("1..0 # SKIP another daemon has the name \"dynolog\" here\n");
		return 77;
	}
	test_client();
	test_begin();
	test_refused();
	test_by_time();
	test_busy();
	test_by_iteration();
	test_refused();
	test_failures();
	test_memory();
	demand_end();
	return tap_done();
}
