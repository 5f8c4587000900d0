/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The memory mappings of a process, by address. A capture may have many overlapping mappings, and
 * as many stacks: a lookup takes logarithmic time in all cases.
 */
#ifndef XSR_MAPPINGS_H
#define XSR_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

struct xsprof_trace;
struct xsr_mappings;

/*
 * @build_id: points into the trace's text, ended by a blank; @path: the end of that text. If start
 *	equals end it could not be parsed, and contains nothing.
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
 * xsr_mappings_find() - the mapping that contains an address
 * @mappings: mappings of the process
 * @known: number of mappings recorded before the address, from xsprof_trace_stack_maps()
 * @address: address
 *
 * The newest of the first @known mappings that contains it: older ones may have been unmapped.
 *
 * Return: its number + 1, 0: none, -ENOMEM.
 */
int64_t xsr_mappings_find(struct xsr_mappings *mappings, uint32_t known, uint64_t address);
/* @number: from xsr_mappings_find(), not 0; valid until the mappings are freed. */
const struct xsr_mapping *xsr_mappings_get(const struct xsr_mappings *mappings, uint32_t number);

#endif /* XSR_MAPPINGS_H */
