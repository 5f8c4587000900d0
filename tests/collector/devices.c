// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: devices WORD [N | UUID]
 *
 * A program that records devices itself:
 *
 *	twins		two devices of one kind and name, without a uuid
 *	interfaces	two interfaces use one device, and each numbers its streams from 1
 *	late		each call and kernel is recorded when the range around the call is over
 *	ranges		two threads launch in turns, each in a range of its own
 *	stream N	a kernel in stream N
 *	full		all numbers, each of a device of its own
 *	peer UUID	a copy from device 0, which has that uuid, to device 1, not described
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/collector.h>
#include <xsprof/xsprof.h>

#define MS	1000000u

static int add(const char *kind, uint32_t index, const char *uuid)
{
	const struct xsprof_device device = {
		.size = sizeof(device), .kind = kind, .index = index, .name = "Twin", .uuid = uuid,
	};

	return xsprof_device_add(&device);
}

/* A kernel from @begin for 1 ms, and the call of @thread that launched it at @called. */
static void put(int device, const char *name, uint32_t number, uint32_t thread, uint64_t called,
		uint64_t begin)
{
	struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_RUNTIME, .name = xsprof_name("launch"),
		.begin = called, .end = called + 1000, .device = (uint32_t)device, .context = 1,
		.stream = 1, .thread = thread,
		.correlation = XSPROF_CORRELATION((uint32_t)device) + number,
	};

	xsprof_device_activity(&a, NULL, 0);
	a.kind = XSPROF_GPU_KERNEL;
	a.name = xsprof_name(name);
	a.begin = begin;
	a.end = begin + MS;
	a.thread = 0;
	xsprof_device_activity(&a, NULL, 0);
}

/* The second overlaps the first. */
static void two(int a, int b)
{
	uint64_t now = xsprof_now();

	usleep(3000);
	put(a, "first", 1, xsprof_thread_id(), now, now + 2000);
	put(b, "second", 1, xsprof_thread_id(), now + 1000, now + MS / 2);
}

static void late(int device)
{
	for (uint32_t i = 1; i <= 10; i++) {
		uint64_t called;

		xsprof_emit_begin(xsprof_name("step"));
		called = xsprof_now();
		usleep(1000);
		xsprof_emit_end();
		put(device, "kernel", i, xsprof_thread_id(), called, called + 2000);
	}
}

static struct {
	pthread_barrier_t	turn;
	uint32_t		threads[2];
	uint64_t		called[2];
} in_ranges;

static void *launch(void *data)
{
	size_t me = (size_t)data;

	in_ranges.threads[me] = xsprof_thread_id();
	xsprof_emit_begin(xsprof_name(me ? "B" : "A"));
	in_ranges.called[me] = xsprof_now();
	pthread_barrier_wait(&in_ranges.turn);
	xsprof_emit_end();
	return NULL;
}

static void ranges(int device)
{
	pthread_t threads[2];
	uint64_t at;

	pthread_barrier_init(&in_ranges.turn, NULL, 2);
	for (size_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, launch, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	at = xsprof_now();
	usleep(10000);
	for (uint32_t i = 0; i < 4; i++)
		put(device, i % 2 ? "of B" : "of A", i + 1, in_ranges.threads[i % 2],
		    in_ranges.called[i % 2], at + 2 * i * MS);
}

static void full(void)
{
	char key[32], facts[80];

	for (int i = 0; i < 1024; i++) {
		snprintf(key, sizeof(key), "device.%d", i);
		snprintf(facts, sizeof(facts), "{\"id\": %d, \"uuid\": \"full %d\"}", i, i);
		xsprof_fact(key, facts);
	}
	xsprof_emit_instant(xsprof_name("full"), XSPROF_SCOPE_PROCESS);
}

static void stream(int device, uint32_t number)
{
	uint64_t now = xsprof_now();
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_KERNEL, .name = xsprof_name("kernel"),
		.begin = now - 1000, .end = now, .device = (uint32_t)device, .context = 1,
		.stream = number,
	};

	xsprof_device_activity(&a, NULL, 0);
}

static void peer(int device)
{
	uint64_t now = xsprof_now();
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_MEMCPY, .name = xsprof_name("copy"),
		.begin = now - 1000, .end = now, .device = (uint32_t)device, .context = 1,
		.stream = 1, .bytes = 1,
	};
	const struct xsprof_kv kv[] = {
		xsprof_u64(xsprof_name("fromDevice"), (uint32_t)device),
		xsprof_u64(xsprof_name("toDevice"), (uint32_t)device + 1),
		xsprof_u64(xsprof_name("devices (mask)"), 1u << device),
	};

	xsprof_device_activity(&a, kv, 3);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (!strcmp(word, "twins"))
		two(add("opencl", 0, NULL), add("opencl", 1, NULL));
	else if (!strcmp(word, "interfaces"))
		two(add("opencl", 0, "of both"), add("vulkan", 0, "of both"));
	else if (!strcmp(word, "late"))
		late(add("opencl", 0, NULL));
	else if (!strcmp(word, "ranges"))
		ranges(add("opencl", 0, NULL));
	else if (!strcmp(word, "full"))
		full();
	else if (!strcmp(word, "stream") && argc > 2)
		stream(add("cuda", 0, "a"), (uint32_t)strtoul(argv[2], NULL, 10));
	else if (!strcmp(word, "peer") && argc > 2)
		peer(add("cuda", 0, argv[2]));
	else
		return 2;
	return 0;
}
