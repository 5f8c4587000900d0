// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wake-ups: an attach and an end wake callers that list, a kick, a moved head and the end wake
 * readers, and nothing else does. Also permission to consume. Every wait here ends by an event.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "poll.h"
#include "tracefs.h"

/* Return: what poll() says within @ms, 0 for nothing. */
static int ready(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1 ? p.revents : 0;
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

/* ---- who wakes ------------------------------------------------------------------------------- */

#define WAKES	TRACEFS_OWN "events/sched/sched_waking/"
#define WAITS	"xsp-waits"

/* Waits for arrivals and ends, until it is killed, and for no lock besides. */
static pid_t waiter_start(void)
{
	uint64_t events, last = 0;
	int fd, up[2];
	pid_t pid;
	char c;

	if (pipe(up))
		return -errno;
	pid = fork();
	if (pid)
		goto out;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, WAITS);
	fd = dev_open();
	if (dev_list(fd, NULL, 0, 0, &last) || write(up[1], "x", 1) != 1)
		_exit(1);
	for (;; last = events)
		if (!ready(fd, -1) || dev_list(fd, NULL, 0, 0, &events) || events == last)
			_exit(2);
out:
	close(up[1]);
	if (pid > 0 && read(up[0], &c, 1) != 1)
		pid = -EPIPE;
	close(up[0]);
	return pid;
}

/* Attaches, and gives its producer up again, @n times. */
static pid_t comer_start(uint64_t n)
{
	pid_t pid = fork();
	struct dev d;

	if (pid)
		return pid;
	for (uint64_t i = 0; i < n; i++) {
		if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1))
			_exit(1);
		dev_close(&d);
	}
	_exit(0);
}

/* How often the waiter was woken in the trace, and how often by process @by itself. */
static void count_wakes(pid_t by, uint64_t *all, uint64_t *by_it)
{
	FILE *f = fopen(TRACEFS_OWN "trace", "re");
	char *line = NULL, task[16];
	size_t room = 0;

	/* "  COMM-PID [CPU] ..." */
	snprintf(task, sizeof(task), "-%d ", by);
	while (f && getline(&line, &room, f) > 0) {
		if (*line == '#' || !strstr(line, "comm=" WAITS))
			continue;
		++*all;
		*by_it += strstr(line, task) != NULL;
	}
	free(line);
	if (f)
		fclose(f);
}

/* There may be as many who wait as a user has descriptors: no call of another's wakes them. */
TEST_F(poll, who_comes_wakes_nobody)
{
	uint64_t all = 0, by_it = 0;
	pid_t waiter, comer;
	int status;

	ASSERT_EQ(0, tracefs_open(1024));
	if (access(WAKES "enable", W_OK))
		SKIP(return, "this kernel does not trace its scheduler");
	ASSERT_EQ(0, env_file_put(WAKES "filter", "comm == \"" WAITS "\""));
	waiter = waiter_start();
	ASSERT_LT(0, waiter);
	ASSERT_EQ(0, env_file_put(WAKES "enable", "1"));
	/* It may never have slept when one of them came. */
	while (!all) {
		comer = comer_start(env_figure(100, 20));
		ASSERT_LT(0, comer);
		ASSERT_EQ(comer, waitpid(comer, &status, 0));
		ASSERT_EQ(0, status);
		count_wakes(comer, &all, &by_it);
		ASSERT_EQ(0, waitpid(waiter, &status, WNOHANG));
	}
	EXPECT_EQ(0, env_file_put(WAKES "enable", "0"));
	EXPECT_EQ(0, kill(waiter, SIGKILL));
	EXPECT_EQ(waiter, waitpid(waiter, &status, 0));
	EXPECT_EQ(SIGKILL, status);
	EXPECT_EQ(0, env_file_put(WAKES "filter", "0"));
	EXPECT_EQ(0, tracefs_clear());
	EXPECT_EQ(0, by_it);
}

/* ---- readers --------------------------------------------------------------------------------- */

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

TEST_HARNESS_MAIN
