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

static void call(void *unused, uint32_t domain, uint32_t id, const void *info)
{
	if (cupti_metrics_by_kernel())
		cupti_ranges_call(domain, id, info);
	if (domain != CUPTI_DOMAIN_RESOURCE)
		cupti_probe_call(unused, domain, id, info);
	else if (id == CUPTI_NODE_CREATED || id == CUPTI_NODE_CLONED)
		cupti_nodes_call(id, info);
}

/* All that comes before kinds are enabled has an effect only then. */
int cupti_attach(void)
{
	uint8_t zeroed = 1;
	size_t size = sizeof(zeroed);
	int err;

	(void)cupti.set_thread_id(CUPTI_THREAD_SYSTEM);
	err = cupti.set_timestamp(now_ns);
	/* For other tools, which must know of us; for nodes of graphs, and for a budget. */
	if (!err)
		err = cupti.subscribe(&subscriber, call, NULL);
	if (err) {
		subscriber = NULL;
		return err;
	}
	err = cupti.register_callbacks(cupti_pool_request, cupti_pool_complete);
	if (err) {
		cupti_detach();
		return err;
	}
	(void)cupti.set_attribute(CUPTI_ATTR_ZEROED, &size, &zeroed);
	cupti_nodes_on(subscriber);
	cupti_ranges_attach(subscriber);
	return 0;
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
