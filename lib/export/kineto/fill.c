// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Occupancy of kernels in a Kineto trace, from their launch and the collector's description of the
 * device. If the collector recorded it with the kernel, that value is used.
 */
#include <stdlib.h>

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

/* Without memory they are parsed again for the device's next kernel. */
static const struct xsr_limits *keep(struct xsr_kineto *k, uint64_t key,
				     const struct xsr_limits *limits)
{
	uint32_t room = k->nr_limits ? 2 * k->nr_limits : 1;
	struct xsr_limits *list;

	/* The capacity is a power of two: full when the number is one. */
	if (!(k->nr_limits & (k->nr_limits - 1))) {
		list = realloc(k->limits, room * sizeof(*list));
		if (!list)
			return limits;
		k->limits = list;
	}
	if (xsp_map_set(&k->limit_of, key, k->nr_limits + 1ull))
		return limits;
	k->limits[k->nr_limits] = *limits;
	return &k->limits[k->nr_limits++];
}

/* The limits of its device, from the collector's description. */
static const struct xsr_limits *limits_of(struct xsr_kineto *k, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *rec = (const struct xsprof_rec_gpu *)ev->rec;
	uint64_t key = ((uint64_t)ev->producer + 1) << 32 | rec->device;
	const uint64_t *kept = xsp_map_get(&k->limit_of, key);
	struct xsr_limits *limits = &k->limits_once;
	char text[32], *p;

	if (kept)
		return *kept ? &k->limits[*kept - 1] : NULL;
	p = put_u32(put_lit(text, "device."), rec->device);
	*p = '\0';
	if (!xsr_limits_read(xsprof_trace_fact(k->w.trace, ev->producer, text), limits)) {
		(void)xsp_map_set(&k->limit_of, key, 0);
		return NULL;
	}
	return keep(k, key, limits);
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
	/* In whole percent, as readers expect. */
	return put_i64(put_lit(p, ",\"est. achieved occupancy %\":"), (int64_t)(occupancy + 0.5));
}
