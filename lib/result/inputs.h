/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The inputs of ops as JSON: lists side by side, of sizes, strides, types and values, in which each
 * input has the same place.
 */
#ifndef XSR_INPUTS_H
#define XSR_INPUTS_H

#include "result/writer.h"

/**
 * struct xsr_facet - what a list says of inputs
 * @put: writes that of one; what is in several records is taken from @walk
 * @list: what the elements of a list of tensors stand in, up to "]"; NULL: @put says all of it
 * @scalars: what stands for a list that is not of tensors, NULL: what @list says
 * @missing: what stands for an input of which nothing is known
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

/* As PyTorch's profiler writes them. */
extern const struct xsr_facet xsr_sizes, xsr_strides, xsr_types, xsr_values;

/**
 * xsr_put_inputs() - one list of the inputs of an op
 * @w: where to
 * @from: the arguments of the op
 * @facet: what of each
 * @places: each at the place that its key says, once, where it is known; nothing where there are
 *	none
 * @p: where to, with room
 */
char *xsr_put_inputs(struct xsr_writer *w, const struct xsr_walk *from,
		     const struct xsr_facet *facet, bool places, char *p);
/* The place of an input behind @nr others; false: it was given before. */
bool xsr_input_place(uint32_t key, uint32_t nr, uint32_t *place);
/* Is it of a type that inputs have?  Texts say nothing of others; files say "Scalar". */
bool xsr_input_known(const struct xsprof_trace_arg *arg);
/* The type of an input: its name id, or 0 and @word.  @walk is behind it. */
uint32_t xsr_input_type(const struct xsr_walk *walk, const struct xsprof_trace_arg *arg,
			const char **word);
/* Which device an input is, as "cuda:0"; NULL: it is none. */
const char *xsr_input_device(const struct xsr_writer *w, uint32_t producer,
			     const struct xsprof_trace_arg *arg);
/* The value of one that is no string, as Python prints it, without quotes. */
char *xsr_put_input_value(struct xsr_writer *w, struct xsr_walk *walk,
			  const struct xsprof_trace_arg *arg, char *p);

#endif /* XSR_INPUTS_H */
