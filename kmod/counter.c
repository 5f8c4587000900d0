// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counter of timestamps: its kind on this machine, how to read it, and whether it is reliable.
 * It does not know producers.
 *
 * A producer's counter is chosen at attach and never changes, since times in a ring must keep their
 * meaning. If the counter turns out to be unreliable, later producers get CLOCK_MONOTONIC_RAW.
 */
#include <linux/ktime.h>

#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#endif

#include "xsprof.h"

#define TRIES		8

static u32 machine_kind;	/* the counter of this machine's sync points */
static bool trusted;		/* new producers may use it too */

#if defined(CONFIG_X86)

#define COUNTER_KIND	XSPROF_CLOCK_TSC

static u64 counter(void)
{
	return rdtsc_ordered();
}

static u64 counter_freq(void)
{
	return (u64)tsc_khz * 1000;
}

static bool counter_marked_unstable(void)
{
	return check_tsc_unstable();
}

/* The processor reports a constant rate in all power states. */
static bool counter_invariant(void)
{
	return boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && boot_cpu_has(X86_FEATURE_NONSTOP_TSC);
}

#elif defined(CONFIG_ARM64)

#define COUNTER_KIND	XSPROF_CLOCK_CNTVCT

static u64 counter(void)
{
	u64 ticks;

	isb();
	ticks = read_sysreg(cntvct_el0);
	isb();
	return ticks;
}

static u64 counter_freq(void)
{
	return read_sysreg(cntfrq_el0);
}

static bool counter_marked_unstable(void)
{
	return false;
}

static bool counter_invariant(void)
{
	return true;
}

#else

#define COUNTER_KIND	XSPROF_CLOCK_MONO_RAW

static u64 counter(void)
{
	return ktime_get_raw_ns();
}

static u64 counter_freq(void)
{
	return NSEC_PER_SEC;
}

static bool counter_marked_unstable(void)
{
	return true;
}

static bool counter_invariant(void)
{
	return false;
}

#endif

u64 xsp_counter_ticks(u32 kind)
{
	return kind == COUNTER_KIND ? counter() : ktime_get_raw_ns();
}

/* Usable in any context; without a counter it may go back a little. */
u64 xsp_counter_ticks_fast(u32 kind)
{
	return kind == XSPROF_CLOCK_MONO_RAW ? ktime_get_raw_fast_ns() : counter();
}

/*
 * Does the kernel's own time use it? Virtual machines often hide that the counter is invariant, but
 * use it. If the clocksource is this counter, its value lies between two reads of the counter;
 * another one's soon does not.
 */
static bool counter_is_clocksource(void)
{
	u64 before, cycles, after;
	int i;

	for (i = 0; i < TRIES; i++) {
		before = counter();
		cycles = xsp_clocksource_cycles();
		after = counter();
		if (cycles < before || cycles > after)
			return false;
	}
	return true;
}

static bool counter_can_be_trusted(void)
{
	return !counter_marked_unstable() && (counter_invariant() || counter_is_clocksource());
}

/* The counter of the machine's sync points. */
u32 xsp_counter_machine_kind(void)
{
	return machine_kind;
}

/* Its frequency in Hz. */
u64 xsp_counter_freq(void)
{
	return machine_kind == COUNTER_KIND ? counter_freq() : NSEC_PER_SEC;
}

/* The counter of new producers: the machine's may have become unreliable. */
u32 xsp_counter_kind(void)
{
	if (!READ_ONCE(trusted) || counter_marked_unstable())
		return XSPROF_CLOCK_MONO_RAW;
	return machine_kind;
}

/* Return: true once, when the counter has become unreliable. One caller at a time. */
bool xsp_counter_lost_trust(void)
{
	if (machine_kind != COUNTER_KIND || !trusted || !counter_marked_unstable())
		return false;
	WRITE_ONCE(trusted, false);
	return true;
}

void xsp_counter_init(void)
{
	trusted = counter_can_be_trusted();
	machine_kind = trusted ? COUNTER_KIND : XSPROF_CLOCK_MONO_RAW;
}
