// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Details of an op as arguments of its event: ids, inputs as parallel lists, call stack,
 * annotations of the program.
 */
#include "export/kineto/local.h"
#include "result/inputs.h"
#include "result/post.h"

static char *put_inputs(struct xsr_kineto *k, const struct xsr_walk *from, const char *key,
			const struct xsr_facet *facet, char *p)
{
	p = put_lit(stpcpy(put_lit(p, ",\""), key), "\":");
	return xsr_put_inputs(&k->w, from, facet, false, p);
}

/* The keys that xsprof itself makes of its arguments. */
static uint32_t made_of(const struct xsr_walk *from)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;
	uint32_t made = 0;

	while (xsr_walk_next(&walk, &arg)) {
		if (xsr_key_is_input(arg.key))
			made |= XSR_OWN_INPUTS;
		if (arg.key == XSPROF_KEY_MODULE &&
		    (arg.type == XSPROF_ARG_STR || arg.type == XSPROF_ARG_NAME))
			made |= XSR_OWN_MODULE;
	}
	return made;
}

#define HIERARCHY	",\"Module Hierarchy\":"

static char *put_module(struct xsr_kineto *k, const struct xsr_walk *from, char *p)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;

	while (xsr_walk_next(&walk, &arg)) {
		if (arg.key != XSPROF_KEY_MODULE)
			continue;
		if (arg.type == XSPROF_ARG_NAME)
			return xsr_writer_name(&k->w, walk.ev.producer, (uint32_t)arg.u.u64,
					       put_lit(p, HIERARCHY));
		if (arg.type == XSPROF_ARG_STR)
			return xsr_writer_string(&k->w, &walk, &arg, put_lit(p, HIERARCHY));
	}
	return p;
}

#define COLLECTIVE	"\"record_param_comms\""

/* Is it an op of a collective? Determined once per name. */
static bool is_collective(struct xsr_kineto *k, uint32_t producer, uint32_t name)
{
	struct xsp_name *entry = xsp_names_get(k->w.names, producer, name);

	if (!entry->match)
		entry->match = entry->len == sizeof(COLLECTIVE) - 1 &&
			       !memcmp(entry->text, COLLECTIVE, entry->len) ? 1 : 2;
	return entry->match == 1;
}

/* Writes its arguments and, for a collective, keeps a copy for its kernels. */
static char *put_own(struct xsr_kineto *k, const struct xsp_range *range, struct xsr_walk *walk,
		     uint32_t own, char *p)
{
	uint32_t producer = walk->ev.producer;
	uint64_t total = k->w.buf->total;
	const char *start = p;
	bool any = true;

	p = xsr_kineto_args(k, walk, false, own, p, &any);
	/* If the buffer was flushed in between, the text is gone. */
	if (p > start && total == k->w.buf->total && is_collective(k, producer, range->name))
		xsr_link_set_collective(k, producer, xsr_kineto_range_id(range), start,
					(size_t)(p - start));
	return p;
}

char *xsr_kineto_op(struct xsr_kineto *k, const struct xsp_range *range, struct xsr_walk *walk,
		    const struct xsr_post *post, uint32_t own, char *p)
{
	struct xsr_walk start = *walk;
	struct xsprof_trace_op op = { 0 };
	uint32_t made = 0;
	bool is_op;

	is_op = xsprof_trace_op(&start.ev, &op);
	if (is_op) {
		if (k->shapes)
			made |= XSR_OWN_INPUTS;
		if (k->modules && !(post && post->has_module))
			made |= XSR_OWN_MODULE;
		made &= made_of(&start);
		if (k->stacks && op.stack && !(post && post->has_stack))
			made |= XSR_OWN_STACK;
		k->saw_shapes |= made & XSR_OWN_INPUTS;
		k->saw_modules |= made & XSR_OWN_MODULE;
		k->saw_stacks |= made & XSR_OWN_STACK;
		own |= made | XSR_OWN_RECORD | (op.sequence >= 0 ? XSR_OWN_SEQUENCE : 0);
	}
	p = put_own(k, range, walk, own, xsr_writer_room(&k->w, p));
	if (!is_op)
		return p;
	p = xsr_writer_room(&k->w, p);
	p = put_u64(put_lit(p, ",\"Record function id\":"), op.record_function_id);
	if (op.sequence >= 0) {
		p = put_i64(put_lit(p, ",\"Sequence number\":"), op.sequence);
		p = put_u64(put_lit(p, ",\"Fwd thread id\":"), op.forward_thread);
	}
	if (made & XSR_OWN_INPUTS) {
		p = put_inputs(k, &start, "Concrete Inputs", &xsr_values, p);
		p = put_inputs(k, &start, "Input type", &xsr_types, p);
		p = put_inputs(k, &start, "Input Strides", &xsr_strides, p);
		p = put_inputs(k, &start, "Input Dims", &xsr_sizes, p);
	}
	if (made & XSR_OWN_MODULE)
		p = put_module(k, &start, p);
	if (made & XSR_OWN_STACK)
		p = xsr_kineto_stack(k, start.ev.producer, op.stack, p);
	return p;
}
