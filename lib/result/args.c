// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The arguments of events: those of all records that they came in, put together again, and one of
 * them as JSON.  What they mean to an op is not known here.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "result/local.h"
#include "result/numbers.h"
#include "text/json-valid.h"

bool xsr_args_next(struct xsr_args *at, struct xsprof_trace_arg *arg)
{
	for (; at->piece; at->piece = at->piece->next, at->pos = 0) {
		/* A piece is what a record is: a header, and the arguments. */
		struct xsprof_event ev = {
			.type = XSPROF_REC_ARGS, .rec = (const struct xsprof_rec *)at->piece,
			.rec_size = at->piece->size,
		};

		if (!at->pos)
			at->pos = sizeof(*at->piece);
		if (xsprof_trace_args(&ev, &at->pos, arg))
			return true;
	}
	return false;
}

static bool may_go_on(uint8_t type)
{
	return type == XSPROF_ARG_STR || type == XSPROF_ARG_I64S || type == XSPROF_ARG_F64S;
}

static bool look_ahead(struct xsr_values *at)
{
	if (!at->has_ahead)
		at->has_ahead = xsr_args_next(&at->args, &at->ahead);
	return at->has_ahead;
}

int xsr_values_next(struct xsr_values *at, struct xsr_value *value)
{
	struct xsprof_trace_arg arg;

	if (!look_ahead(at))
		return 0;
	arg = at->ahead;
	at->has_ahead = false;
	*value = (struct xsr_value){
		.key = arg.key, .type = arg.type, .number = arg.u.u64, .s = arg.str, .len = arg.len,
		.json = arg.flags & XSPROF_ARGF_JSON,
	};
	if (!may_go_on(arg.type))
		return 1;
	at->joined.len = 0;
	while (look_ahead(at) && at->ahead.flags & XSPROF_ARGF_CONT &&
	       at->ahead.key == arg.key && at->ahead.type == arg.type) {
		if (!at->joined.len)
			xsr_put(&at->joined, arg.str, arg.len);
		xsr_put(&at->joined, at->ahead.str, at->ahead.len);
		at->has_ahead = false;
		value->s = at->joined.s;
		value->len = at->joined.len;
	}
	return at->joined.err ? at->joined.err : 1;
}

bool xsr_value_tensor(const struct xsr_value *value, struct xsprof_trace_tensor *tensor)
{
	struct xsprof_trace_arg arg = {
		.key = value->key, .type = value->type, .len = (uint16_t)value->len,
		.u.u64 = value->number, .str = value->s,
	};

	return xsprof_trace_tensor(&arg, tensor);
}

/* ---- as JSON -------------------------------------------------------------------------------- */

void xsr_put_numbers(struct xsr_buf *b, const struct xsr_value *value, bool python)
{
	char *p = xsr_room(b, value->len / 8 * XSR_NUMBER_MAX + 2);

	if (p)
		xsr_end(b, xsr_put_list(p, value->type, value->s, value->len, python));
}

static void put_name(struct xsr_buf *b, const struct xsprof_profiler_event *ev, uint64_t name)
{
	const char *s = "?";
	size_t len = 1;

	if (name <= UINT32_MAX)
		s = xsprof_trace_name_len(ev->result->trace, ev->producer, (uint32_t)name, &len);
	xsr_put_json(b, s, len);
}

static void put_tensor(struct xsr_buf *b, const struct xsprof_profiler_event *ev,
		       const struct xsr_value *value)
{
	struct xsprof_trace_arg arg = {
		.key = value->key, .type = value->type, .len = (uint16_t)value->len,
		.u.u64 = value->number, .str = value->s,
	};
	char text[1024];
	size_t len = xsprof_trace_arg_text(ev->result->trace, ev->producer, &arg, text,
					   sizeof(text));

	xsr_put_json(b, text, len);
}

/* Return: false where it is no JSON, or there is no memory to see to it. */
static bool put_as_is(struct xsr_buf *b, const struct xsr_value *value)
{
	char *copy = strndup(value->s, value->len);
	bool good = copy && strlen(copy) == value->len && xsp_json_valid(copy);

	if (good)
		xsr_put(b, copy, value->len);
	free(copy);
	return good;
}

void xsr_put_value(struct xsr_buf *b, const struct xsprof_profiler_event *ev,
		   const struct xsr_value *value)
{
	double f64;
	char *p;

	switch (value->type) {
	case XSPROF_ARG_I64:
		xsr_printf(b, "%" PRId64, (int64_t)value->number);
		break;
	case XSPROF_ARG_U64:
		xsr_printf(b, "%" PRIu64, value->number);
		break;
	case XSPROF_ARG_F64:
		memcpy(&f64, &value->number, sizeof(f64));
		p = xsr_room(b, XSR_NUMBER_MAX);
		if (p)
			xsr_end(b, xsp_json_double(p, f64));
		break;
	case XSPROF_ARG_BOOL:
		xsr_puts(b, value->number ? "true" : "false");
		break;
	case XSPROF_ARG_PTR:
		xsr_printf(b, "\"0x%" PRIx64 "\"", value->number);
		break;
	case XSPROF_ARG_NAME:
		put_name(b, ev, value->number);
		break;
	case XSPROF_ARG_STR:
		if (!value->json || !put_as_is(b, value))
			xsr_put_json(b, value->s, value->len);
		break;
	case XSPROF_ARG_TENSOR:
		put_tensor(b, ev, value);
		break;
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		xsr_put_numbers(b, value, false);
		break;
	case XSPROF_ARG_LIST:
		xsr_puts(b, "[");
		break;
	case XSPROF_ARG_NONE:
		if (value->number)
			put_name(b, ev, value->number);
		else
			xsr_puts(b, "null");
		break;
	default:
		xsr_puts(b, "null");
	}
}
