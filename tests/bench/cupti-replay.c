// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CUPTI of negligible cost, to measure the cost of the collector: it fills buffers with launches
 * and kernels, each with its own times and correlation id, and waits if it gets no buffer. So every
 * activity is recorded, or counted by the collector.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/cupti/cupti-abi.h"

#define EXPORT	__attribute__((visibility("default")))

/* As long as those of CUDA 13. */
#define KERNEL_BYTES	216u
#define CALL_BYTES	40u
#define NAMES		16u

static cupti_request_fn request;
static cupti_complete_fn complete;
static uint64_t (*timestamp)(void);

EXPORT int replay(uint64_t pairs, void (*progress)(uint64_t pairs));

EXPORT int cuptiGetVersion(uint32_t *v);
EXPORT int cuptiGetResultString(int result, const char **text);
EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name);
EXPORT int cuptiSubscribe(void **subscriber, cupti_callback_fn callback, void *data);
EXPORT int cuptiUnsubscribe(void *subscriber);
EXPORT int cuptiActivityRegisterCallbacks(cupti_request_fn req, cupti_complete_fn comp);
EXPORT int cuptiActivityEnable(uint32_t kind);
EXPORT int cuptiActivityDisable(uint32_t kind);
EXPORT int cuptiActivityFlushAll(uint32_t flag);
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
EXPORT int cuptiSetThreadIdType(uint32_t type);
EXPORT int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value);
EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*callback)(void));

/* Some names, as a program has. */
static const char *const names[NAMES] = {
	"_Z4axpyPKfPfi", "_Z3addPKfPfi", "_Z3mulPKfPfi", "_Z3subPKfPfi", "gemm_64x64",
	"gemm_128x64", "gemm_128x128", "softmax_forward", "softmax_backward", "layer_norm",
	"reduce_1", "reduce_2", "copy_strided", "gelu", "gelu_backward", "optimizer_step",
};

static size_t fill(uint8_t *to, size_t size, uint64_t first, uint64_t end)
{
	struct cupti_kernel k = {
		.kind = CUPTI_KERNEL, .registers = 40, .device = 1, .context = 3, .stream = 7,
		.grid = { 4, 5, 6 }, .block = { 128, 2, 1 }, .static_shared = 1024,
		.dynamic_shared = 2048, .channel = 8, .channel_type = 1, .cluster = { 1, 1, 1 },
	};
	struct cupti_call c = {
		.kind = CUPTI_RUNTIME, .function = 1, .process = (uint32_t)getpid(),
		.thread = (uint32_t)getpid(),
	};
	uint64_t now = timestamp();
	size_t used = 0;

	for (uint64_t i = first; i < end && used + KERNEL_BYTES + CALL_BYTES <= size; i++) {
		c.start = now + 10 * (i - first);
		c.end = c.start + 5;
		c.correlation = k.correlation = (uint32_t)i + 1;
		k.start = c.end;
		k.end = c.end + 100;
		k.name = names[i % NAMES];
		memcpy(to + used, &c, sizeof(c) < CALL_BYTES ? sizeof(c) : CALL_BYTES);
		used += CALL_BYTES;
		memcpy(to + used, &k, sizeof(k) < KERNEL_BYTES ? sizeof(k) : KERNEL_BYTES);
		used += KERNEL_BYTES;
	}
	return used;
}

int replay(uint64_t pairs, void (*progress)(uint64_t pairs))
{
	uint64_t done = 0;
	size_t size, used, max;
	uint8_t *buffer;

	if (!request)
		return -1;
	while (done < pairs) {
		request(&buffer, &size, &max);
		if (!buffer) {
			usleep(50);
			continue;
		}
		used = fill(buffer, size, done, pairs);
		done += used / (KERNEL_BYTES + CALL_BYTES);
		complete(NULL, 0, buffer, size, used);
		progress(done);
	}
	return 0;
}

int cuptiGetVersion(uint32_t *v)
{
	*v = 130000;
	return 0;
}

int cuptiGetResultString(int result, const char **text)
{
	*text = result ? "CUPTI_ERROR_OF_REPLAY" : "CUPTI_SUCCESS";
	return 0;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name)
{
	*name = "cudaLaunchKernel_v7000";
	return domain != CUPTI_DOMAIN_RUNTIME || id != 1;
}

int cuptiSubscribe(void **subscriber, cupti_callback_fn callback, void *data)
{
	(void)callback, (void)data;
	*subscriber = &request;
	return 0;
}

int cuptiUnsubscribe(void *subscriber)
{
	return subscriber != &request;
}

int cuptiActivityRegisterCallbacks(cupti_request_fn req, cupti_complete_fn comp)
{
	request = req;
	complete = comp;
	return 0;
}

int cuptiActivityEnable(uint32_t kind)
{
	(void)kind;
	return 0;
}

int cuptiActivityDisable(uint32_t kind)
{
	(void)kind;
	return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = buffer;

	if (*record)
		next = (uint8_t *)*record +
		       (*(uint32_t *)*record == CUPTI_KERNEL ? KERNEL_BYTES : CALL_BYTES);
	if (next >= buffer + valid)
		return CUPTI_MAX_LIMIT;
	*record = next;
	return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context, (void)stream;
	*dropped = 0;
	return 0;
}

int cuptiSetThreadIdType(uint32_t type)
{
	(void)type;
	return 0;
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *size, void *value)
{
	(void)attribute, (void)size, (void)value;
	return 0;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*callback)(void))
{
	timestamp = callback;
	return 0;
}
