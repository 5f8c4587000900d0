// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The end of a handler on a virtual machine with an AMD processor.
 *
 * There a handler that does nothing was found to slow the interrupted loop down by up to 20 % until
 * the next interrupt, a millisecond or two later, while an interrupt alone costs 10 us. A VM exit
 * at the end of the handler ends that too. What is known points at the branch predictor: the host
 * clears it at each exit, as at the interrupt that brings the signal; the handler's way through the
 * kernel then trains it first, and the loop, which continues, does not learn its own branches well
 * again. Python's interpreter is one loop of indirect branches.
 */
#if defined(__x86_64__)
#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#endif

#include "collect/python/sample.h"

#if defined(__x86_64__)

#define HYPERVISOR	(1u << 31)	/* in ecx of leaf 1 */

#define TRIES		8
#define DEAR		30000u	/* ns: more than it gains */

static bool exits;
static uint64_t exit_ns;	/* how long one takes */

/* A program may have forbidden the instruction to a thread: then it raises SIGSEGV. */
static bool may_exit(void)
{
	return syscall(SYS_arch_prctl, ARCH_GET_CPUID, 0) == 1;
}

static void exit_once(void)
{
	unsigned int eax = 0, ebx, ecx = 0, edx;

	/*
	 * Each hypervisor answers this instruction itself. Volatile: the answer is unused, and some
	 * compilers remove the macros of <cpuid.h> then.
	 */
	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
}

/* Some guests answer it with the help of their own kernel, and in nested ones it takes longer. */
static uint64_t time_of_exit(void)
{
	uint64_t least = UINT64_MAX, begin, took;

	for (int i = 0; i < TRIES; i++) {
		begin = xsp_clock_ns(CLOCK_MONOTONIC);
		exit_once();
		took = xsp_clock_ns(CLOCK_MONOTONIC) - begin;
		least = took < least ? took : least;
	}
	return least;
}

void python_vm_exit_init(void)
{
	unsigned int eax, ebx, ecx, edx;
	static bool known;
	bool can;

	if (known)
		return;
	known = true;
	can = may_exit() && __get_cpuid(0, &eax, &ebx, &ecx, &edx) && ebx == signature_AMD_ebx &&
	      edx == signature_AMD_edx && ecx == signature_AMD_ecx &&
	      __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx & HYPERVISOR;
	exit_ns = can ? time_of_exit() : 0;
	exits = can && exit_ns < DEAR;
}

uint64_t python_vm_exit_ns(void)
{
	return exits ? exit_ns : 0;
}

void python_vm_exit(void)
{
	if (exits && may_exit())
		exit_once();
}

#else

void python_vm_exit_init(void)
{
}

uint64_t python_vm_exit_ns(void)
{
	return 0;
}

void python_vm_exit(void)
{
}

#endif
