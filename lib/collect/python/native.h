/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Frames of C in samples of Python's threads, and where C calls Python among its frames.
 */
#ifndef XSP_PYTHON_NATIVE_H
#define XSP_PYTHON_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/common/native.h"

struct python_entry;
struct python_reading;

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
/*
 * Of a thread that is stopped at @from, in a copy of @size bytes of its stack. Return: false: code
 * was unloaded since @unloads.
 */
bool python_native_walk_copy(struct native_stack *stack, const struct native_place *from,
			     const void *copy, size_t size, uint32_t unloads);

/* ---- outside.c: those that run without the lock ---------------------------------------------- */

/*
 * Asks a thread that was read at @turn for its native frames. @at_once: as of python_ask(). Return:
 * false: it cannot be asked, or waits now and then; true: its sample is recorded later.
 */
bool python_outside_ask(struct python_entry *entry, uint32_t turn, uint64_t now, bool at_once);
/* Called at each tick. */
void python_outside_tick(void);
/*
 * Records the samples of those that have answered, and of those that were asked at least @patience
 * ticks ago.
 */
void python_outside_take(uint32_t patience);
/* In the handler. */
void python_outside_answer(const struct python_entry *entry, const void *context);
void python_outside_forked(void);

/* ---- signal.c -------------------------------------------------------------------------------- */

/* Where a thread waits in the kernel. *@place is valid with PYTHON_WAITS. */
enum python_place python_place_of(uint32_t tid, struct native_place *place);

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
