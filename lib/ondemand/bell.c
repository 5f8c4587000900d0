// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The bell by which the library's thread waits.  Owns which word it is; never looks for what is to
 * be done.
 */
#include <errno.h>
#include <time.h>

#include "base/demand-page.h"
#include "ondemand/bell.h"

static uint32_t alone;		/* where there is no page */
static uint32_t *word = &alone;

void xsp_bell_set(uint32_t *bell)
{
	word = bell ? bell : &alone;
}

/* Acquire: what was stored before it was rung is seen by all looks that follow. */
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
 * xsp_bell_wait() - until the bell is rung
 * @seen: what it was before the thread looked for something to do
 * @ms: at the most; INT64_MAX: for ever
 */
void xsp_bell_wait(uint32_t seen, int64_t ms)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int err = xsp_demand_wait(word, seen, ms);

	/* Where there is no futex to be had (a filter of system calls): not without any rest. */
	if (err && err != -ETIMEDOUT)
		nanosleep(&pause, NULL);
}
