// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's events of a process are all there, each once and in its place: they are compared
 * with the kernel's own trace, event by event, under overload too.
 */
#include <signal.h>
#include <sys/wait.h>

#include "sched.h"

#define BIG_RING	(4 << 20)

/* ---- the kernel's own trace ---------------------------------------------------------------- */

#define TRACING		"/sys/kernel/tracing/instances/xsprof-test"
#define MAX_EVENTS	200000

/**
 * struct event - one event, as both sources tell of it
 * @type: of the record
 * @tid: whose
 * @x: state and whether it was preempted, whether it is new, or the two CPUs
 * @other: who came, or woke it, 0 where that is not told
 */
struct event {
	uint32_t	type;
	uint32_t	tid;
	uint64_t	x;
	uint32_t	other;
};

#define LIST_TIDS	6

struct list {
	uint32_t	tids[LIST_TIDS];
	uint32_t	n[SCHED_CPUS];
	struct event	*ev[SCHED_CPUS];
	uint64_t	over;
};

static bool list_make(struct list *l)
{
	for (unsigned int i = 0; i < SCHED_CPUS; i++) {
		l->n[i] = 0;
		l->ev[i] = mmap(NULL, MAX_EVENTS * sizeof(*l->ev[i]), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (l->ev[i] == MAP_FAILED)
			return false;
	}
	return true;
}

static void list_add(struct list *l, uint32_t cpu, uint32_t type, uint32_t tid, uint64_t x,
		     uint32_t other)
{
	unsigned int i = 0;

	while (i < LIST_TIDS && l->tids[i] != tid)
		i++;
	if (!tid || i == LIST_TIDS)
		return;
	if (cpu >= SCHED_CPUS || l->n[cpu] == MAX_EVENTS)
		l->over++;
	else
		l->ev[cpu][l->n[cpu]++] = (struct event){ type, tid, x, other };
}

/* Return: false: it is no event of the scheduler's. */
static bool event_of(struct event *e, const uint64_t *s)
{
	const struct xsprof_rec *r = &sched_rec(s)->rec;

	if (r->type < XSPROF_REC_SCHED_IN || r->type > XSPROF_REC_SCHED_MIGRATE)
		return false;
	*e = (struct event){ .type = r->type, .tid = r->tid, .x = r->value };
	if (r->type == XSPROF_REC_SCHED_OUT)
		e->x = (uint64_t)sched_state(s) << 1 | !!(r->aux & XSPROF_SCHED_PREEMPTED);
	else if (r->type == XSPROF_REC_SCHED_WAKE)
		e->x = !!(r->aux & XSPROF_SCHED_NEW);
	if (r->type == XSPROF_REC_SCHED_OUT || r->type == XSPROF_REC_SCHED_WAKE)
		e->other = (uint32_t)r->value;
	return true;
}

/* @ours tells of no other task what is not the process' to know. */
static bool event_same(const struct event *ours, const struct event *theirs)
{
	return ours->type == theirs->type && ours->tid == theirs->tid && ours->x == theirs->x &&
	       (!ours->other || ours->other == theirs->other);
}

static void list_record(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct event e;

	(void)at, (void)n;
	if (event_of(&e, s))
		list_add(arg, k, e.type, e.tid, e.x, e.other);
}

static unsigned long long number(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* "comm-PID [CPU] flags time: event: key=value ..." */
static void list_line(struct list *l, const char *line)
{
	const char *cpu_at = strchr(line, '['), *state = strstr(line, "prev_state="), *dash;
	uint32_t cpu, current;

	if (!cpu_at)
		return;
	for (dash = cpu_at; dash > line && *dash != '-'; dash--)
		;
	current = strtoul(dash + 1, NULL, 10);
	cpu = strtoul(cpu_at + 1, NULL, 10);
	if (strstr(line, ": sched_switch: ") && state) {
		state += strlen("prev_state=");
		list_add(l, cpu, XSPROF_REC_SCHED_OUT, number(line, " prev_pid="),
			 (uint64_t)*state << 1 | (state[1] == '+'), number(line, " next_pid="));
		list_add(l, cpu, XSPROF_REC_SCHED_IN, number(line, " next_pid="), 0, 0);
	} else if (strstr(line, ": sched_waking: ")) {
		list_add(l, cpu, XSPROF_REC_SCHED_WAKE, number(line, " pid="), 0, current);
	} else if (strstr(line, ": sched_wakeup_new: ")) {
		list_add(l, cpu, XSPROF_REC_SCHED_WAKE, number(line, " pid="), 1, current);
	} else if (strstr(line, ": sched_migrate_task: ")) {
		list_add(l, cpu, XSPROF_REC_SCHED_MIGRATE, number(line, " pid="),
			 number(line, " dest_cpu=") << 32 | number(line, " orig_cpu="), 0);
	}
}

static int list_trace(struct list *l)
{
	char line[1024];
	FILE *f = fopen(TRACING "/trace", "re");

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		list_line(l, line);
	return fclose(f) ? -errno : 0;
}

static int tracing(const char *file, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), TRACING "/%s", file);
	return env_file_put(path, text);
}

static int tracing_begin(void)
{
	static const char *const names[] = {
		"sched_switch", "sched_waking", "sched_wakeup_new", "sched_migrate_task",
	};
	char file[80];
	int err = 0;

	if (mkdir(TRACING, 0700) && errno != EEXIST)
		return -errno;
	err = tracing("buffer_size_kb", "8192");
	for (unsigned int i = 0; !err && i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(file, sizeof(file), "events/sched/%s/enable", names[i]);
		err = tracing(file, "1");
	}
	return err;
}

/* Have both threads made their last switch? */
static void count_ends(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	(void)k, (void)at, (void)n;
	if (ring_rec_type(s) == XSPROF_REC_SCHED_OUT && strchr("XZ", sched_state(s)))
		++*(uint32_t *)arg;
}

TEST(truth)
{
	struct sched_pair pair = { .rounds = env_costly(2000, 300) };
	static struct list ours, theirs;
	uint64_t events = 0, different = 0;
	uint32_t ends;
	struct sched s;
	int err;

	err = tracing_begin();
	if (err == -ENOENT || err == -EACCES || err == -EPERM)
		SKIP(return, "no tracefs to compare with: %s", strerror(-err));
	ASSERT_EQ(0, err);
	ASSERT_TRUE(list_make(&ours) && list_make(&theirs));
	ASSERT_EQ(0, sched_attach(&s, XSPROF_MODE_DISCARD, BIG_RING));
	ASSERT_EQ(0, sched_run_pair(&pair));
	do {
		ends = 0;
		EXPECT_EQ(0, sched_walk(&s, count_ends, &ends));
	} while (ends < 2);
	EXPECT_EQ(0, tracing("tracing_on", "0"));
	memcpy(ours.tids, pair.tid, sizeof(pair.tid));
	memcpy(theirs.tids, pair.tid, sizeof(pair.tid));
	EXPECT_EQ(0, sched_walk(&s, list_record, &ours));
	ASSERT_EQ(0, list_trace(&theirs));
	EXPECT_EQ(0, rmdir(TRACING));
	EXPECT_EQ(0, ours.over + theirs.over);
	EXPECT_EQ(0, sched_drops(&s));
	for (unsigned int cpu = 0; cpu < SCHED_CPUS; cpu++) {
		EXPECT_EQ(theirs.n[cpu], ours.n[cpu]);
		for (uint32_t i = 0; i < ours.n[cpu] && i < theirs.n[cpu]; i++) {
			different += !event_same(&ours.ev[cpu][i], &theirs.ev[cpu][i]);
			events++;
		}
	}
	EXPECT_EQ(0, different);
	EXPECT_LT(4 * pair.rounds, events);
	TH_LOG("%llu events, the same as the kernel's own trace has", (unsigned long long)events);
	dev_close(&s.d);
}

/* ---- overload ------------------------------------------------------------------------------ */

/* What was read, and looked for when all is there. */
struct kept {
	uint32_t	n[SCHED_CPUS];
	struct event	*ev[SCHED_CPUS];
	uint64_t	*lost[SCHED_CPUS];	/* what LOST had told by then */
	struct ring_cursor c[SCHED_CPUS];
};

static void take_sparse(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct kept *o = arg;

	(void)at, (void)n;
	if (event_of(&o->ev[k][o->n[k]], s))
		o->lost[k][o->n[k]++] = o->c[k].lost;
}

/* Where in @all the events of @o begin: the recording began later than the trace. */
static uint32_t begin_of(const struct list *all, const struct kept *o, uint32_t k)
{
	uint32_t at = 0, i;

	for (;; at++) {
		for (i = 0; i < o->n[k] && at + i < all->n[k]; i++)
			if (o->lost[k][i] || !event_same(&o->ev[k][i], &all->ev[k][at + i]))
				break;
		if (i == o->n[k] || at + i == all->n[k] || o->lost[k][i])
			return at;
	}
}

/* Between two records of @o as many are left out of @all as LOST says. */
static uint64_t misplaced(const struct list *all, const struct kept *o, uint32_t k)
{
	uint32_t begin = begin_of(all, o, k);
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < o->n[k]; i++) {
		uint64_t at = begin + i + o->lost[k][i];

		wrong += at >= all->n[k] || !event_same(&o->ev[k][i], &all->ev[k][at]);
	}
	return wrong;
}

static void *room(size_t n, size_t size)
{
	void *at = mmap(NULL, n * size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

struct drain {
	struct sched	*r;
	struct kept	*kept;
	uint32_t	tid;
	uint32_t	stop;
};

static void drain_once(struct drain *d)
{
	for (uint32_t k = 0; k < d->r->cpus; k++) {
		if (!dev_ready(&d->r->d, d->r->d.nr + d->r->d.nl + k))
			continue;
		ring_take(&d->r->k, k, &d->kept->c[k], UINT64_MAX, take_sparse, d->kept);
		ring_tail_set(&d->r->k, k, d->kept->c[k].at);
	}
}

static void *drain_slowly(void *arg)
{
	struct drain *d = arg;

	d->tid = syscall(SYS_gettid);
	while (!__atomic_load_n(&d->stop, __ATOMIC_ACQUIRE)) {
		drain_once(d);
		env_nap(3000);
	}
	return NULL;
}

TEST(overload)
{
	struct sched_pair pair = { .rounds = env_figure(2000, 200) };
	uint64_t drops = 0, read = 0, told = 0, wrong = 0;
	static struct list all;
	static struct kept kept;
	struct sched tiny, r;
	struct drain drain = { .r = &r, .kept = &kept };
	pthread_t thread;
	int err;

	err = tracing_begin();
	if (err == -ENOENT || err == -EACCES || err == -EPERM)
		SKIP(return, "no tracefs to compare with: %s", strerror(-err));
	ASSERT_EQ(0, err);
	ASSERT_TRUE(list_make(&all));
	for (unsigned int k = 0; k < SCHED_CPUS; k++) {
		kept.ev[k] = room(MAX_EVENTS, sizeof(*kept.ev[k]));
		kept.lost[k] = room(MAX_EVENTS, sizeof(*kept.lost[k]));
		ASSERT_TRUE(kept.ev[k] && kept.lost[k]);
	}
	ASSERT_EQ(0, sched_attach(&tiny, XSPROF_MODE_DISCARD, 1));
	ASSERT_EQ(XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE, tiny.k.ring_size);
	ASSERT_LE(tiny.cpus, SCHED_CPUS);
	ASSERT_EQ(0, sched_read(&r, tiny.d.fd, tiny.d.id, XSPROF_OPEN_CONSUME));
	ring_check = sched_whole;
	/* First nobody reads at all, then somebody who is too slow. */
	ASSERT_EQ(0, sched_run_pair(&pair));
	memcpy(all.tids, pair.tid, sizeof(pair.tid));
	pair = (struct sched_pair){ .rounds = pair.rounds };
	ASSERT_EQ(0, pthread_create(&thread, NULL, drain_slowly, &drain));
	ASSERT_EQ(0, sched_run_pair(&pair));
	memcpy(all.tids + 2, pair.tid, sizeof(pair.tid));
	__atomic_store_n(&drain.stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	all.tids[4] = drain.tid;
	all.tids[5] = getpid();
	/* Room again: a last event on each CPU, before which the holes are told of. */
	drain_once(&drain);
	for (unsigned int cpu = 0; cpu < env_cpus(); cpu++) {
		env_on_cpu(cpu);
		env_nap(1000);
	}
	ASSERT_EQ(0, sched_switch_to(tiny.d.fd, 0, NULL));
	drain_once(&drain);
	EXPECT_EQ(0, tracing("tracing_on", "0"));
	ASSERT_EQ(0, list_trace(&all));
	EXPECT_EQ(0, rmdir(TRACING));
	EXPECT_EQ(0, all.over);

	for (uint32_t k = 0; k < tiny.cpus; k++) {
		volatile struct xsprof_ring_writer *w = dev_writer(&tiny.k, k);

		if (!kept.n[k])
			continue;
		wrong += misplaced(&all, &kept, k) + kept.c[k].torn + kept.c[k].back;
		EXPECT_EQ(w->head, kept.c[k].at);
		read += kept.n[k];
		drops += w->drops;
		told += kept.c[k].lost;
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(drops, told);
	EXPECT_NE(0, drops);
	TH_LOG("%llu events: %llu read, %llu lost, each where it is told of",
	       (unsigned long long)(read + drops), (unsigned long long)read,
	       (unsigned long long)drops);
	dev_close(&r.d);
	dev_close(&tiny.d);
}

/* A tail that lies costs events, and they are counted. */
TEST(tail)
{
	struct sched s, r;
	uint64_t head, drops;

	ASSERT_EQ(0, sched_attach(&s, XSPROF_MODE_DISCARD, 1));
	ASSERT_EQ(0, sched_read(&r, s.d.fd, s.d.id, XSPROF_OPEN_CONSUME));
	env_on_cpu(0);
	for (unsigned int i = 0; i < 8; i++) {
		static const uint64_t lies[] = { UINT64_MAX, 1ull << 63, 1ull << 40 };
		volatile struct xsprof_ring_writer *w = dev_writer(&s.k, 0);

		ring_tail_set(&r.k, 0, i < 3 ? lies[i] : w->head + i);
		drops = w->drops;
		head = w->head;
		while (w->drops == drops)
			env_nap(1000);
		EXPECT_EQ(head, w->head);
	}
	ring_tail_set(&r.k, 0, dev_writer(&s.k, 0)->head);
	head = dev_writer(&s.k, 0)->head;
	while (dev_writer(&s.k, 0)->head == head)
		env_nap(1000);
	dev_close(&r.d);
	dev_close(&s.d);
}

TEST_HARNESS_MAIN
