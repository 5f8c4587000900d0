// SPDX-License-Identifier: GPL-2.0-only
/*
 * A collector that misses seven jobs, and a program that fills all rings so that the counter of
 * these is lost: "overwrite" writes it and then more than a ring can hold; "full" first fills the
 * rings. The recorder, its parent, is stopped meanwhile: it reads the rings as they are filled.
 * "cancel" cancels the collector's thread, which goes on; "allow" has allowed it to be cancelled.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/collector.h>

#define RECORDS	100000
#define MISSED	7u

static struct xsprof_miss misses[] = { { .text = "jobs that nobody saw" } };

static const char *how = "";
static unsigned int works;

static uint64_t work(void *unused)
{
	(void)unused;
	if (!strcmp(how, "allow"))
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	if (!strcmp(how, "allow") || !strcmp(how, "cancel"))
		pthread_cancel(pthread_self());
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

int main(int argc, char **argv)
{
	bool full, shown;
	int err;

	how = argc > 1 ? argv[1] : "";
	full = !strcmp(how, "full");
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
