/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The rank in a distributed job that a trace belongs to, as stated by its processes, else from
 * their environment.
 */
#ifndef XSP_RANK_H
#define XSP_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

/**
 * struct xsp_rank - a rank
 * @rank: rank of all processes that have one
 * @world_size: number of ranks, 0: unknown
 * @backend: communication backend that the process states; NULL: unknown
 * @known: @rank is valid
 * @several: processes have different ranks
 */
struct xsp_rank {
	uint32_t	rank;
	uint32_t	world_size;
	const char	*backend;
	bool		known;
	bool		several;
};

/* The rank of one process. Return: false: none stated. */
bool xsp_rank_of(struct xsprof_trace *trace, uint32_t producer, struct xsp_rank *rank);
/* The rank of process @pid, 0: of all processes. */
void xsp_rank_find(struct xsprof_trace *trace, uint32_t pid, struct xsp_rank *rank);

/* For repeated queries: scans all producers once. */
struct xsp_ranks;

/* Return: 0, -ENOMEM, -errno as xsprof_trace_get_info(). */
int xsp_ranks_new(struct xsprof_trace *trace, struct xsp_ranks **ranks);
void xsp_ranks_free(struct xsp_ranks *ranks);
void xsp_ranks_get(const struct xsp_ranks *ranks, uint32_t pid, struct xsp_rank *rank);

#endif /* XSP_RANK_H */
