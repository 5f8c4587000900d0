// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The machine's counters and its clocks at one instant.  It never converts one into the other:
 * that is the decoder's, which sees all sync points.
 */
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "trace/ring-clock.h"

#define SYNC_TRIES	16

#if defined(__x86_64__)

/* Invariant: it runs at one rate in all power states, and the kernel keeps the CPUs' in step. */
static int tsc_invariant(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx))
		return 0;
	return edx >> 8 & 1;
}

uint32_t xsp_clock_kind(void)
{
	return tsc_invariant() ? XSPROF_CLOCK_TSC : XSPROF_CLOCK_MONO_RAW;
}

/* The fences keep the counter from being read early or late: rdtsc alone is not ordered. */
static uint64_t counter(void)
{
	uint64_t ticks;

	_mm_lfence();
	ticks = __rdtsc();
	_mm_lfence();
	return ticks;
}
#define COUNTER_KIND	XSPROF_CLOCK_TSC

#elif defined(__aarch64__)

uint32_t xsp_clock_kind(void)
{
	return XSPROF_CLOCK_CNTVCT;
}

static uint64_t counter(void)
{
	uint64_t ticks;

	__asm__ __volatile__("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r" (ticks) : : "memory");
	return ticks;
}
#define COUNTER_KIND	XSPROF_CLOCK_CNTVCT

#else

uint32_t xsp_clock_kind(void)
{
	return XSPROF_CLOCK_MONO_RAW;
}

static uint64_t counter(void)
{
	return xsp_clock_ns(CLOCK_MONOTONIC_RAW);
}
#define COUNTER_KIND	XSPROF_CLOCK_MONO_RAW

#endif

uint64_t xsp_ticks(uint32_t kind)
{
	return kind == COUNTER_KIND ? counter() : xsp_clock_ns(CLOCK_MONOTONIC_RAW);
}

static void sync_once(struct xsprof_sync *sync, uint32_t kind)
{
	uint64_t before, after, window;

	before = xsp_ticks(kind);
	sync->mono = xsp_clock_ns(CLOCK_MONOTONIC);
	sync->mono_raw = xsp_clock_ns(CLOCK_MONOTONIC_RAW);
	sync->boot = xsp_clock_ns(CLOCK_BOOTTIME);
	sync->real = xsp_clock_ns(CLOCK_REALTIME);
	after = xsp_ticks(kind);

	/* Counters of two CPUs may differ by a few ticks: never a window below zero. */
	window = after > before ? after - before : 0;
	sync->ticks = before + window / 2;
	sync->window = window > UINT32_MAX ? UINT32_MAX : window;
}

void xsp_sync_read(struct xsprof_sync *sync, uint32_t kind)
{
	struct xsprof_sync try;
	int i;

	memset(&try, 0, sizeof(try));
	try.kind = kind == COUNTER_KIND ? kind : XSPROF_CLOCK_MONO_RAW;
	for (i = 0; i < SYNC_TRIES; i++) {
		sync_once(&try, try.kind);
		if (!i || try.window < sync->window)
			*sync = try;
	}
}
