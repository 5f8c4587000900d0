/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The inputs of ops as JSON: parallel lists of sizes, strides, types and values, indexed by input.
 */
#ifndef XSR_INPUTS_H
#define XSR_INPUTS_H

#include "result/writer.h"

/**
 * struct xsr_facet - what a list contains of each input
 * @put: writes that of one input; data in several records is taken from @walk
 * @list: opening text for the elements of a list of tensors, closed by "]"; NULL: @put writes
 *	everything
 * @scalars: text for a list of non-tensors, NULL: as @list
 * @missing: text for an input without data
 * @quoted: @put writes no quotes
 */
struct xsr_facet {
	char		*(*put)(struct xsr_writer *w, struct xsr_walk *walk,
				const struct xsprof_trace_arg *arg, char *p);
	const char	*list;
	const char	*scalars;
	const char	*missing;
	bool		quoted;
};

/* In the format of PyTorch's profiler. */
extern const struct xsr_facet xsr_sizes, xsr_strides, xsr_types, xsr_values;

/**
 * xsr_put_inputs() - one list of the inputs of an op
 * @w: writer
 * @from: the arguments of the op
 * @facet: what of each
 * @places: put each input at the index that its key states, if known; otherwise in order
 * @p: output position, with room
 */
char *xsr_put_inputs(struct xsr_writer *w, const struct xsr_walk *from,
		     const struct xsr_facet *facet, bool places, char *p);
/* The index of an input after @nr others; false: it was given before. */
bool xsr_input_place(uint32_t key, uint32_t nr, uint32_t *place);
/* Is its type one of inputs? Texts leave other types out; files write "Scalar". */
bool xsr_input_known(const struct xsprof_trace_arg *arg);
/* The type of an input: its name id, or 0 and @word. Advances @walk past it. */
uint32_t xsr_input_type(const struct xsr_walk *walk, const struct xsprof_trace_arg *arg,
			const char **word);
/* The device that an input is, as "cuda:0"; NULL: it is not a device. */
const char *xsr_input_device(const struct xsr_writer *w, uint32_t producer,
			     const struct xsprof_trace_arg *arg);
/* The value of an input that is not a string, as Python prints it, without quotes. */
char *xsr_put_input_value(struct xsr_writer *w, struct xsr_walk *walk,
			  const struct xsprof_trace_arg *arg, char *p);

#endif /* XSR_INPUTS_H */
