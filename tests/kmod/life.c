// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of a producer when its process forks, executes, clones, passes descriptors, closes
 * them all or changes its user: one answer for each, and a child can never write into its
 * parent's rings.  Owns the children; how processes end is kill.c's.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "ring.h"

FIXTURE(life)
{
	struct dev	d;
	int		fd;
};

FIXTURE_SETUP(life)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 64 << 10, 2));
	ASSERT_EQ(0, dev_arena_open(&self->d));
	ASSERT_EQ(0, dev_ring_open(&self->d, self->d.nr));
	for (uint64_t i = 0; i < 10; i++)
		ASSERT_TRUE(ring_put(&self->d, self->d.nr, 0, i, 1));
}

FIXTURE_TEARDOWN(life)
{
	dev_close(&self->d);
	dev_drop_ended(self->fd);
	close(self->fd);
}

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

/*
 * What another process finds that has the producer's descriptor, and perhaps addresses.
 * Return: 0, or the line of what is wrong.
 */
static int stranger(const struct dev *d, int fd)
{
	uint64_t ring = dev_ring_off(d, d->nr);
	struct xsprof_control c = { .size = sizeof(c), .set = 1 };
	struct xsprof_attach a = dev_attach_defaults();
	void *at;

#define WRONG(cond) do { if (cond) return __LINE__; } while (0)
	at = mmap(NULL, d->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, ring);
	WRONG(at != MAP_FAILED || errno != EPERM);
	at = mmap(NULL, d->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, ring + 2 * d->page);
	WRONG(at != MAP_FAILED || errno != EPERM);
	at = mmap(NULL, d->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, d->arena_off);
	WRONG(at != MAP_FAILED || errno != EPERM);
	WRONG(dev_populate(fd, ring + d->stride, d->page) != -EPERM);
	WRONG(ioctl(fd, XSPROF_IOC_KICK, 0) != -1 || errno != EPERM);
	WRONG(dev_call(fd, XSPROF_IOC_CONTROL, &c) != -EPERM);
	WRONG(dev_call(fd, XSPROF_IOC_ATTACH, &a) != -EBUSY);
	/* To look is not to write: the descriptor was given to it. */
	at = mmap(NULL, d->len, PROT_READ, MAP_SHARED, fd, 0);
	WRONG(at == MAP_FAILED);
	WRONG(((struct xsprof_ctl *)at)->magic != XSPROF_MAGIC);
	WRONG(mprotect((char *)at + ring, d->page, PROT_READ | PROT_WRITE) != -1);
	return 0;
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

/* The line of what is wrong is said by the child; 0 for nothing. */
static void leave(int line)
{
	if (line)
		printf("# %s:%d: not so in the child\n", __FILE__, line);
	fflush(stdout);
	_exit(line != 0);
}

static int status_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const volatile struct xsprof_ctl *control_page(const struct dev *d)
{
	void *at = mmap(NULL, d->page, PROT_READ, MAP_SHARED, d->fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void still_exact(struct __test_metadata *_metadata, struct dev *d)
{
	struct ring_cursor c = { 0 };
	struct xsprof_info info;

	ASSERT_EQ(0, dev_info(d->fd, d->id, &info));
	EXPECT_EQ(XSPROF_STATE_LIVE, info.state);
	EXPECT_TRUE(ring_put(d, d->nr, 0, 10, 1));
	ring_take(d, d->nr, &c, UINT64_MAX, NULL, NULL);
	EXPECT_EQ(11, c.records);
	EXPECT_EQ(0, c.torn);
	EXPECT_FALSE(dev_ready(d, d->nr + 1));
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

static int send_fd(int to, int fd)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } u = { 0 };
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf,
			    .msg_controllen = sizeof(u.buf) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &m, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int from)
{
	union { char buf[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } u = { 0 };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = u.buf,
			    .msg_controllen = sizeof(u.buf) };
	int fd;

	if (recvmsg(from, &m, 0) != 1 || !CMSG_FIRSTHDR(&m))
		return -1;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

TEST_F(life, passed_descriptor)
{
	int s[2];
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		close(self->d.fd);
		leave(stranger(&self->d, receive_fd(s[1])));
	}
	ASSERT_EQ(0, send_fd(s[0], self->d.fd));
	EXPECT_EQ(0, status_of(pid));
	still_exact(_metadata, &self->d);
	close(s[0]);
	close(s[1]);
}

/*
 * A reader's descriptor was opened with its opener's rights and may be handed on, as that of a
 * file: a recorder can drop its privileges.
 */
TEST_F(life, passed_reader)
{
	struct xsprof_open o = { .size = sizeof(o), .id = self->d.id };
	int reader = dev_call(self->fd, XSPROF_IOC_OPEN, &o);
	pid_t pid;

	ASSERT_GE(reader, 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct xsprof_events e = { .size = sizeof(e) };
		uint64_t head = 0;

		if (setuid(1000))
			_exit(1);
		if (pread(reader, &head, 8, dev_ring_off(&self->d, self->d.nr)) != 8 || head != 10)
			_exit(2);
		if (dev_call(reader, XSPROF_IOC_EVENTS, &e) || e.info.id != self->d.id)
			_exit(3);
		_exit(dev_call(self->fd, XSPROF_IOC_OPEN, &o) == -ENOENT ? 0 : 4);
	}
	EXPECT_EQ(0, status_of(pid));
	close(reader);
}

/* dup() is the same open. */
TEST_F(life, dup)
{
	struct xsprof_info info;
	int fd = dup(self->d.fd), was = self->d.fd;

	ASSERT_GE(fd, 0);
	close(was);
	self->d.fd = fd;
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &info));
	EXPECT_EQ(XSPROF_STATE_LIVE, info.state);
	EXPECT_EQ(0, dev_populate(fd, dev_ring_off(&self->d, self->d.nr + 1), self->d.stride));
	EXPECT_TRUE(dev_ready(&self->d, self->d.nr + 1));
}

/* A daemon closes all descriptors: the mappings hold the producer, and it can be rejoined. */
TEST_F(life, close_all_and_rejoin)
{
	struct xsprof_attach a = dev_attach_defaults();
	struct xsprof_info info;
	pid_t pid;
	int fd;

	close(self->d.fd);
	self->d.fd = -1;
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &info));
	EXPECT_EQ(XSPROF_STATE_LIVE, info.state);
	fd = dev_open();
	ASSERT_GE(fd, 0);
	a.flags = XSPROF_ATTACH_REJOIN;
	a.id = self->d.id + 1000;
	EXPECT_EQ(-ESRCH, dev_call(fd, XSPROF_IOC_ATTACH, &a));
	a.id = self->d.id;
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(dev_call(fd, XSPROF_IOC_ATTACH, &a) == -ESRCH ? 0 : 1);
	EXPECT_EQ(0, status_of(pid));
	EXPECT_EQ(0, dev_call(fd, XSPROF_IOC_ATTACH, &a));
	EXPECT_EQ(self->d.id, a.id);
	EXPECT_EQ(self->d.len, a.total_size);
	self->d.fd = fd;
	still_exact(_metadata, &self->d);
	EXPECT_EQ(0, dev_ring_open(&self->d, self->d.nr + 1));
}

/* ---- a process whose first thread has left -------------------------------------------------- */

struct leaderless {
	struct dev	d;
	int		told[2];
	int		go[2];
};

static bool is_zombie(pid_t pid)
{
	char path[64], text[512];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (env_file_get(path, text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	return at && at[2] == 'Z';
}

/* Rejoins, lets go, attaches: as any process might.  Exits with the line of what is wrong. */
static void *alone(void *arg)
{
	struct xsprof_attach a = dev_attach_defaults();
	struct leaderless *l = arg;
	struct dev again;
	char c;

	while (!is_zombie(getpid()))
		sched_yield();
	a.flags = XSPROF_ATTACH_REJOIN;
	a.id = l->d.id;
	close(l->d.fd);
	l->d.fd = dev_open();
	if (dev_call(l->d.fd, XSPROF_IOC_ATTACH, &a) || dev_ring_open(&l->d, l->d.nr) ||
	    !ring_put(&l->d, l->d.nr, 0, 0, 1))
		_exit(1);
	dev_close(&l->d);
	if (write(l->told[1], "x", 1) != 1 || read(l->go[0], &c, 1) != 1)
		_exit(2);
	if (dev_attach(&again, XSPROF_MODE_DISCARD, 16 << 10, 1) ||
	    dev_ring_open(&again, again.nr) || !ring_put(&again, again.nr, 0, 0, 1) ||
	    write(l->told[1], &again.id, sizeof(again.id)) != sizeof(again.id))
		_exit(3);
	_exit(0);
}

TEST_F(life, leader_has_left)
{
	static struct leaderless l;
	struct xsprof_info info;
	uint64_t id[2] = { 0 };
	pthread_t thread;
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(l.told));
	ASSERT_EQ(0, pipe(l.go));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		if (dev_attach(&l.d, XSPROF_MODE_DISCARD, 16 << 10, 1) ||
		    write(l.told[1], &l.d.id, sizeof(l.d.id)) != sizeof(l.d.id) ||
		    pthread_create(&thread, NULL, alone, &l))
			_exit(4);
		/* As pthread_exit() ends, without what the harness has for that. */
		syscall(SYS_exit, 0);
	}
	ASSERT_EQ(sizeof(id[0]), read(l.told[0], &id[0], sizeof(id[0])));
	ASSERT_EQ(1, read(l.told[0], &c, 1));
	ASSERT_EQ(0, dev_info(self->fd, id[0], &info));
	EXPECT_EQ(XSPROF_STATE_DETACHED, info.state);
	EXPECT_EQ(-1, info.status);
	ASSERT_EQ(1, write(l.go[1], "x", 1));
	ASSERT_EQ(sizeof(id[1]), read(l.told[0], &id[1], sizeof(id[1])));
	EXPECT_EQ(0, status_of(pid));
	/* Of that one the end is the process', with its status. */
	do
		c = (char)dev_info(self->fd, id[1], &info);
	while (!c && info.state == XSPROF_STATE_LIVE);
	EXPECT_EQ(XSPROF_STATE_EXITED, info.state);
	EXPECT_EQ(0, info.status);
}

/* Without descriptor and mapping the process has done with it, and lives on. */
TEST_F(life, let_go)
{
	struct xsprof_info info;
	struct ring_cursor c = { 0 };
	uint64_t id = self->d.id;
	struct dev r;

	dev_close(&self->d);
	ASSERT_EQ(0, dev_info(self->fd, id, &info));
	EXPECT_EQ(XSPROF_STATE_DETACHED, info.state);
	EXPECT_EQ(-1, info.status);
	ASSERT_EQ(0, dev_read_id(&r, self->fd, id, XSPROF_OPEN_CONSUME));
	ring_take(&r, r.nr, &c, UINT64_MAX, NULL, NULL);
	EXPECT_EQ(10, c.records);
	EXPECT_EQ(0, dev_call(r.fd, XSPROF_IOC_DROP, NULL));
	dev_close(&r);
}

/* Whoever attached pays and is seen: a change of user later changes neither. */
TEST_F(life, setuid)
{
	struct xsprof_info info;
	int p[2];
	uint64_t id = 0;
	pid_t pid;
	int err;

	ASSERT_EQ(0, pipe(p));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct dev d;

		if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) || dev_ring_open(&d, d.nr))
			_exit(1);
		if (setgid(1000) || setuid(1000) || write(p[1], &d.id, 8) != 8)
			_exit(2);
		/* It goes on recording, and cannot list what is root's now. */
		if (!ring_put(&d, d.nr, 0, 0, 1))
			_exit(3);
		_exit(dev_info(d.fd, d.id, &info) == -ENOENT ? 0 : 4);
	}
	ASSERT_EQ(8, read(p[0], &id, 8));
	EXPECT_EQ(0, status_of(pid));
	ASSERT_EQ(0, dev_info(self->fd, id, &info));
	EXPECT_EQ(0, info.uid);
	/* Its end may still be on its way: then it is kept, and goes with the module. */
	err = dev_drop_id(self->fd, id);
	EXPECT_TRUE(!err || err == -EBUSY) {
		TH_LOG("drop: %d", err);
	}
	close(p[0]);
	close(p[1]);
}

TEST_HARNESS_MAIN
