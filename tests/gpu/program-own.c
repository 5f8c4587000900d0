// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is the driver's or CUPTI's, for own.py; and a program that goes on, for details.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "gpu/cupti/cupti-abi.h"
#include "tests/gpu/program.h"
#include "tests/gpu/stand-in.h"

#define DETAILS	100u

/* Details of overheads, which the collector has to free. */
void __libc_free(void *p);
static void *of_overheads[DETAILS];
static uint32_t nr_details, nr_freed;

void free(void *p)
{
	uint32_t nr = __atomic_load_n(&nr_details, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; __builtin_expect(p && i < nr, 0); i++)
		if (of_overheads[i] == p) {
			of_overheads[i] = NULL;
			__atomic_fetch_add(&nr_freed, 1, __ATOMIC_RELAXED);
		}
	__libc_free(p);
}

void overheads(void)
{
	for (uint32_t i = 0; i < DETAILS; i++) {
		of_overheads[i] = malloc(64);
		__atomic_store_n(&nr_details, i + 1, __ATOMIC_RELEASE);
		stand_in_overhead_with(6u << 16, 1000, of_overheads[i]);
	}
	for (int i = 0; i < 600 && __atomic_load_n(&nr_freed, __ATOMIC_RELAXED) < DETAILS; i++)
		usleep(50000);
	printf("freed: %u\n", nr_freed);
}

void driver_works(void)
{
	stand_in_device(3);
	for (int i = 0; i < 40; i++, usleep(50000)) {
		stand_in_overhead_with(4u << 16, 10000000, NULL);
		stand_in_overhead_with(5u << 16, 20000000, NULL);
		stand_in_overhead_with(6u << 16, 10000000, NULL);
		stand_in_overhead_with(1, 5000000, NULL);
	}
	stand_in_kernel(stand_in_call(false, 1), 7, "_Z4axpyPKfPfi", 0);
}

/* Paused for longer than the collector's period: kinds go off, then on again. */
void given_back(void)
{
	xsprof_pause();
	sleep(2);
	printf("paused: %u, zeroed: %u, buffers: %zu\n", stand_in_enabled[CUPTI_KERNEL],
	       stand_in_zeroed, stand_in_buffers);
	printf("defaults: clock %d, thread ids %u, all waits %u\n", stand_in_is_realtime(),
	       stand_in_thread_type, stand_in_all_waits);
	xsprof_resume();
	sleep(2);
	printf("resumed: %u, buffers: %zu\n", stand_in_enabled[CUPTI_KERNEL], stand_in_buffers);
	printf("ours: clock %d, thread ids %u, all waits %u\n", !stand_in_is_realtime(),
	       stand_in_thread_type, stand_in_all_waits);
}

static void launch_late(void)
{
	stand_in_kernel(stand_in_call(false, 1), 7, "late", 0);
}

/* Launches while CUPTI is given back. A buffer that CUPTI keeps then is never returned. */
void paused_late(void)
{
	stand_in_after_flush = launch_late;
	xsprof_pause();
	sleep(2);
	stand_in_after_flush = NULL;
	printf("paused: %u, kept: %u\n", stand_in_enabled[CUPTI_KERNEL], stand_in_kept());
}

void recordings(long n)
{
	stand_in_device(3);
	for (long i = 0; i < 2 * n; i++) {
		if (i == n)
			sleep(1);
		stand_in_event(stand_in_call(false, 1), 20, 13, 200 + (uint64_t)i);
		stand_in_sync_event(stand_in_call(false, 1), 21, 13, 200 + (uint64_t)i);
	}
}

void peer(void)
{
	stand_in_peer(stand_in_call(false, 2), 8, 4096);
	stand_in_sync_in(stand_in_call(false, 4), 3);
}

void unified(const char *what)
{
	stand_in_device(3);
	if (!strcmp(what, "unified-late"))
		sleep(1);
	stand_in_managed(1, 65536);
	stand_in_managed(2, 4096);
	stand_in_managed_with(3, 0x401000, 7, 7, 2);
	stand_in_managed_with(4, 3, 1, 7, 1);
	stand_in_thrashing(0, 6, 0);
	stand_in_thrashing(0, 6, 1);
	stand_in_managed_with(6, 0, 1, 7, 0);
	stand_in_managed_with(6, 0, UINT32_MAX, 7, 1);
	stand_in_managed_with(7, 4096, UINT32_MAX, 1, 4);
	stand_in_managed_with(7, 4096, 1, UINT32_MAX, 99);
	/* By no device; and by devices of which only newer versions tell. */
	stand_in_thrashing(0, 0, 0);
	stand_in_thrashing(70, 3, 0);
}

static void allocate(uint64_t address, uint64_t bytes, uint64_t when)
{
	stand_in_memory_at(stand_in_call(false, 1), true, address, bytes, when);
}

static void release(uint64_t address, uint64_t bytes)
{
	stand_in_memory_at(stand_in_call(false, 1), false, address, bytes, stand_in_now());
}

void memory(void)
{
	uint64_t when = stand_in_now();
	uint32_t calls[3];

	stand_in_device(3);
	allocate(0xa000, 65536, stand_in_now());
	/* Allocated before the recording; and reported before its allocation. */
	release(0x1000, 4096);
	release(0xb000, 1 << 20);
	sleep(1);
	allocate(0xb000, 1 << 20, when);
	/* At one time, in another order than that of the calls. */
	for (int i = 0; i < 3; i++)
		calls[i] = stand_in_call(false, 1);
	when = stand_in_now();
	stand_in_memory_at(calls[2], true, 0xd000, 512, when);
	stand_in_memory_at(calls[1], false, 0xd000, 256, when);
	stand_in_memory_at(calls[0], true, 0xd000, 256, when);
	/* There was a free that is not reported. */
	allocate(0xa000, 1024, stand_in_now());
	sleep(1);
	xsprof_pause();
	sleep(2);
	xsprof_resume();
	sleep(2);
	allocate(0xe000, 2048, stand_in_now());
	release(0xd000, 513);
	sleep(1);
	when = stand_in_now();
	stand_in.dropped = 3;
	allocate(0xf000, 100, when);
	sleep(1);
	allocate(0x11000, 300, stand_in_now());
}

void memory_many(long n)
{
	stand_in_device(3);
	for (long i = 1; i <= n; i++)
		stand_in_memory_at((uint32_t)i, true, 0x7f0000000000 + 512 * (uint64_t)i, 512,
				   stand_in_now());
}

void queries(long n)
{
	stand_in_device(3);
	for (long i = 0; i < n; i++)
		stand_in_query(stand_in_call(false, 3), 7);
	stand_in_sync(stand_in_call(false, 4), 7, 3);
}

void program_goes_on(void)
{
	for (int i = 0; i < 6000 && xsprof_enabled(); i++) {
		XSPROF_BEGIN("range");
		usleep(50000);
		XSPROF_END();
	}
	sleep(1);
}
