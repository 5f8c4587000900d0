/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The Python position of an op: line and modules.
 *
 * Python is not linked and its headers are not used: functions of its API are looked up in the
 * process, and the layout of frames is found at run time (common/python-layout.c). Nearly all ops
 * run while the GIL is released, so a walk only reads: a thread that is in C does not change its
 * frames, and they keep their objects alive. The GIL is taken to name new frames and modules, and
 * it is held when an op calls into Python.
 */
#ifndef XSP_TORCH_PYTHON_H
#define XSP_TORCH_PYTHON_H

#include "collect/common/python-api.h"
#include "collect/common/python-layout.h"
#include "collect/torch/local.h"

/* The position of an op: name ids, and an id of xsprof_stack_add(). */
struct native_stack;

struct python_place {
	uint32_t	stack;
	xsprof_name_t	line;
	xsprof_name_t	module;
};

/*
 * To be called once, while torch is imported. Does nothing without Python, with a version before
 * 3.9, or with a free-threaded build. Return: true if positions can be found.
 */
bool torch_python_init(int category);
/*
 * The position of the calling thread; zeros if it runs no Python.
 * @native: its native frames
 * @registered: number of registrations of the observer
 */
void torch_python_place(struct python_place *place, const struct native_stack *native,
			uint32_t registered);

/* ---- frames.c: what frames are called ------------------------------------------------------- */

#define PYTHON_FRAMES	64u	/* frames kept of a stack */
#define PYTHON_CALLS	4u

/* A frame: its code object and the offset in it. */
struct python_frame {
	void	*code;
	int	at;
};

/* Functions that call modules, learnt from named stacks. */
extern const void *python_calls[PYTHON_CALLS];

static inline bool python_is_call(const void *code)
{
	for (uint32_t i = 0; i < PYTHON_CALLS; i++)
		if (__atomic_load_n(&python_calls[i], __ATOMIC_RELAXED) == code)
			return true;
	return false;
}

/* Code object that 3.12 uses where C calls Python, learnt from a named stack. */
extern const void *python_entry;

void python_frames_init(int category);
/**
 * struct python_frames - the frames of a thread
 * @native: native frames
 * @frame: Python's frames, innermost first
 * @nr: number of frames
 * @left: number of further frames
 */
struct python_frames {
	const struct native_stack	*native;
	struct python_frame		frame[PYTHON_FRAMES];
	uint32_t			nr;
	uint32_t			left;
};

/*
 * Names the frames of a new stack; called with the GIL. @more: set if that taught us more about
 * code objects: the walk has to be repeated. Return: its id; XSPROF_STACK_MISSED.
 */
uint32_t python_stack(uint64_t key, const struct python_frames *frames, bool *more);

#define PYTHON_NO_LINE	UINT32_MAX

/*
 * Name of the innermost frame that belongs to the program and not to a package. Return: 0: not
 * known yet; PYTHON_NO_LINE: none.
 */
xsprof_name_t python_line(uint32_t stack, uint64_t key);

/* ---- modules.c: what modules are called ----------------------------------------------------- */

#define PYTHON_MODULES	64u	/* nesting depth of modules */

void python_modules_init(int category);
/*
 * The name of a living module; the GIL need not be held. @called: by another module. Return: 0: its
 * name has to be found.
 */
xsprof_name_t python_module_known(const void *module, bool called);
/*
 * Names the first module; its callers follow it; called with the GIL. Return: 0: not even "(no room
 * for its name)" fitted into the name table.
 */
xsprof_name_t python_module(void *const *module, uint32_t nr);

#endif /* XSP_TORCH_PYTHON_H */
