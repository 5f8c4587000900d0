/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Python's side of an op: which line of the program runs it, in which of its modules.
 *
 * Python is not linked and none of its headers is used: functions of its interface are looked up in
 * the process, and where frames keep what they are of is found by functions of our own
 * (common/python-layout.c). Nearly all ops run while Python's lock is released, so a walk only
 * reads: a thread that is in C does not change its frames, and they keep what they are of alive.
 * For what is seen for the first time the lock is taken, as it is where an op calls into Python.
 */
#ifndef XSP_TORCH_PYTHON_H
#define XSP_TORCH_PYTHON_H

#include "collect/common/python-api.h"
#include "collect/common/python-layout.h"
#include "collect/torch/local.h"

/* What is found of an op: name ids, and an id of xsprof_stack_add(). */
struct native_stack;

struct python_place {
	uint32_t	stack;
	xsprof_name_t	line;
	xsprof_name_t	module;
};

/*
 * Called once, while torch is imported.  Does nothing where there is no Python, one before 3.9, or
 * one without a global lock.  Return: whether places are found.
 */
bool torch_python_init(int category);
/*
 * Where the calling thread is, zeros where it runs no Python.  It may have no Python at all.
 * @native: its native frames
 * @registered: how often the observer was
 */
void torch_python_place(struct python_place *place, const struct native_stack *native,
			uint32_t registered);

/* ---- frames.c: what frames are called ------------------------------------------------------- */

#define PYTHON_FRAMES	64u	/* of a stack that are kept */
#define PYTHON_CALLS	4u

/* Where a frame is: its code, and how far into that. */
struct python_frame {
	void	*code;
	int	at;
};

/* Functions by which modules are called, as far as a stack with them was named. */
extern const void *python_calls[PYTHON_CALLS];

static inline bool python_is_call(const void *code)
{
	for (uint32_t i = 0; i < PYTHON_CALLS; i++)
		if (__atomic_load_n(&python_calls[i], __ATOMIC_RELAXED) == code)
			return true;
	return false;
}

/* What 3.12 has as code where C calls Python, once a stack with it was named. */
extern const void *python_entry;

void python_frames_init(int category);
/**
 * struct python_frames - the frames of a thread
 * @native: those around it
 * @frame: Python's, innermost first
 * @nr: how many of these
 * @left: how many more there are
 */
struct python_frames {
	const struct native_stack	*native;
	struct python_frame		frame[PYTHON_FRAMES];
	uint32_t			nr;
	uint32_t			left;
};

/*
 * Names the frames of a stack that is new; the lock is held.  Return: its id; XSPROF_STACK_MISSED.
 * @more: set when more is known of codes than before: it has to be walked again.
 */
uint32_t python_stack(uint64_t key, const struct python_frames *frames, bool *more);

#define PYTHON_NO_LINE	UINT32_MAX

/*
 * The innermost frame of a stack that is of the program itself, and of no package: its name.
 * Return: 0: it is not known yet; PYTHON_NO_LINE: there is none.
 */
xsprof_name_t python_line(uint32_t stack, uint64_t key);

/* ---- modules.c: what modules are called ----------------------------------------------------- */

#define PYTHON_MODULES	64u	/* that call each other */

void python_modules_init(int category);
/*
 * Of a module that is alive; the lock need not be held.  @called: by another one.  Return: 0: its
 * name is to be found.
 */
xsprof_name_t python_module_known(const void *module, bool called);
/*
 * Names the first, with those that have called it behind it; the lock is held.  Return: 0: not even
 * "(no room for its name)" found room.
 */
xsprof_name_t python_module(void *const *module, uint32_t nr);

#endif /* XSP_TORCH_PYTHON_H */
