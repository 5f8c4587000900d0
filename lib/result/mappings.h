/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a process had mapped, by address.  A capture may have many mappings that hold one another,
 * and as many stacks: finding one takes logarithmic time, however they lie.
 */
#ifndef XSR_MAPPINGS_H
#define XSR_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

struct xsprof_trace;
struct xsr_mappings;

/*
 * @build_id: in the trace's text, a blank ends it; @path: the end of that text.  Where start
 * equals end it was not understood, and holds nothing.
 */
struct xsr_mapping {
	uint64_t	start;
	uint64_t	end;
	uint64_t	offset;
	const char	*build_id;
	const char	*path;
};

/* NULL: no memory. */
struct xsr_mappings *xsr_mappings_new(const struct xsprof_trace *trace, uint32_t producer);
void xsr_mappings_free(struct xsr_mappings *mappings);

/**
 * xsr_mappings_find() - the mapping that an address is of
 * @mappings: of its process
 * @known: how many came before the address was seen, as xsprof_trace_stack_maps() says
 * @address: what to look for
 *
 * The newest of the first @known that holds it: what was there before may have gone.
 *
 * Return: its number + 1, 0 where none holds it, -ENOMEM.
 */
int64_t xsr_mappings_find(struct xsr_mappings *mappings, uint32_t known, uint64_t address);
/* @number: as xsr_mappings_find() returned it, not 0; good until the mappings are freed. */
const struct xsr_mapping *xsr_mappings_get(const struct xsr_mappings *mappings, uint32_t number);

#endif /* XSR_MAPPINGS_H */
