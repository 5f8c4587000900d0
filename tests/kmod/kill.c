// SPDX-License-Identifier: GPL-2.0-only
/*
 * Producers that end: killed at random moments, by exit, by signals, by exec, thread by thread.
 * Every published record is readable from the kernel afterwards, the end is reported as by
 * waitpid(), and other producers are unharmed. One process, the bystander, writes all the time.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ring.h"

#define WRITERS		2	/* threads of a victim, a lock ring each */

/**
 * struct victim - what a victim and its killer share
 * @id: its producer, 0 before
 * @published: by thread: records that the ring has for certain
 * @err: what stopped it
 */
struct victim {
	uint64_t	id;
	uint64_t	published[WRITERS];
	int		err;
};

struct victim_thread {
	struct dev	*d;
	struct victim	*v;
	unsigned int	t;
	uint64_t	records;
};

static void *victim_write(void *arg)
{
	struct victim_thread *w = arg;

	for (uint64_t i = 0; i < w->records; i++) {
		/* What does not fit is tried again: no record is left out. */
		while (!ring_put(w->d, w->d->nr + w->t, w->t, i, 1 + i % 8))
			env_nap(100);
		__atomic_store_n(&w->v->published[w->t], i + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Attach, say so, and write @records in each of two threads. */
static void victim_run(struct victim *v, uint32_t mode, uint64_t records)
{
	struct victim_thread w[WRITERS];
	pthread_t thread;
	struct dev d;
	int err;

	err = dev_attach(&d, mode, 1 << 20, WRITERS);
	for (unsigned int t = 0; !err && t < WRITERS; t++)
		err = dev_ring_open(&d, d.nr + t);
	v->err = err;
	if (err)
		_exit(99);
	__atomic_store_n(&v->id, d.id, __ATOMIC_RELEASE);
	for (unsigned int t = 0; t < WRITERS; t++)
		w[t] = (struct victim_thread){ &d, v, t, records };
	if (pthread_create(&thread, NULL, victim_write, &w[1]))
		_exit(98);
	victim_write(&w[0]);
	pthread_join(thread, NULL);
}

struct order {
	uint64_t	next;
	uint64_t	wrong;
	bool		anywhere;	/* the first record may be any */
};

static void in_order(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct order *o = arg;

	(void)k, (void)at;
	if (ring_rec_type(s) != XSPROF_REC_INSTANT)
		return;
	if (o->anywhere)
		o->next = s[3] & RING_SEQ_MASK;
	o->anywhere = false;
	o->wrong += (s[3] & RING_SEQ_MASK) != o->next || n != 1 + o->next % 8;
	o->next = (s[3] & RING_SEQ_MASK) + 1;
}

/* Everything that @v published is there, in order and whole; and all of a ring is read. */
static void check_rings(struct __test_metadata *_metadata, struct dev *d, const struct victim *v)
{
	for (unsigned int t = 0; t < WRITERS; t++) {
		struct ring_cursor c = { 0 };
		struct order o = { .anywhere = d->mode == XSPROF_MODE_OVERWRITE };

		/* Killed before this ring was opened. */
		if (!dev_ready(d, d->nr + t)) {
			EXPECT_EQ(0, v->published[t]);
			continue;
		}
		ring_take(d, d->nr + t, &c, UINT64_MAX, in_order, &o);
		EXPECT_EQ(0, c.torn);
		EXPECT_EQ(0, c.back);
		EXPECT_EQ(0, o.wrong);
		EXPECT_EQ(dev_writer(d, d->nr + t)->head, c.at);
		EXPECT_GE(o.next, v->published[t]);
		/* A record published and not yet said to be, and no other. */
		EXPECT_LE(o.next, v->published[t] + 1);
	}
}

static int wait_ended(int reader, struct xsprof_events *e)
{
	int err;

	/* The end follows the wait() by the time that a worker takes; poll() is another test's. */
	do {
		*e = (struct xsprof_events){ .size = sizeof(*e) };
		err = dev_call(reader, XSPROF_IOC_EVENTS, e);
		if (!err && e->info.state == XSPROF_STATE_LIVE)
			env_nap(200);
	} while (!err && e->info.state == XSPROF_STATE_LIVE);
	return err;
}

FIXTURE(kill)
{
	struct victim	*v;
	int		fd;
};

FIXTURE_SETUP(kill)
{
	self->v = mmap(NULL, sizeof(*self->v), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	ASSERT_NE(MAP_FAILED, self->v);
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(dev_drop_ended(self->fd), 0);
}

FIXTURE_TEARDOWN(kill)
{
	EXPECT_LE(0, dev_drop_ended(self->fd));
	close(self->fd);
}

/* Kill -9 at a random moment, once the producer is there.  Return: records that were found. */
static uint64_t kill_one(struct __test_metadata *_metadata, struct victim *v, int fd,
			 uint64_t moment)
{
	/* A writer of an OVERWRITE ring never waits: it is hit in the middle of a record. */
	uint32_t mode = moment >> 32 & 3 ? XSPROF_MODE_OVERWRITE : XSPROF_MODE_DISCARD;
	struct xsprof_events e;
	struct dev d;
	int status;
	pid_t pid;

	memset(v, 0, sizeof(*v));
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		victim_run(v, mode, UINT64_MAX);
		_exit(0);
	}
	while (!__atomic_load_n(&v->id, __ATOMIC_ACQUIRE) && !v->err)
		sched_yield();
	ASSERT_EQ(0, v->err);
	/* By what it has written, not by time: the place where it is hit is as random. */
	while (__atomic_load_n(&v->published[0], __ATOMIC_RELAXED) < moment % 300)
		sched_yield();
	for (uint64_t i = 0; i < moment / 300 % 64; i++)
		__asm__ __volatile__("" : : : "memory");
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, dev_read_id(&d, fd, v->id, 0));
	ASSERT_EQ(0, wait_ended(d.fd, &e));
	EXPECT_EQ(XSPROF_STATE_KILLED, e.info.state);
	EXPECT_EQ(status, e.info.status);
	EXPECT_EQ(XSPROF_STATE_KILLED, d.ctl->state);
	EXPECT_NE(0, d.ctl->exit_ticks);
	EXPECT_NE(0, e.info.ended);
	check_rings(_metadata, &d, v);
	EXPECT_EQ(0, dev_call(d.fd, XSPROF_IOC_DROP, NULL));
	dev_close(&d);
	EXPECT_EQ(-ENOENT, dev_drop_id(fd, v->id));
	return v->published[0] + v->published[1];
}

static int bystander(struct victim *stop)
{
	struct ring_cursor c = { 0 };
	struct order o = { 0 };
	uint64_t i = 0, put = 0;
	struct dev d, r;
	int err;

	err = dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 1);
	if (!err)
		err = dev_ring_open(&d, d.nr);
	if (!err)
		err = dev_read_id(&r, d.fd, d.id, XSPROF_OPEN_CONSUME);
	if (!err)
		err = dev_tail_open(&r, r.nr);
	if (err)
		return 1;
	for (; !__atomic_load_n(&stop->id, __ATOMIC_ACQUIRE); i++) {
		put += ring_put(&d, d.nr, 0, i, 1 + i % 8);
		if (i % 64)
			continue;
		ring_take(&r, r.nr, &c, UINT64_MAX, in_order, &o);
		ring_tail_set(&r, r.nr, c.at);
		sched_yield();
	}
	ring_take(&r, r.nr, &c, UINT64_MAX, in_order, &o);
	return c.torn || o.wrong || c.records != i || put != i || ring_drops(&d, d.nr) ? 2 : 0;
}

TEST_F(kill, anywhere)
{
	uint64_t kills = env_costly(300, 30), seed = env_seed(), found = 0;
	struct victim *stop;
	int status;
	pid_t pid;

	stop = mmap(NULL, sizeof(*stop), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, stop);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(bystander(stop));
	for (uint64_t i = 0; i < kills; i++)
		found += kill_one(_metadata, self->v, self->fd, env_random(&seed));
	__atomic_store_n(&stop->id, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_GE(found, kills);
	TH_LOG("%llu kills, %llu records found", (unsigned long long)kills,
	       (unsigned long long)found);
}

/* ---- other ways to end ----------------------------------------------------------------------- */

static void by_exit(void)
{
	exit(3);
}

static void by_abort(void)
{
	signal(SIGABRT, SIG_DFL);
	abort();
}

static void by_fault(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void by_term(void)
{
	kill(getpid(), SIGTERM);
	pause();
}

static void *end_from_thread(void *arg)
{
	(void)arg;
	syscall(SYS_exit_group, 7);
	return NULL;
}

static void by_thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, end_from_thread, NULL))
		pthread_join(t, NULL);
}

static void *end_last(void *arg)
{
	(void)arg;
	env_nap(20000);	/* the leader is gone by then, or it is the easier case */
	return NULL;
}

/* The leader ends first: the process lives until its last thread has ended. */
static void by_last_thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, end_last, NULL))
		syscall(SYS_exit, 0);
}

static void by_exec(void)
{
	execl("/bin/busybox", "true", NULL);
	execl("/bin/true", "true", NULL);
}

#define OOM_GROUP	"/sys/fs/cgroup/xsprof-oom"

/* The kernel kills it for memory, in a group that has too little. */
static void by_oom(void)
{
	size_t bytes = 64 << 20;
	volatile char *p;

	if (env_file_put(OOM_GROUP "/cgroup.procs", "0"))
		_exit(98);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; p != MAP_FAILED && i < bytes; i += 4096)
		p[i] = 1;
	_exit(99);
}

static const struct way {
	const char	*name;
	void		(*end)(void);
	uint32_t	state;
} ways[] = {
	{ "exit(3)", by_exit, XSPROF_STATE_EXITED },
	{ "abort()", by_abort, XSPROF_STATE_KILLED },
	{ "a fault", by_fault, XSPROF_STATE_KILLED },
	{ "SIGTERM", by_term, XSPROF_STATE_KILLED },
	{ "exit_group() of a thread", by_thread, XSPROF_STATE_EXITED },
	{ "its last thread", by_last_thread, XSPROF_STATE_EXITED },
	{ "exec", by_exec, XSPROF_STATE_DETACHED },
	{ "the OOM killer", by_oom, XSPROF_STATE_KILLED },
};

TEST_F(kill, ways)
{
	int no_group = env_cgroup(OOM_GROUP, "8388608\n");
	const uint64_t records = 1000;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct xsprof_events e;
		struct dev d;
		int status;
		pid_t pid;

		if (ways[i].end == by_oom && no_group) {
			TH_LOG("not by %s: no memory controller of cgroup v2", ways[i].name);
			continue;
		}
		memset(self->v, 0, sizeof(*self->v));
		pid = fork();
		ASSERT_GE(pid, 0);
		if (!pid) {
			victim_run(self->v, XSPROF_MODE_DISCARD, records);
			ways[i].end();
			_exit(97);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_NE(0, self->v->id);
		ASSERT_EQ(0, dev_read_id(&d, self->fd, self->v->id, XSPROF_OPEN_CONSUME));
		ASSERT_EQ(0, wait_ended(d.fd, &e));
		EXPECT_EQ(ways[i].state, e.info.state) {
			TH_LOG("by %s", ways[i].name);
		}
		EXPECT_EQ(ways[i].state == XSPROF_STATE_DETACHED ? -1 : status, e.info.status) {
			TH_LOG("by %s", ways[i].name);
		}
		EXPECT_EQ(records, self->v->published[0]);
		check_rings(_metadata, &d, self->v);
		EXPECT_EQ(0, dev_call(d.fd, XSPROF_IOC_DROP, NULL));
		dev_close(&d);
	}
}

/* An ended producer without any ring has nothing to say and is not kept. */
TEST_F(kill, nothing_to_keep)
{
	struct xsprof_info info;
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct dev d;

		self->v->err = dev_attach(&d, XSPROF_MODE_DISCARD, 64 << 10, 1);
		self->v->id = d.id;
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, self->v->err);
	while (!dev_info(self->fd, self->v->id, &info))
		sched_yield();
	EXPECT_EQ(-ENOENT, dev_info(self->fd, self->v->id, &info));
}

TEST_HARNESS_MAIN
