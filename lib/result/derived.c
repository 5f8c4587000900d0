// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Texts derived from the arguments of an event: lists of inputs, other arguments, modules. Made on
 * demand; event.c caches them.
 */
#include "result/args.h"
#include "result/derived.h"
#include "result/inputs.h"

struct xsr_writer *xsr_event_writer(const struct xsprof_profiler_event *ev, struct xsr_walk *walk)
{
	struct xsprof_result *r = ev->result;
	size_t room = 1;

	for (const struct xsr_piece *piece = ev->args; piece; piece = piece->next)
		room += piece->size;
	xsr_walk_pieces(walk, ev->producer, ev->args);
	return xsr_scratch_writer(&r->scratch, r->trace, room);
}

static char *put_kwargs(struct xsr_writer *w, struct xsr_walk *walk, char *p)
{
	bool any = false;
	char *start = p;

	p = xsr_put_args(w, walk, XSR_ARGS_TEXT, put_lit(p, "{"), &any);
	return any ? put_lit(p, "}") : start;
}

static char *put_module_name(struct xsr_writer *w, const struct xsr_walk *walk,
			     const struct xsprof_trace_arg *arg, char *p)
{
	const char *name = xsprof_trace_name(w->trace, walk->ev.producer, (uint32_t)arg->u.u64);

	w->buf->p = p;
	xsp_buf_put(w->buf, name, strlen(name));
	return w->buf->p;
}

static char *put_module(struct xsr_writer *w, struct xsr_walk *walk, char *p)
{
	struct xsprof_trace_arg arg;
	size_t len;

	while (xsr_walk_next(walk, &arg)) {
		if (arg.key != XSPROF_KEY_MODULE)
			continue;
		if (arg.type == XSPROF_ARG_NAME)
			return put_module_name(w, walk, &arg, p);
		if (arg.type != XSPROF_ARG_STR)
			continue;
		len = xsr_walk_bytes(walk, &arg, w->text, w->room);
		w->buf->p = p;
		xsp_buf_put(w->buf, w->text, len);
		return w->buf->p;
	}
	return p;
}

const char *xsr_derive(const struct xsprof_profiler_event *ev, enum xsr_derived what)
{
	static const struct xsr_facet *const lists[] = {
		[XSR_SHAPES] = &xsr_sizes, [XSR_STRIDES] = &xsr_strides,
		[XSR_DTYPES] = &xsr_types, [XSR_CONCRETE] = &xsr_values,
	};
	struct xsr_walk walk;
	struct xsr_writer *w = xsr_event_writer(ev, &walk);
	char *p;

	if (!w)
		return NULL;
	p = w->buf->p;
	if (what == XSR_KWARGS)
		p = put_kwargs(w, &walk, p);
	else if (what == XSR_MODULE)
		p = put_module(w, &walk, p);
	else
		p = xsr_put_inputs(w, &walk, lists[what], true, p);
	if (w->buf->err)
		return NULL;
	return xsr_text(&ev->result->texts, w->buf->base, (size_t)(p - w->buf->base));
}
