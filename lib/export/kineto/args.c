// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Arguments from the program for an event: its id, its arguments under their own names, and later
 * annotations.
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

static const struct {
	uint32_t	own;
	const char	*key;
} keys[] = {
	{ XSR_OWN_INDEX, "Ev Idx" },
	{ XSR_OWN_FINISHED, "finished" },
	{ XSR_OWN_FINISHED, "ended_after" },
	{ XSR_OWN_THREAD_ENDED, "thread_ended" },
	{ XSR_OWN_CUT, "cut" },
	{ XSR_OWN_UNCERTAIN, "uncertain" },
	{ XSR_OWN_CATEGORY, "category" },
	{ XSR_OWN_EXTERNAL, "External id" },
	{ XSR_OWN_RECORD, "Record function id" },
	{ XSR_OWN_SEQUENCE, "Sequence number" },
	{ XSR_OWN_SEQUENCE, "Fwd thread id" },
	{ XSR_OWN_INPUTS, "Concrete Inputs" },
	{ XSR_OWN_INPUTS, "Input type" },
	{ XSR_OWN_INPUTS, "Input Dims" },
	{ XSR_OWN_INPUTS, "Input Strides" },
	{ XSR_OWN_MODULE, "Module Hierarchy" },
	{ XSR_OWN_STACK, "Call stack" },
	{ XSR_OWN_DEVICE, "Device Type" },
	{ XSR_OWN_DEVICE, "Device Id" },
	{ XSR_OWN_THREAD, "System thread id" },
	{ XSR_OWN_CORRELATION, "correlation" },
	{ XSR_OWN_PLACE, "device" },
	{ XSR_OWN_PLACE, "context" },
	{ XSR_OWN_PLACE, "stream" },
	{ XSR_OWN_BYTES, "bytes" },
	{ XSR_OWN_BYTES, "memory bandwidth (GB/s)" },
	{ XSR_OWN_GRAPH, "graph id" },
	{ XSR_OWN_GRAPH, "graph node id" },
	{ XSR_OWN_GRAPH, "captured in" },
	{ XSR_OWN_GRAPH, "captured External id" },
	{ XSR_OWN_SYNC, "cuda_sync_kind" },
};

const char *xsr_kineto_category(const struct xsr_kineto *k, uint32_t producer, uint32_t name)
{
	static const char *const known[] = { "default", "torch", "python_function" };
	const char *category = xsprof_trace_category(k->w.trace, producer, name);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(category, known[i]))
			return NULL;
	return category;
}

char *xsr_kineto_put_category(struct xsr_kineto *k, const char *category, char *p)
{
	return xsr_writer_text(&k->w, put_lit(xsr_writer_room(&k->w, p), ",\"category\":"),
			       category, strlen(category));
}

char *xsr_kineto_args(struct xsr_kineto *k, struct xsr_walk *walk, bool gpu, uint32_t own,
		      char *p, bool *any)
{
	bool first = !k->w.taken.n;

	for (size_t i = 0; first && own && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (own & keys[i].own)
			xsp_keys_claim(&k->w.taken, xsp_keys_hash(keys[i].key,
								  strlen(keys[i].key)));
	return xsr_put_args(&k->w, walk, gpu ? XSR_ARGS_GPU : XSR_ARGS_FILE, p, any);
}

void xsr_kineto_more(struct xsr_kineto *k, const char *text, size_t len)
{
	const char *at = text;
	struct xsp_member member;
	uint32_t number;
	char *p;

	while (xsp_keys_member(&at, text + len, &member)) {
		number = xsp_keys_take(&k->w.taken, member.key, member.key_len);
		xsp_buf_put(k->w.buf, ",", 1);
		xsp_buf_put(k->w.buf, member.key, member.key_len - 2);
		p = put_lit(xsp_buf_room(k->w.buf, XSP_BUF_ROOM), "\":");
		k->w.buf->p = xsp_keys_number(p, number);
		xsp_buf_put(k->w.buf, member.value, member.value_len);
	}
}

static char *put_said(struct xsr_kineto *k, const char *key, const char *text, bool *any, char *p)
{
	p = xsr_writer_room(&k->w, p);
	if (*any)
		*p++ = ',';
	*any = true;
	return xsr_writer_text(&k->w, stpcpy(p, key), text, strlen(text));
}

static bool has_module(const struct xsr_post *post)
{
	return post && post->has_module && *post->module;
}

static bool has_stack(const struct xsr_post *post)
{
	return post && post->has_stack && *post->text;
}

uint32_t xsr_kineto_post_keys(const struct xsr_post *post)
{
	return (has_module(post) ? XSR_OWN_MODULE : 0) | (has_stack(post) ? XSR_OWN_STACK : 0);
}

char *xsr_kineto_post(struct xsr_kineto *k, const struct xsr_post *post, bool *any, char *p)
{
	if (has_module(post))
		p = put_said(k, "\"Module Hierarchy\":", post->module, any, p);
	if (has_stack(post))
		p = put_said(k, "\"Call stack\":", post->text, any, p);
	return p;
}
