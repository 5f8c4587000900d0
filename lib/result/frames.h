/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Stacks of a trace by name.  Its users keep nothing of what they get beyond the next call, unless
 * they let it keep all.
 */
#ifndef XSR_FRAMES_H
#define XSR_FRAMES_H

#include <stddef.h>
#include <stdint.h>

struct xsprof_trace;
struct xsr_frames;

/* How a frame is written that has a line; where there is none it is the function. */
enum xsr_frame_form {
	XSR_FRAME_AT,		/* "function at file.c:12" */
	XSR_FRAME_PYTHON,	/* "file.c(12): function", as PyTorch writes its own */
	XSR_FRAME_OBJECT,	/* "function (libfile.so)": one text for all of a function's code */
};

/* The frames of a stack, innermost first, inlined ones among them. */
struct xsr_stack {
	uint32_t	nr;
	const char	*frames[];
};

/**
 * xsr_frames_new() - a reader of stacks
 * @trace: where they are; it may be read on between calls
 * @form: of the frames
 * @memory: when so many bytes are used all but the mappings is forgotten, and found out anew;
 *          0: nothing ever is
 *
 * Return: it, NULL: no memory.
 */
struct xsr_frames *xsr_frames_new(const struct xsprof_trace *trace, enum xsr_frame_form form,
				  size_t memory);
void xsr_frames_free(struct xsr_frames *frames);
/* Empty where there is no such stack; NULL: no memory. */
const struct xsr_stack *xsr_frames_get(struct xsr_frames *frames, uint32_t producer,
				       uint32_t stack);

#endif /* XSR_FRAMES_H */
