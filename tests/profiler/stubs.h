/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device of the test's own that measures ops: its clock is a number that the test advances.
 */
#ifndef TESTS_PROFILER_STUBS_H
#define TESTS_PROFILER_STUBS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/result.h>

#include "common/tap.h"

/* What the device has been asked. */
static struct {
	uint64_t	us;		/* its clock */
	int		events;		/* events not yet released */
	int		most;
	unsigned int	recorded;
	unsigned int	waits;
	unsigned int	devices;
	bool		gone;
	bool		fails;
	bool		runs_ops;	/* runs ops while it records */
	char		heard[200];
} dev;

struct event {
	uint64_t	us;
	bool		released;
};

static void begin_op(const char *name)
{
	struct xsprof_op o = { .name = xsprof_name(name), .sequence = XSPROF_NO_SEQUENCE };

	xsprof_op_begin(&o);
}

static int stub_record(void *data, int32_t *device, void **event, int64_t *cpu_ns)
{
	struct event *e = malloc(sizeof(*e));
	int n;

	CHECK(data == &dev);
	if (!e || __atomic_load_n(&dev.fails, __ATOMIC_RELAXED)) {
		free(e);
		return -EIO;
	}
	if (dev.runs_ops) {
		begin_op("inside");
		xsprof_op_end();
	}
	*e = (struct event){ .us = __atomic_load_n(&dev.us, __ATOMIC_RELAXED) };
	*event = e;
	if (device)
		*device = 1;
	if (cpu_ns)
		*cpu_ns = 0;
	__atomic_add_fetch(&dev.recorded, 1, __ATOMIC_RELAXED);
	n = __atomic_add_fetch(&dev.events, 1, __ATOMIC_RELAXED);
	if (n > __atomic_load_n(&dev.most, __ATOMIC_RELAXED))
		__atomic_store_n(&dev.most, n, __ATOMIC_RELAXED);
	return 0;
}

static int stub_elapsed(void *data, void *begin, void *end, double *us)
{
	const struct event *from = begin, *to = end;

	CHECK(data == &dev && !from->released && !to->released);
	*us = (double)(to->us - from->us) + 0.25;
	return 0;
}

static void stub_release(void *data, void *event)
{
	struct event *e = event;

	CHECK(data == &dev && !e->released);
	e->released = true;
	free(e);
	__atomic_sub_fetch(&dev.events, 1, __ATOMIC_RELAXED);
}

static void stub_synchronize(void *data)
{
	CHECK(data == &dev);
	dev.waits++;
}

static bool stub_enabled(void *data)
{
	CHECK(data == &dev);
	return !dev.gone;
}

static void stub_on_each(void *data, void (*call)(void *arg, int device), void *arg)
{
	CHECK(data == &dev);
	for (unsigned int i = 0; i < dev.devices; i++)
		call(arg, (int)i);
}

static void stub_say(void *data, const char *text)
{
	size_t had = strlen(dev.heard);

	CHECK(data == &dev);
	snprintf(dev.heard + had, sizeof(dev.heard) - had, "%s", text);
}

static void stub_pop(void *data)
{
	stub_say(data, ".");
}

static struct xsprof_device_stubs stubs = {
	.size = sizeof(stubs), .device_type = XSPROF_DEVICE_CUDA, .record = stub_record,
	.elapsed = stub_elapsed, .release = stub_release, .synchronize = stub_synchronize,
	.enabled = stub_enabled, .on_each_device = stub_on_each, .mark = stub_say,
	.range_push = stub_say, .range_pop = stub_pop, .data = &dev,
};

static int begin(uint32_t state)
{
	struct xsprof_profiler_config config = { .size = sizeof(config), .state = state };

	return xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0);
}

static struct xsprof_result *end(void)
{
	struct xsprof_result *r = NULL;

	CHECK_EQ(xsprof_disable_profiler(&r), 0);
	if (!r)
		tap_bail("no result");
	CHECK_EQ(dev.events, 0);
	return r;
}

#endif /* TESTS_PROFILER_STUBS_H */
