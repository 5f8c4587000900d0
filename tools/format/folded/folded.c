// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples as folded stacks, "program;outer;inner 12", for flamegraph.pl, speedscope and similar
 * tools. If the thread was not simply running, its state is the innermost frame.
 *
 * It keeps a count for each stack, and no events.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "format/common/out.h"
#include "format/common/stack.h"
#include "ranges/program.h"
#include "text/escape.h"
#include "text/put.h"

/**
 * struct folded - counts
 * @by_key: index in @stacks, by producer, state of the thread, and stack
 * @stacks: the stacks, in the order of their first sample
 * @nr: their number
 * @room: their capacity
 */
struct folded {
	struct xsp_map	by_key;
	struct folded_stack {
		uint32_t	producer;
		uint32_t	name;	/* samples whose stack was not recorded: no room */
		uint32_t	stack;
		uint32_t	how;
		uint64_t	n;
	}		*stacks;
	size_t		nr;
	size_t		room;
};

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	size_t len;
	const char *s = xsprof_trace_name_len(trace, producer, name, &len);
	char *end = xsp_escape_text(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES);

	/* It is between frames. */
	for (; p < end; p++)
		if (*p == ';')
			*p = ':';
	return end;
}

static int folded_start(struct xsp_out *out)
{
	out->priv = calloc(1, sizeof(struct folded));
	return out->priv ? 0 : -ENOMEM;
}

/* Return: NULL: no memory. */
static struct folded_stack *get(struct folded *f, const struct xsprof_event *ev,
				const struct xsprof_trace_sample *sample)
{
	bool missed = sample->stack == XSPROF_STACK_MISSED;
	uint64_t key = (uint64_t)missed << 60 | (ev->producer + 1ull) << 40 |
		       (uint64_t)sample->how << 32 | (missed ? ev->name : sample->stack);
	uint64_t *at = xsp_map_get(&f->by_key, key);
	struct folded_stack *stacks;

	if (at)
		return &f->stacks[*at];
	if (f->nr == f->room) {
		f->room = f->room ? 2 * f->room : 256;
		stacks = realloc(f->stacks, f->room * sizeof(*stacks));
		if (!stacks)
			return NULL;
		f->stacks = stacks;
	}
	if (xsp_map_set(&f->by_key, key, f->nr))
		return NULL;
	f->stacks[f->nr] = (struct folded_stack){ .producer = ev->producer, .name = ev->name,
						  .stack = sample->stack, .how = sample->how };
	return &f->stacks[f->nr++];
}

static void folded_event(struct xsp_out *out, const struct xsp_view *view)
{
	struct xsprof_trace_sample sample;
	struct folded_stack *stack;

	if (!xsprof_trace_sample(view->ev, &sample))
		return;
	stack = get(out->priv, view->ev, &sample);
	if (stack)
		stack->n += sample.how == XSPROF_SAMPLE_MISSED ? sample.missed : 1;
	else if (!out->buf.err)
		out->buf.err = ENOMEM;
}

static void put_name(struct xsp_out *out, uint32_t producer, uint32_t name)
{
	const struct xsp_name *entry = xsp_names_get(out->names, producer, name);

	xsp_buf_puts(&out->buf, ";");
	xsp_buf_put(&out->buf, entry->text, entry->len);
}

/* Like names in name_text(). */
static void put_text(struct xsp_out *out, const char *text)
{
	size_t len = strlen(text);
	char *p = out->scratch, *end;

	end = xsp_escape_text(p, text, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES);
	for (; p < end; p++)
		if (*p == ';')
			*p = ':';
	xsp_buf_puts(&out->buf, ";");
	xsp_buf_put(&out->buf, out->scratch, (size_t)(end - out->scratch));
}

static void put_stack(struct xsp_out *out, const struct folded_stack *stack)
{
	static const char *const did[] = {
		[XSPROF_SAMPLE_NATIVE] = ";[without the GIL]",
		[XSPROF_SAMPLE_LOCK] = ";[waits for the GIL]",
		[XSPROF_SAMPLE_OFF] = ";[off CPU]",
	};
	char text[XSP_PROGRAM_MAX], *p;
	const char *program = xsp_program(out->trace, stack->producer, text);
	const char *const *texts;
	const uint64_t *frame;
	uint32_t left = 0;
	size_t nr = 0;

	p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
	program = program ? program : "?";
	p = xsp_escape_text(p, program, strlen(program));
	out->buf.p = p;
	frame = xsprof_trace_stack(out->trace, stack->producer, stack->stack, &nr, &left);
	if (!frame)
		put_name(out, stack->producer, stack->name);
	if (left)
		xsp_buf_puts(&out->buf, ";[...]");
	texts = fmt_stack_texts(out->trace, &out->frames, stack->producer, stack->stack, &nr);
	while (frame && nr--)
		if (texts)
			put_text(out, texts[nr]);
		else if (frame[nr] & XSPROF_FRAME_NAMED)
			put_name(out, stack->producer, (uint32_t)frame[nr]);
	if (stack->how < sizeof(did) / sizeof(did[0]) && did[stack->how])
		xsp_buf_puts(&out->buf, did[stack->how]);
	p = xsp_buf_room(&out->buf, XSP_BUF_ROOM);
	out->buf.p = put_lit(put_u64(put_lit(p, " "), stack->n), "\n");
}

static void folded_finish(struct xsp_out *out)
{
	struct folded *f = out->priv;

	out->nothing = !f->nr;
	for (size_t i = 0; i < f->nr; i++)
		put_stack(out, &f->stacks[i]);
	xsp_map_free(&f->by_key);
	free(f->stacks);
	free(f);
	out->priv = NULL;
}

const struct xsp_format xsp_format_folded = {
	.name		= "folded",
	.name_text	= name_text,
	.key_text	= name_text,
	.start		= folded_start,
	.event		= folded_event,
	.finish		= folded_finish,
};
