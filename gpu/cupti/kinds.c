// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Which kinds of records CUPTI collects, and that it does so for us: there is one subscriber, and
 * one that is not would take the records of another.
 */
#include "gpu/cupti/local.h"

static const uint32_t kinds[] = {
	CUPTI_KERNEL, CUPTI_MEMCPY, CUPTI_MEMCPY_PEER, CUPTI_MEMSET, CUPTI_SYNC, CUPTI_OVERHEAD,
	CUPTI_EXTERNAL, CUPTI_CONTEXT, CUPTI_DEVICE,
};

static void *subscriber;

/* No callback is enabled: this is for other tools in the process, which must know of us. */
static void nothing(void *data, uint32_t domain, uint32_t id, const void *info)
{
	(void)data, (void)domain, (void)id, (void)info;
}

static int subscribe(void)
{
	int err = cupti.subscribe(&subscriber, nothing, NULL);

	if (err)
		subscriber = NULL;
	return err ? err : cupti.register_callbacks(cupti_pool_request, cupti_pool_complete);
}

static void unsubscribe(void)
{
	if (subscriber)
		(void)cupti.unsubscribe(subscriber);
	subscriber = NULL;
}

int cupti_kinds_on(void)
{
	uint8_t zeroed = 1;
	size_t size = sizeof(zeroed);
	int err = subscribe();

	if (!err)
		err = cupti.enable(CUPTI_KERNEL);
	/*
	 * Without kernels there is nothing to record, and another tool may be able to; of the
	 * other kinds some may not be there.
	 */
	if (err) {
		unsubscribe();
		return err;
	}
	(void)cupti.set_attribute(CUPTI_ATTR_ZEROED, &size, &zeroed);
	for (size_t i = 1; i < ARRAY_SIZE(kinds); i++)
		(void)cupti.enable(kinds[i]);
	cupti_choose_calls();
	return 0;
}

void cupti_kinds_off(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		(void)cupti.disable(kinds[i]);
	(void)cupti.disable(CUPTI_DRIVER);
	(void)cupti.disable(CUPTI_RUNTIME);
	unsubscribe();
}

void cupti_tell(int err)
{
	if (err == CUPTI_SUBSCRIBED)
		collect_say("another tool has CUPTI already, and there can be one: the GPU is not "
			  "recorded");
	else if (err == CUPTI_NO_PRIVILEGE)
		collect_say("the driver lets root alone trace the GPU (its option "
			  "NVreg_RestrictProfilingToAdminUsers=0 lets all): it is not recorded");
	else
		collect_say("CUPTI: %s (%d): the GPU is not recorded", cupti_text(err), err);
}
