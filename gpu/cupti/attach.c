// SPDX-License-Identifier: LGPL-2.1-only
/*
 * CUPTI is ours, and is given back.
 *
 * Launches are as fast as before when CUPTI is given back that was taken before there were
 * contexts, as it is the first time.  Where it is taken again later, they stay some 0.6 us slower
 * for ever: that is CUPTI's.  cuptiFinalize() would mend that, and is not called: programs with
 * several threads crash of it.
 */
#include <time.h>

#include "gpu/common/refused.h"
#include "gpu/cupti/managed.h"

static void *subscriber;

/* Relaxed: the program's threads ask only whether there is one, and use nothing that it has. */
static void set_subscriber(void *is)
{
	__atomic_store_n(&subscriber, is, __ATOMIC_RELAXED);
}

/* CUPTI takes the time from here. */
static uint64_t now_ns(void)
{
	return xsprof_ticks_ns(xsprof_now());
}

/*
 * What CUPTI uses on Linux without a callback. It refuses NULL. This library is never unloaded, so
 * CUPTI may call this for ever.
 */
static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void call(void *unused, uint32_t domain, uint32_t id, const void *info)
{
	if (cupti_metrics_by_kernel())
		cupti_ranges_call(domain, id, info);
	if (domain != CUPTI_DOMAIN_RESOURCE)
		cupti_probe_call(unused, domain, id, info);
	else if (id == CUPTI_NODE_CREATED || id == CUPTI_NODE_CLONED)
		cupti_nodes_call(id, info);
	else if (id == CUPTI_INIT_FINISHED)
		cupti_managed_ready();
}

/* Are the pool's buffers zero? Others' are not. */
static void set_zeroed(uint8_t zeroed)
{
	size_t size = sizeof(zeroed);

	(void)cupti.set_attribute(CUPTI_ATTR_ZEROED, &size, &zeroed);
}

static void set_latency(uint8_t on)
{
	if (cupti_detail(CUPTI_DETAIL_QUEUED) &&
	    (!cupti.enable_latency || cupti.enable_latency(on)) && on)
		gpu_refused("this CUPTI cannot report when kernels are queued");
}

/*
 * The next subscriber gets CUPTI's defaults, as its headers have them, not our choices. Where there
 * may be several users, these are of a subscription and end with it.
 */
static void restore_defaults(void)
{
	if (cupti_sharing())
		return;
	(void)cupti.set_thread_id(CUPTI_THREAD_DEFAULT);
	(void)cupti.set_timestamp(realtime_ns);
	if (cupti.enable_all_waits)
		(void)cupti.enable_all_waits(1);
}

/*
 * All that comes before kinds are enabled has an effect only then; and none of it without a
 * subscriber: it would change the session of another tool.
 */
int cupti_attach(void)
{
	void *mine = NULL;
	int err = cupti.subscribe(&mine, call, NULL);

	if (err)
		return err;
	set_subscriber(mine);
	(void)cupti.set_thread_id(CUPTI_THREAD_SYSTEM);
	err = cupti.set_timestamp(now_ns);
	if (!err)
		err = cupti.register_callbacks(cupti_pool_request, cupti_pool_complete);
	if (err) {
		cupti_detach();
		return err;
	}
	cupti_state_versions();
	cupti_device_buffers_bound();
	set_zeroed(1);
	set_latency(1);
	/* Else each query of work that is not over yet is a wait. */
	if (cupti.enable_all_waits)
		(void)cupti.enable_all_waits(0);
	cupti_wait_anew();
	cupti_nodes_on(subscriber);
	cupti_managed_attach(subscriber);
	cupti_ranges_attach(subscriber);
	return 0;
}

void cupti_detach(void)
{
	if (!subscriber)
		return;
	if (cupti_metrics_by_kernel())
		cupti_ranges_detach();
	set_latency(0);
	set_zeroed(0);
	cupti_device_buffers_restore();
	restore_defaults();
	(void)cupti.unsubscribe(subscriber);
	set_subscriber(NULL);
}

bool cupti_attached(void)
{
	return __atomic_load_n(&subscriber, __ATOMIC_RELAXED);
}

void cupti_probe(bool on)
{
	if (on)
		cupti_probe_on(subscriber);
	else
		cupti_probe_off(subscriber);
}
