// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that uses the made-up device, without a collector; built with PLAIN it has no markers
 * either, and is not linked with xsprof.
 *
 *	jobs N		N steps, each with an op that launches a job
 *	bad N		N jobs that fail, and one that does not
 *	fork		two jobs, and three in a child
 *	exec		a job, then this program as "jobs 3"
 *	watch		a job every 10 ms until its input ends; says after one if a tool is there
 *	own		it is its own collector, of a device of another kind
 *	session FILE	five steps in a session, saved
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PLAIN
#include <xsprof/collector.h>
#include <xsprof/profiler.h>
#include <xsprof/result.h>
#endif

#include "toy.h"

#define JOB_NS	20000u

#ifdef PLAIN
static void step(uint64_t i)
{
	toy_launch((uint32_t)(i % TOY_QUEUES), "gemm", JOB_NS);
}

static int own(void)
{
	return 1;
}
#else
static void step(uint64_t i)
{
	const struct xsprof_op op = {
		.name = XSPROF_NAME("matmul"), .sequence = XSPROF_NO_SEQUENCE,
	};
	XSPROF_SCOPE("step");

	xsprof_op_begin(&op);
	toy_launch((uint32_t)(i % TOY_QUEUES), "gemm", JOB_NS);
	xsprof_op_end();
}

/* An activity with arguments in several records, and one whose first argument is too long. */
static void put_wide(struct xsprof_device_activity *a)
{
	struct xsprof_kv kv[30];
	char text[900], key[8];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (uint32_t i = 0; i < 30; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		kv[i] = xsprof_u64(xsprof_name(key), i);
	}
	a->name = XSPROF_NAME("wide_kernel");
	xsprof_device_activity(a, kv, 30);
	kv[0] = xsprof_str(XSPROF_NAME("text"), text);
	a->name = XSPROF_NAME("long_kernel");
	xsprof_device_activity(a, kv, 30);
}

/* Like a backend of PyTorch's PrivateUse1: no thread, no plug-in. */
static int own(void)
{
	static const struct xsprof_device_property properties[] = {
		{ .key = "cores", .number = 7 }, { .key = "maker", .text = "\"us\"" },
	};
	const struct xsprof_device device = {
		.size = sizeof(device), .kind = "npu", .index = 3, .name = "Own \"NPU\"\n3",
		.nr_properties = 2, .properties = properties,
	};
	struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_KERNEL, .name = XSPROF_NAME("own_kernel"),
		.context = 5, .stream = 6,
	};
	struct xsprof_device bad = device;
	int number = xsprof_device_add(&device);

	printf("number %d\n", number);
	bad.index = XSPROF_DEVICES_OF_KIND;
	printf("index %d\n", xsprof_device_add(&bad));
	bad.kind = "a kind of more than 23 bytes";
	printf("kind %d\n", xsprof_device_add(&bad));
	if (number < 0)
		return 1;
	a.device = (uint32_t)number;
	a.begin = xsprof_now();
	a.end = xsprof_now();
	xsprof_device_activity(&a, NULL, 0);
	put_wide(&a);
	a.kind = XSPROF_GPU_CUSTOM;
	a.name = XSPROF_NAME("decode");
	xsprof_device_activity(&a, NULL, 0);
	return xsprof_context_name(a.device, 5, "five") ||
	       xsprof_stream_name(a.device, 5, 6, "six");
}
#endif

static void run(uint64_t n);

/* A session of the program's own; writes the trace in the format of PyTorch's profiler. */
static int session(const char *path)
{
#ifndef PLAIN
	struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
	};
	struct xsprof_result *result = NULL;
	int err = xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU) |
					 XSPROF_ACTIVITY(PRIVATEUSE1), 0);

	run(5);
	if (!err)
		err = xsprof_disable_profiler(&result);
	if (!err)
		err = xsprof_result_save(result, path);
	return err != 0;
#else
	return !path;
#endif
}

static void run(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		step(i);
	toy_wait();
}

static int forks(void)
{
	int status;
	pid_t pid;

	run(2);
	pid = fork();
	if (!pid) {
		run(3);
		exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

static int watch(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	int had = -1, has;

	while (!poll(&in, 1, 10)) {
		run(1);
		has = toy_has_tool();
		if (has == had)
			continue;
		had = has;
		/* Before the input may end: a job that the tool sees, or does not. */
		run(1);
		printf("tool %d\n", has);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	if (!strcmp(what, "jobs")) {
		run(n);
	} else if (!strcmp(what, "bad")) {
		for (uint64_t i = 0; i < n; i++)
			toy_launch(0, "bad job", 0);
		run(1);
	} else if (!strcmp(what, "fork")) {
		return forks();
	} else if (!strcmp(what, "exec")) {
		run(1);
		execl("/proc/self/exe", argv[0], "jobs", "3", (char *)NULL);
		return 1;
	} else if (!strcmp(what, "watch")) {
		return watch();
	} else if (!strcmp(what, "own")) {
		return own();
	} else if (!strcmp(what, "session")) {
		return session(argv[2]);
	} else {
		return 2;
	}
	return 0;
}
