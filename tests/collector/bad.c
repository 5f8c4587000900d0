// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plug-in with a fault: BAD_VERSION, BAD_FIELDS, BAD_SIZE, BAD_ENTRY (it has none), or NOTHING,
 * which has none: there is nothing to record. OLDER is no fault: its structure ends before the
 * functions that were added.
 */
#include <stdio.h>

#include <xsprof/collector.h>

/* The layout is an ABI: what is added goes to the end. */
_Static_assert(sizeof(struct xsprof_miss) == 24, "never changes");
_Static_assert(sizeof(struct xsprof_device_property) == 24, "never changes");
_Static_assert(offsetof(struct xsprof_device, properties) == 40, "uuid, index, count before it");
_Static_assert(offsetof(struct xsprof_device_activity, thread) == 80, "the last of version 1");
_Static_assert(offsetof(struct xsprof_collector, version) == 8, "behind the size");
_Static_assert(offsetof(struct xsprof_collector, own) == 88, "the last of the first ones");
_Static_assert(offsetof(struct xsprof_collector, handle_named) == 96, "added to these");

static uint64_t work(void *data)
{
	(void)data;
	puts("a bad collector works");
	return 0;
}

static struct {
	struct xsprof_collector c;
	uint64_t		newer;
} bad = {
	.c = {
#ifdef BAD_SIZE
		.size = sizeof(size_t),
#elif defined(OLDER)
		.size = offsetof(struct xsprof_collector, handle_named),
#else
		.size = sizeof(bad),
#endif
#ifdef BAD_VERSION
		.version = XSPROF_COLLECTOR_VERSION + 1,
#else
		.version = XSPROF_COLLECTOR_VERSION,
#endif
		.name = "bad", .category = "bad", .work = work,
	},
#ifdef BAD_FIELDS
	.newer = 1,
#endif
};

#ifdef BAD_ENTRY
struct xsprof_collector *not_the_entry(void);
struct xsprof_collector *not_the_entry(void)
{
	return &bad.c;
}
#else
XSPROF_COLLECTOR_ENTRY(version)
{
	printf("entry %u\n", version);
	fflush(stdout);
#ifdef NOTHING
	return NULL;
#endif
	return &bad.c;
}
#endif
