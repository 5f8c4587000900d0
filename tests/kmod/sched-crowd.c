// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many processes that have their scheduling recorded: what a switch and a wake-up cost the others
 * does not grow with their number.  Records are counted exactly.
 *
 * Latencies are printed, and judged where the guest's clock counts instructions, a nanosecond each
 * (XSPROF_ICOUNT): other times of an emulated guest are the host's.  A processor of today takes
 * less than a nanosecond an instruction.
 */
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "sched.h"
#include "user.h"

#define MOST		5000u
#define KIB_EACH	320u		/* of a process, its page tables and its rings */
/* A wake-up in so many: where they are judged, no work of the module's fits between two. */
#define PERIOD_NS	(env_icount() ? 250000u : 1000000u)
#define RING		(16 << 20)
#define ROUNDS		7		/* of wake-ups, where they are judged */
#define MOST_LATER_NS	2000		/* the worst wake-up, with recorded processes */

struct crowd {
	uint32_t	ready;
	uint32_t	failed;
	int		err;		/* why the last one did */
	uint64_t	id[MOST];
};

FIXTURE(crowd)
{
	struct crowd	*c;
	unsigned int	n;
	int		fd;
	pid_t		group;
	int		go[2];		/* closed when all may leave */
	long long	was;
	long long	was_bytes;
};

static void __attribute__((noreturn)) join(struct crowd *c, unsigned int me, int go)
{
	struct xsprof_attach a = dev_attach_defaults();
	struct dev d;
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	a.ring_size = 1;
	a.kernel_size = 1;
	a.nr_lock_rings = 1;
	err = dev_attach_as(&d, &a) ?: sched_switch_to(d.fd, XSPROF_SCHED_ON, NULL);
	c->id[me] = d.id;
	if (err)
		__atomic_store_n(&c->err, err, __ATOMIC_RELAXED);
	__atomic_add_fetch(err ? &c->failed : &c->ready, 1, __ATOMIC_RELEASE);
	/* The end of the pipe. */
	while (!err && read(go, &err, 1) > 0)
		;
	_exit(err != 0);
}

FIXTURE_SETUP(crowd)
{
	struct sysinfo si;
	uint64_t room;

	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	self->was = env_parameter("uid_max_producers");
	self->was_bytes = env_parameter("max_bytes");
	ASSERT_EQ(0, env_parameter_set("uid_max_producers", 2 * MOST));
	/* No limit: that by the machine's memory is too low for so many. */
	ASSERT_EQ(0, env_parameter_set("max_bytes", 0));
	self->c = mmap(NULL, sizeof(*self->c), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->c);
	ASSERT_EQ(0, pipe(self->go));
	sysinfo(&si);
	room = (si.freeram * si.mem_unit >> 10) * 3 / 4 / KIB_EACH;
	self->n = (unsigned int)env_costly(MOST, MOST / 10);
	if (self->n > MOST)
		self->n = MOST;
	if (self->n > room)
		self->n = (unsigned int)room;
}

FIXTURE_TEARDOWN(crowd)
{
	int status, wrong = 0;

	close(self->go[1]);
	while (self->group && waitpid(-self->group, &status, 0) > 0)
		wrong += status != 0;
	EXPECT_EQ(0, wrong);
	dev_drop_ended(self->fd);
	EXPECT_EQ(0, env_parameter_set("uid_max_producers", self->was));
	EXPECT_EQ(0, env_parameter_set("max_bytes", self->was_bytes));
	close(self->fd);
}

static void gather(struct __test_metadata *_metadata, FIXTURE_DATA(crowd) *self)
{
	fflush(stdout);
	for (unsigned int i = 0; i < self->n; i++) {
		pid_t pid = fork();

		ASSERT_GE(pid, 0);
		if (!pid) {
			close(self->go[1]);
			join(self->c, i, self->go[0]);
		}
		if (!self->group)
			self->group = pid;
		ASSERT_EQ(0, setpgid(pid, self->group));
	}
	while (__atomic_load_n(&self->c->ready, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&self->c->failed, __ATOMIC_ACQUIRE) < self->n)
		env_nap(1000);
	ASSERT_EQ(0, self->c->failed) {
		TH_LOG("%u of %u processes: %s", self->c->failed, self->n,
		       strerror(-self->c->err));
	}
}

/* ---- wake-ups -------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* How late @n wake-ups by a timer are, and prints that.  Return: the worst, or -ENOMEM. */
static long long wake_often(const char *when, uint64_t n)
{
	uint64_t *late = calloc(n, sizeof(*late)), due = now_ns(), worst;

	if (!late)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		struct timespec ts;
		uint64_t now;

		due += PERIOD_NS;
		ts = (struct timespec){ .tv_sec = (long)(due / 1000000000),
					.tv_nsec = (long)(due % 1000000000) };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		now = now_ns();
		late[i] = now - due;
		/* Of one that is very late the next ones are not. */
		if (late[i] > PERIOD_NS)
			due = now;
	}
	qsort(late, n, sizeof(*late), by_size);
	worst = late[n - 1];
	printf("# %s: of %llu wake-ups the median is %llu ns late, the worst %llu ns\n", when,
	       (unsigned long long)n, (unsigned long long)late[n / 2],
	       (unsigned long long)worst);
	fflush(stdout);
	free(late);
	return (long long)worst;
}

/* Heads and drops of the kernel's rings of all of the crowd, or -1. */
static long long words_of(const struct crowd *c, unsigned int n, int fd)
{
	struct xsprof_ring_writer w;
	long long sum = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct sched r;

		if (sched_read(&r, fd, c->id[i], 0))
			return -1;
		for (uint32_t k = 0; k < r.cpus; k++) {
			if (!dev_ready(&r.d, r.d.nr + r.d.nl + k))
				continue;
			w = *dev_writer(&r.k, k);
			sum += (long long)(w.head + w.drops);
		}
		dev_close(&r.d);
	}
	return sum;
}

/**
 * struct phase - wake-ups of a thread of its own
 * @when: said with the latencies
 * @n: how many
 * @s: the producer that is this process, recorded; NULL: none
 * @seen: what is recorded of the thread
 * @slots: what is recorded of all threads, and dropped
 * @switches: how often the kernel counts that it left its CPU
 * @worst: how late the worst wake-up of each round is, the least first
 * @err: 0 or -errno
 */
struct phase {
	const char		*when;
	uint64_t		n;
	struct sched		*s;
	struct sched_count	seen;
	uint64_t		slots;
	uint64_t		switches;
	long long		worst[ROUNDS];
	int			err;
};

static int wake_rounds(struct phase *p)
{
	for (unsigned int i = 0; i < (env_icount() ? ROUNDS : 1); i++) {
		p->worst[i] = wake_often(p->when, p->n);
		if (p->worst[i] < 0)
			return (int)p->worst[i];
	}
	qsort(p->worst, ROUNDS, sizeof(p->worst[0]), by_size);
	return 0;
}

static void *run_phase(void *arg)
{
	const struct sched_param high = { .sched_priority = 50 };
	struct phase *p = arg;

	env_on_cpu(0);
	p->err = sched_setscheduler(0, SCHED_FIFO, &high) ? -errno : wake_rounds(p);
	/* Until none comes meanwhile: then both counts are of the same moment. */
	do {
		p->switches = sched_switches();
		p->seen = (struct sched_count){ .tid = sched_tid() };
		if (!p->err && p->s && sched_walk(p->s, sched_count_one, &p->seen))
			p->err = -EBADMSG;
	} while (sched_switches() != p->switches);
	return NULL;
}

static int begin_phase(struct phase *p)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_phase, p))
		return -EAGAIN;
	pthread_join(thread, NULL);
	return p->err;
}

/* The same with a producer of this process that is recorded.  Return: 0 or -errno. */
static int begin_recorded(struct phase *p)
{
	struct sched s;
	int err = sched_attach(&s, XSPROF_MODE_DISCARD, RING);

	if (err)
		return err;
	p->s = &s;
	err = begin_phase(p);
	p->slots = 0;
	for (uint32_t k = 0; k < s.cpus; k++)
		p->slots += dev_writer(&s.k, k)->head + dev_writer(&s.k, k)->drops;
	if (!err && sched_drops(&s))
		err = -ENOBUFS;
	p->s = NULL;
	dev_close(&s.d);
	return err;
}

/* No record of one kind alone: that hook does not run. None of any: no hook, or no ring. */
static void log_seen(struct __test_metadata *_metadata, const struct phase *p)
{
	TH_LOG("of the thread: %llu in, %llu out, %llu woken, %llu moved; all rings: %llu slots",
	       (unsigned long long)p->seen.n[0], (unsigned long long)p->seen.n[1],
	       (unsigned long long)p->seen.n[2], (unsigned long long)p->seen.n[3],
	       (unsigned long long)p->slots);
}

/* One record a switch, of the thread that switches: none for or by those who sleep meanwhile. */
TEST_F(crowd, one_record_a_switch)
{
	const unsigned int out = XSPROF_REC_SCHED_OUT - XSPROF_REC_SCHED_IN;
	struct phase p = { .n = env_icount() ? 8000 : env_figure(2000, 300) };
	long long words = -1, last, quiet, others;

	p.when = "nobody recorded";
	ASSERT_EQ(0, begin_phase(&p));
	quiet = p.worst[ROUNDS / 2];
	p.when = "itself recorded";
	ASSERT_EQ(0, begin_recorded(&p));
	EXPECT_LT(0, p.switches);
	EXPECT_EQ(p.switches, p.seen.n[out]) {
		log_seen(_metadata, &p);
	}
	gather(_metadata, self);
	TH_LOG("%u processes recorded", self->n);
	/* Until all of them wait. */
	do {
		last = words;
		env_nap(100000);
		words = words_of(self->c, self->n, self->fd);
		ASSERT_LE(0, words);
	} while (words != last);
	p.when = "the crowd recorded";
	ASSERT_EQ(0, begin_phase(&p));
	others = p.worst[0];
	p.when = "itself too";
	ASSERT_EQ(0, begin_recorded(&p));
	/*
	 * What the kernel does now and then is in one round or another, such as to free what the
	 * last phase left; what the module does is in all.
	 */
	if (env_icount()) {
		EXPECT_GE(quiet + MOST_LATER_NS, others);
		EXPECT_GE(quiet + MOST_LATER_NS, p.worst[0]);
	}
	EXPECT_LT(0, p.switches);
	EXPECT_EQ(p.switches, p.seen.n[out]) {
		log_seen(_metadata, &p);
	}
	EXPECT_EQ(words, words_of(self->c, self->n, self->fd));
}

TEST_HARNESS_MAIN
