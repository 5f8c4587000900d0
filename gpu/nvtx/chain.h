/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A second tool, named by the user: it also receives each NVTX call.
 */
#ifndef XSPROF_NVTX_CHAIN_H
#define XSPROF_NVTX_CHAIN_H

#include "gpu/nvtx/local.h"

#define NVTX_CHAIN_SLOTS	16u	/* per module: no version has more */

/* Our function of each slot, and the function for the program that calls ours and the tool's. */
extern nvtx_slot nvtx_ours[NVTX_MODULES][NVTX_CHAIN_SLOTS];
extern nvtx_slot nvtx_theirs[NVTX_MODULES][NVTX_CHAIN_SLOTS];
extern const struct nvtx_entry nvtx_chain_entries[];

/* The tool's function @name; NULL: no tool, or the library lacks the function. */
void *nvtx_chain_find(const char *name);
/* Lets the tool fill its tables for a copy of NVTX.  Return: false if the tool declines. */
bool nvtx_chain_init(nvtx_get_export get_export);

/* ---- handles of the tool's, which the program has, and ours ---------------------------------- */

enum nvtx_kind { NVTX_KIND_DOMAIN, NVTX_KIND_STRING, NVTX_KIND_RESOURCE, NVTX_KIND_SYNC,
		 NVTX_KIND_RANGE, NVTX_KINDS };

void nvtx_chain_put(enum nvtx_kind kind, uint64_t theirs, uint64_t ours);
bool nvtx_chain_get(enum nvtx_kind kind, uint64_t theirs, uint64_t *ours);
bool nvtx_chain_take(enum nvtx_kind kind, uint64_t theirs, uint64_t *ours);

/* The domain of a handle, ours or the tool's. */
struct nvtx_domain nvtx_chain_domain(const void *handle);

#endif /* XSPROF_NVTX_CHAIN_H */
