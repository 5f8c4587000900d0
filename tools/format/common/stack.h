/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of samples that include C code, by name.
 */
#ifndef XSPROF_FORMAT_STACK_H
#define XSPROF_FORMAT_STACK_H

#include <stddef.h>
#include <stdint.h>

struct xsprof_trace;
struct xsr_frames;

/**
 * fmt_stack_texts() - the frames of a stack that includes addresses
 * @trace: the trace
 * @frames: cache of lookups, created on first use; to be freed by xsr_frames_free()
 * @producer: the stack's producer
 * @stack: its id
 * @nr: set to their number, without frames that the recording left out
 *
 * An inlined function is a frame. Texts are valid until @frames is freed, and equal texts are one
 * pointer.
 *
 * Return: the texts, innermost first; NULL: all frames are names, or no memory.
 */
const char *const *fmt_stack_texts(const struct xsprof_trace *trace, struct xsr_frames **frames,
				   uint32_t producer, uint32_t stack, size_t *nr);

#endif /* XSPROF_FORMAT_STACK_H */
