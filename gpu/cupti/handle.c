// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names that the program gives to streams and contexts by CUDA's handles, with NVTX for example.
 *
 * In the thread that gives the name, while the handle is valid: CUDA is asked which context a
 * stream is of, and CUPTI for the numbers that its records have.
 */
#include <errno.h>

#include "gpu/cupti/handle.h"
#include "gpu/cupti/local.h"

static int (*stream_context)(const void *stream, void **context);

void cupti_handle_init(void)
{
	const struct gpu_function of_driver = { &stream_context, "cuStreamGetCtx" };
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	/* It stays loaded: this runs in its cuInit(). */
	if (driver)
		(void)gpu_functions_get(driver, &of_driver, 1);
}

static int name_context(void *context, const char *name)
{
	uint32_t device, number;

	if (cupti.get_device_id(context, &device) || cupti.get_context_id(context, &number))
		return -EINVAL;
	return xsprof_context_name(device, number, name);
}

static int name_stream(const void *stream, const char *name)
{
	uint32_t device, context, number;
	void *handle = NULL;

	if (stream_context(stream, &handle) || cupti.get_device_id(handle, &device) ||
	    cupti.get_context_id(handle, &context) ||
	    cupti.get_stream_id(handle, stream, 0, &number))
		return -EINVAL;
	return xsprof_stream_name(device, context, number, name);
}

int cupti_handle_named(void *unused, const char *type, const void *handle, const char *name)
{
	bool stream = !strcmp(type, "CUstream");

	(void)unused;
	if (!stream && strcmp(type, "CUcontext") != 0)
		return -ENOENT;
	/* CUPTI is not ours now. If it is not in use, this call would initialise it. */
	if (!cupti_attached())
		return -EAGAIN;
	if (!cupti.get_context_id || (stream && (!cupti.get_stream_id || !stream_context)))
		return -ENOSYS;
	return stream ? name_stream(handle, name) : name_context((void *)(uintptr_t)handle, name);
}
