// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other parties of traces on demand: a hostile or missing daemon; `xsprof ctl` at the same time; a
 * forked child.
 *
 *	ondemand-peers path=0|1 [ctl=XSPROF]	without ctl, skips the tests of that tool
 */
#include <sys/syscall.h>
#include <sys/wait.h>

#include "profiler/demand-client.h"


#if defined(__SANITIZE_THREAD__)
#define TSAN	1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TSAN	1
#endif
#endif
#ifndef TSAN
#define TSAN	0
#endif

static void test_hostile(void)
{
	static const struct fake_head head[] = {
		{ .size = SIZE_MAX, .type = "req" },
		{ .size = 4096, .type = "req" },
		{ .size = 0, .type = "ctxt" },
	};
	static char junk[65000];

	forget();
	for (unsigned int i = 0; i < 3; i++) {
		fake_lies(&fake, &head[i], sizeof(head[i]), true);
		fake_more(&fake, &fake.requests, 2);
	}
	memset(junk, 0xee, sizeof(junk));
	fake_lies(&fake, junk, sizeof(junk), false);
	fake_more(&fake, &fake.requests, 2);
	memcpy(junk, &(struct fake_head){ .size = sizeof(junk) - 40, .type = "req" }, 40);
	fake_lies(&fake, junk, sizeof(junk), false);
	until_idle();
	CHECK_EQ(got.total, 0);
	now_please("still");
	until(SAVE, 1);
	until_idle();
	CHECK(taken("still", getpid()));
	tap_result("a hostile daemon does no harm");
}

static void test_gone(void)
{
	char name[108], path[300];
	bool same = true;

	fake_end(&fake);
	/* Polls without a daemon do not end the thread. */
	usleep(300000);
	CHECK(fake_start(&fake, by_path ? top : NULL));
	fake_until(&fake, &fake.contexts, 1);
	forget();
	now_please("again");
	until(SAVE, 1);
	until_idle();
	CHECK(taken("again", getpid()));
	tap_result("a daemon that vanishes and returns");

	pthread_mutex_lock(&fake.lock);
	snprintf(name, sizeof(name), "%s", fake.name);
	pthread_mutex_unlock(&fake.lock);
	if (by_path) {
		snprintf(path, sizeof(path), "%s/%s", top, name);
		CHECK_EQ(unlink(path), 0);
	} else {
		/* The library's descriptor is above 512; close all there, as daemons do. */
		for (int fd = 512; fd < 1024; fd++)
			syscall(SYS_close, fd);	/* not seen by TSan, which would report a race */
	}
	for (unsigned int i = 0; i < 1000 && same; i++) {
		fake_more(&fake, &fake.requests, 1);
		pthread_mutex_lock(&fake.lock);
		same = !strcmp(name, fake.name);
		pthread_mutex_unlock(&fake.lock);
	}
	CHECK(!same);
	forget();
	now_please("anew");
	until(SAVE, 1);
	until_idle();
	CHECK(taken("anew", getpid()));
	tap_result("a socket that somebody took away is made anew");
}

/* ---- xsprof ctl, of the same process ---- */

static const char *tool;
static char said[2000];

/* Return: its exit status. */
static int ctl(const char *verb, const char *file)
{
	char command[1000];
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "'%s' ctl %s -p %d %s%s 2>&1", tool, verb,
		 (int)getpid(), file ? "-o " : "", file ? in_traces(file) : "");
	f = popen(command, "r");
	if (!f)
		tap_bail("%s: %s", command, strerror(errno));
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	return WEXITSTATUS(pclose(f));
}

static bool is_written(const char *file)
{
	struct stat st;
	bool ok = !lstat(in_traces(file), &st) && S_ISREG(st.st_mode) && st.st_size == 5;

	unlink(in_traces(file));
	return ok;
}

static void *make_steps(void *unused)
{
	for (unsigned int i = 0; i < 10; i++)
		step();
	return unused;
}

static void *do_cancel(void *unused)
{
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	return unused;
}

static void test_ctl(void)
{
	unsigned int handed;

	if (!tool) {
		tap_skip("xsprof ctl beside the daemon", "no ctl=XSPROF was named");
		return;
	}
	forget();
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/long.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", traces, real_ms());
	until(START, 1);
	CHECK_EQ(ctl("start", "ctl.json"), 1);
	CHECK(strstr(said, "another trace is running, requested by the daemon"));
	CHECK_EQ(ctl("status", NULL), 0);
	CHECK(strstr(said, "recording, asked for by the daemon"));
	CHECK_EQ(ctl("snapshot", "part.json"), 0);
	CHECK(is_written("part.json"));
	CHECK_EQ(ctl("stop", NULL), 0);
	CHECK(strstr(said, trace_name("long", getpid())));
	until_idle();
	CHECK_ORDER(PREPARE, START, SO_FAR, STOP, SAVE);
	CHECK(taken("long", getpid()));
	tap_result("xsprof ctl beside the daemon: whose trace is first has it");

	forget();
	CHECK_EQ(ctl("start --shapes", "ctl.json"), 0);
	until(START, 1);
	handed = later_please("next", 3);
	CHECK_EQ(ctl("stop", NULL), 0);
	fake_until(&fake, &fake.handed, handed);
	until(SAVE, 2);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, SAVE, PREPARE, START, STOP, SAVE);
	CHECK(is_written("ctl.json"));
	CHECK(taken("next", getpid()));
	tap_result("the daemon's next one waits for the end of xsprof ctl's");

	iterations("steps", 0, 0, 0, 3, false);
	step();
	until(START, 1);
	__atomic_store_n(&meanwhile, make_steps, __ATOMIC_RELEASE);
	CHECK_EQ(ctl("snapshot", "part.json"), 0);
	step();
	until(SAVE, 1);
	until_idle();
	CHECK_ORDER(PREPARE, START, SO_FAR, STOP, SAVE);
	CHECK(is_written("part.json"));
	CHECK(taken("steps", getpid()));
	iterations("steps", 0, 0, 0, 3, false);
	step();
	until(START, 1);
	__atomic_store_n(&meanwhile, do_cancel, __ATOMIC_RELEASE);
	CHECK_EQ(ctl("snapshot", "part.json"), 0);
	until_idle();
	CHECK_ORDER(PREPARE, START, SO_FAR, STOP, DISCARD);
	CHECK(is_written("part.json"));
	__atomic_store_n(&meanwhile, NULL, __ATOMIC_RELEASE);
	tap_result("an end that comes while what there is so far is written comes after it");

	forget();
	CHECK_EQ(ctl("start --memory-snapshot", "memory.pickle"), 0);
	until(MEM_START, 1);
	CHECK_EQ(ctl("snapshot", "part.pickle"), 0);
	CHECK_EQ(ctl("stop", NULL), 0);
	until_idle();
	CHECK_ORDER(PREPARE, MEM_START, MEM_EXPORT, MEM_EXPORT, MEM_STOP);
	CHECK(is_written("part.pickle"));
	CHECK(is_written("memory.pickle"));
	tap_result("the client's memory profile: start, export, stop");
}

static void test_fork(void)
{
	const char *name = "a forked child has none of it, and may begin its own";
	int status = -1, end[2];
	char byte;
	pid_t pid;

	if (TSAN) {
		tap_skip(name, "TSan follows no fork from several threads");
		return;
	}
	CHECK_EQ(pipe2(end, O_CLOEXEC), 0);
	forget();
	fake_configure(&fake, "ACTIVITIES_LOG_FILE=%s/parent.json\nPROFILE_START_TIME=%lld\n"
		       "ACTIVITIES_DURATION_MSECS=3600000\n", traces, real_ms());
	until(START, 1);
	pthread_mutex_lock(&fake.lock);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* The child has no thread, no request of the parent's, and no socket. */
		unsigned int threads = entries("/proc/self/task");

		if (xsprof_ondemand_cancel() != -ENOENT)
			_exit(1);
		step();
		if (xsprof_register_client(NULL) || xsprof_ondemand_init() ||
		    entries("/proc/self/task") != threads + 1)
			_exit(2);
		close(end[1]);
		exit(read(end[0], &byte, 1) != 0);
	}
	close(end[0]);
	pthread_mutex_unlock(&fake.lock);
	/* The child polls for itself. */
	until_asks(pid);
	close(end[1]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(xsprof_ondemand_cancel(), 0);
	until_idle();
	CHECK_ORDER(PREPARE, START, STOP, DISCARD);
	tap_result("%s", name);
}

int main(int argc, char **argv)
{
	tool = arg_text(argc, argv, "ctl");
	if (!demand_begin(arg_number(argc, argv, "path", 0))) {
		printf("1..0 # SKIP another daemon has the name \"dynolog\" here\n");
		return 77;
	}
	CHECK_EQ(xsprof_register_client(&client), 0);
	CHECK_EQ(xsprof_ondemand_init(), 0);
	/* Make iterations. */
	step();
	test_hostile();
	test_ctl();
	test_gone();
	test_fork();
	demand_end();
	CHECK_EQ(sockets(), by_path);
	return tap_done();
}
