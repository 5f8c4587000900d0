// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that profiles itself, and recorders that attach to it: one may attach while the
 * profiler is stopped, none while it runs, and after a detach the profiler works as before.
 */
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

#include <xsprof/collector.h>
#include <xsprof/result.h>

#include "lib/numbers.h"
#include "profiler/other-recorder.h"
#include "profiler/saved.h"

static const struct xsprof_profiler_config config = {
	.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
};

static char shm[80];	/* parent of the profiler's ring folders */

/* Return: how many new counters the recorder has got. */
static unsigned int recorded(void)
{
	collect(getpid());
	CHECK_EQ(got.drops, 0);
	return collect_count(XSPROF_REC_COUNTER_I64, name);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void begin(void)
{
	CHECK_EQ(xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0), 0);
}

static void an_op(void)
{
	struct xsprof_op op = { .name = xsprof_name("op"), .sequence = XSPROF_NO_SEQUENCE };

	xsprof_op_begin(&op);
	xsprof_op_end();
}

/* Ends the session: it has @n ops, and reports @lost lost records; -1: any number. */
static void end_lost(unsigned int n, int lost)
{
	struct xsprof_result *r;
	unsigned int ops = 0;
	const char *json;
	uint64_t slots;
	char text[64];

	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	if (!r)
		return;
	if (lost >= 0) {
		CHECK_EQ(xsprof_result_lost(r, &slots), lost);
		CHECK_EQ(slots, 0);
		json = saved(r);
		snprintf(text, sizeof(text), "\"xsprof_lost_records\": %d,", lost);
		CHECK(strstr(json, text));
	}
	for (int64_t i = 0; i < xsprof_result_nr_events(r); i++)
		ops += !strcmp(xsprof_event_name(xsprof_result_event(r, (uint64_t)i)), "op");
	CHECK_EQ(ops, n);
	xsprof_result_free(r);
}

static void end(unsigned int n)
{
	end_lost(n, -1);
}

static void session(unsigned int n)
{
	begin();
	for (unsigned int i = 0; i < n; i++)
		an_op();
	end(n);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_stopped(struct recorder *r)
{
	session(7);
	CHECK_EQ(entries(shm, false), 1);
	recorder_begin(r);
	numbers(1000, 1010);
	CHECK_EQ(xsprof_join(r->session, 0), 0);
	CHECK_EQ(entries(shm, false), 0);
	numbers(0, 100);
	CHECK_EQ(recorded(), 100);
	tap_result("a recorder comes when the profiler has stopped: it has all, and that alone");
}

static void test_during(struct recorder *r)
{
	struct recorder other;

	begin();
	an_op();
	numbers(100, 150);
	end(1);
	CHECK_EQ(recorded(), 50);
	recorder_begin(&other);
	CHECK_EQ(xsprof_join(other.session, 0), -EBUSY);
	recorder_end(&other);
	setenv("XSPROF_SESSION", r->session, 1);
	numbers(150, 200);
	CHECK_EQ(recorded(), 50);
	tap_result("beside it the profiler works, and no other recorder may come");
}

static void test_left(struct recorder *r)
{
	xsprof_leave();
	numbers(200, 210);
	session(3);
	CHECK_EQ(recorded(), 0);
	recorder_end(r);
	session(4);
	tap_result("when it has left the profiler works, and the recorder has no more");
}

static void test_runs(void)
{
	struct recorder r;

	recorder_begin(&r);
	begin();
	an_op();
	CHECK_EQ(xsprof_join(r.session, 0), -EINPROGRESS);
	xsprof_leave();
	an_op();
	end(2);
	CHECK_EQ(entries(r.session, false), 1);
	CHECK_EQ(xsprof_join(r.session, 0), 0);
	numbers(0, 10);
	CHECK_EQ(recorded(), 10);
	xsprof_leave();
	recorder_end(&r);
	tap_result("while the profiler runs no recorder may come, and the session has all");
}

static void test_dead(void)
{
	struct recorder r;

	recorder_begin(&r);
	CHECK_EQ(xsprof_join(r.session, 0), 0);
	recorder_end(&r);
	session(5);
	CHECK_EQ(entries(shm, false), 1);
	xsprof_leave();
	session(6);
	recorder_begin(&r);
	/* As if another process of the session had taken the other. */
	close(r.locks.dir);
	r.locks.dir = -1;
	/* The recorder is dead: the profiler has given up its rings for nothing. */
	CHECK_EQ(xsprof_join(r.session, 0), -ENOTCONN);
	session(2);
	recorder_end(&r);
	tap_result("after one that died, and for one that is dead, the profiler works");
}

static void test_leaves(void)
{
	struct recorder r;

	recorder_begin(&r);
	CHECK_EQ(xsprof_join(r.session, 0), 0);
	begin();
	an_op();
	numbers(0, 10);
	CHECK_EQ(recorded(), 10);
	/* As a recorder that has ended leaves it. */
	entries(r.session, true);
	xsprof_leave();
	an_op();
	an_op();
	end(3);
	recorder_end(&r);
	session(1);
	tap_result("when it leaves while the profiler runs, that goes on");
}

static void *comes_and_goes(void *unused)
{
	(void)unused;
	CHECK_EQ(xsprof_enable_profiler_in_child_thread(), 0);
	an_op();
	CHECK_EQ(xsprof_disable_profiler_in_child_thread(), 0);
	an_op();
	xsprof_leave();
	an_op();
	CHECK_EQ(xsprof_enable_profiler_in_child_thread(), 0);
	an_op();
	an_op();
	return NULL;
}

static void test_threads(void)
{
	struct recorder r;
	pthread_t thread;

	recorder_begin(&r);
	CHECK_EQ(xsprof_join(r.session, 0), 0);
	begin();
	if (pthread_create(&thread, NULL, comes_and_goes, NULL))
		tap_bail("no threads");
	pthread_join(thread, NULL);
	end(3);
	recorder_end(&r);
	tap_result("a thread that is in the session again when it has left");
}

/* Losses before a session do not count in it. */
static void test_before(void)
{
	begin();
	/* More than a ring can hold. */
	numbers(0, 400000);
	end(0);
	begin();
	an_op();
	end_lost(1, 0);
	tap_result("a session does not count what was lost before it");
}

/* Does what a recorder that knows nothing of profiles does when it ends normally. */
static void switch_off(const struct recorder *r)
{
	struct xsprof_ctl *ctl = MAP_FAILED;
	char path[400];
	struct dirent *e;
	DIR *d = opendir(r->session);
	int fd = -1;

	while (fd < 0 && d && (e = readdir(d)))
		if (*e->d_name == 'p') {
			snprintf(path, sizeof(path), "%s/%s", r->session, e->d_name);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
	if (d)
		closedir(d);
	if (fd >= 0)
		ctl = mmap(NULL, sizeof(*ctl), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ctl == MAP_FAILED)
		tap_bail("%s has no rings", r->session);
	ctl->paused |= XSPROF_PAUSED_RECORDER;
	ctl->enabled = 0;
	munmap(ctl, sizeof(*ctl));
	close(fd);
}

/* Until the library has noticed, and writes there. */
static void wait_for_own_rings(struct xsprof_stats *stats)
{
	*stats = (struct xsprof_stats){ .size = sizeof(*stats) };
	for (unsigned int i = 0; i < 6000; i++) {
		/* The folder first: until it is there these are the recorder's rings. */
		if (entries(shm, false) && !xsprof_get_stats(stats) && stats->attached)
			return;
		usleep(10000);
	}
}

static void test_ends(bool in_order)
{
	struct xsprof_stats stats;
	struct recorder r;

	recorder_begin(&r);
	CHECK_EQ(xsprof_join(r.session, 0), 0);
	begin();
	an_op();
	CHECK_EQ(entries(shm, false), 0);
	if (in_order)
		switch_off(&r);
	for (unsigned int i = 0; i < 5 && in_order; i++)
		an_op();
	recorder_end(&r);
	if (!in_order)
		an_op();
	wait_for_own_rings(&stats);
	an_op();
	an_op();
	/* That of a killed one's may come while the session changes its rings: it is counted. */
	CHECK(in_order ? stats.lost == 0 : stats.lost <= 2);
	end_lost(in_order || stats.lost ? 3 : 4, in_order ? 5 : (int)stats.lost);
	xsprof_leave();
	session(1);
	tap_result("when it %s while the profiler runs, that goes on",
		   in_order ? "ends" : "is killed");
}

/* Counts mappings of files, as rings are; anonymous ones come and go. */
static unsigned int maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strchr(line, '/') != NULL;
	if (f)
		fclose(f);
	return n;
}

#define TURNS	20u

static unsigned int turn;	/* TURNS: the end */

static void *works(void *unused)
{
	xsprof_name_t other = xsprof_name("other");
	unsigned int n = 0, now, last = 0;

	(void)unused;
	while ((now = __atomic_load_n(&turn, __ATOMIC_RELAXED)) < TURNS) {
		n = now == last ? n : 0;
		last = now;
		/* Less than a ring can hold, however long a turn takes. */
		if (n++ < 1000) {
			xsprof_instant(other);
			an_op();
		} else {
			usleep(100);
		}
	}
	return NULL;
}

static void test_often(void)
{
	unsigned int before = 0, got_all = 0;
	pthread_t thread[3];
	struct recorder r;

	for (unsigned int k = 0; k < 3; k++)
		if (pthread_create(&thread[k], NULL, works, NULL))
			tap_bail("no threads");
	for (unsigned int i = 0; i < TURNS; i++) {
		__atomic_store_n(&turn, i, __ATOMIC_RELAXED);
		session(1);
		recorder_begin(&r);
		CHECK_EQ(xsprof_join(r.session, 1u << 20), 0);
		numbers(0, 10);
		got_all += recorded() == 10;
		xsprof_leave();
		recorder_end(&r);
		if (i == 1)
			before = maps();
	}
	__atomic_store_n(&turn, TURNS, __ATOMIC_RELAXED);
	for (unsigned int k = 0; k < 3; k++)
		pthread_join(thread[k], NULL);
	CHECK_EQ(got_all, TURNS);
	CHECK(maps() <= before + 4);
	tap_result("in turns, under threads that work: nothing is left in the process");
}

static int run(void)
{
	struct recorder r;

	name = xsprof_name("number");
	test_stopped(&r);
	test_during(&r);
	test_left(&r);
	test_runs();
	test_dead();
	test_leaves();
	test_threads();
	test_before();
	test_ends(true);
	test_ends(false);
	test_often();
	return tap_done();
}

/* The library reads its environment before main(), and removes its rings after it. */
int main(int argc, char **argv)
{
	char dir[] = "/dev/shm/xsprof-test.XXXXXX";
	int status;
	pid_t pid;

	if (argc > 1) {
		snprintf(shm, sizeof(shm), "%s/xsprof-%u", argv[1], (unsigned int)getuid());
		return run();
	}
	if (!mkdtemp(dir))
		tap_bail("%s: %s", dir, strerror(errno));
	unsetenv("XSPROF_SESSION");
	setenv("XSPROF_SHM_DIR", dir, 1);
	pid = fork();
	if (!pid) {
		execl(argv[0], argv[0], dir, NULL);
		_exit(127);
	}
	status = wait_for(pid);
	snprintf(shm, sizeof(shm), "%s/xsprof-%u", dir, (unsigned int)getuid());
	if (entries(shm, false)) {
		printf("# the profiler has left something in %s\n", shm);
		status = 1;
	}
	rmdir(shm);
	rmdir(dir);
	return status ? 1 : 0;
}
