// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Annotations that the program adds to ops after recording: names of frames of an interpreter, or
 * of generated code, that only the program knows. Owns them as long as the result exists.
 */
#include <errno.h>
#include <string.h>

#include "result/frames.h"
#include "result/post.h"

static struct xsr_post *post_of(struct xsprof_profiler_event *ev)
{
	struct xsprof_result *r = ev->result;
	struct xsr_post *post = (struct xsr_post *)xsr_post_of(ev);

	if (post)
		return post;
	post = xsp_pool_get(&r->pool, sizeof(*post));
	if (!post)
		return NULL;
	*post = (struct xsr_post){ 0 };
	return xsp_map_set(&r->posts, ev->u.op.at, (uintptr_t)post) ? NULL : post;
}

/* Separators of frames are replaced. */
static void put_frame(struct xsr_buf *b, const char *frame)
{
	size_t from = b->len;

	xsr_puts(b, frame);
	for (size_t i = from; !b->err && i < b->len; i++)
		if (b->s[i] == ';')
			b->s[i] = ':';
}

static int make_stack(struct xsprof_result *r, struct xsr_post *post, const char *const *frames,
		      size_t nr)
{
	struct xsr_stack *stack = xsp_pool_get(&r->pool, sizeof(*stack) + nr * sizeof(*frames));
	struct xsr_buf b = { 0 };
	const char *text;

	if (!stack)
		return -ENOMEM;
	*stack = (struct xsr_stack){ .nr = (uint32_t)nr };
	for (size_t i = 0; i < nr; i++) {
		stack->frames[i] = xsr_text(&r->texts, frames[i], strlen(frames[i]));
		if (!stack->frames[i])
			b.err = -ENOMEM;
		if (i)
			xsr_puts(&b, ";");
		put_frame(&b, frames[i]);
	}
	text = b.err ? NULL : xsr_text(&r->texts, b.s ? b.s : "", b.len);
	xsr_buf_free(&b);
	if (!text)
		return -ENOMEM;
	post->stack = stack;
	post->text = text;
	post->has_stack = true;
	return 0;
}

/* Events without a record of their own cannot be annotated: files are made from records. */
static int check(const struct xsprof_profiler_event *ev)
{
	if (ev->kind == XSPROF_EVENT_OP && ev->u.op.at)
		return 0;
	return xsr_fail(ev->result, -EOPNOTSUPP, "\"%s\" is not an op", ev->name);
}

static int no_memory(const struct xsprof_profiler_event *ev)
{
	return xsr_fail(ev->result, -ENOMEM, "no memory for annotations of an op");
}

int xsprof_event_set_stack(struct xsprof_profiler_event *ev, const char *const *frames, size_t nr)
{
	struct xsr_post *post;
	bool whole = ev && (frames || !nr) && nr <= UINT32_MAX / sizeof(*frames);
	int err;

	for (size_t i = 0; whole && i < nr; i++)
		whole = frames[i];
	if (!whole)
		return ev ? xsr_fail(ev->result, -EINVAL, "an invalid frame") : -EINVAL;
	err = check(ev);
	if (err)
		return err;
	post = post_of(ev);
	if (!post || make_stack(ev->result, post, frames, nr))
		return no_memory(ev);
	return 0;
}

int xsprof_event_set_module(struct xsprof_profiler_event *ev, const char *module)
{
	struct xsr_post *post;
	const char *text;
	int err;

	if (!ev || !module)
		return ev ? xsr_fail(ev->result, -EINVAL, "invalid modules") : -EINVAL;
	err = check(ev);
	if (err)
		return err;
	text = xsr_text(&ev->result->texts, module, strlen(module));
	post = text ? post_of(ev) : NULL;
	if (!post)
		return no_memory(ev);
	post->module = text;
	post->has_module = true;
	return 0;
}

int xsprof_result_post_process(struct xsprof_result *r,
			       int (*fn)(void *data, struct xsprof_profiler_event *ev), void *data)
{
	int err = xsr_build(r);

	if (err)
		return err;
	if (!fn)
		return xsr_fail(r, -EINVAL, "no function given");
	for (uint32_t i = 0; !err && i < r->nr; i++)
		if (r->events[i].kind == XSPROF_EVENT_OP)
			err = fn(data, &r->events[i]);
	if (err && !*r->error)
		xsr_fail(r, err, "the program's own function returned %d", err);
	return err;
}
