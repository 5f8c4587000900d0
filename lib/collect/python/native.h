/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Frames of C in samples of Python's threads, and where C calls Python among its frames.
 */
#ifndef XSP_PYTHON_NATIVE_H
#define XSP_PYTHON_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/common/native.h"

/* ---- native.c: frames of C ------------------------------------------------------------------- */

/* Native frames are recorded. */
extern bool python_native;

void python_native_init(int category);
/* Switches native frames off and tells the user why. */
void python_native_off(const char *why);
/* Number of unloads, for unwind_rule(). Not signal-safe. */
uint32_t python_native_unloads(void);
/*
 * Calls @call if nothing was unloaded since @unloads, and prevents unloading meanwhile by holding
 * the linker's lock, which is taken before the lock of names. Return: was it called?
 */
bool python_native_guard(uint32_t unloads, void (*call)(void *arg), void *arg);
/* In a signal handler with @context. Signal-safe. */
void python_native_walk(struct native_stack *stack, const void *context, uint32_t unloads);

/* ---- bounds.c: where C calls Python ---------------------------------------------------------- */

/**
 * struct python_bounds - how to tell frames that were entered from C
 * @each: all frames are
 * @at: offset of a byte in the frame that is 1 if it is; 0: no such byte
 */
struct python_bounds {
	bool		each;
	uint16_t	at;
};

extern struct python_bounds python_bounds;

/* Called with the GIL, when frames can be read. Return: false: unknown. */
bool python_bounds_find(void);

#endif /* XSP_PYTHON_NATIVE_H */
