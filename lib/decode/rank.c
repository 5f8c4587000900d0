// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The rank that a trace is of: see rank.h.  It guesses nothing: one process' rank is not that of
 * a trace in which another has a different one.
 */
#include <stdlib.h>
#include <string.h>

#include "decode/rank.h"

bool xsp_rank_number(struct xsprof_trace *trace, uint32_t producer, const char *name,
		     uint32_t *value)
{
	const char *s = xsprof_trace_fact(trace, producer, name);

	/* As JSON has numbers: no zeros in front. */
	if (!s || !*s || strlen(s) > 9 || s[strspn(s, "0123456789")] || (s[0] == '0' && s[1]))
		return false;
	*value = (uint32_t)strtoul(s, NULL, 10);
	return true;
}

void xsp_rank_find(struct xsprof_trace *trace, uint32_t pid, struct xsp_rank *rank)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace_producer producer;
	uint32_t number, i;

	memset(rank, 0, sizeof(*rank));
	if (xsprof_trace_get_info(trace, &info) < 0)
		return;
	for (i = 0; i < info.producers; i++) {
		if (xsprof_trace_get_producer(trace, i, &producer) < 0 ||
		    (pid && producer.pid != pid) ||
		    !xsp_rank_number(trace, i, "env.RANK", &number))
			continue;
		if (rank->known && rank->rank != number)
			rank->several = true;
		rank->rank = number;
		rank->known = true;
		xsp_rank_number(trace, i, "env.WORLD_SIZE", &rank->world_size);
	}
	rank->known &= !rank->several;
}
