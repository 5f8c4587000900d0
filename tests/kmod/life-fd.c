// SPDX-License-Identifier: GPL-2.0-only
/*
 * A producer whose descriptor is passed, duplicated or closed, whose first thread ends, and whose
 * process changes its user.
 */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "life.h"

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
