// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that writes markers until it is killed, controlled by signals:
 *
 *	beat FILE [count N | noise | op]
 *
 * FILE gets its process id after some beats. Each beat is a range "step" with "read" (category io)
 * and "send" (category net) in it. SIGUSR1: it stays in step > collective "nccl:all_reduce" for
 * ever. SIGUSR2: it leaves it at once. "count N": before the beats, N counters "n" in one go,
 * counting up from 0. "noise": another thread writes counters "n" as fast as it can, on the first
 * allowed CPU; the beats are on the last. "op": what it stays in is an op.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/profiler.h>

static volatile sig_atomic_t asked;

static void on_signal(int sig)
{
	asked = sig;
}

static void stay_on(bool last)
{
	cpu_set_t all, one;
	int cpu, found = -1;

	if (sched_getaffinity(0, sizeof(all), &all))
		exit(94);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && (last || found < 0))
			found = cpu;
	CPU_ZERO(&one);
	CPU_SET(found, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		exit(95);
}

static void *noise(void *unused)
{
	uint32_t name = xsprof_name("n");
	int64_t i;

	(void)unused;
	stay_on(false);
	for (i = 0; ; i++)
		xsprof_counter(name, i);
	return NULL;
}

static void tell(const char *path)
{
	char tmp[4096];
	FILE *file;

	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	file = fopen(tmp, "w");
	if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) ||
	    rename(tmp, path))
		exit(90);
}

static void stay(bool in_op)
{
	uint32_t name = xsprof_name("nccl:all_reduce");
	struct xsprof_op op = {
		.name = name, .sequence = XSPROF_NO_SEQUENCE, .record_function_id = 1,
	};

	if (in_op)
		xsprof_op_begin(&op);
	else
		xsprof_begin(name);
	while (asked == SIGUSR1)
		pause();
	asked = 0;
	if (in_op)
		xsprof_op_end();
	else
		xsprof_end();
}

int main(int argc, char **argv)
{
	int io = xsprof_category("io"), net = xsprof_category("net");
	uint32_t step = xsprof_name("step"), n = xsprof_name("n");
	uint32_t read = xsprof_name_in(io, "read"), send = xsprof_name_in(net, "send");
	pthread_t t;
	int64_t i;

	if (argc < 2)
		return 92;
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	if (argc > 3 && !strcmp(argv[2], "count"))
		for (i = 0; i < atol(argv[3]); i++)
			xsprof_counter(n, i);
	if (argc > 2 && !strcmp(argv[2], "noise")) {
		if (pthread_create(&t, NULL, noise, NULL))
			return 93;
		/* The new thread inherits this affinity: wait until it has set its own. */
		usleep(100000);
		stay_on(true);
	}
	for (i = 0; ; i++) {
		xsprof_begin(step);
		xsprof_begin(read);
		xsprof_end();
		xsprof_begin(send);
		xsprof_end();
		if (asked)
			stay(argc > 2 && !strcmp(argv[2], "op"));
		xsprof_end();
		usleep(1000);
		if (i == 10)
			tell(argv[1]);
	}
}
