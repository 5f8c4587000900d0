// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's markers in the kernel's tracer, from an unmodified program: each marker is one
 * event of its kind, from its thread, with the time of its record in the ring; and none while
 * tracing is off. The program is this one, executed again.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <xsprof/xsprof.h>

#include "emit.h"

#define THREADS	4
#define RUNS	(THREADS + 1)	/* and a forked child */

/* Events of each kind in one turn; what the signal handler adds bears another name. */
static const unsigned int each[XSPROF_EMIT_KINDS] = {
	[XSPROF_EMIT_BEGIN] = 2,
	[XSPROF_EMIT_END] = 2,
	[XSPROF_EMIT_INSTANT] = 4,
	[XSPROF_EMIT_COUNTER] = 2,
	[XSPROF_EMIT_COMPLETE] = 2,
};

/* ---- the program --------------------------------------------------------------------------- */

static struct itimerval soon = { .it_value = { 0, 2000 } };
static xsprof_name_t in_handler;
static bool enough;

/* The next one some time after this one: with an interval a slow machine would do nothing else. */
static void handler(int sig)
{
	(void)sig;
	xsprof_instant(in_handler);
	if (!__atomic_load_n(&enough, __ATOMIC_RELAXED))
		setitimer(ITIMER_REAL, &soon, NULL);
}

static void *mark(void *arg)
{
	int cat = xsprof_category("some-category");
	xsprof_name_t range = xsprof_name_in(cat, "a range"), key = xsprof_name("key");
	xsprof_name_t thing = xsprof_name_in(cat, "a thing"), empty = xsprof_name_in(cat, "");
	uint64_t turns = (uintptr_t)arg;

	for (uint64_t i = 0; i < turns; i++) {
		const struct xsprof_kv kv[] = {
			xsprof_u64(key, i), xsprof_str(key, "a string that takes some room"),
			xsprof_f64(key, 0.5), xsprof_u64(key, ~i),
		};
		uint64_t begin = xsprof_now();

		errno = 77;
		xsprof_begin(range);
		xsprof_begin_args(thing, kv, 4);
		xsprof_instant(empty);
		xsprof_mark(thing, XSPROF_SCOPE_GLOBAL);
		xsprof_instant_args(thing, kv, 3);
		xsprof_step(thing, i);
		xsprof_counter(thing, -(int64_t)i);
		xsprof_counter_f64(thing, 0.25);
		xsprof_args(kv, 4);		/* these have no event */
		xsprof_async_begin(thing, i);
		xsprof_end_args(kv, 2);
		xsprof_end();
		xsprof_complete(range, begin);
		xsprof_span(thing, begin, begin + 5, i, 0);
		if (errno != 77)
			_exit(20);
	}
	return NULL;
}

static void program(const char *turns)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	void *n = (void *)(uintptr_t)strtoull(turns, NULL, 0);
	pthread_t thread[THREADS];
	int status;
	pid_t pid;

	if (env_debug())
		soon.it_value.tv_usec = 50000;
	in_handler = xsprof_name("in a handler");
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, mark, n))
			_exit(10);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	pid = fork();
	if (!pid) {
		mark(n);
		_exit(0);
	}
	_exit(waitpid(pid, &status, 0) == pid && !status ? 0 : 11);
}

/* After the library's own, before the harness. */
__attribute__((constructor(1000))) static void maybe_program(void)
{
	const char *turns = getenv("XSPROF_TEST_TURNS");

	if (turns)
		program(turns);
}

static pid_t start(uint64_t turns, const char *mode, const char *size, const char *clock)
{
	pid_t pid = fork();
	char text[24];

	if (pid)
		return pid;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)turns);
	setenv("XSPROF_TEST_TURNS", text, 1);
	setenv("XSPROF_BACKEND", "device", 1);
	setenv("XSPROF_MODE", mode, 1);
	setenv("XSPROF_BUFFER_SIZE", size, 1);
	setenv("XSPROF_CLOCK", clock, 1);
	execl("/proc/self/exe", "markers", NULL);
	_exit(12);
}

/* ---- what there is of it ------------------------------------------------------------------- */

struct one {
	uint32_t	kind;
	uint32_t	tid;
	uint64_t	ticks;
};

struct list {
	struct one	*one;
	size_t		n;
	size_t		room;
	uint64_t	own[XSPROF_EMIT_KINDS];	/* of the turns */
	uint64_t	lost;			/* events with no time; records that were dropped */
	uint64_t	strange;
};

static void add(struct list *l, uint32_t kind, uint32_t tid, uint64_t ticks)
{
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 4096;
		l->one = realloc(l->one, l->room * sizeof(*l->one));
		if (!l->one)
			abort();
	}
	l->one[l->n++] = (struct one){ kind, tid, ticks };
}

static int compare(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static void note_event(const struct tracefs_event *ev, void *arg)
{
	bool own = strcmp(ev->text, "in a handler");
	struct list *l = arg;
	unsigned int k;

	for (k = 0; k < XSPROF_EMIT_KINDS && strcmp(ev->kind, kinds[k]); k++)
		;
	if (k == XSPROF_EMIT_KINDS) {
		l->strange++;
		return;
	}
	l->own[k] += own;
	/* A name and its category, where it has one. */
	if (own && k != XSPROF_EMIT_END &&
	    (strcmp(ev->category, "some-category") ||
	     (*ev->text && strncmp(ev->text, "a range", 7) && strncmp(ev->text, "a thing", 7))))
		l->strange++;
	if (strstr(ev->line, "duration_ns=") && strstr(ev->text, "a range") &&
	    strtoull(strstr(ev->line, "duration_ns=") + 12, NULL, 0) > 1500000000000ull)
		l->strange++;
	if (ev->ticks)
		add(l, k, (uint32_t)ev->pid, ev->ticks);
	else
		l->lost++;
}

static void note_record(void *arg, uint32_t ring, uint64_t at, const uint64_t *s, unsigned int n)
{
	static const int8_t kind[256] = {
		[XSPROF_REC_BEGIN] = 1 + XSPROF_EMIT_BEGIN,
		[XSPROF_REC_END] = 1 + XSPROF_EMIT_END,
		[XSPROF_REC_INSTANT] = 1 + XSPROF_EMIT_INSTANT,
		[XSPROF_REC_STEP] = 1 + XSPROF_EMIT_INSTANT,
		[XSPROF_REC_COUNTER_I64] = 1 + XSPROF_EMIT_COUNTER,
		[XSPROF_REC_COUNTER_F64] = 1 + XSPROF_EMIT_COUNTER,
		[XSPROF_REC_COMPLETE] = 1 + XSPROF_EMIT_COMPLETE,
		[XSPROF_REC_SPAN] = 1 + XSPROF_EMIT_COMPLETE,
	};
	int k = kind[ring_rec_type(s)];

	(void)ring, (void)at, (void)n;
	if (k)
		add(arg, (uint32_t)k - 1, (uint32_t)s[0], s[1]);
}

static bool any(const uint64_t *s, unsigned int n)
{
	(void)s, (void)n;
	return true;
}

/* What is in the rings of all that came after @after.  Return: how many those are, or -errno. */
static int read_rings(int fd, uint64_t after, struct list *l)
{
	struct xsprof_info info;
	int n, seen = 0;

	while ((n = dev_list(fd, &info, 1, after, NULL)) == 1) {
		struct xsprof_arena *arena;
		struct dev r;
		int err;

		after = info.id;
		err = dev_read_id(&r, fd, info.id, 0);
		/* The module removes an unrecorded producer some time after its process. */
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		for (uint32_t k = 0; k < r.nr + r.nl; k++) {
			struct ring_cursor c = { 0 };

			if (!dev_ready(&r, k))
				continue;
			ring_take(&r, k, &c, UINT64_MAX, note_record, l);
			l->strange += c.torn + c.back;
			l->lost += ring_drops(&r, k);
		}
		arena = (struct xsprof_arena *)(r.base + r.arena_off);
		l->lost += arena->nomem + arena->late;
		dev_close(&r);
		seen++;
	}
	return n < 0 ? n : seen;
}

FIXTURE(markers)
{
	int		fd;
	uint64_t	after;		/* the last producer before the program: ourselves */
	struct list	events;
	struct list	records;
};

FIXTURE_VARIANT(markers)
{
	const char	*mode;
	const char	*size;
	const char	*clock;
	bool		idle;		/* always_on=N */
	bool		full;		/* rings that lose records */
};

/* Rings by CPU, or, where there is no counter, lock rings. */
FIXTURE_VARIANT_ADD(markers, kept)
{
	.mode = "discard",
	.size = "8m",
	.clock = "auto",
};

FIXTURE_VARIANT_ADD(markers, lock_rings)
{
	.mode = "overwrite",
	.size = "8m",
	.clock = "mono",
};

/* An event is for the tracer; that the ring is full is no reason. */
FIXTURE_VARIANT_ADD(markers, full)
{
	.mode = "discard",
	.size = "16k",
	.clock = "auto",
	.full = true,
};

FIXTURE_VARIANT_ADD(markers, idle)
{
	.mode = "overwrite",
	.size = "8m",
	.clock = "auto",
	.idle = true,
};

FIXTURE_SETUP(markers)
{
	struct xsprof_info info;

	self->fd = dev_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(dev_drop_ended(self->fd), 0);
	while (dev_list(self->fd, &info, 1, self->after, NULL) == 1)
		self->after = info.id;
	ASSERT_EQ(0, tracefs_open(24 << 10));
	ring_check = any;
	if (variant->idle) {
		ASSERT_EQ(0, env_file_put(ENV_PARAMETERS "always_on", "N"));
	}
}

FIXTURE_TEARDOWN(markers)
{
	EXPECT_EQ(0, tracefs_close());
	EXPECT_EQ(0, env_file_put(ENV_PARAMETERS "always_on", "Y"));
	dev_drop_ended(self->fd);
	close(self->fd);
	free(self->events.one);
	free(self->records.one);
}

TEST_F(markers, each_is_an_event)
{
	uint64_t turns = env_figure(300, 10), lost = 0;
	int status;
	pid_t pid;

	ASSERT_EQ(0, tracefs_set("", true));
	ASSERT_EQ(0, tracefs_set("xsp_clock_sync", false));
	pid = start(turns, variant->mode, variant->size, variant->clock);
	ASSERT_GT(pid, 0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	ASSERT_EQ(0, tracefs_set("", false));
	EXPECT_LE(0, tracefs_read(note_event, &self->events));
	/* The program, and its child. */
	EXPECT_EQ(2, read_rings(self->fd, self->after, &self->records));
	EXPECT_EQ(0, self->events.strange);
	EXPECT_EQ(0, self->records.strange);
	for (unsigned int k = 0; k < XSPROF_EMIT_KINDS; k++) {
		EXPECT_EQ(each[k] * turns * RUNS, self->events.own[k]) {
			TH_LOG("%s", kinds[k]);
		}
	}
	/* An event with a time is of a record, and each record is an event. */
	qsort(self->events.one, self->events.n, sizeof(struct one), compare);
	qsort(self->records.one, self->records.n, sizeof(struct one), compare);
	EXPECT_EQ(self->records.n, self->events.n);
	for (size_t i = 0; i < self->records.n && i < self->events.n; i++)
		lost += !!memcmp(&self->records.one[i], &self->events.one[i], sizeof(struct one));
	EXPECT_EQ(0, lost);
	/* One with none is of a record that was lost: to a full ring, or to a lock. */
	EXPECT_LE(self->events.lost, self->records.lost);
	if (variant->full) {
		EXPECT_LT(0, self->events.lost);
	}
	TH_LOG("%zu events with a record, %llu whose record was lost", self->events.n,
	       (unsigned long long)self->events.lost);
}

/* Nobody traces: no event, and where nobody records either, no record. */
TEST_F(markers, none_untraced)
{
	int status;
	pid_t pid;

	pid = start(env_costly(200, 20), variant->mode, variant->size, variant->clock);
	ASSERT_GT(pid, 0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	EXPECT_EQ(0, tracefs_read(note_event, &self->events));
	EXPECT_EQ(0, self->events.n + self->events.lost);
	EXPECT_LE(0, read_rings(self->fd, self->after, &self->records));
	EXPECT_EQ(!variant->idle, !!self->records.n);
}

/* Switched while it runs: whatever was sent is of a record. */
TEST_F(markers, switched)
{
	size_t at = 0, unknown = 0;
	pid_t pid, ended = 0;
	int status, switches = 0;

	ASSERT_EQ(0, tracefs_set("xsp_begin", true));
	pid = start(env_costly(6000, 50), variant->mode, variant->size, variant->clock);
	ASSERT_GT(pid, 0);
	/* The first event, or an end with none, which fails below. */
	while (!tracefs_any() && !(ended = waitpid(pid, &status, WNOHANG)))
		env_nap(1000);
	ASSERT_EQ(0, tracefs_set("xsp_begin", false));
	while (!ended && !(ended = waitpid(pid, &status, WNOHANG))) {
		const char *kind = kinds[switches++ % XSPROF_EMIT_GPU];

		ASSERT_EQ(0, tracefs_set(kind, true));
		env_nap(5000);
		ASSERT_EQ(0, tracefs_set(kind, false));
	}
	ASSERT_EQ(0, status);
	/* More than the buffers hold is no matter here. */
	tracefs_read(note_event, &self->events);
	EXPECT_LE(0, read_rings(self->fd, self->after, &self->records));
	qsort(self->events.one, self->events.n, sizeof(struct one), compare);
	qsort(self->records.one, self->records.n, sizeof(struct one), compare);
	for (size_t i = 0; i < self->events.n; i++) {
		while (at < self->records.n &&
		       compare(&self->records.one[at], &self->events.one[i]) < 0)
			at++;
		if (at == self->records.n ||
		    compare(&self->records.one[at], &self->events.one[i]))
			unknown++;
		else
			at++;
	}
	/* Of a ring that is overwritten the oldest are gone. */
	if (strcmp(variant->mode, "overwrite")) {
		EXPECT_EQ(0, unknown);
	}
	EXPECT_LT(0, self->events.n + self->events.lost);
	TH_LOG("%d switches, %zu events, %zu records", switches, self->events.n,
	       self->records.n);
}

TEST_HARNESS_MAIN
