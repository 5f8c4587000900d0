// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The memory on the device in which CUPTI keeps times of activities until it has told of them:
 * buffers of each context. It makes another when the program launches and none is free, by default
 * up to 250 of 3.2 MB. Without room an activity has no time, which is counted.
 */
#include <stdio.h>

#include "gpu/cupti/local.h"

/* Of the default size, 100 MB: for more than three million activities that are not over. */
#define BUFFERS		32u

static size_t before;	/* how many it was; 0: that was not changed */

static int get(uint32_t attribute, size_t *value)
{
	size_t size = sizeof(*value);

	return cupti.get_attribute ? cupti.get_attribute(attribute, &size, value) : -1;
}

static int set(size_t value)
{
	size_t size = sizeof(value);

	return cupti.set_attribute(CUPTI_ATTR_DEVICE_BUFFERS, &size, &value);
}

/* Only of contexts that come later. Several users have one choice, which is not ours alone. */
void cupti_device_buffers_bound(void)
{
	size_t nr, bytes;
	char text[96];

	if (cupti_sharing() || get(CUPTI_ATTR_DEVICE_BUFFERS, &nr) ||
	    get(CUPTI_ATTR_DEVICE_BUFFER, &bytes))
		return;
	if (nr > BUFFERS && !set(BUFFERS)) {
		before = nr;
		nr = BUFFERS;
	}
	snprintf(text, sizeof(text), "{\"at_most\": %zu, \"bytes\": %zu}", nr, bytes);
	(void)xsprof_fact("device_buffers", text);
}

void cupti_device_buffers_restore(void)
{
	if (before)
		(void)set(before);
	before = 0;
}
