// SPDX-License-Identifier: GPL-2.0-only
/*
 * A collector that misses seven jobs, and a program that fills all rings so that the counter of
 * these is lost: "overwrite" writes it and then more than a ring can hold; "full" first fills the
 * rings. The recorder, its parent, is stopped meanwhile: it reads the rings as they are filled.
 * "cancel" cancels the collector's thread, which goes on; "allow" has allowed it to be cancelled.
 * "session" cancels a thread of the program that ends a session, and "clock" one that reads the
 * clock's rate: neither keeps others waiting.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/collector.h>
#include <xsprof/profiler.h>

#define RECORDS	100000
#define MISSED	7u

static struct xsprof_miss misses[] = { { .text = "jobs that nobody saw" } };

static const char *how = "";
static unsigned int works;
static bool ready;

static uint64_t work(void *unused)
{
	(void)unused;
	if (!strcmp(how, "allow"))
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	if (!strcmp(how, "allow") || !strcmp(how, "cancel"))
		pthread_cancel(pthread_self());
	if (!strcmp(how, "session"))
		usleep(500000);
	__atomic_add_fetch(&works, 1, __ATOMIC_RELAXED);
	return 1000000;
}

static struct xsprof_collector collector = {
	.size = sizeof(collector), .version = XSPROF_COLLECTOR_VERSION, .name = "blind",
	.category = "blind", .misses = misses, .nr_misses = 1, .work = work,
};

/* Fills the ring of each CPU. */
static void fill(void)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		for (int i = 0; i < RECORDS; i++)
			XSPROF_INSTANT("filler");
	}
	sched_setaffinity(0, sizeof(all), &all);
}

/* Return: whether the collector's thread has written the counter, as far as it knows. */
static bool miss(void)
{
	xsprof_collector_missed(&misses[0], MISSED);
	xsprof_collector_wake(&collector);
	for (int i = 0; i < 3000; i++, usleep(10000))
		if (__atomic_load_n(&misses[0].shown, __ATOMIC_ACQUIRE) == MISSED)
			return true;
	return false;
}

/* Return: 0: work() is called again and again. */
static int cancelled(void)
{
	for (int i = 0; i < 500; i++, usleep(10000))
		if (__atomic_load_n(&works, __ATOMIC_RELAXED) >= 5)
			return 0;
	return 1;
}

/* Waits for the end of work(), which has just begun. */
static void *end_session(void *unused)
{
	const struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
	};
	struct xsprof_result *result = NULL;

	(void)unused;
	if (xsprof_enable_profiler(&config, 3, 0) || xsprof_collector_add(&collector))
		return NULL;
	while (__atomic_load_n(&works, __ATOMIC_ACQUIRE) < 2)
		usleep(1000);
	__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
	(void)xsprof_disable_profiler(&result);
	return NULL;
}

/* It measures the clock's rate first, for some milliseconds. */
static void *read_clock(void *unused)
{
	(void)unused;
	__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
	(void)xsprof_ticks_ns(0);
	return NULL;
}

/* Return: 0: others can do what the cancelled thread did. */
static int cancel_in(void *(*function)(void *unused), useconds_t after)
{
	const struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
	};
	struct xsprof_result *result = NULL;
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL))
		return 1;
	for (int i = 0; i < 30000 && !__atomic_load_n(&ready, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
	usleep(after);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	if (function == end_session && (xsprof_enable_profiler(&config, 3, 0) ||
					xsprof_disable_profiler(&result)))
		return 1;
	return !ready || !xsprof_ticks_ns(xsprof_now());
}

int main(int argc, char **argv)
{
	bool full, shown;
	int err;

	how = argc > 1 ? argv[1] : "";
	full = !strcmp(how, "full");
	if (!strcmp(how, "clock"))
		return cancel_in(read_clock, 2000);
	if (!strcmp(how, "session"))
		return cancel_in(end_session, 100000);
	err = xsprof_collector_add(&collector);

	if (err) {
		printf("xsprof_collector_add: %d\n", err);
		return 1;
	}
	if (!strcmp(how, "cancel") || !strcmp(how, "allow"))
		return cancelled();
	kill(getppid(), SIGSTOP);
	if (full)
		fill();
	shown = miss();
	if (!full)
		fill();
	kill(getppid(), SIGCONT);
	return !shown;
}
