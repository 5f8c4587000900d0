/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Symbolized stacks of a trace. A result is valid until the next call, unless the user chose to
 * keep everything.
 */
#ifndef XSR_FRAMES_H
#define XSR_FRAMES_H

#include <stddef.h>
#include <stdint.h>

struct xsprof_trace;
struct xsr_frames;

/* Format of a frame with a known line; otherwise the function alone. */
enum xsr_frame_form {
	XSR_FRAME_AT,		/* "function at file.c:12" */
	XSR_FRAME_PYTHON,	/* "file.c(12): function", PyTorch's format */
	XSR_FRAME_OBJECT,	/* "function (libfile.so)": the same for all code of a function */
};

/* The frames of a stack, innermost first, including inlined ones. */
struct xsr_stack {
	uint32_t	nr;
	const char	*frames[];
};

/**
 * xsr_frames_new() - create a symbolizer
 * @trace: the trace; it may be read further between calls
 * @form: format of frames
 * @memory: limit in bytes, at which everything but the mappings is forgotten and computed again; 0:
 *	none
 *
 * Return: the symbolizer, NULL: no memory.
 */
struct xsr_frames *xsr_frames_new(const struct xsprof_trace *trace, enum xsr_frame_form form,
				  size_t memory);
void xsr_frames_free(struct xsr_frames *frames);
/* Empty if there is no such stack; NULL: no memory. */
const struct xsr_stack *xsr_frames_get(struct xsr_frames *frames, uint32_t producer,
				       uint32_t stack);

#endif /* XSR_FRAMES_H */
