// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Texts of stacks, "net.c(12): forward;train.c(40): step". Many ops share a stack: texts are
 * cached, and the cache is cleared when it is full. frames.c symbolizes addresses.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "export/kineto/local.h"
#include "result/frames.h"
#include "text/utf8.h"

#define TEXT_MAX	(32u << 10)	/* per stack */
#define FRAME_MAX	1024u		/* per frame, before escaping */
#define SLOTS		4096u
#define ARENA		(4u << 20)
#define MEMORY		(16u << 20)	/* for names of frames */

struct slot {
	uint64_t	stack;
	uint32_t	producer;
	uint32_t	len;
	const char	*text;		/* NULL: free */
};

struct xsr_stacks {
	struct xsr_frames	*frames;
	uint32_t		kept;
	size_t			used;
	struct slot		slots[SLOTS];
	char			arena[ARENA];
};

int xsr_stacks_new(const struct xsprof_trace *trace, struct xsr_stacks **stacks)
{
	*stacks = calloc(1, sizeof(**stacks));
	if (!*stacks)
		return -ENOMEM;
	(*stacks)->frames = xsr_frames_new(trace, XSR_FRAME_PYTHON, MEMORY);
	return (*stacks)->frames ? 0 : -ENOMEM;
}

void xsr_stacks_free(struct xsr_stacks *stacks)
{
	if (stacks)
		xsr_frames_free(stacks->frames);
	free(stacks);
}

static struct slot *find(struct xsr_stacks *s, uint32_t producer, uint64_t stack)
{
	uint32_t i = (uint32_t)xsp_hash_pair(stack, producer) % SLOTS;

	while (s->slots[i].text &&
	       (s->slots[i].stack != stack || s->slots[i].producer != producer))
		i = (i + 1) % SLOTS;
	return &s->slots[i];
}

/* A frame must not contain the separator. */
static char *put_frame(char *p, const char *s)
{
	size_t len = xsp_utf8_piece(s, strnlen(s, FRAME_MAX), FRAME_MAX - 4);
	char *end = xsp_escape_json(p, s, len, NULL);

	for (; p < end; p++)
		if (*p == ';')
			*p = ':';
	return end;
}

static char *put_frames(char *p, const struct xsr_stack *stack)
{
	const char *limit = p + TEXT_MAX - XSP_ESCAPE_MAX * FRAME_MAX - XSP_PUT_MAX;

	for (uint32_t i = 0; i < stack->nr; i++) {
		if (i)
			*p++ = ';';
		if (p > limit) {
			p = put_u64(put_lit(p, "["), stack->nr - i);
			return put_lit(p, " more]");
		}
		p = put_frame(p, stack->frames[i]);
	}
	return p;
}

static const struct slot *make(struct xsr_stacks *s, uint32_t producer, uint64_t id)
{
	const struct xsr_stack *stack = xsr_frames_get(s->frames, producer, (uint32_t)id);
	struct slot *slot;
	char *text, *end;

	if (!stack)
		return NULL;
	if (s->kept == SLOTS / 2 || s->used + TEXT_MAX > ARENA) {
		memset(s->slots, 0, sizeof(s->slots));
		s->kept = 0;
		s->used = 0;
	}
	slot = find(s, producer, id);
	text = s->arena + s->used;
	end = put_frames(text, stack);
	s->kept += !slot->text;
	*slot = (struct slot){ id, producer, (uint32_t)(end - text), text };
	s->used += slot->len;
	return slot;
}

char *xsr_kineto_stack(struct xsr_kineto *k, uint32_t producer, uint64_t stack, char *p)
{
	const struct slot *slot = find(k->stack, producer, stack);
	size_t nr;

	k->no_stack += stack == XSPROF_STACK_MISSED;
	if (!slot->text) {
		/* It may still come. */
		if (stack != XSPROF_STACK_MISSED &&
		    !xsprof_trace_stack(k->w.trace, producer, stack, &nr, NULL))
			return p;
		slot = make(k->stack, producer, stack);
	}
	if (!slot) {
		k->lost++;
		return p;
	}
	k->w.buf->p = put_lit(xsr_writer_room(&k->w, p), ",\"Call stack\":\"");
	xsp_buf_put(k->w.buf, slot->text, slot->len);
	p = xsp_buf_room(k->w.buf, XSP_BUF_ROOM);
	*p++ = '"';
	return p;
}
