// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the program said of an event: its id, its arguments under their own names, and what came
 * afterwards.
 */
#include "export/kineto/local.h"
#include "result/args.h"
#include "result/post.h"

uint64_t xsr_kineto_range_id(const struct xsp_range *range)
{
	struct xsprof_trace_op op = { 0 };
	struct xsr_walk walk;

	if (range->note) {
		xsr_walk_note(&walk, range->note, range->note_len);
		if (walk.ev.rec)
			xsprof_trace_op(&walk.ev, &op);
	}
	return xsr_kineto_id(op.correlation, range->index);
}

char *xsr_kineto_args(struct xsr_kineto *k, struct xsr_walk *walk, bool gpu, char *p, bool *any)
{
	return xsr_put_args(&k->w, walk, gpu ? XSR_ARGS_GPU : XSR_ARGS_FILE, p, any);
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
