// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another rocprofiler-sdk tool, set by the user: counts kernels reported through a buffer and roctx
 * calls reported through a callback. ROCP_TOOL_EXIT=buffer or marker: ends the program in that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/rocp-stand-in.h"

EXPORT struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text,
					       uint32_t priority, struct rocp_client *client);

static struct rocp_id context, buffer;
static unsigned long kernels, markers;
static bool ended;

static void end_at(const char *where)
{
	const char *wanted = getenv("ROCP_TOOL_EXIT");

	if (!wanted || strcmp(wanted, where))
		return;
	ended = true;
	exit(3);
}

static void take(struct rocp_id c, struct rocp_id b, struct rocp_header **headers, size_t n,
		 void *data, uint64_t dropped)
{
	(void)c, (void)b, (void)headers, (void)data, (void)dropped;
	kernels += n;
	end_at("buffer");
}

static void take_marker(struct rocp_event event, uint64_t *kept, void *data)
{
	(void)kept, (void)data;
	markers += event.phase == ROCP_ENTER;
	end_at("marker");
}

static int initialize(void *unused, void *data)
{
	(void)unused, (void)data;
	if (rocprofiler_create_context(&context) ||
	    rocprofiler_create_buffer(context, 4096, 2048, ROCP_LOSSLESS, take, NULL, &buffer) ||
	    rocprofiler_configure_buffer_tracing_service(context, 11, NULL, 0, buffer) ||
	    rocprofiler_configure_callback_tracing_service(context, 7, NULL, 0,
							   (rocp_event_fn)take_marker, NULL) ||
	    rocprofiler_start_context(context))
		abort();
	return 0;
}

static void finalize(void *data)
{
	(void)data;
	/* It would wait for itself. */
	if (ended)
		return;
	rocprofiler_flush_buffer(buffer);
	printf("tool: %lu kernels, %lu markers\n", kernels, markers);
	fflush(stdout);
}

struct rocp_tool *rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
					struct rocp_client *client)
{
	static struct rocp_tool tool = {
		.size = sizeof(tool), .initialize = initialize, .finalize = finalize,
	};

	(void)version, (void)text, (void)priority, (void)client;
	return &tool;
}
