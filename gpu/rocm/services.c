// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What rocprofiler-sdk collects: what devices do, into a buffer, while recording is on; names of
 * kernels and ranges of roctx, by callbacks, always: a name is told once.
 */
#include <errno.h>

#include "gpu/rocm/local.h"

#define BYTES		(1u << 20)
#define WATERMARK	(BYTES - BYTES / 8)

static struct rocp_id work, names, buffer;
static bool made, on;

static void take_event(uint32_t kind, int32_t operation, uint32_t phase, const void *data)
{
	const struct rocp_symbol *symbol = data;
	const struct rocp_marker_data *marker = data;

	if (!data)
		return;
	if (kind == rocm_event_kind(ROCM_MARKER)) {
		if (marker->size >= sizeof(*marker))
			rocm_roctx_event(operation, phase, marker);
	} else if (operation == ROCP_KERNEL_SYMBOL && phase == ROCP_ENTER &&
		   symbol->size >= sizeof(*symbol)) {
		rocm_kernel_is(symbol->kernel, symbol->name);
	}
}

static void take_old(struct rocp_event_old event, uint64_t *kept, void *unused)
{
	(void)kept, (void)unused;
	take_event(event.kind, event.operation, event.phase, event.data);
}

static void take_new(struct rocp_event event, uint64_t *kept, void *unused)
{
	(void)kept, (void)unused;
	take_event(event.kind, event.operation, event.phase, event.data);
}

static int call_back(enum rocm_event what)
{
	rocp_event_fn fn = rocm_version >= ROCP_ANCESTORS ? (rocp_event_fn)take_new :
							    (rocp_event_fn)take_old;
	uint32_t kind = rocm_event_kind(what);

	return kind ? rocp.call_back(names, kind, NULL, 0, fn, NULL) : 0;
}

static int make_names(void)
{
	int err = rocp.create_context(&names);

	if (!err)
		err = call_back(ROCM_SYMBOL);
	if (!err)
		err = call_back(ROCM_MARKER);
	return err ? err : rocp.start(names);
}

/* Without kernels there is nothing to record; of the others some may not be there. */
static int make_work(void)
{
	const int32_t *calls;
	size_t n = rocm_choose_calls(&calls);
	int err = rocp.create_context(&work);

	if (!err)
		err = rocp.create_buffer(work, BYTES, WATERMARK, ROCP_LOSSLESS, rocm_pool_fill,
					 NULL, &buffer);
	if (!err)
		err = rocp.trace(work, rocm_kind(ROCM_KERNEL), NULL, 0, buffer);
	if (err)
		return err;
	if (rocm_kind(ROCM_COPY))
		(void)rocp.trace(work, rocm_kind(ROCM_COPY), NULL, 0, buffer);
	if (rocm_kind(ROCM_MEMORY))
		(void)rocp.trace(work, rocm_kind(ROCM_MEMORY), NULL, 0, buffer);
	/* None that is chosen would be all. */
	if (n)
		(void)rocp.trace(work, rocm_kind(ROCM_CALL), calls, n, buffer);
	made = true;
	return 0;
}

int rocm_services_make(void)
{
	int devices = rocm_agents_find(), err = make_names();

	if (err)
		return err;
	if (!devices)
		return -ENODEV;
	err = devices < 0 ? -devices : make_work();
	return err ? err : rocm_services_on();
}

int rocm_services_on(void)
{
	int err = made ? rocp.start(work) : 0;

	on = made && !err;
	return err;
}

void rocm_services_flush(void)
{
	if (made)
		(void)rocp.flush(buffer);
}

void rocm_services_off(void)
{
	if (!on)
		return;
	on = false;
	(void)rocp.stop(work);
	rocm_services_flush();
}

bool rocm_services(void)
{
	return on;
}
