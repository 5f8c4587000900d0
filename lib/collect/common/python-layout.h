/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Layout of Python's frames, found at run time.
 */
#ifndef XSPROF_COLLECT_PYTHON_LAYOUT_H
#define XSPROF_COLLECT_PYTHON_LAYOUT_H

#include "collect/common/python-api.h"

/**
 * struct python_layout - offsets in bytes
 * @state: in a thread's state: its innermost frame, or a pointer to a structure with it
 * @state_deep: the latter: the frame is at @state_inner of that structure
 * @state_inner: see @state_deep
 * @back: in a frame: its caller
 * @code: in a frame: its code object
 * @at: in a frame: position in the code, a pointer or an int
 * @at_scale: unit of the int in bytes; 0: it is a pointer
 * @at_base: for a pointer: offset of the instructions in the code object
 * @self: in a frame: its first argument; 0: not found
 * @objects: frames are Python objects, as up to 3.10
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

/* Called with the GIL. Return: false: frames do not look as expected. */
bool python_layout_find(void);
/*
 * Runs Python source in which @method is a function; called with the GIL. Return: true if it ran to
 * its end; else an exception is set.
 */
bool python_run(const char *source, struct python_callee *method);
/*
 * Clears the exception of python_run(), unless the program's own: Python runs handlers of signals
 * in any function, also in ours. Return: false: it stays set, as it is the program's.
 */
bool python_run_failed(void);

/* Strips the tag bits that 3.14 and later keep in the low bits of a reference. */
static inline void *python_untagged(uint64_t pointer)
{
	return (void *)(uintptr_t)(pointer & ~(uint64_t)3);
}

#endif /* XSPROF_COLLECT_PYTHON_LAYOUT_H */
