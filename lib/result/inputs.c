// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The inputs of ops as JSON, as PyTorch's profiler writes them: a place each in four lists, of
 * sizes, strides, types and values; and what else an event was given, by name.
 *
 * What has no room in its record is not made up: a size that is not known is -1.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "result/local.h"
#include "result/numbers.h"

/**
 * struct lister - a list in the making
 * @b: where to
 * @ev: of which
 * @what: which list
 * @nr: places that were written
 * @items: elements of the list of tensors that is open; -1: none is
 * @left: elements that it still says it has
 */
struct lister {
	struct xsr_buf				*b;
	const struct xsprof_profiler_event	*ev;
	enum xsr_made				what;
	uint32_t				nr;
	int64_t					items;
	uint64_t				left;
};

bool xsr_input_place(uint32_t key, uint32_t nr, uint32_t *place)
{
	*place = key - XSPROF_KEY_INPUT;
	/* From the last key on they count themselves. */
	if (*place == XSPROF_KEY_PLACES - 1 && nr > *place)
		*place = nr;
	return *place >= nr;
}

static void put_dims(struct lister *l, const struct xsr_value *value)
{
	char *p = xsr_room(l->b, XSR_DIMS_MAX);
	struct xsprof_trace_tensor t;

	if (p)
		xsr_end(l->b, xsr_put_dims(p, xsr_value_tensor(value, &t) ? &t : NULL,
					   l->what == XSR_STRIDES));
}

const char *xsr_input_dtype(const struct xsprof_profiler_event *ev, const struct xsr_value *value,
			    size_t *len)
{
	const struct xsprof_trace *trace = ev->result->trace;
	struct xsprof_trace_tensor t;
	const char *s = "";

	switch (value->type) {
	case XSPROF_ARG_TENSOR:
		if (xsr_value_tensor(value, &t) && t.dtype)
			return xsprof_trace_name_len(trace, ev->producer, t.dtype, len);
		break;
	case XSPROF_ARG_I64:
	case XSPROF_ARG_U64:
	case XSPROF_ARG_F64:
	case XSPROF_ARG_BOOL:
		s = "Scalar";
		break;
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		s = "ScalarList";
		break;
	case XSPROF_ARG_LIST:
		s = "TensorList";
		break;
	case XSPROF_ARG_NONE:
		if (value->number && value->number <= UINT32_MAX)
			return xsprof_trace_name_len(trace, ev->producer, (uint32_t)value->number,
						     len);
		break;
	}
	*len = strlen(s);
	return s;
}

static void put_dtype(struct lister *l, const struct xsr_value *value)
{
	size_t len;
	const char *s = xsr_input_dtype(l->ev, value, &len);

	xsr_put_json(l->b, s, len);
}

void xsr_input_concrete(struct xsr_buf *text, const struct xsr_value *value)
{
	char number[XSR_NUMBER_MAX] = "";
	double f64;

	memcpy(&f64, &value->number, 8);
	switch (value->type) {
	case XSPROF_ARG_I64:
		xsr_printf(text, "%" PRId64, (int64_t)value->number);
		break;
	case XSPROF_ARG_U64:
		xsr_printf(text, "%" PRIu64, value->number);
		break;
	case XSPROF_ARG_F64:
		xsr_put(text, number, (size_t)(xsr_put_python(number, f64) - number));
		break;
	case XSPROF_ARG_BOOL:
		xsr_puts(text, value->number ? "True" : "False");
		break;
	case XSPROF_ARG_STR:
		xsr_put(text, value->s, value->len);
		break;
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		xsr_put_numbers(text, value, true);
		break;
	}
}

static void put_concrete(struct lister *l, const struct xsr_value *value)
{
	struct xsr_buf text = { 0 };

	xsr_input_concrete(&text, value);
	xsr_put_json(l->b, text.s ? text.s : "", text.len);
	if (text.err)
		l->b->err = text.err;
	xsr_buf_free(&text);
}

static void put_empty(struct lister *l)
{
	xsr_puts(l->b, l->what == XSR_DTYPES || l->what == XSR_CONCRETE ? "\"\"" : "[]");
}

static void close_list(struct lister *l)
{
	if (l->items >= 0 && (l->what == XSR_SHAPES || l->what == XSR_STRIDES))
		xsr_puts(l->b, "]");
	l->items = -1;
	l->left = 0;
}

/* An element of the list that is open; of types and values the list has said all there is. */
static void put_item(struct lister *l, const struct xsr_value *value)
{
	if (l->items < 0 || !l->left)
		return;
	l->left--;
	if (l->what == XSR_SHAPES || l->what == XSR_STRIDES) {
		xsr_puts(l->b, l->items ? "," : "");
		put_dims(l, value);
	}
	l->items++;
}

static void put_place(struct lister *l, const struct xsr_value *value)
{
	uint32_t place;

	close_list(l);
	/* A place is given once, in order; and what was lost is nothing. */
	if (!xsr_input_place(value->key, l->nr, &place))
		return;
	for (; l->nr <= place; l->nr++) {
		xsr_puts(l->b, l->nr ? "," : "[");
		if (l->nr < place)
			put_empty(l);
	}
	if (value->type == XSPROF_ARG_LIST) {
		l->items = 0;
		l->left = value->number;
	}
	if (l->what == XSR_DTYPES)
		put_dtype(l, value);
	else if (l->what == XSR_CONCRETE)
		put_concrete(l, value);
	else if (value->type == XSPROF_ARG_LIST)
		xsr_puts(l->b, "[");
	else
		put_dims(l, value);
}

static int make_list(struct xsr_buf *b, const struct xsprof_profiler_event *ev, enum xsr_made what)
{
	struct xsr_values at = { .args.piece = ev->args };
	struct lister l = { .b = b, .ev = ev, .what = what, .items = -1 };
	struct xsr_value value;
	int got;

	while ((got = xsr_values_next(&at, &value)) > 0) {
		if (xsr_is_input(value.key))
			put_place(&l, &value);
		else if (xsr_is_item(value.key))
			put_item(&l, &value);
		else
			close_list(&l);
	}
	xsr_buf_free(&at.joined);
	close_list(&l);
	if (l.nr)
		xsr_puts(b, "]");
	return got < 0 ? got : b->err;
}

/* ---- by name -------------------------------------------------------------------------------- */

static void put_key(struct xsr_buf *b, const struct xsprof_profiler_event *ev, uint32_t key)
{
	size_t len;
	const char *s = xsprof_trace_name_len(ev->result->trace, ev->producer, key, &len);

	xsr_puts(b, b->len ? "," : "{");
	xsr_put_json(b, s, len);
	xsr_puts(b, ":");
}

static int make_kwargs(struct xsr_buf *b, const struct xsprof_profiler_event *ev)
{
	struct xsr_values at = { .args.piece = ev->args };
	struct xsr_value value;
	bool open = false, first = true, input = false;
	uint64_t left = 0;
	int got;

	while ((got = xsr_values_next(&at, &value)) > 0) {
		if (xsr_is_item(value.key)) {
			if (!open || input || !left)
				continue;
			left--;
			xsr_puts(b, first ? "" : ",");
			first = false;
			/* A list in a list would not say where it ends. */
			if (value.type != XSPROF_ARG_LIST)
				xsr_put_value(b, ev, &value);
			else
				xsr_puts(b, "null");
			continue;
		}
		if (open && !input)
			xsr_puts(b, "]");
		open = value.type == XSPROF_ARG_LIST;
		input = xsr_is_input(value.key);
		left = open ? value.number : 0;
		first = true;
		if (input || value.key == XSPROF_KEY_MODULE ||
		    (value.key >= XSPROF_KEY_ACTIVITY && value.key <= XSPROF_KEY_RESOURCE)) {
			open = open && input;
			continue;
		}
		put_key(b, ev, value.key);
		xsr_put_value(b, ev, &value);
	}
	xsr_buf_free(&at.joined);
	if (open && !input)
		xsr_puts(b, "]");
	if (b->len)
		xsr_puts(b, "}");
	return got < 0 ? got : b->err;
}

static int make_module(struct xsr_buf *b, const struct xsprof_profiler_event *ev)
{
	struct xsr_values at = { .args.piece = ev->args };
	struct xsr_value value;
	int got;

	while ((got = xsr_values_next(&at, &value)) > 0) {
		if (value.key == XSPROF_KEY_MODULE && value.type == XSPROF_ARG_STR) {
			xsr_put(b, value.s, value.len);
			break;
		}
	}
	xsr_buf_free(&at.joined);
	return got < 0 ? got : b->err;
}

int xsr_make(struct xsr_buf *b, const struct xsprof_profiler_event *ev, enum xsr_made what)
{
	switch (what) {
	case XSR_KWARGS:
		return make_kwargs(b, ev);
	case XSR_MODULE:
		return make_module(b, ev);
	default:
		return make_list(b, ev, what);
	}
}
