// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose profiler runs while its recorder ends, normally or killed: what the threads have
 * written is in the program's own profile, or is counted there as lost.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/result.h>

#include "common/tap.h"

#define THREADS	3u

/* ---- the program ----------------------------------------------------------------------------- */

static bool stop;

struct work {
	pthread_t	thread;
	uint64_t	made;	/* ops and instants */
};

/* In bursts, so that rings hold what is written between two reads. */
static void *works(void *data)
{
	struct xsprof_op op = { .name = xsprof_name("an op"), .sequence = XSPROF_NO_SEQUENCE };
	xsprof_name_t mark = xsprof_name("a mark");
	struct work *w = data;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (unsigned int i = 0; i < 20; i++) {
			xsprof_op_begin(&op);
			xsprof_instant(mark);
			xsprof_op_end();
		}
		w->made += 20;
		usleep(1000);
	}
	return NULL;
}

static unsigned int count(const char *text, const char *what)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t room = 64u << 20, n;
	char *text = malloc(room);

	if (!f || !text)
		tap_bail("%s: %s", path, strerror(errno));
	n = fread(text, 1, room - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

/* Prints what the threads made, how much of it the profile has, and its counts of losses. */
static int program(bool kills, const char *path)
{
	struct xsprof_experimental all = { .size = sizeof(all), .all_threads = true };
	struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO, .experimental = &all,
	};
	struct work work[THREADS] = { 0 };
	struct xsprof_result *r;
	uint64_t made = 0;
	char *text, *lost, *bad;

	if (xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0))
		return 3;
	for (unsigned int k = 0; k < THREADS; k++)
		if (pthread_create(&work[k].thread, NULL, works, &work[k]))
			return 4;
	usleep(300000);
	if (kills)
		kill(getppid(), SIGKILL);
	/* By then the library has noticed; if not, more is left to read at the end. */
	sleep(2);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned int k = 0; k < THREADS; k++) {
		pthread_join(work[k].thread, NULL);
		made += work[k].made;
	}
	if (xsprof_disable_profiler(&r) || xsprof_result_save(r, path))
		return 5;
	text = read_file(path);
	lost = strstr(text, "\"xsprof_lost_records\":");
	bad = strstr(text, "\"xsprof_bad_slots\":");
	if (!lost || !bad)
		return 6;
	printf("made %llu got %u %u lost %d bad %d\n", (unsigned long long)made,
	       count(text, "\"name\":\"an op\""), count(text, "\"name\":\"a mark\""),
	       atoi(strpbrk(lost, "0123456789")), atoi(strpbrk(bad, "0123456789")));
	return 0;
}

/* ---- the test -------------------------------------------------------------------------------- */

static int run_recorded(const char *self, const char *how, const char *dir, char *said, size_t size)
{
	char capture[80], json[80];
	int out[2], status;
	ssize_t n, at = 0;
	pid_t pid;

	snprintf(capture, sizeof(capture), "%s/capture", dir);
	snprintf(json, sizeof(json), "%s/json", dir);
	if (pipe(out))
		tap_bail("no pipe");
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execlp("xsprof", "xsprof", "record", "-d", *how == 'k' ? "1000" : "0.3", "-o",
		       capture, "--", self, how, json, NULL);
		_exit(127);
	}
	close(out[1]);
	/* The recorder ends long before the program, which has the pipe open. */
	while ((n = read(out[0], said + at, size - 1 - (size_t)at)) > 0)
		at += n;
	said[at] = '\0';
	close(out[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void test(const char *self, bool in_order)
{
	unsigned long long made, ops, marks, lost, bad, missing;
	char dir[] = "/dev/shm/xsprof-test.XXXXXX", said[400], rm[64];

	if (!mkdtemp(dir))
		tap_bail("%s: %s", dir, strerror(errno));
	setenv("XSPROF_SHM_DIR", dir, 1);
	run_recorded(self, in_order ? "ends" : "kill", dir, said, sizeof(said));
	printf("# %s", said);
	if (sscanf(said, "made %llu got %llu %llu lost %llu bad %llu", &made, &ops, &marks, &lost,
		   &bad) != 5) {
		tap_wrong("the program says: %s", said);
	} else {
		missing = made - ops + made - marks;
		CHECK(made && ops <= made && marks <= made);
		CHECK(missing <= lost);
		CHECK_EQ(bad, 0);
		/* An op has two records. */
		CHECK(lost <= 2 * (made - ops) + (made - marks) + THREADS);
	}
	snprintf(rm, sizeof(rm), "rm -rf %s", dir);
	if (system(rm))
		tap_wrong("%s", rm);
	tap_result("a recorder that %s: what the profile has not is counted",
		   in_order ? "ends" : "is killed");
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return program(*argv[1] == 'k', argv[2]);
	unsetenv("XSPROF_SESSION");
	test(argv[0], true);
	test(argv[0], false);
	return tap_done();
}
