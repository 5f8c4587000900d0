// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How long launches of kernels and of graphs take in the program's threads: measured by callbacks
 * of CUPTI, with and without records, so that the difference is what records cost.  The callbacks
 * are on for both, and for moments only.
 *
 * A call of the runtime calls the driver: the outer one is taken.
 */
#include "gpu/cupti/local.h"

#define FUNCTIONS	2048u
#define STEP_NS		32u
#define STEPS		2048u	/* what takes longer waits for the device */
#define ENOUGH		16u

static const char *const launching[][2] = {
	[CUPTI_LAUNCH_KERNEL] = { "cudaLaunchKernel", "cuLaunchKernel" },
	[CUPTI_LAUNCH_GRAPH] = { "cudaGraphLaunch", "cuGraphLaunch" },
};

static uint32_t lengths[CUPTI_NR_LAUNCHES][STEPS];
/* What functions launch, + 1: of the runtime, of the driver. */
static uint8_t launches[2][FUNCTIONS];
/* The call that the thread is in: of the runtime, or of the driver where that is the outer one. */
static __thread uint64_t entered;
static __thread uint32_t entered_domain;
static __thread uint32_t entered_in;
static uint32_t window;	/* counts the times that callbacks were turned on */

void cupti_probe_call(void *unused, uint32_t domain, uint32_t id, const void *info)
{
	uint32_t in = __atomic_load_n(&window, __ATOMIC_RELAXED), *to;
	const struct cupti_callback *call = info;
	uint64_t ns;

	(void)unused;
	if (id >= FUNCTIONS || !launches[domain == CUPTI_DOMAIN_DRIVER][id])
		return;
	/* The callbacks went off before its end. */
	if (entered_in != in)
		entered = 0;
	entered_in = in;
	if (entered && entered_domain != domain && domain == CUPTI_DOMAIN_DRIVER)
		return;
	if (call->site == CUPTI_API_ENTER) {
		entered_domain = domain;
		entered = xsprof_ticks_ns(xsprof_now());
		return;
	}
	/* One that was entered before the callbacks were on. */
	if (!entered)
		return;
	ns = xsprof_ticks_ns(xsprof_now()) - entered;
	entered = 0;
	/* Relaxed: a sum orders nothing else; one on the edge of a window may be missed. */
	to = lengths[launches[domain == CUPTI_DOMAIN_DRIVER][id] - 1];
	__atomic_fetch_add(&to[ns / STEP_NS < STEPS ? ns / STEP_NS : STEPS - 1], 1,
			   __ATOMIC_RELAXED);
}

static void choose(uint32_t on, void *subscriber, uint32_t domain)
{
	const char *name;

	for (uint32_t i = 1; i < FUNCTIONS; i++) {
		if (cupti.get_callback_name(domain, i, &name) || !name)
			break;
		for (uint8_t l = 0; l < CUPTI_NR_LAUNCHES; l++) {
			const char *prefix = launching[l][domain == CUPTI_DOMAIN_DRIVER];

			if (strncmp(name, prefix, strlen(prefix)))
				continue;
			launches[domain == CUPTI_DOMAIN_DRIVER][i] = l + 1;
			(void)cupti.enable_callback(on, subscriber, domain, i);
		}
	}
}

void cupti_probe_on(void *subscriber)
{
	if (!cupti.enable_callback)
		return;
	/* Relaxed: a call on the edge of a window may be missed. */
	__atomic_fetch_add(&window, 1, __ATOMIC_RELAXED);
	choose(1, subscriber, CUPTI_DOMAIN_RUNTIME);
	choose(1, subscriber, CUPTI_DOMAIN_DRIVER);
}

void cupti_probe_off(void *subscriber)
{
	if (!cupti.enable_callback)
		return;
	choose(0, subscriber, CUPTI_DOMAIN_RUNTIME);
	choose(0, subscriber, CUPTI_DOMAIN_DRIVER);
}

/* The lower quartile: one that waits for room in the device's queue says nothing of its cost. */
uint64_t cupti_probe_take(enum cupti_launch what)
{
	uint32_t counts[STEPS];
	uint64_t n = 0, below = 0;

	for (uint32_t i = 0; i < STEPS; i++) {
		counts[i] = __atomic_exchange_n(&lengths[what][i], 0, __ATOMIC_RELAXED);
		n += counts[i];
	}
	if (n < ENOUGH)
		return 0;
	for (uint32_t i = 0; i < STEPS; i++) {
		below += counts[i];
		if (below > n / 4)
			return i * STEP_NS + STEP_NS / 2;
	}
	return 0;
}
