// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation may fail: each path is taken with its first, second, ... allocation failing,
 * until it is taken with none.  It answers with an error or does without; nothing is leaked, and
 * the device is usable after.  For kernels with fault injection.
 */
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "fault.h"
#include "sched.h"

#define TRIES	400	/* far more than any path allocates */

FIXTURE(failnth)
{
	struct dev	d;
	int		fd;
	int		nth;
};

static long long counter(const char *name)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "/sys/class/misc/xsprof/%s", name);
	return env_file_get(path, text, sizeof(text)) ? -1 : strtoll(text, NULL, 0);
}

FIXTURE_SETUP(failnth)
{
	self->fd = -1;
	self->nth = fault_open();
	if (self->nth < 0)
		SKIP(return, "this kernel injects no faults (FAULT_INJECTION)");
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 64 << 10, 8));
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(failnth)
{
	struct dev again;

	if (self->fd < 0)
		return;
	EXPECT_EQ(0, dev_attach(&again, XSPROF_MODE_DISCARD, 64 << 10, 1));
	EXPECT_EQ(0, dev_ring_open(&again, again.nr));
	EXPECT_TRUE(ring_put(&again, again.nr, 0, 0, 1));
	dev_close(&again);
	dev_close(&self->d);
	dev_drop_ended(self->fd);
	/* Nothing that failed half way holds on to memory. */
	while (counter("live") > 0)
		sched_yield();
	dev_drop_ended(self->fd);
	while (counter("bytes") > 0)
		sched_yield();
	EXPECT_EQ(0, counter("bytes"));
	EXPECT_EQ(0, counter("kept"));
	close(self->fd);
	close(self->nth);
}

static sigjmp_buf env;

static void on_bus(int sig)
{
	siglongjmp(env, sig);
}

/* The ring that an attempt is about: another each time, so that there is something to allocate. */
static uint32_t fresh_ring;
static struct dev fresh;

static int do_open(struct dev *d, int fd)
{
	int ret = dev_open();

	(void)d, (void)fd;
	if (ret >= 0)
		close(ret);
	return ret < 0 ? ret : 0;
}

static int do_attach(struct dev *d, int fd)
{
	struct xsprof_attach a = dev_attach_defaults();
	int ret;

	(void)d;
	(void)fd;
	ret = dev_call(fresh.fd, XSPROF_IOC_ATTACH, &a);
	return ret;
}

static int do_populate(struct dev *d, int fd)
{
	(void)d, (void)fd;
	return dev_populate(fresh.fd, dev_ring_off(&fresh, fresh_ring), fresh.stride);
}

static int do_map(struct dev *d, int fd)
{
	void *at = mmap(NULL, d->len, PROT_READ, MAP_SHARED, d->fd, 0);
	int err = at == MAP_FAILED ? -errno : 0;

	(void)fd;
	if (!err && !((volatile struct xsprof_ctl *)at)->magic)
		err = -EBADMSG;
	/* This too allocates, and may be what fails; once. */
	while (at != MAP_FAILED && munmap(at, d->len))
		err = -errno;
	return err;
}

/* A store to a hole: it may be SIGBUS, and must not be anything else. */
static int do_fault(struct dev *d, int fd)
{
	int sig = sigsetjmp(env, 1);

	(void)d, (void)fd;
	if (sig)
		return -ENOMEM;
	*(volatile uint64_t *)(fresh.base + dev_ring_off(&fresh, fresh_ring) + 2 * fresh.page) = 1;
	*(volatile uint64_t *)(fresh.base + dev_ring_off(&fresh, fresh_ring)) = 0;
	return 0;
}

static int do_list(struct dev *d, int fd)
{
	struct xsprof_info info;

	(void)d;
	return dev_list(fd, &info, 1, 0, NULL) < 0 ? -ENOMEM : 0;
}

static int do_read(struct dev *d, int fd)
{
	struct xsprof_open o = { .size = sizeof(o), .id = d->id, .flags = XSPROF_OPEN_CONSUME };
	int reader = dev_call(fd, XSPROF_IOC_OPEN, &o), ret;
	struct xsprof_watch w = { .size = sizeof(w), .slots = 1, .period = 1000000 };
	struct pollfd p = { .fd = reader, .events = POLLIN };
	char buf[4096];

	if (reader < 0)
		return reader;
	ret = dev_call(reader, XSPROF_IOC_WATCH, &w);
	if (!ret && poll(&p, 1, 0) < 0)
		ret = -errno;
	if (!ret && pread(reader, buf, sizeof(buf), 0) != sizeof(buf))
		ret = -errno;
	if (!ret)
		ret = dev_call(d->fd, XSPROF_IOC_KICK, NULL) < 0 ? -errno : 0;
	close(reader);
	return ret;
}

static int do_syncs(struct dev *d, int fd)
{
	struct xsprof_sync some[8];
	struct xsprof_syncs s = { .size = sizeof(s), .syncs = (uintptr_t)some, .count = 8 };

	(void)d;
	return dev_call(fd, XSPROF_IOC_SYNCS, &s);
}

static int do_poll(struct dev *d, int fd)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = d->fd, .events = POLLIN } };

	return poll(p, 2, 0) < 0 ? -errno : 0;
}

static int do_rejoin(struct dev *d, int fd)
{
	struct xsprof_attach a = dev_attach_defaults();
	int again = dev_open(), ret;

	(void)d, (void)fd;
	if (again < 0)
		return again;
	a.flags = XSPROF_ATTACH_REJOIN;
	a.id = fresh.id;
	ret = dev_call(again, XSPROF_IOC_ATTACH, &a);
	close(again);
	return ret;
}

static int do_control(struct dev *d, int fd)
{
	struct xsprof_control c = { .size = sizeof(c), .clear = 2, .pause = XSPROF_PAUSED_PROGRAM };

	(void)d, (void)fd;
	return dev_call(fresh.fd, XSPROF_IOC_CONTROL, &c);
}

/* Return: what @call answers of a reader of the fresh producer. */
static int by_reader(int fd, int (*call)(int reader))
{
	struct xsprof_open o = { .size = sizeof(o), .id = fresh.id, .flags = XSPROF_OPEN_CONSUME };
	int reader = dev_call(fd, XSPROF_IOC_OPEN, &o), ret;

	if (reader < 0)
		return reader;
	ret = call(reader);
	close(reader);
	return ret;
}

static int control(int reader)
{
	struct xsprof_control c = { .size = sizeof(c), .clear = ~0ull };

	return dev_call(reader, XSPROF_IOC_CONTROL, &c);
}

static int do_reader_control(struct dev *d, int fd)
{
	(void)d;
	return by_reader(fd, control);
}

static int sched_on(int fd)
{
	return sched_switch_to(fd, XSPROF_SCHED_ON, NULL);
}

static int do_sched(struct dev *d, int fd)
{
	(void)d, (void)fd;
	return sched_on(fresh.fd);
}

static int do_reader_sched(struct dev *d, int fd)
{
	(void)d;
	return by_reader(fd, sched_on);
}

/* Its rings are there, and the hooks in the scheduler are not: they stay for a second. */
static int prepare_hooks(void)
{
	int err = sched_on(fresh.fd);

	if (!err)
		err = sched_switch_to(fresh.fd, 0, NULL);
	env_nap(2000000);
	return err;
}

static const struct path {
	const char	*name;
	int		(*take)(struct dev *d, int fd);
	bool		attached;	/* wants a producer of its own, with its rings mapped */
	bool		allocates;
	int		(*prepare)(void);
} paths[] = {
	{ "open", do_open, false, true, NULL },
	{ "ATTACH", do_attach, false, true, NULL },
	{ "POPULATE", do_populate, true, true, NULL },
	{ "mmap", do_map, false, true, NULL },
	{ "a store to a hole", do_fault, true, true, NULL },
	{ "LIST", do_list, false, false, NULL },
	{ "OPEN, WATCH, poll, pread, KICK", do_read, false, true, NULL },
	{ "SYNCS", do_syncs, false, true, NULL },
	{ "poll", do_poll, false, false, NULL },
	{ "REJOIN", do_rejoin, true, true, NULL },
	{ "CONTROL", do_control, true, false, NULL },
	{ "OPEN, CONTROL", do_reader_control, true, true, NULL },
	{ "SCHED", do_sched, true, true, NULL },
	{ "OPEN, SCHED", do_reader_sched, true, true, NULL },
	{ "SCHED's hooks", do_sched, true, true, prepare_hooks },
};

/* A producer for an attempt, with its first ring mapped.  Return: 0 or -errno. */
static int attach_fresh(void)
{
	struct xsprof_attach a = dev_attach_defaults();
	int err;

	a.ring_size = 64 << 10;
	a.nr_lock_rings = 1;
	a.kernel_size = 1;	/* small: each page is an attempt */
	fresh_ring = 0;
	err = dev_attach_as(&fresh, &a);
	if (err)
		return err;
	fresh_ring = fresh.nr;
	err = dev_overlay(&fresh, dev_ring_off(&fresh, fresh_ring), fresh.page);
	return err ? err : dev_overlay(&fresh, dev_ring_off(&fresh, fresh_ring) + 2 * fresh.page,
				       fresh.ring_size);
}

static unsigned int wrong;	/* attempts that had another end than they may have */

/* Return: how many allocations were made to fail; -1 when there was no end to it. */
static int one_path(struct __test_metadata *_metadata, FIXTURE_DATA(failnth) *self,
		    const struct path *p)
{
	int fired = 0;

	for (int n = 1; n < TRIES; n++) {
		int ret, left;

		if (p->attached) {
			ret = attach_fresh();
		} else {
			memset(&fresh, 0, sizeof(fresh));
			ret = fresh.fd = dev_open();
		}
		ASSERT_GE(ret, 0);
		if (p->prepare) {
			ASSERT_EQ(0, p->prepare());
		}
		ASSERT_EQ(0, fault_set(self->nth, n));
		ret = p->take(&self->d, self->fd);
		left = fault_end(self->nth);
		ASSERT_LE(0, left);
		dev_close(&fresh);
		if (left) {	/* not used up: nothing failed */
			wrong += ret != 0;
			EXPECT_EQ(0, ret) {
				TH_LOG("%s, with nothing failing", p->name);
			}
			return fired;
		}
		fired++;
		wrong += ret && !fault_excuses(ret);
		EXPECT_TRUE(!ret || fault_excuses(ret)) {
			TH_LOG("%s, allocation %d failing: %d", p->name, n, ret);
		}
	}
	return -1;
}

TEST_F(failnth, paths)
{
	struct sigaction sa = { .sa_handler = on_bus, .sa_flags = SA_NODEFER };

	if (self->fd < 0)
		return;
	sigaction(SIGBUS, &sa, NULL);
	for (unsigned int i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fired = one_path(_metadata, self, &paths[i]);

		TH_LOG("%s: %d allocations failed", paths[i].name, fired);
		EXPECT_LE(0, fired);
		if (paths[i].allocates) {
			EXPECT_LT(0, fired);
		}
	}
}

/* One more is made where a thread has several numbers. */
TEST_F(failnth, sched_in_pid_namespace)
{
	static const struct path path = { "SCHED, nested", do_sched, true, true, NULL };
	int status;
	pid_t pid;

	if (self->fd < 0)
		return;
	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		int fired;

		close(self->nth);
		self->nth = fault_open();
		if (self->nth < 0)
			_exit(1);
		fired = one_path(_metadata, self, &path);
		TH_LOG("%s: %d allocations failed", path.name, fired);
		_exit(fired <= 0 || wrong ? 2 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
