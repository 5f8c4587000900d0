// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads the machine's counters, and all its clocks at one instant. Converts none into another: that
 * is done by the decoder, which sees all sync points.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "base/clock.h"

#define SYNC_TRIES	16

#if defined(__x86_64__)

/*
 * Invariant: the TSC runs at one rate in all power states, and the kernel keeps the CPUs' TSCs in
 * step.
 */
static int tsc_invariant(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx))
		return 0;
	return edx >> 8 & 1;
}

/*
 * Does a file of the kernel's clocksources contain the word "tsc"? Return: -1 if the file does not
 * exist. System calls only: a forked child calls this in a signal handler.
 */
static int names_tsc(const char *path)
{
	char text[256], *word = text;
	ssize_t n = -1;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n < 0)
		return -1;
	text[n] = '\0';
	while (*word) {
		size_t len = strcspn(word, " \n");

		if (len == 3 && !memcmp(word, "tsc", 3))
			return 1;
		word += len + strspn(word + len, " \n");
	}
	return 0;
}

#define CLOCKSOURCE	"/sys/devices/system/clocksource/clocksource0/"

/*
 * The kernel measures what the processor only claims: it removes a counter that proves unstable
 * from its list. If the kernel itself keeps time with the TSC, the TSC is good whatever CPUID says,
 * which in virtual machines is often nothing.
 */
static uint32_t find_kind(void)
{
	if (names_tsc(CLOCKSOURCE "current_clocksource") == 1)
		return XSPROF_CLOCK_TSC;
	if (tsc_invariant() && names_tsc(CLOCKSOURCE "available_clocksource") != 0)
		return XSPROF_CLOCK_TSC;
	return XSPROF_CLOCK_MONO_RAW;
}

uint32_t xsp_clock_kind(void)
{
	static uint32_t known;
	uint32_t kind = __atomic_load_n(&known, __ATOMIC_RELAXED);

	/* Threads that race here find the same. */
	if (!kind) {
		int err = errno;

		kind = find_kind();
		errno = err;
		__atomic_store_n(&known, kind, __ATOMIC_RELAXED);
	}
	return kind;
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

	/* Counters of two CPUs may differ by a few ticks: the window is never below zero. */
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
