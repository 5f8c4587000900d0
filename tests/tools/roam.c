// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that writes on one CPU, then long on another, and returns in the middle of a step:
 *
 *	roam STEPS PID
 *
 * Each step is a range "step" with "work" in it, and ten ranges "op" in that. Some steps run on the
 * first allowed CPU, STEPS on the last, some on the first again; each change of CPU is inside a
 * step, so both rings have begins without ends. Then STEPS plus a third run on the last CPU, the
 * most that an overwritten ring keeps. It prints the time of the longest step in ns, by its own
 * clock, taken around the markers. While it is on the last CPU for the first time, it stops process
 * PID, if that is not 0.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

static int first_cpu = -1, last_cpu;
static long long longest;

static void find_cpus(void)
{
	cpu_set_t all;

	if (sched_getaffinity(0, sizeof(all), &all))
		exit(94);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		first_cpu = first_cpu < 0 ? cpu : first_cpu;
		last_cpu = cpu;
	}
}

static void go_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		exit(95);
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void work(int cpu)
{
	XSPROF_SCOPE("work");
	if (cpu >= 0)
		go_to(cpu);
	for (int i = 0; i < 10; i++) {
		XSPROF_SCOPE("op");
		usleep(1);
	}
}

/* A step; inside it the thread moves to @cpu, unless that is -1. */
static void step(int cpu)
{
	long long begin = now(), time;

	{
		XSPROF_SCOPE("step");
		work(cpu);
	}
	time = now() - begin;
	longest = time > longest ? time : longest;
}

int main(int argc, char **argv)
{
	long steps = argc == 3 ? atol(argv[1]) : 0, i;
	pid_t recorder = argc == 3 ? atoi(argv[2]) : 0;

	find_cpus();
	if (steps < 1 || first_cpu == last_cpu)
		return 96;
	go_to(first_cpu);
	for (i = 0; i < 20; i++)
		step(-1);
	if (recorder && kill(recorder, SIGSTOP))
		return 97;
	step(last_cpu);
	for (i = 0; i < steps; i++)
		step(-1);
	step(first_cpu);
	if (recorder && kill(recorder, SIGCONT))
		return 98;
	for (i = 0; i < 20; i++)
		step(-1);
	step(last_cpu);
	for (i = 0; i < steps + steps / 3; i++)
		step(-1);
	printf("%lld\n", longest);
	return 0;
}
