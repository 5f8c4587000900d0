// SPDX-License-Identifier: LGPL-2.1-only
/*
 * CUPTI is ours, and is given back.
 *
 * Launches are as fast as before when CUPTI is given back that was taken before there were
 * contexts, as it is the first time.  Where it is taken again later, they stay some 0.6 us slower
 * for ever: that is CUPTI's.  cuptiFinalize() would mend that, and is not called: programs with
 * several threads crash of it.
 */
#include "gpu/cupti/local.h"

static void *subscriber;

/* CUPTI takes the time from here. */
static uint64_t now_ns(void)
{
	return xsprof_ticks_ns(xsprof_now());
}

/* All that comes before kinds are enabled has an effect only then. */
int cupti_attach(void)
{
	uint8_t zeroed = 1;
	size_t size = sizeof(zeroed);
	int err;

	(void)cupti.set_thread_id(CUPTI_THREAD_SYSTEM);
	err = cupti.set_timestamp(now_ns);
	/* For other tools, which must know of us; and for a budget, which needs callbacks. */
	if (!err)
		err = cupti.subscribe(&subscriber, cupti_probe_call, NULL);
	if (err) {
		subscriber = NULL;
		return err;
	}
	err = cupti.register_callbacks(cupti_pool_request, cupti_pool_complete);
	if (err)
		cupti_detach();
	else
		(void)cupti.set_attribute(CUPTI_ATTR_ZEROED, &size, &zeroed);
	return err;
}

void cupti_detach(void)
{
	if (subscriber)
		(void)cupti.unsubscribe(subscriber);
	subscriber = NULL;
}

bool cupti_attached(void)
{
	return subscriber;
}

void cupti_probe(bool on)
{
	if (on)
		cupti_probe_on(subscriber);
	else
		cupti_probe_off(subscriber);
}
