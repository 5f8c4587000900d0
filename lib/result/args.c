// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Writes arguments under their own names: see args.h.
 */
#include <math.h>

#include "result/args.h"

static char *put_name(struct xsr_writer *w, uint32_t producer, uint64_t name, char *p)
{
	const char *s = "?";
	size_t len = 1;

	if (name <= UINT32_MAX)
		s = xsprof_trace_name_len(w->trace, producer, (uint32_t)name, &len);
	return xsr_writer_text(w, p, s, len);
}

/* In human-readable form. */
static char *put_plain(struct xsr_writer *w, const struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, size_t most, char *p)
{
	char plain[2048];
	size_t len;

	len = xsprof_trace_arg_text(w->trace, walk->ev.producer, arg, plain,
				    most < sizeof(plain) ? most : sizeof(plain));
	return xsr_writer_text(w, p, plain, len);
}

/* Values with a special form in texts for programs. */
static char *put_own(struct xsr_writer *w, const struct xsr_walk *walk,
		     const struct xsprof_trace_arg *arg, char *p)
{
	switch (arg->type) {
	case XSPROF_ARG_PTR:
		return put_lit(put_hex(put_lit(p, "\""), arg->u.u64), "\"");
	case XSPROF_ARG_NAME:
		return put_name(w, walk->ev.producer, arg->u.u64, p);
	case XSPROF_ARG_TENSOR:
		return put_plain(w, walk, arg, 1024, p);
	case XSPROF_ARG_NONE:
		if (arg->u.u64)
			return put_name(w, walk->ev.producer, arg->u.u64, p);
		return put_lit(p, "null");
	default:
		return put_lit(p, "null");
	}
}

static char *put_value(struct xsr_writer *w, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, enum xsr_args where, char *p)
{
	/*
	 * Viewers store numbers as doubles: write those that would be rounded as strings of digits.
	 */
	bool doubles = where == XSR_ARGS_FILE;

	switch (arg->type) {
	case XSPROF_ARG_I64:
		return doubles ? xsp_json_safe_i64(p, arg->u.i64) : put_i64(p, arg->u.i64);
	case XSPROF_ARG_U64:
		return doubles ? xsp_json_safe_u64(p, arg->u.u64) : put_u64(p, arg->u.u64);
	case XSPROF_ARG_F64:
		return xsp_json_double(p, arg->u.f64);
	case XSPROF_ARG_BOOL:
		return arg->u.u64 ? put_lit(p, "true") : put_lit(p, "false");
	case XSPROF_ARG_STR:
		if (arg->flags & XSPROF_ARGF_JSON)
			return xsr_writer_json(w, walk, arg, p);
		return xsr_writer_string(w, walk, arg, p);
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
	case XSPROF_ARG_I32S:
		return xsr_writer_numbers(w, walk, arg, false, p);
	}
	if (where == XSR_ARGS_TEXT)
		return put_own(w, walk, arg, p);
	switch (arg->type) {
	case XSPROF_ARG_PTR:
		if (doubles)
			return put_lit(put_hex(put_lit(p, "\""), arg->u.u64), "\"");
		return put_u64(p, arg->u.u64);
	case XSPROF_ARG_NAME:
		return xsr_writer_name(w, walk->ev.producer, (uint32_t)arg->u.u64, p);
	default:
		return put_plain(w, walk, arg, SIZE_MAX, p);
	}
}

/* A list under its own name; a nested list would not show where it ends. */
static char *put_named(struct xsr_writer *w, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, enum xsr_args where, char *p)
{
	uint64_t left = arg->u.u64;
	struct xsprof_trace_arg item;
	char sep = '[';

	if (arg->type != XSPROF_ARG_LIST)
		return put_value(w, walk, arg, where, p);
	while (xsr_walk_item(walk, &left, &item)) {
		p = xsr_writer_room(w, p);
		*p++ = sep;
		sep = ',';
		p = item.type == XSPROF_ARG_LIST ? put_lit(p, "null") :
						   put_value(w, walk, &item, where, p);
	}
	return sep == '[' ? put_lit(p, "[]") : put_lit(p, "]");
}

/* Tools assume that arguments of kernels are numbers, without a check. */
static bool is_harmful(const struct xsr_writer *w, const struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg)
{
	return (arg->type == XSPROF_ARG_F64 && !isfinite(arg->u.f64)) ||
	       !strcmp(xsprof_trace_name(w->trace, walk->ev.producer, arg->key), "External id");
}

static void convert(const struct xsr_writer *w, const struct xsr_walk *walk,
		    struct xsprof_trace_arg *arg)
{
	if (w->convert && (arg->type == XSPROF_ARG_I64 || arg->type == XSPROF_ARG_U64))
		arg->u.u64 = w->convert(w->data, walk->ev.producer,
					xsprof_trace_name(w->trace, walk->ev.producer, arg->key),
					arg->u.u64);
}

char *xsr_put_args(struct xsr_writer *w, struct xsr_walk *walk, enum xsr_args where, char *p,
		   bool *any)
{
	struct xsprof_trace_arg arg;

	while (xsr_walk_next(walk, &arg)) {
		if (xsr_key_is_input(arg.key) || xsr_key_is_item(arg.key) ||
		    xsr_key_is_place(arg.key) || arg.key == XSPROF_KEY_MODULE ||
		    (arg.key == XSPROF_KEY_LINE && where == XSR_ARGS_TEXT) ||
		    arg.flags & XSPROF_ARGF_CONT)
			continue;
		if (where == XSR_ARGS_GPU && is_harmful(w, walk, &arg))
			continue;
		if (where == XSR_ARGS_GPU)
			convert(w, walk, &arg);
		p = xsr_writer_room(w, p);
		p = xsr_writer_key(w, walk->ev.producer, arg.key, p, any);
		p = put_named(w, walk, &arg, where, p);
	}
	return p;
}
