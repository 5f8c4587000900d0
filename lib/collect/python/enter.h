/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A thread of ours enters Python, while the program may fork.
 */
#ifndef COLLECT_PYTHON_ENTER_H
#define COLLECT_PYTHON_ENTER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * To be called before the thread is made, by a thread that holds no lock of the C library: it forks
 * no sooner than it continues, and a fork that has begun before is not known. @child: called in
 * forked children.
 */
void python_enter_watch(void (*child)(void));
/* To be called by the thread before it enters: waits for forks that are not known, up to 20 ms. */
void python_enter_settle(void);
/* Return: false: in a child made by a bare clone(), which lacks the thread. */
bool python_enter_is_ours(void);
/*
 * Takes the GIL, in a new state of this thread. Return: NULL: @goes_on says that Python is ending,
 * or there is no memory.
 */
void *python_enter(bool (*goes_on)(void));
/* With the GIL, which a fork takes first. */
void python_leave(void *state);

#endif /* COLLECT_PYTHON_ENTER_H */
