/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The native side of an op: which functions of C and C++ run it, found by collect/common/walk.c.
 */
#ifndef XSP_TORCH_NATIVE_H
#define XSP_TORCH_NATIVE_H

#include "collect/common/native.h"
#include "collect/torch/local.h"

/* ---- native.c: stacks ----------------------------------------------------------------------- */

/* Are native stacks recorded? */
extern bool torch_native;

void torch_native_init(int category);
extern struct native_known torch_native_known;
/* Frames of the code around that address, Python's interpreter, are left out from now on. */
void torch_native_skip(const void *inside);
/* Return: its id in the trace, with no other frames behind; 0: it has none. */
uint32_t torch_native_stack(const struct native_stack *stack);
/* Of the stack with further frames behind, which @more is the key of. */
uint64_t torch_native_key(const struct native_stack *stack, uint64_t more);

/* ---- unload.c: code that goes --------------------------------------------------------------- */

/* How often code was unloaded: other code may be at its address now.  From 1 on. */
uint32_t torch_unloads(void);
/* Is the program's dlclose() ours?  Else that count misses some. */
bool torch_sees_unloads(void);

/* Where the calling thread is. */
static inline void torch_native_walk(struct native_stack *stack)
{
	native_walk(stack, &torch_native_known, torch_unloads());
}

#endif /* XSP_TORCH_NATIVE_H */
