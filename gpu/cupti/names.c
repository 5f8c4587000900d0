// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of kernels, demangled, and of functions, without the version; which functions are recorded.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu/common/kernel.h"
#include "gpu/common/start.h"
#include "gpu/cupti/local.h"

#define FUNCTIONS	2048u
#define NOT_RECORDED	UINT32_MAX

static xsprof_name_t calls[2][FUNCTIONS];

/*
 * Not recorded: queries, which programs call more often than they launch. Of the driver's functions
 * those are recorded that programs call directly instead of the runtime's.
 */
static const char *const asking[] = {
	"cudaGetDevice", "cudaSetDevice", "cudaGetLastError", "cudaPeekAtLastError",
	"cudaStreamIsCapturing", "cudaStreamGetCaptureInfo", "cudaDeviceGetAttribute",
	"cudaGetDeviceCount", "cudaGetDeviceProperties", "cudaFuncGetAttributes",
	"cudaFuncSetAttribute", "cudaOccupancy", "cudaGetErrorString", "cudaGetErrorName",
	"cudaPointerGetAttributes", "cudaDriverGetVersion", "cudaRuntimeGetVersion",
	"cudaGetDriverEntryPoint", "cudaGetFuncBySymbol", "cudaStreamGetPriority",
	"cudaDeviceGetStreamPriorityRange", "cudaThreadExchangeStreamCaptureMode",
	"cudaEventCreate", "cudaEventDestroy", "cudaCtxResetPersistingL2Cache",
	"cudaDeviceCanAccessPeer", "cudaStreamGetDevice", "cudaStreamGetId",
	"cudaGetSymbolAddress", "cudaDeviceGetPCIBusId", "cudaIpcGet", "cudaEventQuery",
	"cudaStreamQuery",
};
static const char *const driving[] = {
	"cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset", "cuMemCreate", "cuMemMap",
	"cuMemUnmap", "cuMemRelease", "cuMemAlloc", "cuMemFree", "cuMemPrefetch",
	"cuStreamSynchronize", "cuStreamWaitEvent", "cuEventSynchronize", "cuCtxSynchronize",
	"cuModuleLoad", "cuLibraryLoad", "cuCtxCreate", "cuCtxDestroy", "cuMulticast",
	"cuStreamWaitValue", "cuStreamWriteValue", "cuStreamBatchMemOp", "cuEventRecord",
	"cuCtxRecordEvent", "cuGraphInstantiate",
};

int cupti_category(void)
{
	static int category = -1;

	return gpu_category("cuda", &category);
}

/* ---- kernels --------------------------------------------------------------------------------- */

xsprof_name_t cupti_kernel_name(const char *text)
{
	struct cupti_text *kept;

	if (!text)
		return xsprof_name_in(cupti_category(), "(no name)");
	kept = (struct cupti_text *)(text - offsetof(struct cupti_text, text));
	if (!kept->name)
		kept->name = gpu_kernel_name(cupti_category(), text);
	return kept->name;
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool starts_with_any(const char *text, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(text, v[i], strlen(v[i])))
			return true;
	return false;
}

static bool is_recorded(uint32_t domain, const char *name)
{
	if (domain == CUPTI_DOMAIN_DRIVER)
		return starts_with_any(name, driving, ARRAY_SIZE(driving));
	return name[0] != '_' && !starts_with_any(name, asking, ARRAY_SIZE(asking));
}

/* Programs call "cudaMemcpy_v3020" as cudaMemcpy, but cuMemcpyHtoD_v2 by that name. */
static size_t plain_length(const char *name)
{
	const char *v = strrchr(name, '_');

	if (v && v[1] == 'v' && strlen(v + 2) >= 4 && strspn(v + 2, "0123456789") == strlen(v + 2))
		return (size_t)(v - name);
	return strlen(name);
}

static xsprof_name_t find_call(uint32_t domain, uint32_t function)
{
	char text[128];
	const char *name = NULL;
	size_t len;

	if (cupti.get_callback_name(domain, function, &name) || !name) {
		/* CUPTI has no name for it: use its number. */
		const char *kind = domain == CUPTI_DOMAIN_DRIVER ? "CUDA driver" : "CUDA runtime";
		char *p = stpcpy(stpcpy(text, kind), " function ");
		char digits[16];
		size_t n = 0;

		do
			digits[n++] = (char)('0' + function % 10);
		while (function /= 10);
		while (n)
			*p++ = digits[--n];
		*p = '\0';
		return xsprof_name_in(cupti_category(), text);
	}
	if (!is_recorded(domain, name))
		return NOT_RECORDED;
	len = plain_length(name);
	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, name, len);
	text[len] = '\0';
	return xsprof_name_in(cupti_category(), text);
}

xsprof_name_t cupti_call_name(uint32_t domain, uint32_t function)
{
	xsprof_name_t *kept = function < FUNCTIONS ?
			      &calls[domain == CUPTI_DOMAIN_DRIVER][function] : NULL;
	xsprof_name_t name = kept && *kept ? *kept : find_call(domain, function);

	if (kept)
		*kept = name;
	return name == NOT_RECORDED ? 0 : name;
}

static void choose(uint32_t domain, int (*enable)(uint32_t id, uint8_t on))
{
	const char *name;

	for (uint32_t i = 1; i < FUNCTIONS; i++) {
		if (cupti.get_callback_name(domain, i, &name) || !name)
			break;
		if (is_recorded(domain, name) == (domain == CUPTI_DOMAIN_DRIVER))
			(void)enable(i, domain == CUPTI_DOMAIN_DRIVER);
	}
}

/* Few of the driver's functions are recorded, and most of the runtime's. */
void cupti_choose_calls(void)
{
	if (cupti.enable_driver)
		choose(CUPTI_DOMAIN_DRIVER, cupti.enable_driver);
	else
		(void)cupti.enable(CUPTI_DRIVER);
	(void)cupti.enable(CUPTI_RUNTIME);
	if (cupti.enable_runtime)
		choose(CUPTI_DOMAIN_RUNTIME, cupti.enable_runtime);
}
