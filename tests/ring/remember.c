// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread remembers its CPU and that CPU's ring. A signal handler may run at any instruction of
 * the change, on another CPU, and change both: the pair always belongs together.
 *
 *	session XSPROF_BUFFER_SIZE=16k remember
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#include <xsprof/xsprof.h>

#include "common/tap.h"
#include "ring/rseq.h"

#define STEPS_MAX	200

static unsigned int step, at_step;	/* steps so far; the one whose handler writes */
static int cpu[2];

static void go_to(int to)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(to, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		tap_bail("sched_setaffinity: CPU %d", to);
}

static int two_cpus(void)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = i;
	return n;
}

static bool pair_holds(void)
{
	uint32_t of = (uint32_t)xsp_thread.key;

	return xsp_thread.key >> 32 == xsp_set.key >> 32 && of < xsp_set.nr &&
	       xsp_thread.ring == xsp_set.ring[of];
}

/* Writes markers until the pair is this CPU's; a preempted marker goes to a lock ring. */
static void write_here(int here)
{
	for (int i = 0; i < 1000; i++) {
		xsprof_instant(1);
		if ((uint32_t)xsp_thread.key == (uint32_t)here)
			return;
	}
	tap_wrong("CPU %d is not remembered", here);
}

static void on_trap(int sig)
{
	(void)sig;
	if (++step != at_step)
		return;
	go_to(cpu[1]);
	write_here(cpu[1]);
}

#if defined(__x86_64__)
#define TRAP_FLAG	0x100

static XSP_NOINLINE void stepped(void)
{
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
	xsp_seq_remember();
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG);
}
#else
static void stepped(void)
{
	xsp_seq_remember();
}
#endif

int main(void)
{
	struct sigaction act = { .sa_handler = on_trap };
	unsigned int cases = 0;

	if (two_cpus() < 2) {
		tap_skip("a handler on another CPU, at each instruction", "one CPU");
		return tap_done();
	}
	sigaction(SIGTRAP, &act, NULL);
	do {
		go_to(cpu[0]);
		write_here(cpu[0]);
		step = 0;
		at_step = ++cases;
		stepped();
		if (!pair_holds())
			tap_wrong("after step %u of %u the ring is not that of CPU %u", at_step,
				  step, (uint32_t)xsp_thread.key);
		write_here(step < at_step ? cpu[0] : cpu[1]);
		CHECK(pair_holds());
	} while (step >= at_step && cases < STEPS_MAX);
	CHECK(cases > 10 && cases < STEPS_MAX);
	tap_result("a handler on another CPU, at each of %u instructions", cases - 1);
	return tap_done();
}
