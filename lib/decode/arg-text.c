// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Formats arguments that are neither numbers nor strings. Invalid values become "?".
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decode/local.h"

/* Output buffer; text beyond its size is left out. */
struct cut {
	char	*at;
	size_t	room;
};

static __attribute__((format(printf, 2, 3))) void put(struct cut *c, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(c->at, c->room, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= c->room)
		n = c->room ? (int)(c->room - 1) : 0;
	c->at += n;
	c->room -= n;
}

/* Contiguous strides are not shown; with one element or fewer any strides are contiguous. */
static bool strides_tell(const struct xsprof_trace_tensor *tensor)
{
	uint64_t want = 1;
	bool differ = false;

	if (tensor->nr_strides != tensor->ndim || tensor->nr_sizes != tensor->ndim)
		return false;
	for (uint32_t i = tensor->ndim; i-- > 0; ) {
		if (!tensor->sizes[i])
			return false;
		if (tensor->sizes[i] == 1)
			continue;
		differ |= (uint64_t)tensor->strides[i] != want;
		want *= (uint64_t)tensor->sizes[i];
	}
	return differ;
}

static void put_list(struct cut *c, const int64_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		put(c, "%s%" PRId64, i ? ", " : "", v[i]);
}

static void put_tensor(const struct xsprof_trace *t, uint32_t producer,
		       const struct xsprof_trace_arg *arg, struct cut *c)
{
	struct xsprof_trace_tensor tensor;

	if (!xsprof_trace_tensor(arg, &tensor)) {
		put(c, "?");
		return;
	}
	put(c, "%s[", tensor.dtype ? xsprof_trace_name(t, producer, tensor.dtype) : "tensor");
	put_list(c, tensor.sizes, tensor.nr_sizes);
	if (tensor.nr_sizes < tensor.ndim)
		put(c, "%s...", tensor.nr_sizes ? ", " : "");
	put(c, "]");
	if (!strides_tell(&tensor))
		return;
	put(c, " strides [");
	put_list(c, tensor.strides, tensor.nr_strides);
	put(c, "]");
}

static void put_numbers(const struct xsprof_trace_arg *arg, struct cut *c)
{
	size_t unit = arg->type == XSPROF_ARG_I32S ? 4 : 8;

	put(c, "[");
	for (size_t at = 0; at + unit <= arg->len; at += unit) {
		int64_t i64 = 0;
		int32_t i32;
		double f64 = 0;

		if (unit == 4) {
			memcpy(&i32, arg->str + at, 4);
			i64 = i32;
		} else {
			memcpy(&i64, arg->str + at, 8);
			memcpy(&f64, arg->str + at, 8);
		}
		if (arg->type == XSPROF_ARG_F64S)
			put(c, "%s%.17g", at ? ", " : "", f64);
		else
			put(c, "%s%" PRId64, at ? ", " : "", i64);
	}
	put(c, arg->flags & XSPROF_ARGF_CUT ? ", ...]" : "]");
}

size_t xsprof_trace_arg_text(const struct xsprof_trace *t, uint32_t producer,
			     const struct xsprof_trace_arg *arg, char *buf, size_t size)
{
	struct cut c = { buf, size };

	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		put_tensor(t, producer, arg, &c);
		break;
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
	case XSPROF_ARG_I32S:
		put_numbers(arg, &c);
		break;
	case XSPROF_ARG_LIST:
		put(&c, "%" PRIu64 " of:", arg->u.u64);
		break;
	case XSPROF_ARG_NONE:
		put(&c, "%s", arg->u.u64 && arg->u.u64 <= UINT32_MAX ?
		    xsprof_trace_name(t, producer, (uint32_t)arg->u.u64) : "None");
		break;
	default:
		put(&c, "?");
	}
	return c.at - buf;
}
