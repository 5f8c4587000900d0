/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A thread's native stack: which functions of C and C++ run in it.
 *
 * A walk (walk.c) reads the thread's own stack and the unwind information of the code on it
 * (.eh_frame, by unwind.c and dwarf.c). It takes no lock, allocates nothing and calls none of the
 * program's code. An address is resolved to nothing here: the reader of the trace does that, by the
 * mappings that libxsprof-user records.
 */
#ifndef XSPROF_COLLECT_NATIVE_H
#define XSPROF_COLLECT_NATIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <xsprof/op.h>
#include <xsprof/xsprof.h>

#define NATIVE_FRAMES	64u	/* of a stack that are kept at most */

/*
 * Not an address, but how often the interpreter's evaluator was met there: in the low bits. No
 * address of a program has this bit, nor has a name.
 */
#define NATIVE_EVALS	(1ull << 62)

/**
 * struct native_stack - the frames of a thread
 * @frame: for xsprof_stack_add(), innermost first; the last may be a note on what is missing. Where
 *	   the evaluator is known there are NATIVE_EVALS words among them
 * @nr: how many; 0: not known
 * @inner: of them, those inside the innermost of the interpreter, which are left out
 * @whole: the walk came to the stack's end
 * @key: a hash of them, and of what tells code from other code that was at its address before
 */
struct native_stack {
	uint64_t	frame[NATIVE_FRAMES + 1];
	uint32_t	nr;
	uint32_t	inner;
	bool		whole;
	uint64_t	key;
};

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
 * @eval: in it, the function that evaluates the program's functions; empty: not asked for
 * @frames: how many are kept, NATIVE_FRAMES at most
 * @cut: name of the note that there are more frames
 * @lost: the same: it is not known whether there are
 */
struct native_known {
	struct native_range	own;
	struct native_range	skipped;
	struct native_range	eval;
	uint32_t		frames;
	xsprof_name_t		cut;
	xsprof_name_t		lost;
};

static inline uint64_t native_mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

/* ---- walk.c --------------------------------------------------------------------------------- */

/**
 * struct native_place - where a frame is
 * @ip: where it goes on: behind the call, or behind the begin of what was interrupted
 * @cfa: of what it called: its stack pointer
 * @frame: its frame pointer
 * @known: @frame is
 */
struct native_place {
	uintptr_t	ip;
	uintptr_t	cfa;
	uintptr_t	frame;
	uintptr_t	known;
};

/* Where the calling thread is. @unloads: how often code was unloaded, as unwind_rule() has it. */
void native_walk(struct native_stack *stack, const struct native_known *known, uint32_t unloads);
/*
 * From a place on that a signal interrupted, on the calling thread's stack, which
 * native_thread_begins() was told of before.  Signal-safe.
 */
void native_walk_from(struct native_stack *stack, const struct native_known *known,
		      uint32_t unloads, const struct native_place *from);
/* Asks where the calling thread's stack is.  Not signal-safe. */
void native_thread_begins(void);

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
/*
 * Of the code that the call before @ip is in. @unloads: how often code was unloaded, from 1 on:
 * other code may be at its address now.  Signal-safe.
 */
struct unwind_rule unwind_rule(uintptr_t ip, uint32_t unloads);
/* Where the function with the code before @ip begins; 0: not known.  Signal-safe. */
uintptr_t unwind_function(uintptr_t ip);
/* Of the object that has @inside: from where to where.  Return: false: of none. */
bool unwind_object(const void *inside, uintptr_t *start, uintptr_t *end);

#endif /* XSPROF_COLLECT_NATIVE_H */
