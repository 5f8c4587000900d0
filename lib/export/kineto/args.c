// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Arguments of an event under their own names, and what the program said of it afterwards.  Those
 * that describe the inputs of ops are left out.
 */
#include <math.h>

#include "export/kineto/local.h"
#include "result/post.h"
#include "text/json-valid.h"

/* As it is, where it is what it says it is. */
static char *put_json(struct xsr_kineto *k, struct xsr_walk *walk,
		      const struct xsprof_trace_arg *arg, char *p)
{
	size_t len = xsr_walk_bytes(walk, arg, k->w.text);

	if (len == XSR_TEXT_MAX || memchr(k->w.text, 0, len))
		return xsr_writer_text(&k->w, p, k->w.text, len);
	k->w.text[len] = '\0';
	if (!xsp_json_valid(k->w.text))
		return xsr_writer_text(&k->w, p, k->w.text, len);
	k->w.buf->p = p;
	xsp_buf_put(k->w.buf, k->w.text, len);
	return xsp_buf_room(k->w.buf, XSP_BUF_ROOM);
}

/* An argument of the program as JSON. */
static char *put_value(struct xsr_kineto *k, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, char *p)
{
	char plain[2048];
	size_t len;

	switch (arg->type) {
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
		return xsr_writer_name(&k->w, walk->ev.producer, (uint32_t)arg->u.u64, p);
	case XSPROF_ARG_STR:
		if (arg->flags & XSPROF_ARGF_JSON)
			return put_json(k, walk, arg, p);
		return xsr_writer_string(&k->w, walk, arg, p);
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		return xsr_writer_numbers(&k->w, walk, arg, false, p);
	default:
		len = xsprof_trace_arg_text(k->w.trace, walk->ev.producer, arg, plain,
					    sizeof(plain));
		return xsr_writer_text(&k->w, p, plain, len);
	}
}

/* A list under a name of its own; one inside it would not say where it ends. */
static char *put_named(struct xsr_kineto *k, struct xsr_walk *walk,
		       const struct xsprof_trace_arg *arg, char *p)
{
	uint64_t left = arg->u.u64;
	struct xsprof_trace_arg item;
	char sep = '[';

	if (arg->type != XSPROF_ARG_LIST)
		return put_value(k, walk, arg, p);
	while (xsr_walk_item(walk, &left, &item)) {
		p = xsr_writer_room(&k->w, p);
		*p++ = sep;
		sep = ',';
		p = item.type == XSPROF_ARG_LIST ? put_lit(p, "null") :
						   put_value(k, walk, &item, p);
	}
	return sep == '[' ? put_lit(p, "[]") : put_lit(p, "]");
}

char *xsr_kineto_args(struct xsr_kineto *k, struct xsr_walk *walk, bool gpu, char *p, bool *any)
{
	struct xsprof_trace_arg arg;

	while (xsr_walk_next(walk, &arg)) {
		if (xsr_key_is_input(arg.key) || xsr_key_is_item(arg.key) ||
		    xsr_key_is_place(arg.key) || arg.key == XSPROF_KEY_MODULE ||
		    arg.flags & XSPROF_ARGF_CONT)
			continue;
		/* Tools take what is said of kernels for numbers, without a look. */
		if (gpu && ((arg.type == XSPROF_ARG_F64 && !isfinite(arg.u.f64)) ||
			    !strcmp(xsprof_trace_name(k->w.trace, walk->ev.producer, arg.key),
				    "External id")))
			continue;
		p = xsr_writer_room(&k->w, p);
		p = xsr_writer_key(&k->w, walk->ev.producer, arg.key, p, any);
		p = put_named(k, walk, &arg, p);
	}
	return p;
}

static char *put_said(struct xsr_kineto *k, const char *key, const char *text, bool *any, char *p)
{
	p = xsr_writer_room(&k->w, p);
	if (*any)
		*p++ = ',';
	*any = true;
	return xsr_writer_text(&k->w, stpcpy(p, key), text, strlen(text));
}

char *xsr_kineto_post(struct xsr_kineto *k, const struct xsr_post *post, bool *any, char *p)
{
	if (post && post->has_module && *post->module)
		p = put_said(k, "\"Module Hierarchy\":", post->module, any, p);
	if (post && post->has_stack && *post->text)
		p = put_said(k, "\"Call stack\":", post->text, any, p);
	return p;
}
