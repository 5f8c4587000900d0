/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Walks a thread's native stack: the C and C++ frames.
 *
 * A walk (walk.c) reads the thread's own stack, or a copy of another's, and the unwind information
 * of its code (.eh_frame, by unwind.c and dwarf.c). It takes no lock, allocates nothing and calls
 * none of the program's code. Addresses are not resolved: the reader of the trace does that, with
 * the mappings that libxsprof-user records.
 */
#ifndef XSPROF_COLLECT_NATIVE_H
#define XSPROF_COLLECT_NATIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <xsprof/op.h>
#include <xsprof/xsprof.h>

#define NATIVE_FRAMES	64u	/* frames kept of a stack */

/*
 * Marks, in place of an address, a frame of the interpreter's evaluator; the low bits count them.
 * Addresses of programs and names do not have this bit.
 */
#define NATIVE_EVALS	(1ull << 62)

/**
 * struct native_stack - frames of a thread
 * @frame: for xsprof_stack_add(), innermost first; the last one may be a note about missing frames.
 *	If the evaluator is known, NATIVE_EVALS words are among them
 * @nr: number of frames; 0: unknown
 * @inner: number of left-out frames inside the interpreter's innermost frame
 * @whole: the walk reached the end of the stack
 * @key: hash of the frames, and of a number that tells code from earlier code at its address
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
 * struct native_known - parameters of a walk
 * @own: code of this library: left out
 * @skipped: code of the interpreter; @end is set last
 * @eval: the interpreter's evaluator function, inside @skipped; empty: not wanted
 * @frames: frames to keep, at most NATIVE_FRAMES
 * @cut: name of the note "there are more frames"
 * @lost: name of the note "unknown whether there are more frames"
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
 * struct native_place - position of a walk
 * @ip: where the frame continues: after the call, or after the begin of an interrupted instruction
 * @cfa: CFA of its callee: the frame's stack pointer
 * @frame: its frame pointer
 * @known: @frame is valid
 */
struct native_place {
	uintptr_t	ip;
	uintptr_t	cfa;
	uintptr_t	frame;
	uintptr_t	known;
};

/* Walks from the caller on. @unloads: how often code was unloaded, as for unwind_rule(). */
void native_walk(struct native_stack *stack, const struct native_known *known, uint32_t unloads);
/*
 * Walks from a place that a signal interrupted, on the calling thread's stack; requires an earlier
 * native_thread_begins() by this thread. Signal-safe.
 */
void native_walk_from(struct native_stack *stack, const struct native_known *known,
		      uint32_t unloads, const struct native_place *from);
/*
 * Walks from @from on in a copy of the stack of a thread that is stopped there: its @size bytes
 * from @from->cfa on. The caller prevents that code is unloaded meanwhile.
 */
void native_walk_copy(struct native_stack *stack, const struct native_known *known,
		      uint32_t unloads, const struct native_place *from, const void *copy,
		      size_t size);
/* Finds the bounds of the calling thread's stack. Not signal-safe. */
void native_thread_begins(void);

/* ---- unwind.c: rules of code ---------------------------------------------------------------- */

enum unwind_kind {
	UNWIND_UNKNOWN,		/* no rules for this code, or unsupported ones */
	UNWIND_END,		/* the frame has no caller */
	UNWIND_STACK,		/* CFA = stack pointer + @cfa */
	UNWIND_FRAME,		/* CFA = frame pointer + @cfa */
	UNWIND_MEMORY,		/* CFA = the word at frame pointer + @cfa */
};

/* Value of @frame: the caller's frame pointer cannot be recovered. */
#define UNWIND_LOST	INT16_MIN

/**
 * struct unwind_rule - how to find a frame's caller; the CFA is the caller's stack pointer
 * @kind: enum unwind_kind
 * @at_frame: @frame counts from the frame pointer, not from the CFA
 * @cfa: bytes
 * @frame: where the caller's frame pointer is saved, in words from the CFA; 0: unchanged
 * @back: the same for the return address
 */
struct unwind_rule {
	uint32_t	kind : 7;
	uint32_t	at_frame : 1;
	int32_t		cfa : 24;
	int16_t		frame;
	int16_t		back;
};

/* Can rules be found in this process? To be called once. */
bool unwind_init(void);
/*
 * The rule of the code with the call before @ip. @unloads: how often code was unloaded, from 1 on;
 * after an unload other code may be at an address. Signal-safe.
 */
struct unwind_rule unwind_rule(uintptr_t ip, uint32_t unloads);
/* Return: the begin of the function with the call before @ip; 0: unknown. Signal-safe. */
uintptr_t unwind_function(uintptr_t ip);
/* Sets the bounds of the object that contains @inside. Return: false: no object does. */
bool unwind_object(const void *inside, uintptr_t *start, uintptr_t *end);

#endif /* XSPROF_COLLECT_NATIVE_H */
