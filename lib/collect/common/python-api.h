/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Functions of CPython's API, looked up at run time: Python is not linked and its headers are not
 * used.
 */
#ifndef XSPROF_COLLECT_PYTHON_API_H
#define XSPROF_COLLECT_PYTHON_API_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct python_api - functions of CPython 3.9 and later
 * @this_state: the thread's state in the main interpreter; NULL: none
 * @current_state: the state that holds the GIL
 * @finalizing: is the interpreter shutting down?
 * @first_interpreter: head of the list of interpreters
 * @next_interpreter: the next one; NULL: it was the last
 * @ensure: takes the GIL if the thread does not hold it. Return: a value for @release
 * @release: undoes @ensure
 * @frame: of a state: its innermost frame, new reference
 * @back: of a frame: its caller, new reference
 * @code: of a frame, new reference
 * @addr_line: of a code object: the line of an offset in it
 * @incref: another reference
 * @decref: one less
 * @attribute: new reference
 * @text: of a str; valid as long as the str
 * @encode: of a str without UTF-8 text: bytes, new reference
 * @bytes: their text; valid as long as the object
 * @number: value of an int
 * @dict_next: iterates over a dict
 * @own_dict: an object's own attribute dict, new reference
 * @repr: repr() of an object, new reference
 * @type: type of an object, new reference
 * @err_clear: clears the raised exception
 * @err_fetch: takes the raised exception away
 * @err_restore: raises it again
 * @gc_disable: no garbage collection, which may run any code. Return: was it enabled? NULL before
 *	3.10
 * @gc_enable: undoes @gc_disable
 * @weak_new: a weak reference with a callback
 * @pointer_new: an int from a pointer
 * @pointer_get: a pointer from an int
 * @function_new: a callable from a C function
 * @none: None
 * @code_type: type of code objects
 * @text_type: type of str
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

/* From dlopen(): the object that contains Python; NULL: the program's global scope. */
extern void *python_object;

/* PyMethodDef: the same layout in all versions. */
struct python_callee {
	const char	*name;
	void		*(*function)(void *self, void *argument);
	int		flags;
	const char	*doc;
};

#define PYTHON_METH_O	8

/* Offset of tp_name in a type, valid as long as the type: the same in all versions. */
#define PYTHON_TYPE_NAME	24

/* Looks up @name, then @other. Return: false: neither exists. */
bool python_find(void *to, const char *name, const char *other);
/* Return: false: a required function is missing. */
bool python_functions_find(void);

#endif /* XSPROF_COLLECT_PYTHON_API_H */
