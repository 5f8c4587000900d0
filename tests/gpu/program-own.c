// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is the driver's or CUPTI's, for own.py; and a program that goes on, for details.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

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
