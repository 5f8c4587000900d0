// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is known of an op, as arguments of its event: its ids, its inputs as lists side by side,
 * where it was called, what else the program said.  The inputs may stand in several records; each
 * list is a walk over all of them.
 */
#include "export/kineto/local.h"
#include "result/numbers.h"
#include "result/post.h"

/* What of the inputs a list is of. */
enum facet { DIMS, STRIDES, TYPES, VALUES };

static char *put_dims(const struct xsprof_trace_arg *arg, bool strides, char *p)
{
	struct xsprof_trace_tensor tensor;

	return xsr_put_dims(p, xsprof_trace_tensor(arg, &tensor) ? &tensor : NULL, strides);
}

static char *put_type(struct xsr_kineto *k, uint32_t producer, const struct xsprof_trace_arg *arg,
		      char *p)
{
	struct xsprof_trace_tensor tensor;

	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		if (!xsprof_trace_tensor(arg, &tensor) || !tensor.dtype)
			return put_lit(p, "\"\"");
		return xsr_writer_name(&k->w, producer, tensor.dtype, p);
	case XSPROF_ARG_LIST:
		return put_lit(p, "\"TensorList\"");
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		return put_lit(p, "\"ScalarList\"");
	case XSPROF_ARG_NONE:
		if (!arg->u.u64 || arg->u.u64 > UINT32_MAX)
			return put_lit(p, "\"\"");
		return xsr_writer_name(&k->w, producer, (uint32_t)arg->u.u64, p);
	case XSPROF_ARG_STR:
		return put_lit(p, "\"\"");
	default:
		return put_lit(p, "\"Scalar\"");
	}
}

/* Values as Python prints them. */
static char *put_concrete(struct xsr_kineto *k, struct xsr_walk *walk,
			  const struct xsprof_trace_arg *arg, char *p)
{
	if (arg->type == XSPROF_ARG_STR)
		return xsr_writer_string(&k->w, walk, arg, p);
	*p++ = '"';
	switch (arg->type) {
	case XSPROF_ARG_I64:
		p = put_i64(p, arg->u.i64);
		break;
	case XSPROF_ARG_U64:
	case XSPROF_ARG_PTR:
		p = put_u64(p, arg->u.u64);
		break;
	case XSPROF_ARG_BOOL:
		p = arg->u.u64 ? put_lit(p, "True") : put_lit(p, "False");
		break;
	case XSPROF_ARG_F64:
		p = xsr_put_python(p, arg->u.f64);
		break;
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		p = xsr_writer_numbers(&k->w, walk, arg, true, p);
		break;
	}
	*p++ = '"';
	return p;
}

static char *put_facet(struct xsr_kineto *k, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, enum facet facet, char *p)
{
	switch (facet) {
	case DIMS:
	case STRIDES:
		return put_dims(arg, facet == STRIDES, p);
	case TYPES:
		return put_type(k, walk->ev.producer, arg, p);
	default:
		return put_concrete(k, walk, arg, p);
	}
}

/* The elements of a list stand behind it: of their sizes a list, of all else they are one. */
static char *put_list(struct xsr_kineto *k, const struct xsprof_trace_arg *list,
		      struct xsr_walk *walk, enum facet facet, char *p)
{
	bool dims = facet == DIMS || facet == STRIDES, any = false;
	uint64_t left = list->u.u64;
	struct xsprof_trace_arg arg;

	if (dims)
		*p++ = '[';
	else
		p = put_facet(k, walk, list, facet, p);
	while (xsr_walk_item(walk, &left, &arg)) {
		if (!dims)
			continue;
		if (any)
			*p++ = ',';
		any = true;
		p = put_dims(&arg, facet == STRIDES, xsr_writer_room(&k->w, p));
	}
	if (dims)
		*p++ = ']';
	return p;
}

static char *put_inputs(struct xsr_kineto *k, const struct xsr_walk *from, const char *key,
			enum facet facet, char *p)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;
	bool any = false;

	p = stpcpy(put_lit(p, ",\""), key);
	p = put_lit(p, "\":[");
	while (xsr_walk_next(&walk, &arg)) {
		if (!xsr_key_is_input(arg.key) || arg.flags & XSPROF_ARGF_CONT)
			continue;
		p = xsr_writer_room(&k->w, p);
		if (any)
			*p++ = ',';
		any = true;
		if (arg.type == XSPROF_ARG_LIST)
			p = put_list(k, &arg, &walk, facet, p);
		else
			p = put_facet(k, &walk, &arg, facet, p);
	}
	*p++ = ']';
	return p;
}

static bool has_inputs(const struct xsr_walk *from, bool *strides)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_tensor tensor;
	struct xsprof_trace_arg arg;
	bool any = false;

	*strides = false;
	while (xsr_walk_next(&walk, &arg)) {
		any |= xsr_key_is_input(arg.key);
		*strides |= xsprof_trace_tensor(&arg, &tensor) && tensor.nr_strides;
	}
	return any;
}

static char *put_module(struct xsr_kineto *k, const struct xsr_walk *from, char *p)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;

	while (xsr_walk_next(&walk, &arg))
		if (arg.key == XSPROF_KEY_MODULE && arg.type == XSPROF_ARG_STR)
			return xsr_writer_string(&k->w, &walk, &arg,
						 put_lit(p, ",\"Module Hierarchy\":"));
	return p;
}

#define COLLECTIVE	"\"record_param_comms\""

/* Does the op tell of a collective?  Asked once for a name, not for each of its ops. */
static bool is_collective(struct xsr_kineto *k, uint32_t producer, uint32_t name)
{
	struct xsp_name *entry = xsp_names_get(k->w.names, producer, name);

	if (!entry->match)
		entry->match = entry->len == sizeof(COLLECTIVE) - 1 &&
			       !memcmp(entry->text, COLLECTIVE, entry->len) ? 1 : 2;
	return entry->match == 1;
}

/* Its arguments, and where they are of a collective a copy of them for its kernels. */
static char *put_own(struct xsr_kineto *k, const struct xsp_range *range, struct xsr_walk *walk,
		     uint64_t correlation, char *p)
{
	uint32_t producer = walk->ev.producer;
	uint64_t total = k->w.buf->total;
	const char *start = p;
	bool any = true;

	p = xsr_kineto_args(k, walk, false, p, &any);
	/* Where the buffer was written out between, they are gone. */
	if (correlation && p > start && total == k->w.buf->total &&
	    is_collective(k, producer, range->name))
		xsr_link_set_collective(k, producer, correlation, start, (size_t)(p - start));
	return p;
}

char *xsr_kineto_op(struct xsr_kineto *k, const struct xsp_range *range, struct xsr_walk *walk,
		    const struct xsr_post *post, char *p)
{
	struct xsr_walk start = *walk;
	struct xsprof_trace_op op = { 0 };
	bool is_op, strides;

	is_op = xsprof_trace_op(&start.ev, &op);
	/* The program's own first: of two of one name readers take the last. */
	p = put_own(k, range, walk, op.correlation, xsr_writer_room(&k->w, p));
	if (!is_op)
		return p;
	p = xsr_writer_room(&k->w, p);
	if (op.correlation)
		p = put_u64(put_lit(p, ",\"External id\":"), op.correlation);
	p = put_u64(put_lit(p, ",\"Record function id\":"), op.record_function_id);
	if (op.sequence >= 0) {
		p = put_i64(put_lit(p, ",\"Sequence number\":"), op.sequence);
		p = put_u64(put_lit(p, ",\"Fwd thread id\":"), op.forward_thread);
	}
	if (k->shapes && has_inputs(&start, &strides)) {
		p = put_inputs(k, &start, "Concrete Inputs", VALUES, p);
		p = put_inputs(k, &start, "Input type", TYPES, p);
		if (strides)
			p = put_inputs(k, &start, "Input Strides", STRIDES, p);
		p = put_inputs(k, &start, "Input Dims", DIMS, p);
	}
	if (k->modules && !(post && post->has_module))
		p = put_module(k, &start, p);
	if (k->stacks && op.stack && !(post && post->has_stack))
		p = xsr_kineto_stack(k, start.ev.producer, op.stack, p);
	return p;
}
