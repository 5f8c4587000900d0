// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is woken when: an arrival and an end wake who lists, a kick, a moved head and the end wake
 * who reads, and nothing else does.  Also who may consume, and how long and how much is kept of
 * producers that ended.  Every wait here ends by an event.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "ring.h"

#define COUNTERS	"/sys/class/misc/xsprof/"

/* Return: what poll() says within @ms, 0 for nothing. */
static int ready(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 ? p.revents : 0;
}

static long long counter(const char *name)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), COUNTERS "%s", name);
	return env_file_get(path, text, sizeof(text)) ? -1 : strtoll(text, NULL, 0);
}

static int events(int reader, struct xsprof_events *e)
{
	*e = (struct xsprof_events){ .size = sizeof(*e) };
	return dev_call(reader, XSPROF_IOC_EVENTS, e);
}

static int watch(int reader, uint64_t slots, uint64_t period)
{
	struct xsprof_watch w = { .size = sizeof(w), .slots = slots, .period = period };

	return dev_call(reader, XSPROF_IOC_WATCH, &w);
}

FIXTURE(poll)
{
	struct dev	d;
	int		fd;
};

FIXTURE_SETUP(poll)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(dev_drop_ended(self->fd), 0);
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 64 << 10, 1));
	ASSERT_EQ(0, dev_ring_open(&self->d, self->d.nr));
}

FIXTURE_TEARDOWN(poll)
{
	dev_close(&self->d);
	EXPECT_LE(0, dev_drop_ended(self->fd));
	close(self->fd);
}

/* A producer with a ring of its own, until it is told to end: by a byte, or by a signal. */
static pid_t producer_start(int *go, uint64_t ring_size, uint64_t *id)
{
	int to[2], from[2];
	pid_t pid;

	if (pipe(to) || pipe(from))
		return -1;
	pid = fork();
	if (!pid) {
		struct dev d;
		char c;

		close(to[1]);
		if (dev_attach(&d, XSPROF_MODE_DISCARD, ring_size, 1) || dev_ring_open(&d, d.nr) ||
		    !ring_put(&d, d.nr, 0, 0, 1) || write(from[1], &d.id, 8) != 8)
			_exit(1);
		_exit(read(to[0], &c, 1) < 0);
	}
	close(to[0]);
	close(from[1]);
	if (read(from[0], id, 8) != 8)
		*id = 0;
	close(from[0]);
	*go = to[1];
	return pid;
}

static int producer_end(pid_t pid, int go)
{
	int status = -1;

	close(go);
	waitpid(pid, &status, 0);
	return status;
}

TEST_F(poll, arrival_and_end)
{
	struct xsprof_info info;
	uint64_t id, before, after;
	int go, n;
	pid_t pid;

	n = dev_list(self->fd, &info, 1, 0, &before);
	ASSERT_GE(n, 0);
	EXPECT_EQ(0, ready(self->fd, 0));
	pid = producer_start(&go, 16 << 10, &id);
	ASSERT_GT(pid, 0);
	EXPECT_EQ(POLLIN, ready(self->fd, -1));
	ASSERT_GE(dev_list(self->fd, &info, 1, id - 1, &after), 0);
	EXPECT_EQ(id, info.id);
	EXPECT_EQ((uint32_t)pid, info.pid);
	EXPECT_EQ(XSPROF_STATE_LIVE, info.state);
	EXPECT_EQ(before + 1, after);
	EXPECT_EQ(0, ready(self->fd, 0));
	EXPECT_EQ(0, producer_end(pid, go));
	EXPECT_EQ(POLLIN, ready(self->fd, -1));
	ASSERT_GE(dev_list(self->fd, &info, 1, id - 1, &after), 0);
	EXPECT_EQ(XSPROF_STATE_EXITED, info.state);
	EXPECT_EQ(before + 2, after);
	EXPECT_EQ(0, dev_drop_id(self->fd, id));
}

/* One that sleeps in poll() already. */
static void *sleeper(void *arg)
{
	return (void *)(intptr_t)ready((int)(intptr_t)arg, -1);
}

TEST_F(poll, kick)
{
	struct xsprof_events e;
	pthread_t thread;
	struct dev r;
	void *said;

	ASSERT_EQ(0, dev_read_id(&r, self->fd, self->d.id, XSPROF_OPEN_CONSUME));
	ASSERT_EQ(0, events(r.fd, &e));
	EXPECT_EQ(0, ready(r.fd, 0));
	for (uint64_t flush = 0; flush < 2; flush++) {
		uint64_t kicks = e.kicks, flushes = self->d.ctl->flush;

		ASSERT_EQ(0, pthread_create(&thread, NULL, sleeper, (void *)(intptr_t)r.fd));
		env_nap(1000);
		EXPECT_LE(0, ioctl(self->d.fd, XSPROF_IOC_KICK, flush * XSPROF_KICK_FLUSH));
		ASSERT_EQ(0, pthread_join(thread, &said));
		EXPECT_EQ(POLLIN, (intptr_t)said);
		EXPECT_EQ(flushes + flush, self->d.ctl->flush);
		/* Until it is acknowledged. */
		EXPECT_EQ(POLLIN, ready(r.fd, 0));
		ASSERT_EQ(0, events(r.fd, &e));
		EXPECT_EQ(kicks + 1, e.kicks);
		EXPECT_EQ(0, ready(r.fd, 0));
	}
	EXPECT_EQ(-1, ioctl(self->d.fd, XSPROF_IOC_KICK, 2));
	EXPECT_EQ(EINVAL, errno);
	dev_close(&r);
}

/* No kick at all: the timer sees that a head has moved, and only that. */
TEST_F(poll, watermark_timer)
{
	struct xsprof_events e;
	struct dev r;

	ASSERT_EQ(0, dev_read_id(&r, self->fd, self->d.id, XSPROF_OPEN_CONSUME));
	ASSERT_EQ(0, watch(r.fd, 64, 2000000));
	EXPECT_EQ(64, self->d.ctl->watermark);
	ASSERT_EQ(0, events(r.fd, &e));
	for (uint64_t i = 0; i < 20; i++) {
		ring_put(&self->d, self->d.nr, 0, i, 1);
		EXPECT_EQ(POLLIN, ready(r.fd, -1));
		ASSERT_EQ(0, events(r.fd, &e));
	}
	dev_close(&r);
	EXPECT_EQ(0, self->d.ctl->watermark);
}

/*
 * An idle producer wakes nobody, however often the timer looks: the wait ends by another's end,
 * and the timer has looked at that one a hundred times by then.
 */
TEST_F(poll, idle_wakes_nobody)
{
	struct xsprof_events idle, busy, now;
	struct dev r, r2;
	uint64_t id, wakes = 0;
	struct pollfd p[2];
	struct dev other;
	int go;
	pid_t pid;

	ASSERT_EQ(0, dev_read_id(&r, self->fd, self->d.id, XSPROF_OPEN_CONSUME));
	ASSERT_EQ(0, watch(r.fd, 64, 1000000));
	ASSERT_EQ(0, dev_attach(&other, XSPROF_MODE_OVERWRITE, 16 << 10, 1));
	ASSERT_EQ(0, dev_ring_open(&other, other.nr));
	ASSERT_EQ(0, dev_read_id(&r2, self->fd, other.id, XSPROF_OPEN_CONSUME));
	ASSERT_EQ(0, watch(r2.fd, 64, 1000000));
	pid = producer_start(&go, 16 << 10, &id);
	ASSERT_GT(pid, 0);
	/* The first look finds what was there before. */
	for (int i = 0; i < 3; i++) {
		ring_put(&other, other.nr, 0, i, 1);
		EXPECT_TRUE(ready(r2.fd, -1) & POLLIN);
		ASSERT_EQ(0, events(r2.fd, &busy));
	}
	ASSERT_EQ(0, events(r.fd, &idle));
	/* It has written, long ago: the look that finds it does so once. */
	ring_put(&self->d, self->d.nr, 0, 0, 1);
	EXPECT_EQ(POLLIN, ready(r.fd, -1));
	ASSERT_EQ(0, events(r.fd, &idle));
	for (int i = 0; i < 100; i++) {
		ring_put(&other, other.nr, 0, i, 1);
		p[0] = (struct pollfd){ .fd = r2.fd, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = r.fd, .events = POLLIN };
		ASSERT_GE(poll(p, 2, -1), 1);
		wakes += p[1].revents != 0;
		EXPECT_EQ(POLLIN, p[0].revents);
		ASSERT_EQ(0, events(r2.fd, &busy));
	}
	EXPECT_EQ(0, producer_end(pid, go));
	EXPECT_EQ(0, ready(r.fd, 0));
	EXPECT_EQ(0, wakes);
	ASSERT_EQ(0, events(r.fd, &now));
	EXPECT_EQ(idle.kicks, now.kicks);
	dev_close(&r2);
	dev_close(&other);
	dev_close(&r);
}

TEST_F(poll, end_wakes_reader)
{
	struct xsprof_events e;
	pthread_t thread;
	struct dev r;
	uint64_t id;
	void *said;
	int go;
	pid_t pid;

	for (int by_kill = 0; by_kill < 2; by_kill++) {
		pid = producer_start(&go, 16 << 10, &id);
		ASSERT_GT(pid, 0);
		ASSERT_EQ(0, dev_read_id(&r, self->fd, id, 0));
		ASSERT_EQ(0, events(r.fd, &e));
		ASSERT_EQ(0, pthread_create(&thread, NULL, sleeper, (void *)(intptr_t)r.fd));
		env_nap(1000);
		if (by_kill) {
			EXPECT_EQ(0, kill(pid, SIGKILL));
		}
		EXPECT_EQ(by_kill ? SIGKILL : 0, producer_end(pid, go));
		ASSERT_EQ(0, pthread_join(thread, &said));
		EXPECT_EQ(POLLIN | POLLHUP, (intptr_t)said);
		ASSERT_EQ(0, events(r.fd, &e));
		EXPECT_EQ(by_kill ? XSPROF_STATE_KILLED : XSPROF_STATE_EXITED, e.info.state);
		EXPECT_EQ(POLLHUP, ready(r.fd, 0));
		EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_DROP, NULL));
		dev_close(&r);
	}
}

TEST_F(poll, one_consumer)
{
	struct xsprof_info info;
	struct dev a, b, c;

	ASSERT_EQ(0, dev_read_id(&a, self->fd, self->d.id, XSPROF_OPEN_CONSUME));
	EXPECT_EQ(-EBUSY, dev_read_id(&b, self->fd, self->d.id, XSPROF_OPEN_CONSUME));
	EXPECT_EQ(0, dev_read_id(&c, self->fd, self->d.id, 0));
	EXPECT_EQ(-EPERM, watch(c.fd, 1, 0));
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &info));
	EXPECT_EQ(XSPROF_INFO_CONSUMED, info.flags);
	dev_close(&a);
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &info));
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(0, dev_read_id(&b, self->fd, self->d.id, XSPROF_OPEN_CONSUME));
	dev_close(&b);
	dev_close(&c);
}

TEST_F(poll, control)
{
	struct xsprof_control c = { .size = sizeof(c) };
	volatile struct xsprof_ctl *ctl = self->d.ctl;
	uint32_t generation = ctl->generation;
	struct dev r, look;

	ASSERT_EQ(0, dev_read_id(&r, self->fd, self->d.id, XSPROF_OPEN_CONSUME));
	ASSERT_EQ(0, dev_read_id(&look, self->fd, self->d.id, 0));
	EXPECT_EQ(~0ull, ctl->enabled);
	c.clear = 6;
	EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(~6ull, c.enabled);
	EXPECT_EQ(~6ull, ctl->enabled);
	EXPECT_NE(generation, ctl->generation);
	c = (struct xsprof_control){ .size = sizeof(c), .pause = XSPROF_PAUSED_RECORDER };
	EXPECT_EQ(-EPERM, dev_call(look.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(-EPERM, dev_call(self->d.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(0, c.enabled);
	EXPECT_EQ(0, ctl->enabled);
	EXPECT_EQ(~6ull, ctl->wanted);
	c = (struct xsprof_control){ .size = sizeof(c), .resume = XSPROF_PAUSED_RECORDER };
	EXPECT_EQ(-EPERM, dev_call(self->d.fd, XSPROF_IOC_CONTROL, &c));
	c = (struct xsprof_control){ .size = sizeof(c), .pause = XSPROF_PAUSED_PROGRAM, .set = 2 };
	EXPECT_EQ(-EPERM, dev_call(r.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(0, dev_call(self->d.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(3, ctl->paused);
	c = (struct xsprof_control){ .size = sizeof(c), .resume = XSPROF_PAUSED_RECORDER };
	EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(0, ctl->enabled);
	c = (struct xsprof_control){ .size = sizeof(c), .resume = XSPROF_PAUSED_PROGRAM };
	EXPECT_EQ(0, dev_call(self->d.fd, XSPROF_IOC_CONTROL, &c));
	EXPECT_EQ(~4ull, ctl->enabled);
	EXPECT_EQ(~4ull, c.enabled);
	dev_close(&look);
	dev_close(&r);
}

/* ---- what is kept -------------------------------------------------------------------------- */

#define KEPT	6

static int start_and_end(uint64_t *id)
{
	int go;
	pid_t pid = producer_start(&go, 64 << 10, id);

	return pid < 0 ? -1 : producer_end(pid, go);
}

/* Wait for the ends of all: each is kept, or was dropped. */
static void wait_all_ended(long long live)
{
	while (counter("live") > live)
		sched_yield();
}

static void retention(struct __test_metadata *_metadata, int fd, const char *parameter,
		      long long bytes_each, int expect)
{
	long long was = env_parameter(parameter), live = counter("live");
	long long dropped = counter("dropped"), dropped_bytes = counter("dropped_bytes");
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
	EXPECT_EQ(KEPT, counter("kept"));
	/* Room for two and a half; or no time at all. */
	ASSERT_EQ(0, env_parameter_set(parameter, bytes_each * 5 / 2));
	while (counter("dropped") < dropped + KEPT - expect)
		sched_yield();
	n = counter("kept");
	EXPECT_EQ(expect, n);
	EXPECT_EQ(dropped + KEPT - expect, counter("dropped"));
	if (bytes_each) {
		EXPECT_EQ(dropped_bytes + (KEPT - expect) * bytes_each, counter("dropped_bytes"));
		EXPECT_EQ(expect * bytes_each, counter("kept_bytes"));
	}
	/* The oldest went. */
	for (int i = 0; i < KEPT; i++)
		EXPECT_EQ(i < KEPT - expect ? -ENOENT : 0, dev_info(fd, id[i], &info));
	/* And it goes on so. */
	if (expect) {
		ASSERT_EQ(0, start_and_end(&id[0]));
		while (counter("dropped") < dropped + KEPT - expect + 1)
			sched_yield();
		EXPECT_EQ(-ENOENT, dev_info(fd, id[KEPT - expect], &info));
		EXPECT_EQ(0, dev_info(fd, id[0], &info));
	}
	ASSERT_EQ(0, env_parameter_set(parameter, was));
	ASSERT_GE(dev_drop_ended(fd), 0);
	EXPECT_EQ(0, counter("kept"));
	EXPECT_EQ(0, counter("kept_bytes"));
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
	long long live = counter("live"), dropped = counter("dropped");
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
	EXPECT_EQ(dropped, counter("dropped"));
}

/* What a reader holds open stays readable when a limit drops it. */
TEST_F(poll, dropped_under_a_reader)
{
	long long was = env_parameter("retain_seconds"), dropped = counter("dropped");
	struct ring_cursor c = { 0 };
	struct dev r;
	uint64_t id;
	int go;
	pid_t pid = producer_start(&go, 64 << 10, &id);

	ASSERT_GT(pid, 0);
	ASSERT_EQ(0, dev_read_id(&r, self->fd, id, 0));
	EXPECT_EQ(0, producer_end(pid, go));
	ASSERT_EQ(0, env_parameter_set("retain_seconds", 0));
	while (counter("dropped") == dropped)
		sched_yield();
	ASSERT_EQ(0, env_parameter_set("retain_seconds", was));
	EXPECT_EQ(-ENOENT, dev_drop_id(self->fd, id));
	ring_take(&r, r.nr, &c, UINT64_MAX, NULL, NULL);
	EXPECT_EQ(1, c.records);
	EXPECT_EQ(0, c.torn);
	dev_close(&r);
}

TEST_HARNESS_MAIN
