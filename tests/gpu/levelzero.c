// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program as the Level Zero collector sees it: it initialises Level Zero, calls functions, and a
 * device does work; all through stand-ins.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "tests/gpu/pti-stand-in.h"

#define ZE	1
#define SYCL	3
#define KERNEL	1

int zeInit(uint32_t flags);

static void one_of_each(void)
{
	uint32_t c;

	XSPROF_BEGIN("op");
	c = pti_stand_in_call(ZE, PTI_ZE_LAUNCH, 0);
	XSPROF_END();
	pti_stand_in_kernel(c, 0, 0x100, "axpy");
	c = pti_stand_in_call(ZE, PTI_ZE_COPY, 0);
	pti_stand_in_copy(c, 0, 0x100, 1 << 20);
	c = pti_stand_in_call(ZE, PTI_ZE_COPY, 0);
	pti_stand_in_peer(c, 0x200, 4096);
	c = pti_stand_in_call(ZE, PTI_ZE_FILL, 0);
	pti_stand_in_fill(c, 1, 0x300, 512);
	c = pti_stand_in_call(ZE, PTI_ZE_WAIT, 1);
	pti_stand_in_sync(c, 0x100, 6);
	/* Without a queue: its call says all. */
	pti_stand_in_sync(c, 0, 7);
	c = pti_stand_in_call(SYCL, 1, 0);
	pti_stand_in_kernel(c, 1, 0x300, NULL);
	(void)pti_stand_in_call(ZE, PTI_ZE_DEVICE_GET, 0);
	(void)pti_stand_in_call(ZE, PTI_ZE_NEWER, 0);
}

static void *launch_many(void *count)
{
	for (long i = 0; i < (long)count; i++)
		pti_stand_in_kernel(pti_stand_in_call(ZE, PTI_ZE_LAUNCH, 0), 0, 0x100, "axpy");
	return NULL;
}

static void threads(int nr, long each)
{
	pthread_t *v = calloc((size_t)nr, sizeof(*v));

	for (int i = 0; i < nr; i++)
		if (pthread_create(&v[i], NULL, launch_many, (void *)each))
			abort();
	for (int i = 0; i < nr; i++)
		pthread_join(v[i], NULL);
	free(v);
}

/* Two waits before their queue is known, and one whose queue stays unknown. */
static void early_waits(void)
{
	pti_stand_in_sync(pti_stand_in_call(ZE, PTI_ZE_WAIT, 0), 0x300, 6);
	pti_stand_in_sync(pti_stand_in_call(ZE, PTI_ZE_WAIT, 0), 0x400, 6);
	pti_stand_in_sync(pti_stand_in_call(ZE, PTI_ZE_LAUNCH, 0), 0x300, 1);
	pti_stand_in_kernel(pti_stand_in_call(ZE, PTI_ZE_LAUNCH, 0), 1, 0x300, "axpy");
}

static void on_each(long queues)
{
	for (long i = 0; i < queues; i++)
		pti_stand_in_kernel(pti_stand_in_call(ZE, PTI_ZE_LAUNCH, 0), 0,
				    0x100000 + (uintptr_t)i * 0x40, "axpy");
}

/* Waits for unknown queues, between two rounds of work in known ones. */
static void many_queues(long queues, long others)
{
	on_each(queues);
	for (long i = 0; i < others; i++)
		pti_stand_in_sync(pti_stand_in_call(ZE, PTI_ZE_WAIT, 0),
				  0x9000000 + (uintptr_t)i * 0x40, 6);
	on_each(queues);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "each";
	long n = argc > 2 ? atol(argv[2]) : 0;

	pti_stand_in.old = getenv("PTI_STAND_IN_OLD");
	pti_stand_in.refuse = !strcmp(what, "tracing") ? 51 : !strcmp(what, "refused") ? 200 : 0;
	pti_stand_in.empty = !strcmp(what, "empty");
	pti_stand_in.no_time = !strcmp(what, "no-time");
	pti_stand_in.strange = !strcmp(what, "strange");
	pti_stand_in.broken = !strcmp(what, "broken");
	pti_stand_in.reverse = !strcmp(what, "reverse");
	/* A program that uses none of it: the library is loaded, but not called. */
	if (!strcmp(what, "nothing"))
		return 0;
	printf("zeInit: %#x\n", (unsigned int)zeInit(0));
	(void)zeInit(0);
	if (!strcmp(what, "many"))
		threads(4, n);
	else if (!strcmp(what, "dropped"))
		threads((int)n, 1);
	else if (!strcmp(what, "waits"))
		early_waits();
	else if (!strcmp(what, "queues"))
		many_queues(n, argc > 3 ? atol(argv[3]) : 0);
	else
		one_of_each();
	if (!strcmp(what, "fork")) {
		if (!fork()) {
			one_of_each();
			exit(0);
		}
		wait(NULL);
	}
	if (!strcmp(what, "reverse"))
		threads(20, 30);
	if (!strcmp(what, "pause")) {
		/* Paused for longer than the collector's period: views go off, then on again. */
		xsprof_pause();
		sleep(1);
		printf("paused: %u\n", pti_stand_in_enabled[KERNEL]);
		one_of_each();
		xsprof_resume();
		sleep(1);
		printf("resumed: %u\n", pti_stand_in_enabled[KERNEL]);
		one_of_each();
	}
	printf("refused: %u\n", pti_stand_in_refused);
	fflush(stdout);
	if (!strcmp(what, "_exit"))
		_exit(0);
	return 0;
}
