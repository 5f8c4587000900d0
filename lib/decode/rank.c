// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The rank that a trace is of: see rank.h.  It guesses nothing: one process' rank is not that of
 * a trace in which another has a different one.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/rank.h"

static bool number(struct xsprof_trace *trace, uint32_t producer, const char *fact,
		   uint32_t *value)
{
	const char *s = xsprof_trace_fact(trace, producer, fact);

	/* As JSON has numbers: no zeros in front. */
	if (!s || !*s || strlen(s) > 9 || s[strspn(s, "0123456789")] || (s[0] == '0' && s[1]))
		return false;
	*value = (uint32_t)strtoul(s, NULL, 10);
	return true;
}

bool xsp_rank_of(struct xsprof_trace *trace, uint32_t producer, struct xsp_rank *rank)
{
	memset(rank, 0, sizeof(*rank));
	if (number(trace, producer, "distributed.rank", &rank->rank)) {
		number(trace, producer, "distributed.world_size", &rank->world_size);
		rank->backend = xsprof_trace_fact(trace, producer, "distributed.backend");
		rank->known = true;
	} else if (number(trace, producer, "env.RANK", &rank->rank)) {
		number(trace, producer, "env.WORLD_SIZE", &rank->world_size);
		rank->known = true;
	}
	return rank->known;
}

void xsp_rank_find(struct xsprof_trace *trace, uint32_t pid, struct xsp_rank *rank)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace_producer producer;
	struct xsp_rank one;
	uint32_t i;

	memset(rank, 0, sizeof(*rank));
	if (xsprof_trace_get_info(trace, &info) < 0)
		return;
	for (i = 0; i < info.producers; i++) {
		if (xsprof_trace_get_producer(trace, i, &producer) < 0 ||
		    (pid && producer.pid != pid) ||
		    !xsp_rank_of(trace, i, &one))
			continue;
		if (rank->known && rank->rank != one.rank)
			rank->several = true;
		one.several = rank->several;
		/* A child of the process that says it knows its environment alone. */
		if (!one.backend)
			one.backend = rank->backend;
		if (!one.world_size)
			one.world_size = rank->world_size;
		*rank = one;
	}
	rank->known &= !rank->several;
}
