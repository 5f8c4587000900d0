/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Python's side of an op: which line of the program runs it, in which of its modules.
 *
 * Python is not linked and none of its headers is used: functions of its interface are looked up in
 * the process, and where frames keep what they are of is found by functions of our own
 * (python-layout.c). Nearly all ops run while Python's lock is released, so a walk only reads: a
 * thread that is in C does not change its frames, and they keep what they are of alive. For what is
 * seen for the first time the lock is taken, as it is where an op calls into Python.
 */
#ifndef XSP_TORCH_PYTHON_H
#define XSP_TORCH_PYTHON_H

#include "collect/torch/local.h"

/**
 * struct python_api - functions of CPython, 3.9 and later
 * @this_state: the thread's state, of the main interpreter; NULL: it has none
 * @current_state: the state that holds the lock
 * @finalizing: is the interpreter about to end?
 * @first_interpreter: of those that there are
 * @next_interpreter: after one; NULL: it is the last
 * @ensure: takes the lock, if the thread has it not.  Return: for @release
 * @release: and gives it back
 * @frame: of a state: its innermost frame, new reference
 * @back: of a frame: its caller, new reference
 * @code: of a frame, new reference
 * @addr_line: of a code: the line of a place in it
 * @incref: another reference
 * @decref: one less
 * @attribute: new reference
 * @text: of a str, as long as that lives
 * @encode: of a str that has none: bytes, new reference
 * @bytes: as text, as long as these live
 * @number: of an int
 * @dict_next: goes through a dict
 * @own_dict: the attributes that an object has itself, new reference
 * @repr: what an object is printed as, new reference
 * @type: of an object, new reference
 * @err_clear: what is raised is not any more
 * @err_fetch: what is raised, put aside
 * @err_restore: and back
 * @gc_disable: no collection, which may run any code.  Return: whether there was; NULL before 3.10
 * @gc_enable: the same
 * @weak_new: a reference that dies with its object, and calls then
 * @pointer_new: an int
 * @pointer_get: of one
 * @function_new: of a C function
 * @none: the object
 * @code_type: what codes are
 * @text_type: what strs are
 */
struct python_api {
	void		*(*this_state)(void);
	void		*(*current_state)(void);
	int		(*finalizing)(void);
	void		*(*first_interpreter)(void);
	void		*(*next_interpreter)(void *interpreter);
	int		(*ensure)(void);
	void		(*release)(int state);
	void		*(*frame)(void *state);
	void		*(*back)(void *frame);
	void		*(*code)(void *frame);
	int		(*addr_line)(void *code, int place);
	void		(*incref)(void *object);
	void		(*decref)(void *object);
	void		*(*attribute)(void *object, const char *name);
	const char	*(*text)(void *object);
	void		*(*encode)(void *object, const char *to, const char *errors);
	const char	*(*bytes)(void *object);
	long		(*number)(void *object);
	int		(*dict_next)(void *dict, intptr_t *pos, void **key, void **value);
	void		*(*own_dict)(void *object, void *context);
	void		*(*repr)(void *object);
	void		*(*type)(void *object);
	void		(*err_clear)(void);
	void		(*err_fetch)(void **type, void **value, void **trace);
	void		(*err_restore)(void *type, void *value, void *trace);
	int		(*gc_disable)(void);
	int		(*gc_enable)(void);
	void		*(*weak_new)(void *object, void *callback);
	void		*(*pointer_new)(void *pointer);
	void		*(*pointer_get)(void *object);
	void		*(*function_new)(void *method, void *self, void *module);
	void		*none;
	void		*code_type;
	void		*text_type;
};

extern struct python_api python;

/* PyMethodDef: the same in each version. */
struct python_method {
	const char	*name;
	void		*(*function)(void *self, void *argument);
	int		flags;
	const char	*doc;
};

#define PYTHON_METH_O	8

/* Where a type has its name, as text that lives as long as it: the same in each version. */
#define PYTHON_TYPE_NAME	24

/* Of symbols, the first that there is.  Return: false: there is none. */
bool python_find(void *to, const char *name, const char *other);
/* Return: false: not all that are needed are there. */
bool python_functions_find(void);

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

/* ---- python-layout.c: what is where in frames ----------------------------------------------- */

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
};

extern struct python_layout python_layout;

/* The lock is held.  Return: false: frames are not as they are expected to be. */
bool python_layout_find(void);

/* The lowest bits of a pointer may say how it is counted, from 3.14 on. */
static inline void *python_untagged(uint64_t pointer)
{
	return (void *)(uintptr_t)(pointer & ~(uint64_t)3);
}

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
