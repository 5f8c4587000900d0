/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Functions of CPython's interface, looked up in the process: Python is not linked and none of its
 * headers is used.
 */
#ifndef XSPROF_COLLECT_PYTHON_API_H
#define XSPROF_COLLECT_PYTHON_API_H

#include <stdbool.h>
#include <stdint.h>

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

/* Of dlopen(): the object that is Python; NULL: what all of the program may use. */
extern void *python_object;

/* PyMethodDef: the same in each version. */
struct python_callee {
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

#endif /* XSPROF_COLLECT_PYTHON_API_H */
