// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The inputs of ops in an execution trace: parallel lists of values, shapes, types and strides.
 * Tensors are identified by their number, that of their storage, and the offset in it.
 */
#include <string.h>

#include "export/execution.h"
#include "result/inputs.h"

static char *put_device(uint32_t device, char *p)
{
	static const char *const types[] = {
		"cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia",
		"xla", "vulkan", "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu",
		"mtia", "privateuseone",
	};
	enum { CPU = 0, META = 14 };
	uint32_t type = device >> 16;

	*p++ = '"';
	p = type < sizeof(types) / sizeof(types[0]) ? stpcpy(p, types[type]) :
						      put_u32(put_lit(p, "device"), type);
	/* CPU and META exist once and have no index. */
	if (type != CPU && type != META) {
		*p++ = ':';
		p = put_i64(p, (int16_t)device);
	}
	*p++ = '"';
	return p;
}

/* As recorded, or computed from the sizes. */
static uint64_t numel(const struct xsprof_trace_tensor *t)
{
	uint64_t n = 1;

	if (t->numel || t->nr_sizes != t->ndim)
		return t->numel;
	for (uint32_t i = 0; i < t->ndim; i++)
		n *= (uint64_t)t->sizes[i];
	return n;
}

/* Writes [tensor, storage, offset, elements, element size, device]. */
static char *put_tensor(const struct xsprof_trace_arg *arg, char *p)
{
	struct xsprof_trace_tensor t = { 0 };

	xsprof_trace_tensor(arg, &t);
	*p++ = '[';
	p = put_u64(p, t.id);
	p = put_u64(put_lit(p, ","), t.storage_id);
	p = put_u64(put_lit(p, ","), t.offset);
	p = put_u64(put_lit(p, ","), numel(&t));
	p = put_u32(put_lit(p, ","), t.itemsize);
	p = put_device(t.device, put_lit(p, ","));
	*p++ = ']';
	return p;
}

char *xsr_et_value(struct xsr_writer *w, struct xsr_walk *walk, const struct xsprof_trace_arg *arg,
		   char *p)
{
	const char *device;

	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		return put_tensor(arg, p);
	case XSPROF_ARG_I64:
		return put_i64(p, arg->u.i64);
	case XSPROF_ARG_U64:
	case XSPROF_ARG_PTR:
		return put_u64(p, arg->u.u64);
	case XSPROF_ARG_F64:
		return xsp_json_double(p, arg->u.f64);
	case XSPROF_ARG_BOOL:
		return arg->u.u64 ? put_lit(p, "true") : put_lit(p, "false");
	case XSPROF_ARG_NAME:
		return xsr_writer_name(w, walk->ev.producer, (uint32_t)arg->u.u64, p);
	case XSPROF_ARG_STR:
		return xsr_writer_string(w, walk, arg, p);
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		return xsr_writer_numbers(w, walk, arg, false, p);
	default:
		device = xsr_input_device(w, walk->ev.producer, arg);
		if (!device)
			return put_lit(p, "\"<None>\"");
		*p++ = '"';
		p = xsp_escape_json(p, device, strnlen(device, 128), NULL);
		*p++ = '"';
		return p;
	}
}

/*
 * Writes the same word for each element of a list of numbers, which may continue in the next
 * record.
 */
static char *put_each(struct xsr_writer *w, const struct xsr_walk *walk,
		      const struct xsprof_trace_arg *arg, const char *word, char *p)
{
	struct xsr_walk ahead = *walk;
	size_t len = xsr_walk_bytes(&ahead, arg, w->text, w->room);
	bool any = false;

	for (size_t at = 0; at + 8 <= len; at += 8)
		p = stpcpy(json_comma(xsr_writer_room(w, p), &any), word);
	return put_lit(xsr_writer_room(w, p), "]");
}

char *xsr_et_type(struct xsr_writer *w, struct xsr_walk *walk, const struct xsprof_trace_arg *arg,
		  char *p)
{
	uint32_t producer = walk->ev.producer;
	struct xsprof_trace_tensor t;
	const char *dtype = "";

	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		if (xsprof_trace_tensor(arg, &t) && t.dtype)
			dtype = xsprof_trace_name(w->trace, producer, t.dtype);
		p = put_lit(p, "Tensor(");
		p = xsp_escape_json(p, dtype, strnlen(dtype, 128), NULL);
		return put_lit(p, ")");
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		return put_each(w, walk, arg, arg->type == XSPROF_ARG_F64S ? "Double" : "Int",
				put_lit(xsr_writer_room(w, p), "GenericList["));
	case XSPROF_ARG_I64:
	case XSPROF_ARG_U64:
	case XSPROF_ARG_PTR:
		return put_lit(p, "Int");
	case XSPROF_ARG_F64:
		return put_lit(p, "Double");
	case XSPROF_ARG_BOOL:
		return put_lit(p, "Bool");
	case XSPROF_ARG_STR:
	case XSPROF_ARG_NAME:
		return put_lit(p, "String");
	default:
		if (xsr_input_device(w, producer, arg))
			return put_lit(p, "Device");
		if (arg->u.u64 && arg->u.u64 <= UINT32_MAX && arg->type == XSPROF_ARG_NONE)
			dtype = xsprof_trace_name(w->trace, producer, (uint32_t)arg->u.u64);
		return *dtype ? xsp_escape_json(p, dtype, strnlen(dtype, 128), NULL) :
				put_lit(p, "None");
	}
}

/*
 * Lists of numbers are lists here too: a reader iterates over a list's elements, types and shapes
 * in parallel, and gets none if a shape is missing.
 */
static char *put_dims(struct xsr_writer *w, struct xsr_walk *walk,
		      const struct xsprof_trace_arg *arg, const struct xsr_facet *tensor, char *p)
{
	if (arg->type == XSPROF_ARG_I64S || arg->type == XSPROF_ARG_F64S)
		return put_each(w, walk, arg, "[]", put_lit(p, "["));
	return tensor->put(w, walk, arg, p);
}

static char *put_shape(struct xsr_writer *w, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, char *p)
{
	return put_dims(w, walk, arg, &xsr_sizes, p);
}

static char *put_strides(struct xsr_writer *w, struct xsr_walk *walk,
			 const struct xsprof_trace_arg *arg, char *p)
{
	return put_dims(w, walk, arg, &xsr_strides, p);
}

static const struct xsr_facet et_values = { .put = xsr_et_value, .list = "[" };
static const struct xsr_facet et_types = {
	.put = xsr_et_type, .list = "GenericList[", .quoted = true,
};
static const struct xsr_facet et_shapes = { .put = put_shape, .list = "[" };
static const struct xsr_facet et_strides = { .put = put_strides, .list = "[" };

char *xsr_et_inputs(struct xsr_writer *w, const struct xsr_walk *walk, char *p)
{
	p = put_lit(p, "\"inputs\":{\"values\":");
	p = xsr_put_inputs(w, walk, &et_values, false, p);
	p = xsr_put_inputs(w, walk, &et_shapes, false, put_lit(p, ",\"shapes\":"));
	p = xsr_put_inputs(w, walk, &et_types, false, put_lit(p, ",\"types\":"));
	p = xsr_put_inputs(w, walk, &et_strides, false, put_lit(p, ",\"strides\":"));
	return put_lit(p, "},");
}
