// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Determines the rank of a trace: see rank.h. Guesses nothing: a trace in which processes have
 * different ranks has none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "decode/rank.h"

static bool number(struct xsprof_trace *trace, uint32_t producer, const char *fact,
		   uint32_t *value)
{
	const char *s = xsprof_trace_fact(trace, producer, fact);

	/* As a JSON number: no leading zeros. */
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

/* @one: of a later producer than those of @rank. */
static void join(struct xsp_rank *rank, struct xsp_rank one)
{
	one.several = rank->several || (rank->known && rank->rank != one.rank);
	/* A child of the process that states it knows only its environment. */
	if (!one.backend)
		one.backend = rank->backend;
	if (!one.world_size)
		one.world_size = rank->world_size;
	*rank = one;
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
		join(rank, one);
	}
	rank->known &= !rank->several;
}

/* ---- of many processes ----------------------------------------------------------------------- */

struct xsp_ranks {
	struct xsp_rank	all;
	struct xsp_rank	*list;
	uint32_t	nr;
	struct xsp_map	by_pid;		/* + 1 */
};

static int add(struct xsp_ranks *ranks, uint32_t pid, const struct xsp_rank *one)
{
	const uint64_t *known = xsp_map_get(&ranks->by_pid, pid);

	join(&ranks->all, *one);
	if (known)
		join(&ranks->list[*known - 1], *one);
	else if (pid && xsp_map_set(&ranks->by_pid, pid, ranks->nr + 1ull))
		return -ENOMEM;
	else if (pid)
		ranks->list[ranks->nr++] = *one;
	return 0;
}

int xsp_ranks_new(struct xsprof_trace *trace, struct xsp_ranks **out)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsp_ranks *ranks = calloc(1, sizeof(*ranks));
	struct xsprof_trace_producer producer;
	struct xsp_rank one;
	int ret;

	if (!ranks)
		return -ENOMEM;
	ret = xsprof_trace_get_info(trace, &info);
	if (!ret) {
		ranks->list = calloc((size_t)info.producers + 1, sizeof(*ranks->list));
		ret = ranks->list ? 0 : -ENOMEM;
	}
	for (uint32_t i = 0; !ret && i < info.producers; i++)
		if (!xsprof_trace_get_producer(trace, i, &producer) &&
		    xsp_rank_of(trace, i, &one))
			ret = add(ranks, producer.pid, &one);
	if (ret) {
		xsp_ranks_free(ranks);
		return ret;
	}
	*out = ranks;
	return 0;
}

void xsp_ranks_free(struct xsp_ranks *ranks)
{
	if (!ranks)
		return;
	xsp_map_free(&ranks->by_pid);
	free(ranks->list);
	free(ranks);
}

void xsp_ranks_get(const struct xsp_ranks *ranks, uint32_t pid, struct xsp_rank *rank)
{
	const uint64_t *known = xsp_map_get(&ranks->by_pid, pid);

	*rank = !pid ? ranks->all : known ? ranks->list[*known - 1] : (struct xsp_rank){ 0 };
	rank->known &= !rank->several;
}
