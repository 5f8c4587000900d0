// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time: each record lies inside its bracket, whatever CPU its thread is on; the conversion in the
 * control page and the sync points agree with clock_gettime() within the error that they state,
 * while the wall clock jumps and the rate is slewed; the counter is one that can be trusted; a
 * suspend shows.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "clock.h"

#define THREADS	4

/* ---- brackets ------------------------------------------------------------------------------ */

struct marker_thread {
	struct dev	*d;
	unsigned int	t;
	uint64_t	markers;
	uint64_t	outside;	/* out */
	uint64_t	moved;		/* out: brackets over a migration */
};

static void *mark(void *arg)
{
	struct marker_thread *m = arg;
	uint32_t k = m->d->nr + m->t, kind = m->d->clock;
	struct xsprof_ring_writer *w = dev_writer(m->d, k);
	int cpu = sched_getcpu();

	for (uint64_t i = 0; i < m->markers; i++) {
		uint64_t t0, t1, ts;

		t0 = ring_ticks(kind);
		if (i % 64 == 0)
			env_on_cpu(env_mix(i + m->t) & 0xff);
		ring_put(m->d, k, m->t, i, 1);
		ts = ring_slot(m->d, k, w->head - 1)[1];
		if (i % 64 == 32)
			env_on_cpu(env_mix(i) & 0xff);
		t1 = ring_ticks(kind);
		m->outside += ts < t0 || ts > t1;
		if (i % 64 == 0) {
			m->moved += sched_getcpu() != cpu;
			cpu = sched_getcpu();
		}
	}
	return NULL;
}

static void brackets(struct __test_metadata *_metadata, uint32_t flags, uint64_t markers)
{
	struct xsprof_attach a = dev_attach_defaults();
	struct marker_thread m[THREADS];
	pthread_t thread[THREADS];
	uint64_t outside = 0, moved = 0;
	struct ring_cursor c;
	struct dev d;

	a.flags = flags;
	a.mode = XSPROF_MODE_OVERWRITE;
	a.nr_lock_rings = THREADS;
	ASSERT_EQ(0, dev_attach_as(&d, &a));
	for (unsigned int t = 0; t < THREADS; t++) {
		ASSERT_EQ(0, dev_ring_open(&d, d.nr + t));
		m[t] = (struct marker_thread){ .d = &d, .t = t, .markers = markers / THREADS };
		ASSERT_EQ(0, pthread_create(&thread[t], NULL, mark, &m[t]));
	}
	for (unsigned int t = 0; t < THREADS; t++) {
		pthread_join(thread[t], NULL);
		outside += m[t].outside;
		moved += m[t].moved;
		c = (struct ring_cursor){ 0 };
		ring_take(&d, d.nr + t, &c, UINT64_MAX, NULL, NULL);
		EXPECT_EQ(0, c.back);
		EXPECT_EQ(0, c.torn);
	}
	EXPECT_EQ(0, outside);
	if (env_cpus() > 1) {
		EXPECT_LT(0, moved);
	}
	TH_LOG("%llu markers by clock %u, %llu moved", (unsigned long long)markers, d.clock,
	       (unsigned long long)moved);
	dev_close(&d);
}

TEST(brackets_counter)
{
	brackets(_metadata, 0, env_costly(1000000, 50000));
}

TEST(brackets_monotonic_raw)
{
	brackets(_metadata, XSPROF_ATTACH_MONO, env_costly(100000, 5000));
}

/* ---- which counter ------------------------------------------------------------------------- */

static bool cpu_has(const char *flag)
{
	char line[8192];
	bool has = false;
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && !has && fgets(line, sizeof(line), f))
		has = strstr(line, flag) != NULL;
	if (f)
		fclose(f);
	return has;
}

/*
 * The counter of the CPU where the kernel's own time runs on it, or the CPU says that it is
 * invariant; else the system call's clock, and no rings by CPU, since a call cannot be part of a
 * restartable sequence.
 */
TEST(kind)
{
	struct xsprof_attach a = dev_attach_defaults();
	uint32_t want = XSPROF_CLOCK_MONO_RAW;
	char source[64];
	struct dev d;

	ASSERT_EQ(0, env_file_get("/sys/devices/system/clocksource/clocksource0/"
				  "current_clocksource", source, sizeof(source)));
#if defined(__x86_64__)
	if (!strncmp(source, "tsc", 3) || (cpu_has("constant_tsc") && cpu_has("nonstop_tsc")))
		want = XSPROF_CLOCK_TSC;
#elif defined(__aarch64__)
	want = XSPROF_CLOCK_CNTVCT;
#endif
	ASSERT_EQ(0, dev_attach_as(&d, &a));
	EXPECT_EQ(want, d.clock) {
		TH_LOG("the clock source is %s", source);
	}
	EXPECT_EQ(want, d.ctl->attach.kind);
	if (want == XSPROF_CLOCK_MONO_RAW) {
		EXPECT_EQ(0, d.nr);
	} else {
		EXPECT_LE(env_cpus(), d.nr);
	}
	TH_LOG("the clock source is %s: kind %u, %llu ticks a second", source, d.clock,
	       (unsigned long long)d.ctl->clock.freq);
	dev_close(&d);
	a.flags = XSPROF_ATTACH_MONO;
	ASSERT_EQ(0, dev_attach_as(&d, &a));
	EXPECT_EQ(XSPROF_CLOCK_MONO_RAW, d.clock);
	EXPECT_EQ(1000000000, d.ctl->clock.freq);
	EXPECT_EQ(0, d.nr);
	dev_close(&d);
}

/* ---- conversion ---------------------------------------------------------------------------- */

static void attach_sync_right(struct __test_metadata *_metadata, uint32_t flags)
{
	struct xsprof_attach a = dev_attach_defaults();
	uint64_t t0[5], t1[5];
	struct dev d;

	a.flags = flags;
	ASSERT_EQ(0, dev_attach_as(&d, &a));
	dev_close(&d);
	/* Once more, between two readings of each clock, now that its kind is known. */
	t0[0] = ring_ticks(d.clock);
	t0[1] = clock_now(CLOCK_MONOTONIC);
	t0[2] = clock_now(CLOCK_MONOTONIC_RAW);
	t0[3] = clock_now(CLOCK_BOOTTIME);
	t0[4] = clock_now(CLOCK_REALTIME);
	ASSERT_EQ(0, dev_attach_as(&d, &a));
	t0[0] = d.clock == XSPROF_CLOCK_MONO_RAW ? t0[2] : t0[0];
	t1[1] = clock_now(CLOCK_MONOTONIC);
	t1[2] = clock_now(CLOCK_MONOTONIC_RAW);
	t1[3] = clock_now(CLOCK_BOOTTIME);
	t1[4] = clock_now(CLOCK_REALTIME);
	t1[0] = ring_ticks(d.clock);
	EXPECT_LE(t0[1], d.ctl->attach.mono);
	EXPECT_GE(t1[1], d.ctl->attach.mono);
	EXPECT_LE(t0[2], d.ctl->attach.mono_raw);
	EXPECT_GE(t1[2], d.ctl->attach.mono_raw);
	EXPECT_LE(t0[3], d.ctl->attach.boot);
	EXPECT_GE(t1[3], d.ctl->attach.boot);
	EXPECT_LE(t0[4], d.ctl->attach.real);
	EXPECT_GE(t1[4], d.ctl->attach.real);
	EXPECT_GE(t1[0], d.ctl->attach.ticks);
	EXPECT_EQ(0, clock_wrong(&d, 1000));
	dev_close(&d);
}

TEST(sync_at_attach)
{
	attach_sync_right(_metadata, 0);
	attach_sync_right(_metadata, XSPROF_ATTACH_MONO);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Sync points: rising, and at the rates that the clocks have; of one generation. */
static void syncs_agree(struct __test_metadata *_metadata, const struct xsprof_sync *s, int n,
			uint64_t freq)
{
	for (int i = 1; i < n; i++) {
		uint64_t raw = s[i].mono_raw - s[i - 1].mono_raw;
		uint64_t mono = s[i].mono - s[i - 1].mono;
		uint64_t ticks = s[i].ticks - s[i - 1].ticks, ns;
		uint64_t slack = (s[i].window + (uint64_t)s[i - 1].window) * 1e9 / freq +
				 raw / 1000000 * CLOCK_PPM + 1000;

		EXPECT_LT(s[i - 1].mono, s[i].mono);
		EXPECT_LT(s[i - 1].ticks, s[i].ticks);
		ns = (uint64_t)((double)ticks * 1e9 / freq);
		EXPECT_LE(apart(ns, raw), slack);
		EXPECT_LE(apart(mono, raw), slack);
		EXPECT_LE(apart(s[i].boot - s[i - 1].boot, mono), slack);
		EXPECT_EQ(s[i].kind, s[i - 1].kind);
		EXPECT_EQ(0, s[i].reserved);
	}
}

static void slew(long ppm)
{
	struct timex t = { .modes = ADJ_FREQUENCY, .freq = ppm << 16 };

	if (adjtimex(&t) < 0)
		printf("# adjtimex: %s\n", strerror(errno));
}

static void step_real(long seconds)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += seconds;
	if (clock_settime(CLOCK_REALTIME, &ts))
		printf("# clock_settime: %s\n", strerror(errno));
}

TEST(jumps_and_slewing)
{
	static struct xsprof_sync s[512];
	uint32_t generation;
	uint64_t freq;
	struct dev d;
	int n, from;

	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1));
	n = clock_syncs(d.fd, s, 512, &generation);
	ASSERT_LE(1, n);
	from = n - 1;
	for (int i = 0; i < (env_full() ? 8 : 3); i++) {
		slew(i & 1 ? 500 : -500);
		step_real(i & 1 ? -7200 : 3600);
		clock_next_base(&d);
		EXPECT_EQ(0, clock_wrong(&d, 2000));
	}
	slew(0);
	step_real(0);
	n = clock_syncs(d.fd, s, 512, &generation);
	/* A point that is too near to the one before is replaced by the next. */
	for (int i = 0; i < 64 && n < from + 2; i++) {
		clock_next_base(&d);
		n = clock_syncs(d.fd, s, 512, &generation);
	}
	ASSERT_LT(from + 1, n);
	freq = d.clock == s[from].kind ? d.ctl->clock.freq : 1000000000;
	syncs_agree(_metadata, s + from, n - from, freq);
	/* The newest of them are given where there is no room for all. */
	EXPECT_EQ(1, clock_syncs(d.fd, &s[0], 1, &generation));
	EXPECT_LE(s[n - 1].mono, s[0].mono);
	TH_LOG("%d sync points, generation %u", n - from, generation);
	dev_close(&d);
}

/* ---- attaches all the time ------------------------------------------------------------------- */

/* What abi.h promises of a rate, while adjtimex() changes nothing. */
#define RATE_PPM	500

/* The lowest and the highest rate that pages had, in ns a tick. */
struct rates {
	double	low;
	double	high;
};

static void note_rate(struct rates *r, const struct dev *d)
{
	struct xsprof_clock c = clock_read(d);
	double rate = (double)c.mult / (double)(1ull << c.shift);

	r->low = r->low && r->low < rate ? r->low : rate;
	r->high = r->high > rate ? r->high : rate;
}

static double most_off(const struct rates *r, double rate)
{
	double below = rate - r->low, above = r->high - rate;

	return (below > above ? below : above) / rate * 1e6;
}

/* Sync points as near to each other as can be: an attach takes one. */
static void __attribute__((noreturn)) attach_often(struct rates *r)
{
	for (;;) {
		struct dev d;

		if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1))
			_exit(1);
		note_rate(r, &d);
		dev_close(&d);
	}
}

/* The counter and CLOCK_MONOTONIC at one instant, the closest of a few.  Return: how close, ns. */
static uint64_t both_clocks(const struct dev *d, uint64_t *ticks, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 64; i++) {
		uint64_t before = clock_now(CLOCK_MONOTONIC), now = ring_ticks(d->clock);
		uint64_t after = clock_now(CLOCK_MONOTONIC);

		if (after - before >= best)
			continue;
		best = after - before;
		*ticks = now;
		*ns = before + best / 2;
	}
	return best;
}

#define ATTACHERS	4u	/* processes, which wait for each other: so points are nearest */

/* What others do costs no process the rate of its clock, nor those that attach meanwhile. */
TEST(rate_amid_attaches)
{
	uint64_t t0, t1, n0, n1, slack, since;
	struct rates mine = { 0 }, *theirs;
	pid_t pids[ATTACHERS];
	double rate, off;
	struct dev d;

	theirs = mmap(NULL, sizeof(*theirs) * ATTACHERS, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, theirs);
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1));
	/* One that is measured from now on: the clock may have been slewed before. */
	clock_next_base(&d);
	clock_next_base(&d);
	since = both_clocks(&d, &t0, &n0);
	for (unsigned int i = 0; i < ATTACHERS; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (!pids[i])
			attach_often(&theirs[i]);
	}
	do {
		clock_next_base(&d);
		note_rate(&mine, &d);
		slack = since + both_clocks(&d, &t1, &n1);
	} while (n1 - n0 < (env_full() ? 9000000000ull : 3000000000ull));
	for (unsigned int i = 0; i < ATTACHERS; i++) {
		ASSERT_EQ(0, kill(pids[i], SIGKILL));
		ASSERT_EQ(pids[i], waitpid(pids[i], NULL, 0));
		theirs->low = theirs[i].low < theirs->low ? theirs[i].low : theirs->low;
		theirs->high = theirs[i].high > theirs->high ? theirs[i].high : theirs->high;
	}
	rate = (double)(n1 - n0) / (double)(t1 - t0);
	off = rate * (RATE_PPM * 1e-6 + (double)slack / (double)(n1 - n0));
	TH_LOG("%.9f ns a tick; off at most %.0f ppm, of new producers %.0f ppm", rate,
	       most_off(&mine, rate), most_off(theirs, rate));
	EXPECT_LE(rate - off, mine.low);
	EXPECT_GE(rate + off, mine.high);
	EXPECT_LT(0, theirs->low);
	EXPECT_LE(rate - off, theirs->low);
	EXPECT_GE(rate + off, theirs->high);
	munmap(theirs, sizeof(*theirs) * ATTACHERS);
	dev_close(&d);
}

/* ---- suspend ------------------------------------------------------------------------------- */

/* Sleep for some seconds, woken by the clock chip.  Return: 0 or -errno. */
static int suspend(void)
{
	int err;

	env_file_put("/sys/class/rtc/rtc0/wakealarm", "0");
	err = env_file_put("/sys/class/rtc/rtc0/wakealarm", "+3");
	return err ? err : env_file_put("/sys/power/state", "mem");
}

TEST(suspend_shows)
{
	static struct xsprof_sync s[512];
	char kinds[64] = "", alarm[64] = "";
	struct utsname u;
	uint32_t before, after;
	uint64_t gap = 0;
	struct dev d;
	int n, m, err;

	env_file_get("/sys/power/mem_sleep", kinds, sizeof(kinds));
	env_file_put("/sys/class/rtc/rtc0/wakealarm", "+100");
	env_file_get("/sys/class/rtc/rtc0/wakealarm", alarm, sizeof(alarm));
	/* Seen without the module as well: the machine is woken, and its kernel stands still. */
	if (!uname(&u) && !strncmp(u.release, "7.3", 3))
		SKIP(return, "%s does not come back from a suspend here", u.release);
	/* Suspend to idle would not be woken by this machine's clock chip. */
	if (!strstr(kinds, "deep") || !atoll(alarm))
		SKIP(return, "no suspend to memory here that a clock ends");
	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1));
	ASSERT_EQ(0, dev_ring_open(&d, d.nr));
	ASSERT_TRUE(ring_put(&d, d.nr, 0, 0, 1));
	n = clock_syncs(d.fd, s, 512, &before);
	ASSERT_LE(1, n);
	err = suspend();
	if (err)
		SKIP(dev_close(&d); return, "cannot suspend: %s", strerror(-err));
	m = clock_syncs(d.fd, s, 512, &after);
	/* One before and one after; the first may take the place of one that was too near. */
	EXPECT_LE(n + 1, m);
	EXPECT_NE(before, after);
	/* Time went by on one clock and not on the other, between two points and nowhere else. */
	for (int i = 1; i < m; i++) {
		uint64_t slept = (s[i].boot - s[i - 1].boot) - (s[i].mono - s[i - 1].mono);

		if (slept > gap && slept < 1ull << 62)
			gap = slept;
	}
	EXPECT_LT(500000000, gap);
	TH_LOG("%llu ms asleep, generation %u, then %u", (unsigned long long)gap / 1000000, before,
	       after);
	/* It goes on: records, rings, conversion. */
	EXPECT_TRUE(ring_put(&d, d.nr, 0, 1, 1));
	clock_next_base(&d);
	EXPECT_EQ(0, clock_wrong(&d, 1000));
	dev_close(&d);
}

TEST_HARNESS_MAIN
