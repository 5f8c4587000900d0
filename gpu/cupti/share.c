// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Shares CUPTI with other tools: on request, with CUDA 13.3 and newer, beside tools that allow it
 * too. CUPTI's functions for a single user may not be mixed with those for several: each that has
 * such a successor is replaced by it, behind the same pointer, so no other file knows.
 */
#include "gpu/common/refused.h"
#include "gpu/cupti/local.h"

#define OLD_NAME	128u

static struct {
	int	(*subscribe)(void **subscriber, cupti_callback_fn callback, void *data,
			     struct cupti_subscriber_params *params);
	int	(*register_callbacks)(void *subscriber, cupti_request_info_fn request,
				      cupti_complete_info_fn complete);
	int	(*enable)(void *subscriber, uint32_t kind, void *config);
	int	(*disable)(void *subscriber, uint32_t kind, void *config);
	int	(*get_next)(void *subscriber, uint8_t *buffer, size_t valid, void **record);
	int	(*get_dropped)(void *subscriber, void *context, uint32_t stream, size_t *dropped);
	int	(*set_attribute)(void *subscriber, uint32_t attribute, size_t *size, void *value);
	int	(*enable_driver)(void *subscriber, uint32_t id, uint8_t on);
	int	(*enable_runtime)(void *subscriber, uint32_t id, uint8_t on);
} shared;

static struct cupti alone;	/* the functions for a single user */
static void *own;
static char other[OLD_NAME];
static bool sharing;

static int set(uint32_t attribute, size_t size, void *value)
{
	return shared.set_attribute(own, attribute, &size, value);
}

static int subscribe(void **subscriber, cupti_callback_fn callback, void *data)
{
	struct cupti_subscriber_params params = {
		.size = sizeof(params), .name = "xsprof", .old_name = other,
		.old_size = sizeof(other), .several = 1,
	};
	uint8_t graphs = 1;
	int err;

	other[0] = '\0';
	err = shared.subscribe(&own, callback, data, &params);
	other[sizeof(other) - 1] = '\0';
	/* Also the result of a driver that cannot share: then no user is named. */
	if (err == CUPTI_SUBSCRIBED && !*other) {
		gpu_refused("this driver cannot share CUPTI: it is not shared");
		cupti = alone;
		sharing = false;
		return cupti.subscribe(subscriber, callback, data);
	}
	if (err)
		return err;
	/* Applies to all users, and once: another one may have chosen, or may choose. */
	if (cupti_detail(CUPTI_DETAIL_GRAPHS))
		(void)set(CUPTI_ATTR_WHOLE_GRAPHS, sizeof(graphs), &graphs);
	*subscriber = own;
	return 0;
}

static void request(uint8_t **buffer, size_t *size, size_t *max_records, void *info)
{
	(void)info;
	cupti_pool_request(buffer, size, max_records);
}

static void complete(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	(void)info;
	cupti_pool_complete(NULL, 0, buffer, size, valid);
}

/* @req and @comp are the collector's, which request() and complete() call. */
static int register_callbacks(cupti_request_fn req, cupti_complete_fn comp)
{
	(void)req, (void)comp;
	return shared.register_callbacks(own, request, complete);
}

static int enable(uint32_t kind)
{
	return shared.enable(own, kind, NULL);
}

static int disable(uint32_t kind)
{
	return shared.disable(own, kind, NULL);
}

static int get_next(uint8_t *buffer, size_t valid, void **record)
{
	return shared.get_next(own, buffer, valid, record);
}

static int get_dropped(void *context, uint32_t stream, size_t *dropped)
{
	return shared.get_dropped(own, context, stream, dropped);
}

static int set_thread_id(uint32_t type)
{
	return set(CUPTI_ATTR_THREAD_ID, sizeof(type), &type);
}

static int set_timestamp(uint64_t (*now)(void))
{
	return set(CUPTI_ATTR_TIMESTAMP, sizeof(now), &now);
}

static int set_attribute(uint32_t attribute, size_t *size, void *value)
{
	return shared.set_attribute(own, attribute, size, value);
}

static int enable_latency(uint8_t on)
{
	return set(CUPTI_ATTR_LATENCY, sizeof(on), &on);
}

static int enable_driver(uint32_t id, uint8_t on)
{
	return shared.enable_driver(own, id, on);
}

static int enable_runtime(uint32_t id, uint8_t on)
{
	return shared.enable_runtime(own, id, on);
}

static bool find(void)
{
	const struct gpu_function functions[] = {
		{ &shared.subscribe, "cuptiSubscribe_v2" },
		{ &shared.register_callbacks, "cuptiActivityRegisterCallbacks_v2" },
		{ &shared.enable, "cuptiActivityEnable_v2" },
		{ &shared.disable, "cuptiActivityDisable_v2" },
		{ &shared.get_next, "cuptiActivityGetNextRecord_v2" },
		{ &shared.get_dropped, "cuptiActivityGetNumDroppedRecords_v2" },
		{ &shared.set_attribute, "cuptiActivitySetAttribute_v2" },
		{ &shared.enable_driver, "cuptiActivityEnableDriverApi_v2" },
		{ &shared.enable_runtime, "cuptiActivityEnableRuntimeApi_v2" },
	};

	return cupti_functions_get(functions, ARRAY_SIZE(functions));
}

void cupti_share_init(void)
{
	if (!cupti_detail(CUPTI_DETAIL_SHARE))
		return;
	if (cupti_version < CUPTI_SEVERAL || !find()) {
		gpu_refused("this libcupti (version %u) allows one user; sharing needs CUDA 13.3 "
			    "or newer: it is not shared", cupti_version);
		return;
	}
	sharing = true;
	alone = cupti;
	cupti.subscribe = subscribe;
	cupti.register_callbacks = register_callbacks;
	cupti.enable = enable;
	cupti.disable = disable;
	cupti.get_next = get_next;
	cupti.get_dropped = get_dropped;
	cupti.set_thread_id = set_thread_id;
	cupti.set_timestamp = set_timestamp;
	cupti.set_attribute = set_attribute;
	cupti.enable_latency = enable_latency;
	cupti.enable_driver = enable_driver;
	cupti.enable_runtime = enable_runtime;
	/* The one has no successor; the other's is off unless it is set. */
	cupti.configure_managed = NULL;
	cupti.enable_all_waits = NULL;
}

bool cupti_sharing(void)
{
	return sharing;
}

const char *cupti_other(void)
{
	return other;
}
