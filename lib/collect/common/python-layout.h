/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Where Python's frames keep what they are of, found at run time.
 */
#ifndef XSPROF_COLLECT_PYTHON_LAYOUT_H
#define XSPROF_COLLECT_PYTHON_LAYOUT_H

#include "collect/common/python-api.h"

/**
 * struct python_layout - offsets in bytes, found at run time
 * @state: of a thread's state: its innermost frame, or what points to that
 * @state_deep: the latter: the frame is at @state_inner in it
 * @state_inner: see there
 * @back: of a frame: its caller
 * @code: of a frame
 * @at: where it is in its code: a pointer, or an int
 * @at_scale: of the int: bytes of one; 0: it is a pointer
 * @at_base: of the pointer: where a code's instructions begin
 * @self: of a frame: its first argument; 0: not found
 * @objects: frames are objects of Python's, as up to 3.10
 */
struct python_layout {
	uint16_t	state;
	bool		state_deep;
	uint16_t	state_inner;
	uint16_t	back;
	uint16_t	code;
	uint16_t	at;
	uint16_t	at_scale;
	uint16_t	at_base;
	uint16_t	self;
	bool		objects;
};

extern struct python_layout python_layout;

/* The lock is held.  Return: false: frames are not as they are expected to be. */
bool python_layout_find(void);
/*
 * Runs a program in Python, in which @method has its name; the lock is held.  Return: whether it
 * ran to its end.
 */
bool python_run(const char *source, struct python_callee *method);

/* The lowest bits of a pointer may say how it is counted, from 3.14 on. */
static inline void *python_untagged(uint64_t pointer)
{
	return (void *)(uintptr_t)(pointer & ~(uint64_t)3);
}

#endif /* XSPROF_COLLECT_PYTHON_LAYOUT_H */
