// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time namespaces.  LIST, EVENTS and SYNCS return times of the caller's namespace; a control page
 * has times of its producer's namespace.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "clock.h"

#define SECOND		1000000000ll
#define MONO		1000	/* offsets of the namespace, seconds */
#define BOOT		5000
#define HZ_OF_STAT	100
#define SYNCS		512

/**
 * struct shared - results of the processes in the namespace, for the test outside
 * @id: producer inside
 * @outside: producer outside
 * @mono: offset of CLOCK_MONOTONIC inside, ns
 * @boot: offset of CLOCK_BOOTTIME inside, ns
 * @flags: attach flags for own_clocks()
 * @stat: start time of the producer inside, from /proc as read inside
 * @inside: LIST of @id, as read inside
 * @of_outside: LIST of @outside, as read inside
 * @ended: LIST of @id after its end, as read inside
 * @line: line of the first failed check inside, 0 for none
 * @n: length of @syncs
 * @syncs: SYNCS, as read inside
 */
struct shared {
	uint64_t		id;
	uint64_t		outside;
	int64_t			mono;
	int64_t			boot;
	uint32_t		flags;
	uint64_t		stat;
	struct xsprof_info	inside;
	struct xsprof_info	of_outside;
	struct xsprof_info	ended;
	int			line;
	int			n;
	struct xsprof_sync	syncs[SYNCS];
};

/* Field 22 of /proc/@pid/stat; 0 is the caller. */
static uint64_t start_of(pid_t pid)
{
	unsigned long long start = 0;
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), pid ? "/proc/%d/stat" : "/proc/self/stat", pid);
	if (env_file_get(path, text, sizeof(text)))
		return 0;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", &start) == 1 ? start : 0;
}

FIXTURE(timens)
{
	struct shared	*s;
	struct dev	d;		/* outside */
	int		fd;
	int		go[2];		/* tells the producer inside to end */
	int		done[2];	/* tells the test that it has attached */
	pid_t		pid;
};

FIXTURE_SETUP(timens)
{
	self->s = mmap(NULL, sizeof(*self->s), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->s);
	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, pipe(self->go));
	ASSERT_EQ(0, pipe(self->done));
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 16 << 10, 1));
	self->s->outside = self->d.id;
}

FIXTURE_TEARDOWN(timens)
{
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	dev_close(&self->d);
	dev_drop_ended(self->fd);
	close(self->fd);
}

/* ---- inside ---------------------------------------------------------------------------------- */

/* Keep the line of the first failed check. */
#define MUST(that)						\
	do {							\
		if (!(that)) {					\
			s->line = s->line ? s->line : __LINE__;	\
			_exit(1);				\
		}						\
	} while (0)

/* The control page agrees with the clocks inside, at attach and after an update by the kernel. */
static void own_clocks(struct shared *s)
{
	struct xsprof_attach a = dev_attach_defaults();
	uint64_t before[3], after[3];
	struct dev d;

	a.flags = s->flags;
	before[0] = clock_now(CLOCK_MONOTONIC);
	before[1] = clock_now(CLOCK_BOOTTIME);
	before[2] = clock_now(CLOCK_MONOTONIC_RAW);
	MUST(!dev_attach_as(&d, &a));
	after[2] = clock_now(CLOCK_MONOTONIC_RAW);
	after[0] = clock_now(CLOCK_MONOTONIC);
	after[1] = clock_now(CLOCK_BOOTTIME);
	MUST(d.ctl->attach.mono >= before[0] && d.ctl->attach.mono <= after[0]);
	MUST(d.ctl->attach.boot >= before[1] && d.ctl->attach.boot <= after[1]);
	MUST(d.ctl->attach.mono_raw >= before[2] && d.ctl->attach.mono_raw <= after[2]);
	MUST(d.ctl->start_time == start_of(0));
	MUST(!clock_wrong(&d, 1000));
	clock_next_base(&d);
	MUST(!clock_wrong(&d, 1000));
	dev_close(&d);
}

/* It opens a ring, so that it is retained. */
static void be_producer(struct shared *s, int go, int done)
{
	int fd = dev_open();
	uint32_t generation;
	struct dev d;
	char c;

	MUST(!dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1) && !dev_ring_open(&d, d.nr));
	s->id = d.id;
	s->stat = start_of(0);
	MUST(!dev_info(fd, d.id, &s->inside) && !dev_info(fd, s->outside, &s->of_outside));
	MUST(s->inside.attached == d.ctl->attach.mono);
	s->n = clock_syncs(fd, s->syncs, SYNCS, &generation);
	MUST(s->n > 0);
	own_clocks(s);
	MUST(write(done, "x", 1) == 1 && read(go, &c, 1) == 1);
	_exit(0);
}

static void see_its_end(struct shared *s)
{
	int fd = dev_open();

	do
		MUST(!dev_info(fd, s->id, &s->ended));
	while (s->ended.state == XSPROF_STATE_LIVE);
	_exit(0);
}

/* unshare(CLONE_NEWTIME) takes effect for children only. */
static void __attribute__((noreturn)) make_namespace(struct shared *s, int go, int done)
{
	char text[128];
	int status;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(text, sizeof(text), "monotonic %lld 0\nboottime %lld 0\n",
		 (long long)(s->mono / SECOND), (long long)(s->boot / SECOND));
	if (unshare(CLONE_NEWTIME))
		_exit(77);
	MUST(!env_file_put("/proc/self/timens_offsets", text));
	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (i)
				see_its_end(s);
			be_producer(s, go, done);
		}
		MUST(waitpid(pid, &status, 0) == pid && !status);
	}
	_exit(0);
}

/* ---- outside --------------------------------------------------------------------------------- */

/* Return: 0; 77: no time namespaces; else the line of the check that failed inside. */
static int run_inside(FIXTURE_DATA(timens) *self)
{
	int status;
	char c;

	fflush(stdout);
	self->pid = fork();
	if (!self->pid) {
		close(self->go[1]);
		close(self->done[0]);
		make_namespace(self->s, self->go[0], self->done[1]);
	}
	close(self->done[1]);
	if (read(self->done[0], &c, 1) == 1)
		return 0;
	waitpid(self->pid, &status, 0);
	self->pid = 0;
	return self->s->line ? self->s->line : WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Return: 0, or the line of the check that failed inside. */
static int end_inside(FIXTURE_DATA(timens) *self)
{
	int status;

	if (write(self->go[1], "x", 1) != 1)
		return -1;
	waitpid(self->pid, &status, 0);
	self->pid = 0;
	return self->s->line ? self->s->line : status;
}

static const struct xsprof_sync *find(const struct xsprof_sync *s, int n, uint64_t ticks)
{
	for (int i = 0; i < n; i++)
		if (s[i].ticks == ticks)
			return &s[i];
	return NULL;
}

/**
 * struct compared - sync points outside compared with those inside
 * @same: found inside
 * @gone: left out inside
 * @wrong: mismatches
 */
struct compared {
	int	same;
	int	gone;
	int	wrong;
};

/* The last point may be replaced: compare those that were there before and after. */
static struct compared compare(const struct shared *s, const struct xsprof_sync *before, int n,
			       const struct xsprof_sync *after, int m)
{
	struct compared c = { 0 };

	for (int i = 0; i < n; i++) {
		const struct xsprof_sync *out = &before[i], *in;
		int64_t mono = (int64_t)out->mono + s->mono;
		int64_t raw = (int64_t)out->mono_raw + s->mono;

		in = find(s->syncs, s->n, out->ticks +
			  (uint64_t)(out->kind == XSPROF_CLOCK_MONO_RAW ? s->mono : 0));
		if (!find(after, m, out->ticks))
			continue;
		c.same += !!in;
		c.gone += !in;
		c.wrong += !in != (mono <= 0 || raw <= 0);
		if (in)
			c.wrong += (int64_t)in->mono != mono || (int64_t)in->mono_raw != raw ||
				   (int64_t)in->boot != (int64_t)out->boot + s->boot ||
				   in->real != out->real || in->window != out->window;
	}
	for (int i = 0; i < s->n; i++)
		c.wrong += (int64_t)s->syncs[i].mono <= 0 || (int64_t)s->syncs[i].boot <= 0;
	return c;
}

TEST_F(timens, ahead)
{
	static struct xsprof_sync before[SYNCS], after[SYNCS];
	struct shared *s = self->s;
	struct xsprof_events e = { .size = sizeof(e) };
	struct xsprof_info info;
	struct compared c;
	uint32_t generation;
	struct dev r;
	int n, m, err;

	s->mono = MONO * SECOND;
	s->boot = BOOT * SECOND;
	n = clock_syncs(self->fd, before, SYNCS, &generation);
	ASSERT_LT(0, n);
	err = run_inside(self);
	if (err == 77)
		SKIP(return, "no time namespaces");
	ASSERT_EQ(0, err);
	m = clock_syncs(self->fd, after, SYNCS, &generation);
	/* Both sides see the producer inside. */
	ASSERT_EQ(0, dev_info(self->fd, s->id, &info));
	EXPECT_EQ(MONO * SECOND, (int64_t)(s->inside.attached - info.attached));
	EXPECT_EQ(BOOT * HZ_OF_STAT, (int64_t)(s->inside.start_time - info.start_time));
	EXPECT_EQ(s->stat, s->inside.start_time);
	EXPECT_EQ(start_of((pid_t)info.pid), info.start_time);
	/* Its control page is the same for all. */
	ASSERT_EQ(0, dev_read_id(&r, self->fd, s->id, 0));
	EXPECT_EQ(s->inside.attached, r.ctl->attach.mono);
	EXPECT_EQ(s->inside.start_time, r.ctl->start_time);
	ASSERT_EQ(0, dev_call(r.fd, XSPROF_IOC_EVENTS, &e));
	EXPECT_EQ(info.attached, e.info.attached);
	EXPECT_EQ(info.start_time, e.info.start_time);
	dev_close(&r);
	/* Both sides see the producer outside. */
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &info));
	EXPECT_EQ(info.attached, self->d.ctl->attach.mono);
	EXPECT_EQ(start_of(0), info.start_time);
	EXPECT_EQ(MONO * SECOND, (int64_t)(s->of_outside.attached - info.attached));
	EXPECT_EQ(BOOT * HZ_OF_STAT, (int64_t)(s->of_outside.start_time - info.start_time));
	EXPECT_EQ(0, s->of_outside.ended);
	c = compare(s, before, n, after, m);
	EXPECT_LT(0, c.same);
	EXPECT_EQ(0, c.gone);
	EXPECT_EQ(0, c.wrong);
	ASSERT_EQ(0, end_inside(self));
	ASSERT_EQ(0, dev_info(self->fd, s->id, &info));
	EXPECT_NE(0, info.ended);
	EXPECT_EQ(MONO * SECOND, (int64_t)(s->ended.ended - info.ended));
}

/* Clocks inside that began 2 s ago: earlier points are left out, earlier times are 1. */
/* They may be seconds apart: the one is steered. */
static int64_t least_clock(void)
{
	uint64_t mono = clock_now(CLOCK_MONOTONIC), raw = clock_now(CLOCK_MONOTONIC_RAW);

	return (int64_t)(mono < raw ? mono : raw);
}

TEST_F(timens, behind)
{
	static struct xsprof_sync before[SYNCS], after[SYNCS];
	struct shared *s = self->s;
	struct xsprof_info info;
	struct compared c;
	uint32_t generation;
	int n, m, err;

	/* A producer and sync points that are older than that, by both clocks that go back. */
	while (least_clock() - (int64_t)self->d.ctl->attach.mono < (int64_t)(4 * SECOND))
		env_nap(100000);
	n = clock_syncs(self->fd, before, SYNCS, &generation);
	ASSERT_LT(0, n);
	s->mono = -(least_clock() / (int64_t)SECOND - 2) * (int64_t)SECOND;
	err = run_inside(self);
	if (err == 77)
		SKIP(return, "no time namespaces");
	if (err)
		TH_LOG("%d sync points inside, %d outside, the latest at %llu (raw %llu)", s->n, n,
		       (unsigned long long)before[n - 1].mono,
		       (unsigned long long)before[n - 1].mono_raw);
	ASSERT_EQ(0, err);
	m = clock_syncs(self->fd, after, SYNCS, &generation);
	c = compare(s, before, n, after, m);
	EXPECT_LT(0, c.gone);
	EXPECT_EQ(0, c.wrong);
	ASSERT_EQ(0, dev_info(self->fd, self->d.id, &info));
	EXPECT_GT(0, (int64_t)info.attached + s->mono);
	EXPECT_EQ(1, s->of_outside.attached);
	EXPECT_EQ(info.start_time, s->of_outside.start_time);
	ASSERT_EQ(0, dev_info(self->fd, s->id, &info));
	EXPECT_EQ(s->mono, (int64_t)(s->inside.attached - info.attached));
	EXPECT_EQ(0, end_inside(self));
}

/* CLOCK_MONOTONIC_RAW as the counter: it has the offset of CLOCK_MONOTONIC in a namespace. */
TEST_F(timens, counter_is_a_clock)
{
	int err;

	self->s->mono = MONO * SECOND;
	self->s->flags = XSPROF_ATTACH_MONO;
	err = run_inside(self);
	if (err == 77)
		SKIP(return, "no time namespaces");
	ASSERT_EQ(0, err);
	EXPECT_EQ(0, end_inside(self));
}

TEST_HARNESS_MAIN
