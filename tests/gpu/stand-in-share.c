// SPDX-License-Identifier: GPL-2.0-only
/*
 * CUPTI's functions for several users, in the stand-in. The single-user functions do the work, and
 * fail while there are several users if others call them.
 */
#include <string.h>

#include "tests/gpu/replay.h"

#define INVALID		1

EXPORT uint32_t stand_in_mixed;

static bool several;
static __thread uint32_t inside;
static cupti_request_info_fn request;
static cupti_complete_info_fn complete;

EXPORT int cuptiSubscribe(void **subscriber, cupti_callback_fn fn, void *data);
EXPORT int cuptiActivityEnable(uint32_t kind);
EXPORT int cuptiActivityDisable(uint32_t kind);
EXPORT int cuptiSetThreadIdType(uint32_t type);
EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void));
EXPORT int cuptiActivityEnableLatencyTimestamps(uint8_t on);
EXPORT int cuptiActivityRegisterCallbacks(cupti_request_fn req, cupti_complete_fn comp);
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);

EXPORT int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn fn, void *data,
			     struct cupti_subscriber_params *params);
EXPORT int cuptiActivityRegisterCallbacks_v2(void *subscriber, cupti_request_info_fn req,
					     cupti_complete_info_fn comp);
EXPORT int cuptiActivityEnable_v2(void *subscriber, uint32_t kind, void *config);
EXPORT int cuptiActivityDisable_v2(void *subscriber, uint32_t kind, void *config);
EXPORT int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer, size_t valid,
					 void **record);
EXPORT int cuptiActivityGetNumDroppedRecords_v2(void *subscriber, void *context, uint32_t stream,
						size_t *dropped);
EXPORT int cuptiActivitySetAttribute_v2(void *subscriber, uint32_t attribute, size_t *size,
					void *value);
EXPORT int cuptiActivityEnableDriverApi_v2(void *subscriber, uint32_t id, uint8_t on);
EXPORT int cuptiActivityEnableRuntimeApi_v2(void *subscriber, uint32_t id, uint8_t on);

bool stand_in_mixes(void)
{
	stand_in_mixed += several && !inside;
	return several && !inside;
}

int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn fn, void *data,
		      struct cupti_subscriber_params *params)
{
	int err;

	if (params->size != sizeof(*params))
		return INVALID;
	if (stand_in.alone)
		return CUPTI_SUBSCRIBED;
	/* A user that allows others does not block. */
	if (stand_in.shared && params->several)
		stand_in.subscribed = 0;
	strncpy(params->old_name, "CUPTI for Another", params->old_size);
	err = cuptiSubscribe(subscriber, fn, data);
	several |= !err && params->several;
	return err;
}

static void call_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	request(buffer, size, max_records, NULL);
}

static void call_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			  size_t valid)
{
	(void)context, (void)stream;
	complete(buffer, size, valid, NULL);
}

/* Does the work of a single-user function. */
#define WORK(subscriber, call) do {			\
	int err_;					\
							\
	if ((subscriber) != &stand_in)			\
		return INVALID;				\
	inside++;					\
	err_ = (call);					\
	inside--;					\
	return err_;					\
} while (0)

int cuptiActivityRegisterCallbacks_v2(void *subscriber, cupti_request_info_fn req,
				      cupti_complete_info_fn comp)
{
	request = req;
	complete = comp;
	WORK(subscriber, cuptiActivityRegisterCallbacks(call_request, call_complete));
}

int cuptiActivityEnable_v2(void *subscriber, uint32_t kind, void *config)
{
	WORK(subscriber, config ? INVALID : cuptiActivityEnable(kind));
}

int cuptiActivityDisable_v2(void *subscriber, uint32_t kind, void *config)
{
	WORK(subscriber, config ? INVALID : cuptiActivityDisable(kind));
}

int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer, size_t valid, void **record)
{
	WORK(subscriber, cuptiActivityGetNextRecord(buffer, valid, record));
}

int cuptiActivityGetNumDroppedRecords_v2(void *subscriber, void *context, uint32_t stream,
					 size_t *dropped)
{
	WORK(subscriber, cuptiActivityGetNumDroppedRecords(context, stream, dropped));
}

int cuptiActivitySetAttribute_v2(void *subscriber, uint32_t attribute, size_t *size, void *value)
{
	uint64_t (*now)(void);

	switch (attribute) {
	case CUPTI_ATTR_THREAD_ID:
		WORK(subscriber, *size == 4 ? cuptiSetThreadIdType(*(uint32_t *)value) : INVALID);
	case CUPTI_ATTR_TIMESTAMP:
		memcpy(&now, value, sizeof(now));
		WORK(subscriber, *size == 8 ? cuptiActivityRegisterTimestampCallback(now) :
					      INVALID);
	case CUPTI_ATTR_LATENCY:
		WORK(subscriber, cuptiActivityEnableLatencyTimestamps(*(uint8_t *)value));
	default:
		return subscriber == &stand_in ? 0 : INVALID;
	}
}

/* The stand-in has no single-user versions of these: they enable all calls. */
int cuptiActivityEnableDriverApi_v2(void *subscriber, uint32_t id, uint8_t on)
{
	WORK(subscriber, on && id == 1 ? cuptiActivityEnable(CUPTI_DRIVER) : 0);
}

int cuptiActivityEnableRuntimeApi_v2(void *subscriber, uint32_t id, uint8_t on)
{
	(void)id, (void)on;
	WORK(subscriber, 0);
}
