// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes the inputs of ops: see inputs.h. They may be spread over several records; each list
 * iterates over all of them. An input without data is not invented: an unknown size is -1.
 */
#include "result/inputs.h"
#include "result/numbers.h"

/* PyTorch's collector records a device as the type of an input. */
#define DEVICE	"Device "

bool xsr_input_place(uint32_t key, uint32_t nr, uint32_t *place)
{
	*place = key - XSPROF_KEY_INPUT;
	/* From the last key on inputs are numbered by their order. */
	if (*place == XSPROF_KEY_PLACES - 1 && nr > *place)
		*place = nr;
	return *place >= nr;
}

bool xsr_input_known(const struct xsprof_trace_arg *arg)
{
	switch (arg->type) {
	case XSPROF_ARG_I64:
	case XSPROF_ARG_U64:
	case XSPROF_ARG_F64:
	case XSPROF_ARG_BOOL:
	case XSPROF_ARG_STR:
	case XSPROF_ARG_TENSOR:
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
	case XSPROF_ARG_LIST:
	case XSPROF_ARG_NONE:
		return true;
	default:
		return false;
	}
}

/* ---- what PyTorch's profiler says of one ---------------------------------------------------- */

static char *put_dims(const struct xsprof_trace_arg *arg, bool strides, char *p)
{
	struct xsprof_trace_tensor tensor;

	return xsr_put_dims(p, xsprof_trace_tensor(arg, &tensor) ? &tensor : NULL, strides);
}

static char *put_sizes(struct xsr_writer *w, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, char *p)
{
	(void)w;
	(void)walk;
	return put_dims(arg, false, p);
}

static char *put_strides(struct xsr_writer *w, struct xsr_walk *walk,
			 const struct xsprof_trace_arg *arg, char *p)
{
	(void)w;
	(void)walk;
	return put_dims(arg, true, p);
}

/* Is it a list whose elements, in following records, are not tensors? */
static bool is_of_scalars(const struct xsr_walk *walk, const struct xsprof_trace_arg *arg)
{
	struct xsr_walk ahead = *walk;
	uint64_t left = arg->u.u64;
	struct xsprof_trace_arg item;

	return arg->type == XSPROF_ARG_LIST && xsr_walk_item(&ahead, &left, &item) &&
	       item.type != XSPROF_ARG_TENSOR;
}

uint32_t xsr_input_type(const struct xsr_walk *walk, const struct xsprof_trace_arg *arg,
			const char **word)
{
	struct xsprof_trace_tensor tensor;

	*word = "";
	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		return xsprof_trace_tensor(arg, &tensor) ? tensor.dtype : 0;
	case XSPROF_ARG_NONE:
		return arg->u.u64 <= UINT32_MAX ? (uint32_t)arg->u.u64 : 0;
	case XSPROF_ARG_STR:
		return 0;
	case XSPROF_ARG_LIST:
		*word = is_of_scalars(walk, arg) ? "ScalarList" : "TensorList";
		return 0;
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		*word = "ScalarList";
		return 0;
	default:
		*word = "Scalar";
		return 0;
	}
}

const char *xsr_input_device(const struct xsr_writer *w, uint32_t producer,
			     const struct xsprof_trace_arg *arg)
{
	const char *name = "";

	if (arg->type == XSPROF_ARG_NONE && arg->u.u64 && arg->u.u64 <= UINT32_MAX)
		name = xsprof_trace_name(w->trace, producer, (uint32_t)arg->u.u64);
	return strncmp(name, DEVICE, sizeof(DEVICE) - 1) ? NULL : name + sizeof(DEVICE) - 1;
}

/*
 * Is only its presence known, e.g. a device or an unknown class? Other profilers name no type then.
 */
static bool is_untyped(const struct xsr_writer *w, uint32_t producer,
		       const struct xsprof_trace_arg *arg, uint32_t name)
{
	return xsr_input_device(w, producer, arg) ||
	       !strcmp(xsprof_trace_name(w->trace, producer, name), "object");
}

static char *put_type(struct xsr_writer *w, struct xsr_walk *walk,
		      const struct xsprof_trace_arg *arg, char *p)
{
	const char *word;
	uint32_t name = xsr_input_type(walk, arg, &word);

	if (name && !is_untyped(w, walk->ev.producer, arg, name))
		return xsr_writer_name(w, walk->ev.producer, name, p);
	return put_lit(stpcpy(put_lit(p, "\""), word), "\"");
}

/* Reads the elements without advancing @walk. */
static char *put_scalars(struct xsr_writer *w, const struct xsr_walk *walk,
			 const struct xsprof_trace_arg *list, char *p)
{
	struct xsr_walk ahead = *walk;
	uint64_t left = list->u.u64;
	struct xsprof_trace_arg arg;
	bool any = false;

	if (!is_of_scalars(walk, list))
		return p;
	*p++ = '[';
	while (xsr_walk_item(&ahead, &left, &arg)) {
		p = any ? put_lit(xsr_writer_room(w, p), ", ") : xsr_writer_room(w, p);
		any = true;
		p = xsr_put_input_value(w, &ahead, &arg, p);
	}
	*p++ = ']';
	return p;
}

char *xsr_put_input_value(struct xsr_writer *w, struct xsr_walk *walk,
			  const struct xsprof_trace_arg *arg, char *p)
{
	switch (arg->type) {
	case XSPROF_ARG_I64:
		return put_i64(p, arg->u.i64);
	case XSPROF_ARG_U64:
	case XSPROF_ARG_PTR:
		return put_u64(p, arg->u.u64);
	case XSPROF_ARG_BOOL:
		return arg->u.u64 ? put_lit(p, "True") : put_lit(p, "False");
	case XSPROF_ARG_F64:
		return xsr_put_python(p, arg->u.f64);
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		return xsr_writer_numbers(w, walk, arg, true, p);
	case XSPROF_ARG_LIST:
		return put_scalars(w, walk, arg, p);
	default:
		return p;
	}
}

static char *put_value(struct xsr_writer *w, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, char *p)
{
	if (arg->type == XSPROF_ARG_STR)
		return xsr_writer_string(w, walk, arg, p);
	p = xsr_put_input_value(w, walk, arg, put_lit(p, "\""));
	*p++ = '"';
	return p;
}

const struct xsr_facet xsr_sizes = {
	.put = put_sizes, .list = "[", .scalars = "[]", .missing = "[]",
};
const struct xsr_facet xsr_strides = {
	.put = put_strides, .list = "[", .scalars = "[]", .missing = "[]",
};
const struct xsr_facet xsr_types = { .put = put_type, .missing = "\"\"" };
const struct xsr_facet xsr_values = { .put = put_value, .missing = "\"\"" };

/* ---- a list of all -------------------------------------------------------------------------- */

/* The elements of a list of tensors or bools follow it. */
static char *put_list(struct xsr_writer *w, struct xsr_walk *walk,
		      const struct xsprof_trace_arg *list, const struct xsr_facet *facet, char *p)
{
	bool each = facet->list && !(facet->scalars && is_of_scalars(walk, list)), any = false;
	uint64_t left = list->u.u64;
	struct xsprof_trace_arg arg;

	if (each)
		p = stpcpy(p, facet->list);
	else
		p = facet->list ? stpcpy(p, facet->scalars) : facet->put(w, walk, list, p);
	while (xsr_walk_item(walk, &left, &arg)) {
		if (!each)
			continue;
		p = xsr_writer_room(w, p);
		if (any)
			*p++ = ',';
		any = true;
		p = facet->put(w, walk, &arg, p);
	}
	if (each)
		*p++ = ']';
	return p;
}

static char *put_input(struct xsr_writer *w, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, const struct xsr_facet *facet, char *p)
{
	if (facet->quoted)
		*p++ = '"';
	p = arg->type == XSPROF_ARG_LIST ? put_list(w, walk, arg, facet, p) :
					   facet->put(w, walk, arg, p);
	if (facet->quoted)
		*p++ = '"';
	return p;
}

char *xsr_put_inputs(struct xsr_writer *w, const struct xsr_walk *from,
		     const struct xsr_facet *facet, bool places, char *p)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;
	uint32_t nr = 0, place;
	char *start = p;

	*p++ = '[';
	while (xsr_walk_next(&walk, &arg)) {
		if (!xsr_key_is_input(arg.key) || arg.flags & XSPROF_ARGF_CONT)
			continue;
		place = nr;
		if (places && !xsr_input_place(arg.key, nr, &place))
			continue;
		p = xsr_writer_room(w, p);
		for (; nr < place; nr++)
			p = stpcpy(nr ? put_lit(p, ",") : p, facet->missing);
		if (nr++)
			*p++ = ',';
		if (places && !xsr_input_known(&arg))
			p = stpcpy(p, facet->missing);
		else
			p = put_input(w, &walk, &arg, facet, p);
	}
	if (places && !nr)
		return start;
	*p++ = ']';
	return p;
}
