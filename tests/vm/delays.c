// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delays in a module that is compiled with -fsanitize-coverage=trace-pc, linked to it: the compiler
 * puts a call of this into each basic block.  Now and then it takes some time, so that what comes
 * in between seldom comes often.  Never sleeps, nor calls anything: the blocks are in any context,
 * and objtool lets a function of this name call nothing.
 */
#include <linux/compiler.h>
#include <linux/processor.h>
#include <linux/timex.h>

#define SELDOM	64	/* one block of so many */
#define MOST	256	/* turns, of a microsecond or less in an emulated machine */

void __sanitizer_cov_trace_pc(void);

static unsigned long state = 1;		/* of all CPUs: what races only makes it more random */

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
