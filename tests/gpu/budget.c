// SPDX-License-Identifier: GPL-2.0-only
/*
 * The budget of the CUDA collector: runs its budget.c with a clock, a load and launch costs that
 * this test makes up, so that the speed of the machine does not matter.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gpu/cupti/managed.h"
#include "tests/common/tap.h"

#define SECOND	1000000000ull
#define TICK	(SECOND / 4)

/* What a program does in a second, and what it costs. */
static struct {
	uint64_t	kernels;
	uint64_t	graphs;		/* launches, of ten kernels each */
	uint64_t	with;		/* ns per launch, with records and without */
	uint64_t	without;
	uint64_t	of_calls;	/* ns of @with for records of calls */
	uint64_t	cpu;		/* ns of the collector's thread per second */
	uint64_t	few;		/* this many times there are too few launches to time */
	bool		managed;	/* unified memory is counted */
	int		refused;	/* CUPTI's error when kernels are to be recorded again */
} program;

/* What the collector has done. */
static struct {
	bool		recording;
	bool		attached;
	bool		probing;
	bool		whole;
	bool		calls;
	uint32_t	unrecorded;
	uint32_t	joined;		/* of these, each begins where the last one ended */
	uint64_t	end;		/* of the last one */
	uint32_t	times_paused;
	int		error;		/* that the user is told */
	char		named[200];
	char		told[200];	/* by an instant */
	uint32_t	said;		/* lines on standard error */
} seen;

static uint64_t now, cpu;
static struct cupti_load load;

/* ---- what budget.c calls --------------------------------------------------------------------- */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = (struct timespec){
		.tv_sec = (time_t)(cpu / SECOND), .tv_nsec = (long)(cpu % SECOND),
	};
	return 0;
}

void cupti_probe(bool on)
{
	seen.probing = on;
}

uint64_t cupti_probe_take(enum cupti_launch what)
{
	if (!seen.probing || !(what == CUPTI_LAUNCH_KERNEL ? program.kernels : program.graphs))
		return 0;
	if (!seen.recording && program.few) {
		program.few--;
		return 0;
	}
	return !seen.recording || (what == CUPTI_LAUNCH_GRAPH && seen.whole) ? program.without :
		program.with - (seen.calls ? 0 : program.of_calls);
}

const struct cupti_load *cupti_load(void)
{
	return &load;
}

void cupti_load_anew(void)
{
	memset(&load, 0, sizeof(load));
}

void cupti_kinds_pause(void)
{
	seen.recording = false;
	seen.times_paused++;
}

int cupti_kinds_resume(bool whole_graphs, bool calls)
{
	seen.recording = !program.refused;
	seen.whole = whole_graphs;
	seen.calls = calls;
	return program.refused;
}

bool cupti_managed_configured(void)
{
	return program.managed;
}

void cupti_managed_drop(void)
{
	program.managed = false;
}

void cupti_tell(int err)
{
	seen.error = err;
}

void cupti_flush(uint32_t how)
{
	(void)how;
}

void cupti_detach(void)
{
	seen.attached = false;
}

bool cupti_attached(void)
{
	return seen.attached;
}

bool cupti_metrics_by_kernel(void)
{
	return false;
}

bool cupti_sharing(void)
{
	return false;
}

int cupti_category(void)
{
	return 0;
}

void cupti_put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n)
{
	(void)kv, (void)n;
	if (a->kind != XSPROF_GPU_UNRECORDED)
		return;
	seen.unrecorded++;
	seen.joined += a->begin == seen.end;
	seen.end = a->end;
}

xsprof_name_t xsprof_name_in(int category, const char *text)
{
	(void)category;
	strncpy(seen.named, text, sizeof(seen.named) - 1);
	return 1;
}

xsprof_name_t xsprof_name(const char *text)
{
	return text ? 1 : 0;
}

void xsprof_say(const char *fmt, ...)
{
	seen.said += fmt != NULL;
}

static uint32_t instants;

void xsprof_instant_args(xsprof_name_t name, const struct xsprof_kv *kv, size_t n)
{
	(void)name, (void)kv, (void)n;
	strcpy(seen.told, seen.named);
	instants++;
}

/* ---- a program ------------------------------------------------------------------------------- */

/* Runs ticks of a quarter of a second, as the collector's thread does. */
static void run(uint32_t ticks)
{
	for (uint32_t i = 0; i < ticks; i++) {
		now += TICK;
		cpu += program.cpu / 4;
		if (seen.recording) {
			load.launches[CUPTI_LAUNCH_KERNEL] += program.kernels / 4;
			load.launches[CUPTI_LAUNCH_GRAPH] += program.graphs / 4;
			load.in_graphs += program.graphs / 4 * (seen.whole ? 1 : 10);
		}
		(void)cupti_budget(now, false);
	}
}

/* Starts anew, as a process does. */
static void begin(uint64_t kernels, uint64_t graphs, uint64_t added)
{
	(void)cupti_budget_end();
	memset(&seen, 0, sizeof(seen));
	memset(&load, 0, sizeof(load));
	program.kernels = kernels;
	program.graphs = graphs;
	program.without = 5000;
	program.with = 5000 + added;
	program.cpu = program.few = program.of_calls = instants = 0;
	program.refused = 0;
	program.managed = false;
	seen.recording = seen.attached = seen.calls = true;
	(void)cupti_budget(now, false);
}

static void check_within(void)
{
	begin(10000, 0, 1000);
	run(40);
	CHECK(seen.attached && seen.recording && !seen.probing && !seen.whole && seen.calls);
	CHECK(seen.unrecorded == 1 && seen.times_paused == 1 && !instants);
	tap_result("within the budget, 1 %% of 2 %%: measured once, and recorded all of the time");
	program.kernels = 30000;
	program.of_calls = 100;
	run(16);
	CHECK(!seen.attached && !seen.recording && instants == 2);
	CHECK(!strcmp(seen.told, "GPU budget: devices are not recorded from here"));
	tap_result("more launches later, 3 %%, 2.7 without calls: CUPTI is given back");
	seen.unrecorded = seen.joined = 0;
	run(40);
	CHECK(!seen.attached && seen.unrecorded == 10 && seen.joined >= 9);
	seen.joined = 0;
	(void)cupti_budget(now, true);
	CHECK(seen.unrecorded == 11 && seen.joined == 1);
	CHECK(!cupti_budget_end() && seen.unrecorded == 12 && seen.joined == 2);
	tap_result("for good, and the time is told of each second, when asked and at the end");
}

/* A process has the state once: its steps go one way, and the last is final. */
static int in_child(void (*check)(void))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		check();
		exit((int)((tap_failures > 7 ? 7 : tap_failures) << 5 | tap_tests));
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	tap_tests = WEXITSTATUS(status) & 31;
	tap_failures = (unsigned int)WEXITSTATUS(status) >> 5;
	return 0;
}

static void check_graphs(void)
{
	begin(10, 2000, 20000);
	run(4);
	CHECK(seen.attached && seen.whole && instants == 1 && seen.recording);
	CHECK(!strcmp(seen.told, "GPU budget: graphs as a whole from here"));
	tap_result("most kernels are of graphs, 4 %%: graphs are recorded as a whole");
	run(40);
	CHECK(seen.attached && seen.recording && seen.unrecorded == 2);
	tap_result("what that costs is measured anew, and is within the budget");
}

static void check_calls(void)
{
	begin(30000, 0, 1000);
	program.of_calls = 400;
	run(4);
	CHECK(seen.attached && seen.recording && !seen.calls && instants == 1);
	tap_result("3 %%: calls are not recorded any more");
	run(40);
	CHECK(seen.attached && seen.recording && !seen.calls && !seen.whole && instants == 1);
	tap_result("the rest, 1.8 %%, is within the budget, and recorded");
}

static void check_managed(void)
{
	begin(30000, 0, 1000);
	program.of_calls = 400;
	program.managed = true;
	run(4);
	CHECK(!program.managed && seen.calls && seen.recording && instants == 1);
	CHECK(!strcmp(seen.told, "GPU budget: unified memory is not recorded from here"));
	tap_result("3 %% with unified memory: that is left out first");
	run(40);
	CHECK(seen.attached && seen.recording && !seen.calls && instants == 2);
	tap_result("what is left, still 3 %%, is measured anew, and calls are left out too");
}

static void check_thread(void)
{
	begin(100, 0, 0);
	program.cpu = SECOND / 20;
	run(14);
	CHECK(!seen.attached && !seen.probing && instants == 2);
	tap_result("the collector's own thread takes 5 %%: CUPTI is given back without measuring");
}

static void check_few(void)
{
	begin(10000, 0, 20000);
	program.few = 3;
	run(5);
	CHECK(seen.attached && seen.recording && seen.times_paused < 3);
	tap_result("too few launches in the moment in which they are timed: it is no cost of 0");
	run(40);
	CHECK(!seen.attached && instants == 2);
	tap_result("they are timed again, 20 %%: CUPTI is given back");
}

static void check_never(void)
{
	begin(10000, 0, 20000);
	program.few = 1000;
	run(200);
	CHECK(seen.attached && seen.recording && seen.times_paused == 8);
	tap_result("where they never can be timed it is tried eight times");
	CHECK(seen.said == 1 && instants == 1);
	CHECK(!strcmp(seen.told, "GPU budget: the cost of a launch is unknown"));
	tap_result("then an instant and a line tell that their cost is unknown");
}

/* Warms up without graphs, then replays them. */
static void check_later(void)
{
	begin(10000, 0, 1000);
	run(20);
	CHECK(seen.recording && seen.times_paused == 1);
	program.kernels = 10;
	program.graphs = 2000;
	program.with = 25000;
	run(4);
	CHECK(seen.attached && seen.whole && instants == 1 && seen.recording && !seen.said);
	CHECK(!strcmp(seen.told, "GPU budget: graphs as a whole from here"));
	tap_result("graphs that are launched after kernels were measured are measured too, 4 %%");
}

static void check_refused(void)
{
	begin(10000, 0, 1000);
	program.refused = 35;
	run(12);
	CHECK(!seen.attached && seen.error == 35 && seen.unrecorded > 1);
	CHECK_EQ(seen.joined, seen.unrecorded - 1);
	CHECK(!strcmp(seen.named, "GPU not recorded: CUPTI refused"));
	tap_result("CUPTI does not record again after a pause: the user is told, and the time");
}

int main(void)
{
	void (*const checks[])(void) = {
		check_within, check_graphs, check_calls, check_managed,
		check_thread, check_few, check_never,
		check_later, check_refused,
	};

	setenv("XSPROF_GPU_BUDGET", "2%", 1);
	cupti_budget_init();
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++)
		if (in_child(checks[i]))
			tap_bail("a check ended by a signal");
	return tap_done();
}
