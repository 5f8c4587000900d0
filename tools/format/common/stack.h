/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames of samples that have code of C among them, by name.
 */
#ifndef XSPROF_FORMAT_STACK_H
#define XSPROF_FORMAT_STACK_H

#include <stddef.h>
#include <stdint.h>

struct xsprof_trace;
struct xsr_frames;

/**
 * fmt_stack_texts() - the frames of a stack that has addresses among them
 * @trace: where it is
 * @frames: what was found out of such stacks, made where there is one; to be freed by
 *	    xsr_frames_free()
 * @producer: whose it is
 * @stack: its id
 * @nr: set to how many there are, without those that the recording left out
 *
 * An inlined function is a frame. Texts are good until @frames is freed, and equal ones are one.
 *
 * Return: them, innermost first; NULL: all of its frames are names, or there is no memory.
 */
const char *const *fmt_stack_texts(const struct xsprof_trace *trace, struct xsr_frames **frames,
				   uint32_t producer, uint32_t stack, size_t *nr);

#endif /* XSPROF_FORMAT_STACK_H */
