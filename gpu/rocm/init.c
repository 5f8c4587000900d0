// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How a program that uses ROCm comes here: its runtimes load rocprofiler-sdk where
 * ROCP_TOOL_LIBRARIES names libraries, and that calls the one entry point of each.  So tools that
 * the user had named there are called as well.
 */
#include <errno.h>

#include "gpu/rocm/local.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text,
					       uint32_t priority, struct rocp_client *client);

/* Return: 0, as there is nothing that a program could do about it. */
static int initialize(void *unused, void *data)
{
	uint64_t begin = xsprof_now();
	int err;

	(void)unused, (void)data;
	rocm_roctx_init();
	rocm_record_init();
	rocm_names_init();
	/* The rate is measured now, not in the program's first call. */
	(void)xsprof_ticks_ns(0);
	err = rocm_services_make();
	if (err == -ENODEV)
		xsprof_say("ROCm has no GPU here: no device activities are recorded");
	else if (err)
		xsprof_say("rocprofiler-sdk: %s (%d): ROCm is not recorded", rocm_text(err), err);
	if (err)
		return 0;
	rocm_clock_look();
	if (!rocm_thread_start())
		rocm_record_start(begin);
	else
		rocm_services_off();
	return 0;
}

static void finalize(void *unused)
{
	(void)unused;
	rocm_thread_late();
}

/* Return: NULL: rocprofiler-sdk does nothing for us. */
struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
					struct rocp_client *client)
{
	static struct rocp_tool tool = {
		.size = sizeof(tool), .initialize = initialize, .finalize = finalize,
	};
	static bool done;

	(void)text, (void)priority, (void)client;
	if (done || !rocm_is_recording())
		return NULL;
	done = true;
	return rocm_open(version, __builtin_return_address(0)) ? NULL : &tool;
}
