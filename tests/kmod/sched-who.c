// SPDX-License-Identifier: GPL-2.0-only
/*
 * What scheduler events of a process reveal of others. A process gets the events of its own
 * threads; of other tasks it learns that they ran, and their identity if they belong to its user.
 */
#include <signal.h>

#include "sched.h"
#include "user.h"

#define RING	(1 << 20)
#define SECRET	"secret-of-2000"
#define FRIEND	"friend-of-1000"

/* ---- other users ---------------------------------------------------------------------------- */

/**
 * struct others - what there was of other tasks
 * @who: how often, by enum xsprof_sched_who
 * @named: OTHERs that had a name
 * @numbered: OTHERs that had a thread id
 * @friends: PROCESS with the friend's id and name
 * @woken: by OTHERs
 * @kernel: KERNEL with a name
 * @nameless: KERNEL or PROCESS without one
 * @strange: records of a thread that is not ours
 */
struct others {
	uint64_t	who[7];
	uint64_t	named;
	uint64_t	numbered;
	uint64_t	friends;
	uint64_t	woken;
	uint64_t	kernel;
	uint64_t	nameless;
	uint64_t	strange;
	uint32_t	friend;
	uint32_t	self;
};

static void take_others(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	const struct xsprof_rec *r = &sched_rec(s)->rec;
	struct others *o = arg;
	unsigned int who = sched_who(s);

	(void)k, (void)at;
	if (r->type < XSPROF_REC_SCHED_IN || r->type > XSPROF_REC_SCHED_MIGRATE)
		return;
	o->strange += r->tid != o->self;
	if (r->type != XSPROF_REC_SCHED_OUT && r->type != XSPROF_REC_SCHED_WAKE)
		return;
	o->who[who]++;
	switch (who) {
	case XSPROF_SCHED_OTHER:
		o->named += n == 2;
		o->numbered += r->value != 0;
		o->woken += r->type == XSPROF_REC_SCHED_WAKE;
		break;
	case XSPROF_SCHED_PROCESS:
		o->nameless += !*sched_name(s, n);
		o->friends += r->value == o->friend && !strcmp(sched_name(s, n), FRIEND);
		break;
	case XSPROF_SCHED_KERNEL:
		o->nameless += !*sched_name(s, n);
		o->kernel++;
		break;
	}
}

/* Runs on CPU 0 as @uid, and writes to @fd so often that whoever reads it is woken by it. */
static pid_t competitor(uid_t uid, const char *name, int fd)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	env_on_cpu(0);
	if (user_become(uid, 0))
		_exit(1);
	for (unsigned int i = 0;; i++) {
		if (i % 1000 == 0 && write(fd, "x", 1) != 1)
			_exit(0);
		sched_yield();
	}
}

/* Bytes of @text in all pages that the kernel wrote for @s. */
static unsigned int hits(struct sched *s, const char *text)
{
	unsigned int n = 0;

	for (uint32_t k = 0; k < s->cpus; k++) {
		if (!dev_ready(&s->d, s->d.nr + s->d.nl + k))
			continue;
		for (unsigned int page = 0; page < s->k.stride / s->k.page; page++)
			n += !!memmem(s->k.base + dev_ring_off(&s->k, k) + page * s->k.page,
				      s->k.page, text, strlen(text));
	}
	return n;
}

FIXTURE(others)
{
	int	pipe[2];
	pid_t	secret;
	pid_t	friend;
};

FIXTURE_VARIANT(others)
{
	bool	comm;
};

FIXTURE_VARIANT_ADD(others, hidden) { false };
FIXTURE_VARIANT_ADD(others, told) { true };

FIXTURE_SETUP(others)
{
	ASSERT_EQ(0, pipe(self->pipe));
	ASSERT_EQ(0, env_file_put(ENV_PARAMETERS "sched_comm", variant->comm ? "Y" : "N"));
	self->secret = competitor(2000, SECRET, self->pipe[1]);
	self->friend = competitor(1000, FRIEND, self->pipe[1]);
	ASSERT_GT(self->secret, 0);
	ASSERT_GT(self->friend, 0);
}

FIXTURE_TEARDOWN(others)
{
	kill(self->secret, SIGKILL);
	kill(self->friend, SIGKILL);
	waitpid(self->secret, NULL, 0);
	waitpid(self->friend, NULL, 0);
	env_file_put(ENV_PARAMETERS "sched_comm", "N");
}

/* As user 1000, in a child: teardown is root's. */
static int look_around(struct others *o, int fd, bool told)
{
	struct sched s;
	char c;
	int err;

	env_on_cpu(0);
	err = user_become(1000, 0);
	if (!err)
		err = sched_attach(&s, XSPROF_MODE_DISCARD, RING);
	if (err)
		return -err;
	/* Until all that is to be told of has happened; then it is looked at. */
	do {
		if (read(fd, &c, 1) != 1)
			return 101;
		*o = (struct others){ .friend = o->friend, .self = sched_tid() };
		if (sched_walk(&s, take_others, o) || sched_drops(&s))
			return 102;
	} while (!o->woken || !o->friends || o->who[XSPROF_SCHED_OTHER] < 20);
	if (o->numbered || o->strange || o->nameless)
		return 103;
	if (told)
		return o->named == o->who[XSPROF_SCHED_OTHER] && hits(&s, SECRET) ? 0 : 104;
	return o->named || hits(&s, SECRET) ? 105 : 0;
}

TEST_F(others, only_their_users)
{
	struct others o = { .friend = (uint32_t)self->friend };
	int status;
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(look_around(&o, self->pipe[0], variant->comm));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* ---- interrupts ------------------------------------------------------------------------------ */

/**
 * struct by_irq - wake-ups
 * @n: by an interrupt
 * @told: of these, that tell anything of a task
 * @self: of which thread
 */
struct by_irq {
	uint64_t	n;
	uint64_t	told;
	uint32_t	self;
};

static void take_irq(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	const struct xsprof_rec *r = &sched_rec(s)->rec;
	struct by_irq *b = arg;

	(void)k, (void)at;
	if (r->type != XSPROF_REC_SCHED_WAKE || r->tid != b->self ||
	    sched_who(s) != XSPROF_SCHED_IRQ)
		return;
	b->n++;
	b->told += n != 1 || r->value || r->aux != XSPROF_SCHED_IRQ;
}

/*
 * A timer ends the sleep, on the CPU of the thread, in the middle of one of the competitors: it is
 * none of them that wakes it, not even where their names are told.
 */
static int sleep_often(struct by_irq *b, uint64_t times)
{
	struct sched s;
	int err;

	env_on_cpu(0);
	err = user_become(1000, 0);
	if (!err)
		err = sched_attach(&s, XSPROF_MODE_DISCARD, RING);
	if (err)
		return -err;
	b->self = sched_tid();
	while (b->n < times) {
		env_nap(2000);
		b->n = b->told = 0;
		if (sched_walk(&s, take_irq, b) || sched_drops(&s))
			return 102;
	}
	return b->told ? 103 : 0;
}

TEST_F(others, interrupts)
{
	struct by_irq b = { 0 };
	int status;
	pid_t pid = fork();

	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(sleep_often(&b, env_figure(50, 20)));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* ---- a pid namespace ------------------------------------------------------------------------- */

struct in_ns {
	uint32_t	tids[2];
	uint64_t	ends;
	uint64_t	foreign;
	uint64_t	outside;
};

static void take_ns(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	const struct xsprof_rec *r = &sched_rec(s)->rec;
	struct in_ns *o = arg;

	(void)k, (void)at, (void)n;
	if (r->type < XSPROF_REC_SCHED_IN || r->type > XSPROF_REC_SCHED_MIGRATE)
		return;
	if (r->tid != 1 && r->tid != o->tids[0] && r->tid != o->tids[1])
		o->foreign++;
	/* Root outside is another: all of one user, but not to be seen from here. */
	if ((r->type == XSPROF_REC_SCHED_OUT || r->type == XSPROF_REC_SCHED_WAKE) &&
	    sched_who(s) == XSPROF_SCHED_PROCESS)
		o->outside++;
	if (r->type == XSPROF_REC_SCHED_OUT && strchr("XZ", sched_state(s)))
		o->ends++;
}

static int in_namespace(uint64_t rounds)
{
	struct sched_pair pair = { .rounds = (uint32_t)rounds };
	struct in_ns o = { 0 };
	struct sched s;
	int err;

	if (getpid() != 1)
		return 110;
	err = sched_attach(&s, XSPROF_MODE_DISCARD, RING);
	if (err)
		return -err;
	pair.s = &s;
	if (sched_run_pair(&pair))
		return 111;
	memcpy(o.tids, pair.tid, sizeof(o.tids));
	/* A thread's last switch comes when it has no number any more; it is known all the same. */
	do {
		o.ends = o.foreign = o.outside = 0;
		if (sched_walk(&s, take_ns, &o) || sched_drops(&s))
			return 112;
	} while (o.ends < 2);
	if (o.foreign || o.outside)
		return 113;
	return pair.counted[0] == pair.found[0] && pair.counted[1] == pair.found[1] &&
	       !pair.torn[0] && !pair.torn[1] ? 0 : 114;
}

/* As process 1 of a pid namespace of its own.  Return: what @fn does; 77: there is none. */
static int as_first(int (*fn)(uint64_t n), uint64_t n)
{
	int status, inner;
	pid_t pid = fork();

	if (pid < 0)
		return 121;
	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(77);
		pid = fork();
		if (!pid)
			_exit(fn(n));
		_exit(waitpid(pid, &inner, 0) == pid && WIFEXITED(inner) ? WEXITSTATUS(inner) :
									   120);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 122;
}

TEST(pid_namespace)
{
	int r = as_first(in_namespace, 200);

	if (r == 77)
		SKIP(return, "no pid namespaces");
	EXPECT_EQ(0, r);
}

/*
 * Threads that end while another takes their CPU again and again: also where they have been
 * released, and have no number, their records are theirs.
 */
static void *take_cpu(void *arg)
{
	const struct sched_param high = { .sched_priority = 50 };

	env_on_cpu(0);
	if (sched_setscheduler(0, SCHED_FIFO, &high))
		return NULL;
	while (!__atomic_load_n((bool *)arg, __ATOMIC_RELAXED))
		env_nap(50);
	return arg;
}

static void *end_at_once(void *arg)
{
	(void)arg;
	return NULL;
}

static int ending(uint64_t threads)
{
	pthread_t thread, taker;
	bool enough = false;
	struct sched s;
	void *took;
	int err;

	/* What has no place is written over: a drop is a record of no thread, and nothing else. */
	err = sched_attach(&s, XSPROF_MODE_OVERWRITE, RING);
	if (err)
		return -err;
	env_on_cpu(0);
	if (pthread_create(&taker, NULL, take_cpu, &enough))
		return 111;
	for (uint64_t i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, end_at_once, NULL) || pthread_join(thread, NULL))
			return 112;
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	pthread_join(taker, &took);
	if (!took)
		return 115;
	/* Each thread comes and goes. */
	if (dev_writer(&s.k, 0)->head < 2 * threads)
		return 113;
	return sched_drops(&s) ? 114 : 0;
}

TEST(released)
{
	int r = as_first(ending, env_figure(2000, 300));

	if (r == 77)
		SKIP(return, "no pid namespaces");
	EXPECT_EQ(0, r);
}

TEST_HARNESS_MAIN
