// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading the module: unloading is refused while it is open or mapped, and allowed
 * when only ended producers are left; each load starts from scratch. XSPROF_MODULE names the file.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "module.h"
#include "ring.h"

static long long counter(const char *name)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "/sys/class/misc/xsprof/%s", name);
	return env_file_get(path, text, sizeof(text)) ? -1 : strtoll(text, NULL, 0);
}

static int load(const char *path, const char *parameters)
{
	int err = module_load(path, parameters);

	/* The node is made by the kernel itself, in devtmpfs. */
	while (!err && access(XSPROF_DEVICE_PATH, F_OK))
		sched_yield();
	return err;
}

FIXTURE(unload)
{
	const char	*path;
};

FIXTURE_SETUP(unload)
{
	self->path = getenv("XSPROF_MODULE");
	if (self->path && access(self->path, R_OK))
		self->path = NULL;
	if (!self->path)
		SKIP(return, "XSPROF_MODULE names no module that can be read");
}

FIXTURE_TEARDOWN(unload)
{
	/* Later programs find it as it was. */
	if (self->path && access(XSPROF_DEVICE_PATH, F_OK)) {
		EXPECT_EQ(0, load(self->path, ""));
	}
}

/* Use it: threads of a process that ends, with records; a reader that has closed. */
static int use(void)
{
	struct dev d, r;

	if (dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 2) || dev_ring_open(&d, d.nr) ||
	    dev_arena_open(&d))
		return 1;
	for (uint64_t i = 0; i < 100; i++)
		if (!ring_put(&d, d.nr, 0, i, 2))
			return 2;
	if (dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME) || dev_tail_open(&r, r.nr))
		return 3;
	return 0;
}

static int use_in_child(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(use());
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

TEST_F(unload, busy)
{
	struct dev d, r;
	void *at;
	int fd;

	if (!self->path)	/* skipped: some harnesses come here all the same */
		return;
	fd = dev_open();
	ASSERT_GE(fd, 0);
	while (counter("live"))	/* the end of an earlier program's last process */
		sched_yield();
	ASSERT_GE(dev_drop_ended(fd), 0);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 1));
	ASSERT_EQ(0, dev_ring_open(&d, d.nr));
	close(fd);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	/* A mapping alone. */
	close(d.fd);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_TRUE(ring_put(&d, d.nr, 0, 0, 1));
	/* A reader alone, and a reader's mapping. */
	fd = dev_open();
	ASSERT_EQ(0, dev_read_id(&r, fd, d.id, 0));
	close(fd);
	munmap(d.base, d.len);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	at = r.base;
	close(r.fd);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	EXPECT_EQ(1, ((struct xsprof_ring_writer *)((char *)at + dev_ring_off(&r, r.nr)))->head);
	munmap(at, r.len);
	/* What is kept of an ended producer holds nothing. */
	EXPECT_EQ(1, counter("kept"));
	EXPECT_EQ(0, module_unload());
	EXPECT_EQ(-1, access(XSPROF_DEVICE_PATH, F_OK));
	EXPECT_EQ(0, load(self->path, ""));
	EXPECT_EQ(0, counter("kept"));
	EXPECT_EQ(0, counter("bytes"));
}

TEST_F(unload, cycles)
{
	uint64_t cycles = env_costly(20, 5);

	for (uint64_t i = 0; self->path && i < cycles; i++) {
		int err;

		ASSERT_EQ(0, use_in_child());
		/* The end of the process may still be on its way: the module waits for it. */
		while ((err = module_unload()) == -EWOULDBLOCK)
			sched_yield();
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, load(self->path, ""));
		ASSERT_EQ(0, counter("live"));
		ASSERT_EQ(0, counter("kept"));
		ASSERT_EQ(0, counter("bytes"));
	}
}

/* A process that lives on with nothing of it open: it may end before or after the unload. */
TEST_F(unload, process_outlives)
{
	for (int i = 0; self->path && i < (int)env_costly(10, 10); i++) {
		int p[2], status, err;
		char c = 0;
		pid_t pid;

		ASSERT_EQ(0, pipe(p));
		pid = fork();
		ASSERT_GE(pid, 0);
		if (!pid) {
			struct dev d;

			if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) ||
			    dev_ring_open(&d, d.nr))
				_exit(1);
			dev_close(&d);
			if (write(p[1], "x", 1) != 1)
				_exit(2);
			if (i & 1)
				env_nap(20000);
			_exit(0);
		}
		ASSERT_EQ(1, read(p[0], &c, 1));
		while ((err = module_unload()) == -EWOULDBLOCK)
			sched_yield();
		EXPECT_EQ(0, err);
		EXPECT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_EQ(0, status);
		ASSERT_EQ(0, load(self->path, ""));
		close(p[0]);
		close(p[1]);
	}
}

/*
 * Ends of processes are under way in the module's own threads when it goes: many at once, so that
 * some of them do what the unloading does.
 */
TEST_F(unload, ends_are_under_way)
{
	enum { CHILDREN = 8 };
	uint64_t cycles = env_costly(20, 5);

	for (uint64_t i = 0; self->path && i < cycles; i++) {
		pid_t pids[CHILDREN];
		int go[2], up[2], err;
		char c;

		ASSERT_EQ(0, pipe(go));
		ASSERT_EQ(0, pipe(up));
		for (int k = 0; k < CHILDREN; k++) {
			pids[k] = fork();
			ASSERT_GE(pids[k], 0);
			if (!pids[k]) {
				struct dev d;

				close(go[1]);
				if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1))
					_exit(1);
				_exit(write(up[1], "x", 1) != 1 || read(go[0], &c, 1));
			}
		}
		for (int k = 0; k < CHILDREN; k++)
			ASSERT_EQ(1, read(up[0], &c, 1));
		close(go[1]);
		while ((err = module_unload()) == -EWOULDBLOCK)
			sched_yield();
		ASSERT_EQ(0, err);
		for (int k = 0; k < CHILDREN; k++) {
			int status;

			ASSERT_EQ(pids[k], waitpid(pids[k], &status, 0));
			EXPECT_EQ(0, status);
		}
		ASSERT_EQ(0, load(self->path, ""));
		ASSERT_EQ(0, counter("kept"));
		close(go[0]);
		close(up[0]);
		close(up[1]);
	}
}

#define CROWD	200u	/* processes */
#define EACH	5u	/* producers of each */

/* Keeps the CPUs busy: what ends is preempted anywhere. */
static pid_t hog(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

#define INSTANCES	"/proc/sys/fs/inotify/max_user_instances"

/* Return: 0; -1: it cannot be had. */
static int slow_file(void)
{
	static const char some[16 << 10] = "x";
	int fd = inotify_init1(IN_CLOEXEC);

	/* Its release sleeps for a grace period.  Without inotify: freeing memory takes a while. */
	if (fd >= 0)
		return inotify_add_watch(fd, "/tmp", IN_UNMOUNT) < 0 ? -1 : 0;
	fd = errno == ENOSYS ? memfd_create("slow", MFD_CLOEXEC) : -1;
	return fd < 0 || write(fd, some, sizeof(some)) != sizeof(some) ? -1 : 0;
}

/*
 * Opens @n files that are slow to release.  The exit of a process releases its files, and its end
 * comes after the last of them: meanwhile the module can go.
 */
static int slow_to_close(unsigned int n)
{
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++)
		err = slow_file();
	return err;
}

/* @how it ends: by a signal, by itself, or by another program. */
static void __attribute__((noreturn)) crowd_member(int up, int go, unsigned int how,
						   unsigned int slow)
{
	struct dev d;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The kernel may release the first ones first or last: slow ones on either side. */
	if (slow_to_close(slow))
		_exit(4);
	for (unsigned int i = 0; i < EACH; i++)
		if (dev_attach(&d, XSPROF_MODE_DISCARD, 1, 1) ||
		    (i % 5 == 0 && dev_ring_open(&d, d.nr)))
			_exit(1);
	if (slow_to_close(slow) || write(up, "x", 1) != 1 || read(go, &c, 1))
		_exit(2);
	if (how == 0)
		pause();
	if (how == 1)
		execl("/bin/true", "true", NULL);
	_exit(how == 2 ? 0 : 3);
}

/* A thousand producers: hundreds end after the module could be removed, some as it goes. */
TEST_F(unload, thousand_end)
{
	uint64_t cycles = env_part(6, 3, 6), seed = env_seed();
	/* On a debug kernel a process costs ten times as much. */
	unsigned int crowd = env_debug() && !env_full() ? CROWD / 5 : CROWD;
	unsigned int hogs = self->path ? 2 * env_cpus() : 0;
	pid_t pids[CROWD], busy[64];

	if (self->path && !access(INSTANCES, F_OK)) {
		ASSERT_EQ(0, env_file_put(INSTANCES, "100000"));
	}
	for (unsigned int i = 0; i < hogs && i < 64; i++) {
		busy[i] = hog();
		ASSERT_LT(0, busy[i]);
	}
	for (uint64_t i = 0; self->path && i < cycles; i++) {
		int go[2], up[2], err, status;
		char c;

		ASSERT_EQ(0, pipe(go));
		ASSERT_EQ(0, pipe(up));
		for (unsigned int k = 0; k < crowd; k++) {
			uint64_t slow = env_random(&seed);

			pids[k] = fork();
			ASSERT_GE(pids[k], 0);
			if (pids[k])
				continue;
			close(go[1]);
			crowd_member(up[1], go[0], k % 3, (unsigned int)(slow % 24));
		}
		for (unsigned int k = 0; k < crowd; k++)
			ASSERT_EQ(1, read(up[0], &c, 1));
		ASSERT_EQ(crowd * EACH, counter("live"));
		close(go[1]);
		for (unsigned int k = 0; k < crowd; k++) {
			if (k % 3 == 0) {
				ASSERT_EQ(0, kill(pids[k], SIGKILL));
			}
			if (env_random(&seed) % 64 == 0)
				env_nap((long)(env_random(&seed) % 1000));
		}
		while ((err = module_unload()) == -EWOULDBLOCK)
			env_nap((long)(env_random(&seed) % 300));
		ASSERT_EQ(0, err);
		for (unsigned int k = 0; k < crowd; k++) {
			ASSERT_EQ(pids[k], waitpid(pids[k], &status, 0));
			EXPECT_EQ(k % 3 ? 0 : SIGKILL, status);
		}
		ASSERT_EQ(0, load(self->path, ""));
		ASSERT_EQ(0, counter("live"));
		ASSERT_EQ(0, counter("bytes"));
		close(go[0]);
		close(up[0]);
		close(up[1]);
	}
	for (unsigned int i = 0; i < hogs && i < 64; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
}

/* Limits that are changed while the module goes: its parameters stay a little longer than it. */
TEST_F(unload, while_limits_change)
{
	uint64_t cycles = env_part(40, 10, 8);
	pthread_t threads[2];
	bool over = false;

	if (!self->path)
		return;
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, module_change_limits, &over));
	for (uint64_t i = 0; i < cycles; i++) {
		int err;

		while ((err = module_unload()) == -EWOULDBLOCK)
			sched_yield();
		ASSERT_EQ(0, err);
		ASSERT_EQ(0, load(self->path, ""));
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

TEST_F(unload, parameters)
{
	if (!self->path)
		return;
	ASSERT_EQ(0, module_unload());
	EXPECT_EQ(-EINVAL, load(self->path, "mode=07777"));
	ASSERT_EQ(0, load(self->path, "retain_seconds=7 mode=0600"));
	EXPECT_EQ(7, env_parameter("retain_seconds"));
	EXPECT_EQ(0, module_unload());
}

TEST_HARNESS_MAIN
