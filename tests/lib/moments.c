// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers at unusual moments: in constructors, before main, in destructors, at a thread's very end,
 * and in a signal handler over every call of the library.
 *
 *	session XSPROF_BUFFER_SIZE=1M moments
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <xsprof/xsprof.h>

#include "ring/collect.h"

static bool short_life;

__attribute__((constructor(102))) static void first(void)
{
	XSPROF_INSTANT("first constructor");
}

__attribute__((constructor)) static void constructor(void)
{
	XSPROF_INSTANT("constructor");
}

__attribute__((destructor)) static void destructor(void)
{
	if (short_life)
		XSPROF_INSTANT("destructor");
}

__attribute__((destructor(102))) static void last(void)
{
	if (short_life)
		XSPROF_INSTANT("last destructor");
}

static void at_exit(void)
{
	XSPROF_INSTANT("atexit");
}

static unsigned int count_text(const char *text)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < got.n; i++) {
		const char *name = collect_name(got.rec[i].name);

		n += name && !strcmp(name, text);
	}
	return n;
}

static void test_life(void)
{
	static const char *const want[] = {
		"first constructor", "constructor", "main", "atexit", "destructor",
		"last destructor",
	};
	char *argv[] = { (char *)"moments", (char *)"life", NULL };
	pid_t pid = fork();
	int status;

	if (!pid) {
		execv("/proc/self/exe", argv);
		_exit(126);
	}
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	CHECK_EQ(collect(pid), 6);
	for (unsigned int i = 0; i < 6; i++)
		CHECK_EQ(count_text(want[i]), 1);
	CHECK_EQ(got.state, XSPROF_STATE_EXITED);
	tap_result("from the first constructor to the last destructor");
}

static pthread_key_t keys[2];

static void end_of_thread(void *arg)
{
	XSPROF_INSTANT("key destructor");
	/* Again, in the next round of destructors. */
	if (arg == &keys[0])
		pthread_setspecific(keys[1], &keys[1]);
}

static void *short_thread(void *arg)
{
	pthread_setspecific(keys[0], &keys[0]);
	/* Half of the threads have no marker before. */
	if (arg)
		XSPROF_INSTANT("thread");
	return NULL;
}

static void test_thread_ends(void)
{
	pthread_t thread;

	pthread_key_create(&keys[0], end_of_thread);
	pthread_key_create(&keys[1], end_of_thread);
	collect(getpid());
	for (uintptr_t i = 0; i < 200; i++) {
		pthread_create(&thread, NULL, short_thread, (void *)(i & 1));
		pthread_join(thread, NULL);
	}
	collect(getpid());
	CHECK_EQ(count_text("key destructor"), 400);
	CHECK_EQ(count_text("thread"), 100);
	CHECK_EQ(got.drops, 0);
	tap_result("destructors of a thread's keys");
}

/* ---- a handler over everything ---- */

static volatile uint64_t handled;
static xsprof_name_t in_handler;

static void handler(int sig)
{
	struct xsprof_kv kv = xsprof_u64(in_handler, handled);
	int err = errno;

	(void)sig;
	errno = 17;
	if (handled & 1)
		xsprof_counter(in_handler, handled);
	else
		xsprof_instant_args(in_handler, &kv, 1);
	/* One signal's handler may interrupt the other's. */
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	/* Not documented as signal-safe; but it must not deadlock. */
	if (handled % 16 == 0)
		xsprof_name("named in a handler");
	if (errno != 17)
		_exit(95);
	errno = err;
}

/* Calls everything that takes the lock of the names, or takes long. */
static void everything(unsigned int round)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	char text[64];
	struct xsprof_kv kv[3];
	pid_t pid;

	for (unsigned int i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "name %u of round %u", i, round);
		kv[0] = kv[1] = kv[2] = xsprof_str(xsprof_name(text), text);
		xsprof_begin_args(xsprof_name(text), kv, 3);
		xsprof_thread_name(text);
		xsprof_category(text);
		xsprof_end();
		xsprof_get_stats(&stats);
	}
	pid = fork();
	if (!pid) {
		xsprof_instant(xsprof_name("child"));
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void hung(int sig)
{
	static const char text[] = "# wrong: hung\nnot ok 3 a handler over everything\n1..3\n";

	(void)sig;
	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void test_handler(void)
{
	struct itimerval every = { { 0, 70 }, { 0, 70 } }, off = { 0 };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	uint64_t drops, n = 0, before;

	in_handler = xsprof_name("handler");
	signal(SIGALRM, hung);
	alarm(100);
	collect(getpid());
	drops = got.drops;
	sigaction(SIGVTALRM, &sa, NULL);
	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	for (unsigned int round = 0; round < 20; round++) {
		before = handled;
		everything(round);
		for (unsigned int i = 0; i < 50; i++)
			raise(SIGVTALRM);
		CHECK(handled >= before + 50);
		collect(getpid());
		n += collect_count(0, in_handler);
	}
	setitimer(ITIMER_PROF, &off, NULL);
	collect(getpid());
	n += collect_count(0, in_handler);
	alarm(0);
	CHECK_EQ(n + got.drops - drops, handled);
	tap_note("%llu signals, %llu of their records dropped", (unsigned long long)handled,
		 (unsigned long long)(got.drops - drops));
	tap_result("a handler over everything");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "life")) {
		short_life = true;
		atexit(at_exit);
		XSPROF_INSTANT("main");
		return 0;
	}
	test_life();
	test_thread_ends();
	test_handler();
	return tap_done();
}
