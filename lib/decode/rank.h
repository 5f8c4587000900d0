/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which rank of a distributed job a trace is of, as its processes say, else their environment.
 */
#ifndef XSP_RANK_H
#define XSP_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/trace.h>

/**
 * struct xsp_rank - what is known of it
 * @rank: the one that all processes with a rank have
 * @world_size: how many there are, 0: not known
 * @backend: what they communicate by, as the process says; NULL: not known
 * @known: there is such a rank
 * @several: processes have different ones
 */
struct xsp_rank {
	uint32_t	rank;
	uint32_t	world_size;
	const char	*backend;
	bool		known;
	bool		several;
};

/* Of one process.  Return: false: it says none. */
bool xsp_rank_of(struct xsprof_trace *trace, uint32_t producer, struct xsp_rank *rank);
/* Of the process @pid, 0: of all. */
void xsp_rank_find(struct xsprof_trace *trace, uint32_t pid, struct xsp_rank *rank);

/* The same for who asks for one process after another: all of them are looked through once. */
struct xsp_ranks;

/* Return: 0, -ENOMEM, -errno as xsprof_trace_get_info(). */
int xsp_ranks_new(struct xsprof_trace *trace, struct xsp_ranks **ranks);
void xsp_ranks_free(struct xsp_ranks *ranks);
void xsp_ranks_get(const struct xsp_ranks *ranks, uint32_t pid, struct xsp_rank *rank);

#endif /* XSP_RANK_H */
