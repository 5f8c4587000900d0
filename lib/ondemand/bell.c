// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The futex word on which the library's thread sleeps. Owns the choice of the word; does not look
 * for work.
 */
#include <errno.h>
#include <time.h>

#include "base/demand-page.h"
#include "ondemand/bell.h"

static uint32_t alone;		/* used without a control page */
static uint32_t *word = &alone;

void xsp_bell_set(uint32_t *bell)
{
	word = bell ? bell : &alone;
}

/* Acquire: reads after it see everything stored before the bell was rung. */
uint32_t xsp_bell_read(void)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void xsp_ondemand_wake(void)
{
	__atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
	xsp_demand_wake(word);
}

/**
 * xsp_bell_wait() - sleep until the bell is rung
 * @seen: its value before the thread looked for work
 * @ms: timeout; INT64_MAX: none
 */
void xsp_bell_wait(uint32_t seen, int64_t ms)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int err = xsp_demand_wait(word, seen, ms);

	/* Without futexes (a seccomp filter): sleep briefly instead of spinning. */
	if (err && err != -ETIMEDOUT)
		nanosleep(&pause, NULL);
}
