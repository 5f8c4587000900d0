// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Entry point: ROCm's runtimes load rocprofiler-sdk if ROCP_TOOL_LIBRARIES names libraries, and it
 * calls the entry point of each. So tools that the user has named there are called as well.
 */
#include <errno.h>

#include "gpu/common/refused.h"
#include "gpu/common/start.h"
#include "gpu/rocm/local.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text,
					       uint32_t priority, struct rocp_client *client);

/* Return: 0, always: the program could do nothing about an error. */
static int initialize(void *unused, void *data)
{
	uint64_t begin = xsprof_now();
	int err;

	(void)unused, (void)data;
	rocm_roctx_init();
	rocm_record_init();
	rocm_names_init();
	/* Measures the clock's rate now rather than in the program's first recorded call. */
	(void)xsprof_ticks_ns(0);
	err = rocm_services_make();
	if (err == -ENODEV)
		gpu_refused("ROCm has no GPU here: no device activities are recorded");
	else if (err)
		gpu_refused("rocprofiler-sdk: %s (%d): ROCm is not recorded", rocm_text(err), err);
	if (err)
		return 0;
	rocm_clock_look();
	if (!rocm_thread_start())
		gpu_started(rocm_category(), "Start of rocprofiler-sdk", begin);
	else
		rocm_services_off();
	return 0;
}

static void finalize(void *unused)
{
	(void)unused;
	rocm_thread_late();
}

/* Return: NULL: nothing is to be recorded. */
struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
					struct rocp_client *client)
{
	static struct rocp_tool tool = {
		.size = sizeof(tool), .initialize = initialize, .finalize = finalize,
	};
	static bool done;

	(void)text, (void)priority, (void)client;
	if (done || !gpu_is_recording())
		return NULL;
	done = true;
	return rocm_open(version, __builtin_return_address(0)) ? NULL : &tool;
}
