// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names that collectors give to devices, contexts and streams.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranges/device-names.h"

const char *xsp_context_name(const struct xsprof_trace *trace, uint32_t producer, uint32_t device,
			     uint32_t context)
{
	char key[48];

	snprintf(key, sizeof(key), "context.%u.%u", device, context);
	return xsprof_trace_fact(trace, producer, key);
}

const char *xsp_stream_name(const struct xsprof_trace *trace, uint32_t producer, uint32_t device,
			    uint32_t context, uint32_t stream)
{
	char key[48];

	snprintf(key, sizeof(key), "stream.%u.%u.%u", device, context, stream);
	return xsprof_trace_fact(trace, producer, key);
}

const char *xsp_device_fact(const char *facts, const char *key, size_t *len)
{
	char quoted[32];
	const char *at, *end;

	snprintf(quoted, sizeof(quoted), "\"%s\": \"", key);
	at = facts ? strstr(facts, quoted) : NULL;
	at = at ? at + strlen(quoted) : NULL;
	end = at ? strchr(at, '"') : NULL;
	*len = end ? (size_t)(end - at) : 0;
	return end ? at : NULL;
}

const char *xsp_device_word(const char *facts, uint32_t number, char text[XSP_DEVICE_KIND + 8])
{
	size_t n;
	const char *kind = xsp_device_fact(facts, "kind", &n);
	char word[XSP_DEVICE_KIND] = "";

	if (kind)
		memcpy(word, kind, n < sizeof(word) ? n : 0);
	/* Early collectors used the numbers alone. */
	if (!strcmp(word, "cuda") || (!*word && number < 32))
		return "GPU";
	if (!strcmp(word, "opencl") || (!*word && number < 64))
		return "OpenCL device";
	if (!strcmp(word, "vulkan"))
		return "Vulkan device";
	if (!strcmp(word, "levelzero"))
		return "Level Zero device";
	if (!strcmp(word, "rocm"))
		return "ROCm device";
	snprintf(text, XSP_DEVICE_KIND + 8, "%s device", *word ? word : "unknown");
	return text;
}
