/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * How much of an elapsed time was a thread's own. CPU time would say it, but needs a system call,
 * which costs more than what is measured, and for which a sandbox may kill the program. So work on
 * N things is compared with the shortest work per thing so far: what took out of proportion to that
 * is time in which the kernel ran others. Not known of the first such work: it is free.
 */
#ifndef XSP_PYTHON_OWN_TIME_H
#define XSP_PYTHON_OWN_TIME_H

#include <stdint.h>

/* Per thing, no work takes this many times as long as the shortest. */
#define PYTHON_OWN		64u
/* ns: less is a clock that stood still. */
#define PYTHON_OWN_LEAST	16u

/**
 * python_own_time() - the own part of an elapsed time
 * @least_ns: time for a thing in the shortest work, ns; 0 before the first
 * @elapsed: ns
 * @nr: number of things; 0: not known, or no measure for others
 * @fixed: what comes in addition to any number of them takes as long as this many
 *
 * Return: ns.
 */
static inline uint64_t python_own_time(uint64_t *least_ns, uint64_t elapsed, uint64_t nr,
				       uint64_t fixed)
{
	uint64_t most = PYTHON_OWN * *least_ns * (nr + fixed), each = elapsed / (nr + fixed);

	if (!nr && !*least_ns)
		return elapsed;
	if (each < PYTHON_OWN_LEAST)
		each = PYTHON_OWN_LEAST;
	if (nr && (!*least_ns || each < *least_ns))
		*least_ns = each;
	return elapsed < most ? elapsed : most;
}

#endif /* XSP_PYTHON_OWN_TIME_H */
