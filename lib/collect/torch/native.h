/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The native side of an op: which functions of C and C++ run it.
 *
 * A walk reads the thread's own stack and the unwind information of the code on it (.eh_frame). It
 * takes no lock, allocates nothing and calls none of the program's code. An address is resolved to
 * nothing here: the reader of the trace does that, by the mappings that libxsprof-user records.
 */
#ifndef XSP_TORCH_NATIVE_H
#define XSP_TORCH_NATIVE_H

#include "collect/torch/local.h"

#define NATIVE_FRAMES	32u	/* of a stack that are kept */

/**
 * struct native_stack - the frames of a thread
 * @frame: for xsprof_stack_add(), innermost first; the last may be a note on what is missing
 * @nr: how many; 0: not known
 * @inner: of them, those inside the innermost of the interpreter, which are left out
 * @key: a hash of them, and of what tells code from other code that was at its address before
 */
struct native_stack {
	uint64_t	frame[NATIVE_FRAMES + 1];
	uint32_t	nr;
	uint32_t	inner;
	uint64_t	key;
};

/* ---- native.c: stacks ----------------------------------------------------------------------- */

/* Are native stacks recorded? */
extern bool torch_native;

void torch_native_init(int category);
/* Frames of the code around that address, Python's interpreter, are left out from now on. */
void torch_native_skip(const void *inside);
/* Return: its id in the trace, with no other frames behind; 0: it has none. */
uint32_t torch_native_stack(const struct native_stack *stack);
/* Of the stack with further frames behind, which @more is the key of. */
uint64_t torch_native_key(const struct native_stack *stack, uint64_t more);

struct native_range {
	uintptr_t	start;
	uintptr_t	end;
};

static inline bool native_is_in(const struct native_range *range, uintptr_t at)
{
	return at >= range->start && at < range->end;
}

/**
 * struct native_known - what a walk has to know
 * @own: the code of this library
 * @skipped: that of the interpreter; @end last
 * @cut: name of the note that there are more frames
 * @lost: the same: it is not known whether there are
 */
struct native_known {
	struct native_range	own;
	struct native_range	skipped;
	xsprof_name_t		cut;
	xsprof_name_t		lost;
};

extern struct native_known native_known;

static inline uint64_t native_mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

/* ---- walk.c --------------------------------------------------------------------------------- */

/* Where the calling thread is. */
void torch_native_walk(struct native_stack *stack);

/* ---- unwind.c: rules of code ---------------------------------------------------------------- */

enum unwind_kind {
	UNWIND_UNKNOWN,		/* there are no rules of this code, or ones that are not read */
	UNWIND_END,		/* it has no caller */
	UNWIND_STACK,		/* its CFA is the stack pointer and @cfa */
	UNWIND_FRAME,		/* its CFA is the frame pointer and @cfa */
	UNWIND_MEMORY,		/* its CFA is in memory, at the frame pointer and @cfa */
};

/* In place of @frame: the caller's frame pointer is not found by any of these rules. */
#define UNWIND_LOST	INT16_MIN

/**
 * struct unwind_rule - how a frame's caller is found; the CFA is the caller's stack pointer
 * @kind: enum unwind_kind
 * @at_frame: the caller's frame pointer is saved at the frame pointer and @frame, not at the CFA
 * @cfa: bytes
 * @frame: where the caller's frame pointer is saved, in words from the CFA; 0: it is unchanged
 * @back: the same of the return address
 */
struct unwind_rule {
	uint32_t	kind : 7;
	uint32_t	at_frame : 1;
	int32_t		cfa : 24;
	int16_t		frame;
	int16_t		back;
};

/* Can rules be found in this process?  Called once. */
bool unwind_init(void);
/* Of the code that the call before @ip is in. */
struct unwind_rule unwind_rule(uintptr_t ip);
/* How often code was unloaded: other code may be at its address now.  From 1 on. */
uint32_t unwind_unloads(void);
/* Is the program's dlclose() ours?  Else that count misses some. */
bool unwind_sees_unloads(void);
/* Of the object that has @inside: from where to where.  Return: false: of none. */
bool unwind_object(const void *inside, uintptr_t *start, uintptr_t *end);

#endif /* XSP_TORCH_NATIVE_H */
