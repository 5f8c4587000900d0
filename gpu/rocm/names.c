// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of rocprofiler-sdk's kinds and functions, whose numbers differ between its versions, and
 * the list of recorded functions.
 */
#include <stdio.h>

#include "gpu/common/start.h"
#include "gpu/rocm/local.h"

#define FUNCTIONS	2048u

static const char *const kind_texts[ROCM_NR_KINDS] = {
	[ROCM_CALL] = "HIP_RUNTIME_API", [ROCM_KERNEL] = "KERNEL_DISPATCH",
	[ROCM_COPY] = "MEMORY_COPY", [ROCM_MEMORY] = "MEMORY_ALLOCATION",
};
static const char *const event_texts[ROCM_NR_EVENTS] = {
	[ROCM_SYMBOL] = "CODE_OBJECT", [ROCM_MARKER] = "MARKER_CORE_API",
};

static uint32_t kinds[ROCM_NR_KINDS], event_kinds[ROCM_NR_EVENTS];
static xsprof_name_t calls[FUNCTIONS];
static int32_t chosen[FUNCTIONS];
static size_t nr_chosen;

/* Not recorded: queries, which programs call more often than they launch. */
static const char *const asking[] = {
	"hipGetDevice", "hipSetDevice", "hipGetLastError", "hipPeekAtLastError", "hipExtGetLast",
	"hipDeviceGet", "hipDriverGetVersion", "hipRuntimeGetVersion", "hipGetErrorString",
	"hipGetErrorName", "hipDrvGetError", "hipPointerGetAttribute", "hipFuncGetAttribute",
	"hipFuncSetAttribute", "hipOccupancy", "hipModuleOccupancy", "hipStreamIsCapturing",
	"hipStreamGetCaptureInfo", "hipStreamGetPriority", "hipStreamGetFlags",
	"hipStreamGetDevice", "hipThreadExchangeStreamCaptureMode", "hipEventCreate",
	"hipEventDestroy", "hipDeviceCanAccessPeer", "hipGetSymbolAddress", "hipIpcGet",
	"hipCtxGet", "hipApiName", "hipKernelNameRef", "hipGetStreamDeviceId", "hipGetProcAddress",
};

int rocm_category(void)
{
	static int category = -1;

	return gpu_category("rocm", &category);
}

static int is_kind(uint32_t kind, void *unused)
{
	const char *name = NULL;
	uint64_t len;

	(void)unused;
	if (rocp.kind_name(kind, &name, &len) || !name)
		return 0;
	for (size_t i = 0; i < ROCM_NR_KINDS; i++)
		if (!strcmp(name, kind_texts[i]))
			kinds[i] = kind;
	return 0;
}

static int is_event_kind(uint32_t kind, void *unused)
{
	const char *name = NULL;
	uint64_t len;

	(void)unused;
	if (rocp.event_kind_name(kind, &name, &len) || !name)
		return 0;
	for (size_t i = 0; i < ROCM_NR_EVENTS; i++)
		if (!strcmp(name, event_texts[i]))
			event_kinds[i] = kind;
	return 0;
}

uint32_t rocm_kind(enum rocm_kind kind)
{
	return kinds[kind];
}

uint32_t rocm_event_kind(enum rocm_event kind)
{
	return event_kinds[kind];
}

static const char *name_of(enum rocm_kind kind, int32_t operation)
{
	const char *name = NULL;
	uint64_t len;

	return rocp.operation_name(kinds[kind], operation, &name, &len) ? NULL : name;
}

static int choose(uint32_t kind, int32_t operation, void *unused)
{
	const char *name = name_of(ROCM_CALL, operation);

	(void)kind, (void)unused;
	/* A leading '_': the compiler's own functions, called by each launch. */
	if (!name || name[0] == '_' || nr_chosen == FUNCTIONS)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++)
		if (!strncmp(name, asking[i], strlen(asking[i])))
			return 0;
	chosen[nr_chosen++] = operation;
	return 0;
}

void rocm_names_init(void)
{
	(void)rocp.kinds(is_kind, NULL);
	(void)rocp.event_kinds(is_event_kind, NULL);
	if (kinds[ROCM_CALL])
		(void)rocp.operations(kinds[ROCM_CALL], choose, NULL);
}

size_t rocm_choose_calls(const int32_t **operations)
{
	*operations = chosen;
	return nr_chosen;
}

xsprof_name_t rocm_call_name(int32_t operation)
{
	bool keep = operation >= 0 && (uint32_t)operation < FUNCTIONS;
	const char *name;
	xsprof_name_t is;
	char text[32];

	if (keep && calls[operation])
		return calls[operation];
	name = name_of(ROCM_CALL, operation);
	/* It has no name: use its number. */
	if (!name) {
		snprintf(text, sizeof(text), "HIP function %d", operation);
		name = text;
	}
	is = xsprof_name_in(rocm_category(), name);
	if (keep)
		calls[operation] = is;
	return is;
}

bool rocm_frees(int32_t operation)
{
	const char *name = name_of(ROCM_MEMORY, operation);

	return name && strstr(name, "FREE");
}
