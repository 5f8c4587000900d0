// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long and how much is kept of producers that ended.  Every wait here ends by an event.
 */
#include <pthread.h>
#include <signal.h>

#include "poll.h"
#include "user.h"

#define KEPT		6

static int start_and_end(uint64_t *id)
{
	int go;
	pid_t pid = producer_start(&go, 64 << 10, id);

	return pid < 0 ? -1 : producer_end(pid, go);
}

/* Wait for the ends of all: each is kept, or was dropped. */
static void wait_all_ended(long long live)
{
	while (user_counter("live") > live)
		sched_yield();
}

static void retention(struct __test_metadata *_metadata, int fd, const char *parameter,
		      long long bytes_each, int expect)
{
	long long was = env_parameter(parameter), live = user_counter("live");
	long long dropped = user_counter("dropped"), dropped_bytes = user_counter("dropped_bytes");
	struct xsprof_info info;
	uint64_t id[KEPT];
	int n;

	ASSERT_GE(was, 0);
	for (unsigned int i = 0; i < KEPT; i++) {
		ASSERT_EQ(0, start_and_end(&id[i]));
		/* One after the other: the order of two ends at once is nobody's. */
		wait_all_ended(live);
	}
	for (unsigned int i = 0; i < KEPT; i++) {
		ASSERT_EQ(0, dev_info(fd, id[i], &info));
		if (bytes_each)
			bytes_each = info.bytes;
	}
	EXPECT_EQ(KEPT, user_counter("kept"));
	/* Room for two and a half; or no time at all. */
	ASSERT_EQ(0, env_parameter_set(parameter, bytes_each * 5 / 2));
	while (user_counter("dropped") < dropped + KEPT - expect)
		sched_yield();
	n = user_counter("kept");
	EXPECT_EQ(expect, n);
	EXPECT_EQ(dropped + KEPT - expect, user_counter("dropped"));
	if (bytes_each) {
		EXPECT_EQ(dropped_bytes + (KEPT - expect) * bytes_each,
			  user_counter("dropped_bytes"));
		EXPECT_EQ(expect * bytes_each, user_counter("kept_bytes"));
	}
	/* The oldest went. */
	for (int i = 0; i < KEPT; i++)
		EXPECT_EQ(i < KEPT - expect ? -ENOENT : 0, dev_info(fd, id[i], &info));
	/* And it goes on so. */
	if (expect) {
		ASSERT_EQ(0, start_and_end(&id[0]));
		while (user_counter("dropped") < dropped + KEPT - expect + 1)
			sched_yield();
		EXPECT_EQ(-ENOENT, dev_info(fd, id[KEPT - expect], &info));
		EXPECT_EQ(0, dev_info(fd, id[0], &info));
	}
	ASSERT_EQ(0, env_parameter_set(parameter, was));
	ASSERT_GE(dev_drop_ended(fd), 0);
	EXPECT_EQ(0, user_counter("kept"));
	EXPECT_EQ(0, user_counter("kept_bytes"));
}

TEST_F(poll, retain_bytes)
{
	retention(_metadata, self->fd, "retain_bytes", 1, 2);
}

TEST_F(poll, retain_uid_bytes)
{
	retention(_metadata, self->fd, "retain_uid_bytes", 1, 2);
}

TEST_F(poll, retain_seconds)
{
	retention(_metadata, self->fd, "retain_seconds", 0, 0);
}

#define AT_ONCE	8

/* A limit is set again and again, to what it is: each time what is too old is looked for. */
static void *look_for_old(void *enough)
{
	long long is = env_parameter("retain_seconds");

	while (!__atomic_load_n((bool *)enough, __ATOMIC_RELAXED))
		if (env_parameter_set("retain_seconds", is))
			return NULL;
	return enough;
}

/* Who looks for what is too old meets what has ended since: that is kept. */
TEST_F(poll, ends_at_once)
{
	long long live = user_counter("live"), dropped = user_counter("dropped");
	uint64_t rounds = env_figure(40, 4), gone = 0;
	struct xsprof_info info;
	uint64_t id[AT_ONCE];
	pid_t pid[AT_ONCE];
	bool enough = false;
	int go[AT_ONCE];
	pthread_t thread;
	void *looked;

	ASSERT_EQ(0, pthread_create(&thread, NULL, look_for_old, &enough));
	for (uint64_t i = 0; i < rounds; i++) {
		for (unsigned int k = 0; k < AT_ONCE; k++) {
			pid[k] = producer_start(&go[k], 16 << 10, &id[k]);
			ASSERT_GT(pid[k], 0);
		}
		for (unsigned int k = 0; k < AT_ONCE; k++)
			kill(pid[k], SIGKILL);
		for (unsigned int k = 0; k < AT_ONCE; k++)
			producer_end(pid[k], go[k]);
		wait_all_ended(live);
		for (unsigned int k = 0; k < AT_ONCE; k++)
			gone += !!dev_info(self->fd, id[k], &info);
		ASSERT_GE(dev_drop_ended(self->fd), 0);
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	pthread_join(thread, &looked);
	EXPECT_NE(NULL, looked);
	EXPECT_EQ(0, gone);
	EXPECT_EQ(dropped, user_counter("dropped"));
}

/* What a reader holds open stays readable when a limit drops it. */
TEST_F(poll, dropped_under_a_reader)
{
	long long was = env_parameter("retain_seconds"), dropped = user_counter("dropped");
	struct ring_cursor c = { 0 };
	struct dev r;
	uint64_t id;
	int go;
	pid_t pid = producer_start(&go, 64 << 10, &id);

	ASSERT_GT(pid, 0);
	ASSERT_EQ(0, dev_read_id(&r, self->fd, id, 0));
	EXPECT_EQ(0, producer_end(pid, go));
	ASSERT_EQ(0, env_parameter_set("retain_seconds", 0));
	while (user_counter("dropped") == dropped)
		sched_yield();
	ASSERT_EQ(0, env_parameter_set("retain_seconds", was));
	EXPECT_EQ(-ENOENT, dev_drop_id(self->fd, id));
	ring_take(&r, r.nr, &c, UINT64_MAX, NULL, NULL);
	EXPECT_EQ(1, c.records);
	EXPECT_EQ(0, c.torn);
	dev_close(&r);
}

TEST_HARNESS_MAIN
