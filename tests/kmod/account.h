/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Producers for tests of memory accounting: processes with a given user, limits, user namespace and
 * cgroup, which allocate on command.  The fixture restores the module's parameters, ends the
 * processes and waits until all memory has been freed.
 */
#ifndef KMOD_ACCOUNT_H
#define KMOD_ACCOUNT_H

#include <signal.h>
#include <sys/resource.h>

#include "sched.h"
#include "user.h"

#define USER	1000
#define OTHER	1001
#define KIB	(1ull << 10)
#define MIB	(1ull << 20)

/**
 * struct plan - a producer
 * @uid: its user, inside the namespace of @in if that is not 0
 * @caps: its capabilities, outside of a user namespace
 * @locked: RLIMIT_MEMLOCK
 * @ring_size: bytes of a ring
 * @kernel_size: bytes of a kernel ring
 * @in: process whose user namespace it enters, 0 for none
 * @cgroup: memory cgroup that it enters, NULL for none
 */
struct plan {
	uid_t		uid;
	uint64_t	caps;
	rlim_t		locked;
	uint64_t	ring_size;
	uint64_t	kernel_size;
	pid_t		in;
	const char	*cgroup;
};

/**
 * struct server - a running process of a plan
 * @pid: the process, 0 for none
 * @to: pipe for commands, one letter each; the process exits when it is closed
 * @from: pipe for results
 * @err: result of its attach
 * @id: its producer
 */
struct server {
	pid_t		pid;
	int		to;
	int		from;
	int		err;
	uint64_t	id;
};

static int enter(pid_t of)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", of);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 || setns(fd, CLONE_NEWUSER) ? -errno : 0;
}

static int become(const struct plan *p)
{
	int err;

	if (!p->in)
		return user_become(p->uid, p->caps);
	err = enter(p->in);
	if (err)
		return err;
	return setgid(p->uid) || setuid(p->uid) ? -errno : 0;
}

static int attach(const struct plan *p, struct dev *d)
{
	struct xsprof_attach a = dev_attach_defaults();

	a.ring_size = p->ring_size;
	a.kernel_size = p->kernel_size;
	return dev_attach_as(d, &a);
}

/* Map ring @k and write to each page of its data. */
static int fault_in(struct dev *d, uint32_t k)
{
	uint64_t off = dev_ring_off(d, k) + 2 * d->page;
	int err = dev_overlay(d, off, d->ring_size);

	for (uint64_t at = 0; !err && at < d->ring_size; at += d->page)
		*(volatile char *)(d->base + off + at) = 1;
	return err;
}

static void __attribute__((noreturn)) serve(const struct plan *p, int from, int to)
{
	struct rlimit limit = { p->locked, p->locked };
	uint32_t rings = 0;
	struct dev d, more;
	char path[128];
	char what;
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (p->cgroup) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", p->cgroup);
		if (env_file_put(path, "0"))
			_exit(1);
	}
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || become(p))
		_exit(2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);	/* setuid() reset it */
	err = attach(p, &d);
	if (write(to, &err, sizeof(err)) != sizeof(err) ||
	    write(to, &d.id, sizeof(d.id)) != sizeof(d.id))
		_exit(3);
	while (read(from, &what, 1) == 1) {
		switch (what) {
		case 'r':	/* allocate another ring */
			err = dev_ring_open(&d, d.nr + rings++);
			break;
		case 'f':	/* the same by page faults */
			err = fault_in(&d, d.nr + rings++);
			break;
		case 'a':	/* attach another producer */
			err = attach(p, &more);
			break;
		default:	/* drop all capabilities */
			err = user_caps(0);
		}
		if (write(to, &err, sizeof(err)) != sizeof(err))
			_exit(4);
	}
	_exit(0);
}

/* Start a process.  Return: the result of its attach. */
static int begin(struct server *s, const struct plan *p)
{
	int to[2], from[2];

	*s = (struct server){ .err = -EPIPE };
	signal(SIGPIPE, SIG_IGN);	/* one that has ended is an error, with its status */
	if (pipe(to) || pipe(from))
		return -errno;
	fflush(stdout);
	s->pid = fork();
	if (!s->pid) {
		close(to[1]);
		close(from[0]);
		/* Pipes of other servers; a thread that opens files mixes up our numbers. */
		for (int fd = 3; fd < 64; fd++)
			if (fd != to[0] && fd != from[1])
				close(fd);
		serve(p, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	s->to = to[1];
	s->from = from[0];
	if (read(s->from, &s->err, sizeof(s->err)) != sizeof(s->err) ||
	    read(s->from, &s->id, sizeof(s->id)) != sizeof(s->id))
		s->err = -EPIPE;
	return s->err;
}

static int tell(struct server *s, char what)
{
	int err;

	if (write(s->to, &what, 1) != 1 || read(s->from, &err, sizeof(err)) != sizeof(err))
		return -EPIPE;
	return err;
}

/* Wait for the end of @id to be accounted: "live" in sysfs is updated last. */
static void until_ended(int fd, uint64_t id)
{
	struct xsprof_info info;
	long long live;
	uint64_t after;

	while (!dev_info(fd, id, &info) && info.state == XSPROF_STATE_LIVE)
		sched_yield();
	do {
		live = 0;
		for (after = 0; dev_list(fd, &info, 1, after, NULL) == 1; after = info.id)
			live += info.state == XSPROF_STATE_LIVE;
	} while (user_counter("live") != live);
}

/* End a server and wait until its producer has been retained.  Return: its wait status. */
static int end(int fd, struct server *s)
{
	int status = -1;

	if (s->pid <= 0)
		return 0;
	close(s->to);
	close(s->from);
	waitpid(s->pid, &status, 0);
	s->pid = 0;
	if (!s->err)
		until_ended(fd, s->id);
	return status;
}

/* Run and end a producer that allocated one ring.  Return: its id, or 0. */
static uint64_t end_of(int fd, const struct plan *p)
{
	struct server s;
	int err = begin(&s, p) ?: tell(&s, 'r'), status = end(fd, &s);

	if (!err && !status)
		return s.id;
	printf("# a process of user %u: error %d, wait status %#x\n", p->uid, err, status);
	fflush(stdout);
	return 0;
}

/* Request scheduling records through a new reader, as root.  Return: 0 or -errno. */
__attribute__((unused)) static int ask(int fd, uint64_t id)
{
	struct dev r;
	int err = dev_read_id(&r, fd, id, 0);

	if (err)
		return err;
	err = sched_switch_to(r.fd, XSPROF_SCHED_ON, NULL);
	dev_close(&r);
	return err;
}

static inline uint64_t bytes_of(int fd, uint64_t id)
{
	struct xsprof_info info;

	return dev_info(fd, id, &info) ? 0 : info.bytes;
}

/* ---- the module ------------------------------------------------------------------------------ */

static const char *const limits[] = {
	"uid_free_bytes", "max_bytes", "retain_bytes", "uid_max_producers", "retain_uid_bytes",
};

#define LIMITS	(sizeof(limits) / sizeof(limits[0]))

FIXTURE(account)
{
	int		fd;
	long long	was[LIMITS];
	struct server	s[4];
	pid_t		holder[2];
};

static void drop_all(int fd)
{
	while (user_counter("live"))
		sched_yield();
	while (user_counter("bytes"))
		if (dev_drop_ended(fd) < 0)
			break;
}

FIXTURE_SETUP(account)
{
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	drop_all(self->fd);
	for (unsigned int i = 0; i < LIMITS; i++)
		self->was[i] = env_parameter(limits[i]);
}

FIXTURE_TEARDOWN(account)
{
	for (unsigned int i = 0; i < 4; i++) {
		if (self->s[i].pid > 0)
			kill(self->s[i].pid, SIGKILL);
		end(self->fd, &self->s[i]);
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (self->holder[i] <= 0)
			continue;
		kill(self->holder[i], SIGKILL);
		waitpid(self->holder[i], NULL, 0);
	}
	for (unsigned int i = 0; i < LIMITS; i++)
		EXPECT_EQ(0, env_parameter_set(limits[i], self->was[i]));
	drop_all(self->fd);
	EXPECT_EQ(0, user_counter("kept_bytes"));
	close(self->fd);
}

#endif /* KMOD_ACCOUNT_H */
