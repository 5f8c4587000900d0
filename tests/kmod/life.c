// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer whose process forks, executes or clones: a defined result for each, and a child can
 * never write into its parent's rings. kill.c tests how processes end, life-fd.c descriptors.
 */
#include <setjmp.h>
#include <signal.h>

#include "life.h"

static sigjmp_buf env;

static void on_fault(int sig)
{
	siglongjmp(env, sig);
}

static void catch_faults(void)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

/* Return: 0, or the signal that a load from @at, or a store to it, raised. */
static int load(const volatile void *at)
{
	int sig;

	catch_faults();
	sig = sigsetjmp(env, 1);
	if (!sig)
		(void)*(const volatile char *)at;
	return sig;
}

static int store(volatile char *at)
{
	int sig;

	catch_faults();
	sig = sigsetjmp(env, 1);
	if (!sig)
		*at = 1;
	return sig;
}

/* What a child of fork() finds besides. */
static int forked(const struct dev *d, const volatile struct xsprof_ctl *alone)
{
	WRONG(load(d->base) != SIGSEGV);
	WRONG(load(dev_writer(d, d->nr)) != SIGSEGV);
	WRONG(load(dev_data(d, d->nr)) != SIGSEGV);
	WRONG(load(d->base + d->arena_off) != SIGSEGV);
	/* The control page alone goes with it: its markers test it. */
	WRONG(load(alone));
	WRONG(alone->magic != XSPROF_MAGIC || alone->pid == (uint32_t)getpid());
	WRONG(mprotect((void *)alone, d->page, PROT_READ | PROT_WRITE) != -1);
	return stranger(d, d->fd);
}

static const volatile struct xsprof_ctl *control_page(const struct dev *d)
{
	void *at = mmap(NULL, d->page, PROT_READ, MAP_SHARED, d->fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

TEST_F(life, fork)
{
	const volatile struct xsprof_ctl *alone = control_page(&self->d);
	pid_t pid;

	ASSERT_NE(NULL, alone);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		leave(forked(&self->d, alone));
	EXPECT_EQ(0, status_of(pid));
	still_exact(_metadata, &self->d);
}

TEST_F(life, dofork)
{
	const volatile struct xsprof_ctl *alone = control_page(&self->d);
	uint64_t ring = dev_ring_off(&self->d, self->d.nr);
	pid_t pid;

	EXPECT_EQ(-1, madvise(self->d.base, self->d.len, MADV_DOFORK));
	EXPECT_EQ(-1, madvise(self->d.base + ring, self->d.page, MADV_DOFORK));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, madvise(self->d.base + ring + 2 * self->d.page, self->d.ring_size,
			      MADV_DOFORK));
	EXPECT_EQ(-1, madvise(self->d.base + self->d.arena_off, self->d.page, MADV_DOFORK));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		leave(forked(&self->d, alone));
	EXPECT_EQ(0, status_of(pid));
	still_exact(_metadata, &self->d);
}

/* fork and exec: the descriptor is closed by it, the parent goes on. */
TEST_F(life, fork_exec)
{
	struct xsprof_info info;
	char number[16];
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid) {
		snprintf(number, sizeof(number), "%d", self->d.fd);
		execl("/bin/busybox", "sh", "-c", "test ! -e /proc/self/fd/$0", number, NULL);
		_exit(99);
	}
	EXPECT_EQ(0, status_of(pid));
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &info));
	EXPECT_EQ((uint32_t)getpid(), info.pid);
	still_exact(_metadata, &self->d);
}

/* The child borrows the parent's memory, and is another process all the same. */
TEST_F(life, vfork)
{
	static volatile int wrong;
	pid_t pid;

	wrong = -1;
	pid = vfork();
	if (!pid) {
		wrong = dev_populate(self->d.fd, dev_ring_off(&self->d, self->d.nr + 1), 1);
		_exit(0);
	}
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(-EPERM, wrong);
	still_exact(_metadata, &self->d);
}

struct vm_child {
	struct dev	*d;
	int		answer;
	int		mapped;
};

static int in_clone(void *arg)
{
	struct vm_child *v = arg;
	void *at;

	v->answer = dev_populate(v->d->fd, dev_ring_off(v->d, v->d->nr + 1), v->d->page);
	at = mmap(NULL, v->d->page, PROT_READ | PROT_WRITE, MAP_SHARED, v->d->fd, v->d->arena_off);
	v->mapped = at == MAP_FAILED ? errno : 0;
	return 0;
}

/* A process that shares memory has the parent's mappings by nature, but may not add to them. */
TEST_F(life, clone_vm)
{
	char *stack = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vm_child v = { .d = &self->d };
	pid_t pid;

	ASSERT_NE(MAP_FAILED, stack);
	pid = clone(in_clone, stack + (64 << 10), CLONE_VM | SIGCHLD, &v);
	ASSERT_GT(pid, 0);
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(-EPERM, v.answer);
	EXPECT_EQ(EPERM, v.mapped);
	still_exact(_metadata, &self->d);
}

struct hole {
	volatile char	*at;
	int		sig;
};

static int fill_hole(void *arg)
{
	struct hole *h = arg;

	h->sig = store(h->at);
	return 0;
}

/* Nor by touching what is mapped and not there yet: the producer's process alone pays. */
TEST_F(life, clone_vm_fills_no_hole)
{
	uint64_t off = dev_ring_off(&self->d, self->d.nr + 1) + 2 * self->d.page;
	char *stack = mmap(NULL, 64 << 10, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct hole h = { .at = self->d.base + off };
	struct xsprof_info before, after;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, stack);
	ASSERT_EQ(0, dev_overlay(&self->d, off, self->d.page));
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &before));
	pid = clone(fill_hole, stack + (64 << 10), CLONE_VM | SIGCHLD, &h);
	ASSERT_GT(pid, 0);
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(SIGBUS, h.sig);
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &after));
	EXPECT_EQ(before.bytes, after.bytes);
	/* What its parent has filled is there for it. */
	EXPECT_EQ(0, store(h.at));
	pid = clone(fill_hole, stack + (64 << 10), CLONE_VM | SIGCHLD, &h);
	ASSERT_GT(pid, 0);
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(0, h.sig);
	still_exact(_metadata, &self->d);
}

TEST_HARNESS_MAIN
