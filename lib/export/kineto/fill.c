// SPDX-License-Identifier: LGPL-2.1-only
/*
 * How much of its device a kernel fills, in a Kineto trace: from its launch, and from what the
 * collector said of the device.  Where the collector said it of the kernel, that stands.
 */
#include "export/kineto/local.h"

static bool has_key(const struct xsr_kineto *k, const struct xsr_walk *from, const char *name)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;

	while (xsr_walk_next(&walk, &arg))
		if (!strcmp(xsprof_trace_name(k->w.trace, walk.ev.producer, arg.key), name))
			return true;
	return false;
}

/* What its device can hold, as its collector said. */
static const struct xsr_limits *limits_of(struct xsr_kineto *k, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	uint64_t key = ((uint64_t)ev->producer + 1) << 32 | rec->device;
	struct xsr_kineto_limits *kept = &k->limits[key % XSR_LIMITS];
	char text[32], *p;

	if (kept->key != key) {
		p = put_u32(put_lit(text, "device."), rec->device);
		*p = '\0';
		kept->key = key;
		kept->known = xsr_limits_read(xsprof_trace_fact(k->w.trace, ev->producer, text),
					      &kept->limits);
	}
	return kept->known ? &kept->limits : NULL;
}

char *xsr_kineto_fill(struct xsr_kineto *k, const struct xsprof_event *ev,
		      const struct xsr_walk *args, char *p)
{
	const struct xsr_limits *limits = limits_of(k, ev);
	struct xsr_launch launch;
	double blocks, occupancy;

	if (!limits || has_key(k, args, "blocks per SM") ||
	    !xsr_launch_read(k->w.trace, *args, &launch))
		return p;
	blocks = xsr_blocks_per_sm(limits, &launch);
	occupancy = xsr_occupancy(limits, &launch);
	p = xsp_put_double(put_lit(p, ",\"blocks per SM\":"), blocks);
	p = xsp_put_double(put_lit(p, ",\"warps per SM\":"),
			   blocks * (double)xsr_warps_of_block(limits, &launch));
	if (occupancy < 0)
		return p;
	/* In whole percent, as readers take it. */
	return put_i64(put_lit(p, ",\"est. achieved occupancy %\":"), (int64_t)(occupancy + 0.5));
}
