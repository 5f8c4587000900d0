/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Native stacks of ops: their C and C++ frames, found by collect/common/walk.c.
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
/* From now on frames of the object that contains @inside, Python's interpreter, are left out. */
void torch_native_skip(const void *inside);
/* Return: the stack's id in the trace, if no outer frames follow; 0: none. */
uint32_t torch_native_stack(const struct native_stack *stack);
/* The key of the stack followed by outer frames whose key is @more. */
uint64_t torch_native_key(const struct native_stack *stack, uint64_t more);

/* ---- unload.c: code that goes --------------------------------------------------------------- */

/* Number of unloads, from 1 on: after an unload other code may be at an address. */
uint32_t torch_unloads(void);
/* Do the program's dlclose() calls reach ours? If not, the number above misses some. */
bool torch_sees_unloads(void);

/* Walks the calling thread's stack. */
static inline void torch_native_walk(struct native_stack *stack)
{
	native_walk(stack, &torch_native_known, torch_unloads());
}

#endif /* XSP_TORCH_NATIVE_H */
