// SPDX-License-Identifier: GPL-2.0-only
/*
 * CUPTI's functions that measure kernels, in the stand-in. Each kernel that runs between start and
 * stop of its context is a range; its metrics are those of stand-in-metrics.c for the number of the
 * kernel.
 */
#include <string.h>
#include <unistd.h>

#include "gpu/cupti/metrics-abi.h"
#include "gpu/cupti/ranges-abi.h"
#include "tests/gpu/replay.h"
#include "tests/gpu/stand-in-metrics.h"
#include "tests/gpu/stand-in-ranges.h"

#define EXPORT		__attribute__((visibility("default")))
#define INVALID		1
#define LOST		999
#define INVALIDATED	901	/* a result of CUDA: the capture was invalidated, and has ended */
#define CONTEXTS	8u
#define LAUNCH		1u	/* function numbers: of both APIs, then of the driver's */
#define BEGIN_CAPTURE	4u
#define END_CAPTURE	5u

/* CUDA's contexts: only their addresses matter. */
static struct context {
	bool		enabled;
	bool		configured;
	bool		started;
	uint32_t	launching;	/* threads inside a launch */
	uint64_t	kernels;	/* so far */
	uint32_t	ran;		/* kernels since the start */
	struct image	*image;
	uint64_t	first;
} contexts[CONTEXTS];

static bool capturing;

EXPORT struct stand_in_ranges stand_in_ranges;

EXPORT int cuptiProfilerGetCounterAvailability(struct cupti_pm_available *p);
EXPORT int cuptiGetDeviceId(void *context, uint32_t *device);
EXPORT int cuptiRangeProfilerEnable(struct cupti_pm_enable *p);
EXPORT int cuptiRangeProfilerDisable(struct cupti_pm_object *p);
EXPORT int cuptiRangeProfilerSetConfig(struct cupti_range_config *p);
EXPORT int cuptiRangeProfilerStart(struct cupti_pm_object *p);
EXPORT int cuptiRangeProfilerStop(struct cupti_range_stop *p);
EXPORT int cuptiRangeProfilerDecodeData(struct cupti_range_decode *p);
EXPORT int cuptiRangeProfilerGetCounterDataSize(struct cupti_range_data_size *p);
EXPORT int cuptiRangeProfilerCounterDataImageInitialize(struct cupti_pm_data_init *p);
EXPORT int cuptiRangeProfilerGetCounterDataInfo(struct cupti_range_data_info *p);

/* Counts a call that CUPTI refuses, and that the collector should not have made. */
static int wrong(void)
{
	__atomic_fetch_add(&stand_in_ranges.wrong, 1, __ATOMIC_RELAXED);
	return CUPTI_INVALID_OPERATION;
}

/* ---- CUPTI's functions ----------------------------------------------------------------------- */

int cuptiGetDeviceId(void *context, uint32_t *device)
{
	*device = 1;
	return context ? 0 : INVALID;
}

int cuptiProfilerGetCounterAvailability(struct cupti_pm_available *p)
{
	if (p->size != CUPTI_SIZE(cupti_pm_available, image) || !p->of)
		return INVALID;
	if (stand_in_ranges.available)
		return stand_in_ranges.available;
	if (p->image)
		memset(p->image, 'r', p->bytes);
	p->bytes = 16;
	return 0;
}

int cuptiRangeProfilerEnable(struct cupti_pm_enable *p)
{
	struct context *c = (struct context *)p->of;

	if (p->size != CUPTI_SIZE(cupti_pm_enable, object) || c < contexts ||
	    c >= contexts + CONTEXTS || c->enabled)
		return wrong();
	c->enabled = true;
	__atomic_fetch_add(&stand_in_ranges.enabled, 1, __ATOMIC_RELAXED);
	p->object = c;
	return 0;
}

int cuptiRangeProfilerDisable(struct cupti_pm_object *p)
{
	struct context *c = p->object;

	if (p->size != CUPTI_SIZE(cupti_pm_object, object) || !c->enabled || c->started)
		return wrong();
	c->enabled = c->configured = false;
	__atomic_fetch_add(&stand_in_ranges.disabled, 1, __ATOMIC_RELAXED);
	return 0;
}

int cuptiRangeProfilerGetCounterDataSize(struct cupti_range_data_size *p)
{
	if (p->size != CUPTI_SIZE(cupti_range_data_size, bytes) || !p->nr || p->ranges != 1 ||
	    p->nodes < p->ranges)
		return wrong();
	p->bytes = IMAGE_BYTES;
	return 0;
}

int cuptiRangeProfilerCounterDataImageInitialize(struct cupti_pm_data_init *p)
{
	if (p->size != CUPTI_SIZE(cupti_pm_data_init, image) || p->bytes != IMAGE_BYTES)
		return wrong();
	*(struct image *)p->image = (struct image){ .room = 1 };
	return 0;
}

int cuptiRangeProfilerSetConfig(struct cupti_range_config *p)
{
	struct context *c = p->profiler;

	if (p->size != CUPTI_SIZE(cupti_range_config, target) || !c->enabled || c->started ||
	    p->config[p->bytes - 1] != 'c' || p->image_bytes != IMAGE_BYTES ||
	    p->range != CUPTI_RANGE_AUTO || p->replay != CUPTI_REPLAY_KERNEL || p->ranges != 1 ||
	    p->levels != 1 || p->lowest != 1 || p->pass)
		return wrong();
	c->image = (struct image *)p->image;
	c->configured = c->image->room == 1;
	return c->configured ? 0 : wrong();
}

int cuptiRangeProfilerStart(struct cupti_pm_object *p)
{
	struct context *c = p->object;

	if (p->size != CUPTI_SIZE(cupti_pm_object, object) || !c->configured || c->started ||
	    __atomic_load_n(&capturing, __ATOMIC_RELAXED))
		return wrong();
	if (stand_in_ranges.start)
		return stand_in_ranges.start;
	c->started = true;
	c->ran = 0;
	return 0;
}

int cuptiRangeProfilerStop(struct cupti_range_stop *p)
{
	struct context *c = p->profiler;

	if (p->size != CUPTI_SIZE(cupti_range_stop, all) || !c->started)
		return wrong();
	c->started = false;
	p->all = 1;
	return stand_in_ranges.fails_after && c->kernels > stand_in_ranges.fails_after ? LOST : 0;
}

int cuptiRangeProfilerDecodeData(struct cupti_range_decode *p)
{
	struct context *c = p->profiler;

	if (p->size != CUPTI_SIZE(cupti_range_decode, dropped) || c->started || c->image->n)
		return wrong();
	c->image->n = c->ran < c->image->room ? c->ran : c->image->room;
	c->image->first = c->first;
	p->dropped = c->ran - c->image->n;
	return 0;
}

int cuptiRangeProfilerGetCounterDataInfo(struct cupti_range_data_info *p)
{
	const struct image *image = (const struct image *)p->image;

	if (p->size != CUPTI_SIZE(cupti_range_data_info, ranges) || p->bytes != IMAGE_BYTES)
		return wrong();
	p->ranges = image->n;
	return 0;
}

/* ---- what a program does --------------------------------------------------------------------- */

static void run(struct context *c, uint32_t correlation, uint32_t context, const char *name)
{
	if (__atomic_load_n(&capturing, __ATOMIC_RELAXED))
		return;
	if (c->started) {
		c->first = c->kernels;
		c->ran++;
		__atomic_fetch_add(&stand_in_ranges.measured, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&stand_in_ranges.alone,
				   __atomic_load_n(&c->launching, __ATOMIC_RELAXED) == 1,
				   __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&c->kernels, 1, __ATOMIC_RELAXED);
	stand_in_kernel(correlation, context, name, 0);
	usleep(stand_in_ranges.late_us);
}

EXPORT uint32_t stand_in_launch(bool driver, uint32_t context, const char *name)
{
	uint32_t correlation = stand_in_call(driver, LAUNCH);
	struct context *c = &contexts[context % CONTEXTS];
	struct cupti_callback outer = { .correlation = correlation, .context = c, .symbol = name };
	struct cupti_callback inner = outer;

	/* The runtime's call of the driver has its own id, but records have the runtime's. */
	if (!driver)
		inner.correlation |= 1u << 30;
	if (!driver)
		stand_in_call_back(CUPTI_DOMAIN_RUNTIME, LAUNCH, &outer);
	stand_in_call_back(CUPTI_DOMAIN_DRIVER, LAUNCH, &inner);
	__atomic_fetch_add(&c->launching, 1, __ATOMIC_RELAXED);
	run(c, correlation, context, name);
	__atomic_fetch_sub(&c->launching, 1, __ATOMIC_RELAXED);
	inner.site = outer.site = CUPTI_API_EXIT;
	stand_in_call_back(CUPTI_DOMAIN_DRIVER, LAUNCH, &inner);
	if (!driver)
		stand_in_call_back(CUPTI_DOMAIN_RUNTIME, LAUNCH, &outer);
	return correlation;
}

EXPORT void stand_in_capture(bool begins, uint32_t result)
{
	struct cupti_callback info = { .result = &result };
	uint32_t function = begins ? BEGIN_CAPTURE : END_CAPTURE;

	stand_in_call_back(CUPTI_DOMAIN_DRIVER, function, &info);
	if (!result || (!begins && result == INVALIDATED))
		__atomic_store_n(&capturing, begins, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < CONTEXTS && begins && !result; i++)
		if (contexts[i].started)
			(void)wrong();
	info.site = CUPTI_API_EXIT;
	stand_in_call_back(CUPTI_DOMAIN_DRIVER, function, &info);
}

EXPORT void stand_in_context_ends(uint32_t context)
{
	const struct cupti_resource resource = { .context = &contexts[context % CONTEXTS] };

	stand_in_call_back(CUPTI_DOMAIN_RESOURCE, CUPTI_CONTEXT_ENDS, &resource);
	if (contexts[context % CONTEXTS].enabled)
		(void)wrong();
	contexts[context % CONTEXTS] = (struct context){ .enabled = false };
}
