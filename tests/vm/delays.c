// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delays basic blocks of a module that is compiled with -fsanitize-coverage=trace-pc and linked to
 * this file: the compiler inserts a call of this function into each basic block. One call in SELDOM
 * spins for a while, so that rare races become frequent. It never sleeps or calls a function:
 * blocks run in any context, and objtool allows no calls in a function of this name.
 */
#include <linux/compiler.h>
#include <linux/processor.h>
#include <linux/timex.h>

#define SELDOM	64	/* one block in this many is delayed */
#define MOST	256	/* turns, of a microsecond or less in an emulated machine */

void __sanitizer_cov_trace_pc(void);

static unsigned long state = 1;		/* shared by all CPUs: races only make it more random */

notrace void __sanitizer_cov_trace_pc(void)
{
	unsigned long x = READ_ONCE(state) ^ random_get_entropy();

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	WRITE_ONCE(state, x);
	if (x % SELDOM)
		return;
	for (x = x / SELDOM % MOST; x; x--)
		cpu_relax();
}
