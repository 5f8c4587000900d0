// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames of samples that include C code: names are looked up in files when they are first needed.
 * Most samples have none, and no file is opened.
 */
#include <xsprof/trace.h>

#include "format/common/stack.h"
#include "result/frames.h"

const char *const *fmt_stack_texts(const struct xsprof_trace *trace, struct xsr_frames **frames,
				   uint32_t producer, uint32_t stack, size_t *nr)
{
	const struct xsr_stack *texts;
	const uint64_t *frame;
	uint32_t left = 0;
	size_t raw = 0, i;

	frame = xsprof_trace_stack(trace, producer, stack, &raw, &left);
	for (i = 0; frame && i < raw; i++)
		if (!(frame[i] & XSPROF_FRAME_NAMED))
			break;
	if (!frame || i == raw)
		return NULL;
	if (!*frames)
		*frames = xsr_frames_new(trace, XSR_FRAME_OBJECT, 0);
	texts = *frames ? xsr_frames_get(*frames, producer, stack) : NULL;
	if (!texts)
		return NULL;
	/* The last text is a remark about frames left out. */
	*nr = texts->nr - (left && texts->nr);
	return texts->frames;
}
