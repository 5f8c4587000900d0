// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Unified memory: what the driver moved between a CPU and devices, and why.  It is on request, as
 * the driver then tells of each move, which slows it down.
 */
#include "gpu/cupti/local.h"

#define ALL_DEVICES	2u
#define NOT_READY	13	/* these two: CUDA is being initialised */
#define NOT_INITIALIZED	15
#define ARGS		4u

enum counter { TO_DEVICE = 1, TO_HOST = 2, PEER = 8 };

enum key { KEY_ADDRESS, KEY_FROM, KEY_TO, KEY_CAUSE, NR_KEYS };

static const uint32_t counters[] = { TO_DEVICE, TO_HOST, PEER };

static xsprof_name_t keys[NR_KEYS];

void cupti_managed_init(void)
{
	static const char *const texts[NR_KEYS] = {
		[KEY_ADDRESS] = "address", [KEY_FROM] = "fromDevice", [KEY_TO] = "toDevice",
		[KEY_CAUSE] = "cause",
	};

	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(texts[i]);
}

bool cupti_managed_on(void)
{
	struct cupti_managed_config configs[ARRAY_SIZE(counters)];
	int err = -1;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		configs[i] = (struct cupti_managed_config){
			.scope = ALL_DEVICES, .counter = counters[i], .on = 1,
		};
	if (cupti.configure_managed)
		err = cupti.configure_managed(configs, ARRAY_SIZE(counters));
	if (!err)
		err = cupti.enable(CUPTI_MANAGED);
	if (err == NOT_READY || err == NOT_INITIALIZED)
		return false;
	if (err)
		xsprof_say("CUPTI: %s (%d): unified memory is not recorded",
			   err < 0 ? "it has no counters for it" : cupti_text(err), err);
	return true;
}

static void put_moved(const struct cupti_managed *m)
{
	static const char *const names[] = {
		[TO_DEVICE] = "Unified Memory HtoD", [TO_HOST] = "Unified Memory DtoH",
		[PEER] = "Unified Memory DtoD",
	};
	static const char *const causes[] = {
		"unknown", "user", "coherence", "prefetch", "eviction", "access counters",
	};
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	size_t n = 0;

	if (!cupti_work(&a, XSPROF_GPU_MEMCPY, xsprof_name_in(cupti_category(), names[m->counter]),
			m->start, m->end, 0))
		return;
	/* The driver moves it for whichever context wants it, in no stream. */
	a.device = m->counter == TO_DEVICE ? m->to : m->from;
	a.stream = UINT32_MAX;
	a.bytes = m->value;
	kv[n++] = xsprof_ptr(keys[KEY_ADDRESS], (const void *)(uintptr_t)m->address);
	kv[n++] = xsprof_str(keys[KEY_CAUSE], causes[m->flags < ARRAY_SIZE(causes) ? m->flags : 0]);
	if (m->counter == PEER) {
		kv[n++] = xsprof_i64(keys[KEY_FROM], m->from);
		kv[n++] = xsprof_i64(keys[KEY_TO], m->to);
	}
	cupti_put(&a, kv, n);
}

void cupti_managed(const struct cupti_managed *m)
{
	switch (m->counter) {
	case TO_DEVICE:
	case TO_HOST:
	case PEER:
		put_moved(m);
		break;
	default:
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
	}
}
