/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What CPython does and makes its threads wait for: its global lock, the GIL, its garbage
 * collector, and on request each call of a function.
 *
 * The library is preloaded. Neither Python nor its headers are needed: hooks.c has the functions of
 * the C library by which Python makes and takes its lock, gil.c knows a GIL by how it is made, gc.c
 * becomes one of the collector's callbacks, and trace.c is called for each function. In a process
 * without Python there is nothing but two comparisons in each of these functions.
 */
#ifndef XSP_PYTHON_LOCAL_H
#define XSP_PYTHON_LOCAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/args.h>
#include <xsprof/op.h>
#include <xsprof/xsprof.h>

/* ---- user.c: libxsprof-user ------------------------------------------------------------------ */

/**
 * struct python_user - functions of libxsprof-user, as <xsprof/xsprof.h> has them
 * @page: xsprof_ctl_page
 * @category: xsprof_category()
 * @name: xsprof_name_in()
 * @begin: xsprof_begin_args()
 * @complete: xsprof_emit_complete()
 * @end: xsprof_emit_end()
 * @end_args: xsprof_end_args()
 * @instant: xsprof_instant_args()
 * @span: xsprof_span()
 * @now: xsprof_now()
 * @fact: xsprof_fact(); this and what follows is there where threads are sampled
 * @stack_find: xsprof_stack_find()
 * @stack_add: xsprof_stack_add()
 * @sample: xsprof_sample()
 * @join: xsprof_join(); this and what follows is there where we came to a process that ran
 * @leave: xsprof_leave()
 */
struct python_user {
	const union xsprof_ctl_page *page;
	int		(*category)(const char *name);
	xsprof_name_t	(*name)(int category, const char *text);
	void		(*begin)(xsprof_name_t name, const struct xsprof_kv *kv, size_t n);
	void		(*complete)(xsprof_name_t name, uint64_t begin);
	void		(*end)(void);
	void		(*end_args)(const struct xsprof_kv *kv, size_t n);
	void		(*instant)(xsprof_name_t name, const struct xsprof_kv *kv, size_t n);
	void		(*span)(xsprof_name_t name, uint64_t begin, uint64_t end, uint64_t id,
				uint64_t parent);
	uint64_t	(*now)(void);
	int		(*fact)(const char *key, const char *value);
	uint32_t	(*stack_find)(uint64_t key);
	uint32_t	(*stack_add)(uint64_t key, const uint64_t *frames, uint32_t nr,
				     uint32_t left_out);
	void		(*sample)(xsprof_name_t name, uint32_t thread, uint32_t stack,
				  uint32_t how, uint32_t line);
	int		(*join)(const char *session, uint64_t arena_size);
	void		(*leave)(void);
};

extern struct python_user python_user;

/* Return: false: it is not there; the user has been told. */
bool python_user_open(void);
/* The same of what samples need. */
bool python_user_can_sample(void);
/* The same of facts alone. */
bool python_user_can_state(void);
/* The same of what a process needs that runs. */
bool python_user_can_join(void);

/* Does anybody record this process now? */
static inline bool python_recorded(void)
{
	return __atomic_load_n(&python_user.page->ctl.enabled, __ATOMIC_RELAXED);
}

/* ---- object.c -------------------------------------------------------------------------------- */

/* Is the code at @caller of an object that has _PyRuntime?  It takes no lock. */
bool python_has(const void *caller);
/* The object with that code, once.  Return: false: it cannot be opened. */
bool python_open(const void *caller);
/* Of that; NULL: it has none. */
void *python_symbol(const char *name);
/* For dlsym(). */
void *python_handle(void);
/* It is a build that has the global lock only where that is asked for. */
bool python_is_free_threaded(void);

/* ---- gil.c ----------------------------------------------------------------------------------- */

#define GIL_COND	sizeof(pthread_cond_t)
#define GIL_MUTEX	sizeof(pthread_mutex_t)

/*
 * In each GIL stand, one behind the other: its condition, its mutex, and the condition and the
 * mutex of threads that have to let another one take it.
 */
#define GIL_SWITCH	(GIL_COND + GIL_MUTEX)

/* Before the condition: how often threads take turns, in us, who had it last, and whether it is. */
struct gil_head {
	unsigned long	interval;
	void		*last_holder;
	int		locked;		/* -1: it is not made yet */
	unsigned long	switches;
};

/* Between these are the conditions of all GILs; both NULL: there is none. */
extern const char *gil_lowest;
extern const char *gil_highest;

static inline bool gil_is_near(const void *cond)
{
	const char *c = cond;

	return __builtin_expect(c <= __atomic_load_n(&gil_highest, __ATOMIC_RELAXED), 0) &&
	       c >= __atomic_load_n(&gil_lowest, __ATOMIC_RELAXED);
}

/* The calling thread makes a condition; @caller: an address in its code. */
void gil_makes(const void *cond, const void *caller);
void gil_destroys(const void *cond);
/* It signals one. */
void gil_signals(const void *cond);
/* It begins to wait for one, with its mutex held.  Return: for gil_waited(), NULL: of no GIL */
void *gil_waits(const void *cond);
/* It has the mutex again, and perhaps not the GIL. */
void gil_waited(void *gil);
/* It waits until another has taken the GIL that it has left. */
void gil_yields(const void *cond);

/* ---- api.c ----------------------------------------------------------------------------------- */

/* PyMethodDef: the same in each version. */
struct python_method {
	const char	*name;
	void		*function;
	int		flags;
	const char	*doc;
};

#define PYTHON_METH_VARARGS	0x01
#define PYTHON_METH_FASTCALL	0x80

/**
 * struct cpython - functions of CPython
 * @initialized: does the interpreter run?
 * @add_pending: a call in the main thread.  Return: not 0: there is no room for one
 * @finalizing: is it about to end?
 * @at_exit: called when it has ended, without the lock.  Return: not 0: there is no room for one
 * @import: of a module, new reference
 * @attribute: new reference
 * @call_method: by a format, new reference
 * @new_function: of a C function
 * @append: to a list
 * @list_size: how many
 * @list_item: borrowed
 * @tuple_item: borrowed
 * @dict_item: borrowed, NULL: there is none
 * @number: of an int
 * @text: of a str, as long as that lives; NULL: it has none, and there is an error
 * @set_profile: of the calling thread
 * @new_capsule: an object that tells when it is gone
 * @frame_code: of a frame, new reference; NULL before 3.9
 * @incref: another reference
 * @decref: one less
 * @err_clear: what is raised is not any more
 * @none: the object
 * @frame_type: of frames
 */
struct cpython {
	int		(*initialized)(void);
	int		(*add_pending)(int (*call)(void *), void *argument);
	int		(*finalizing)(void);
	int		(*at_exit)(void (*call)(void));
	void		*(*import)(const char *name);
	void		*(*attribute)(void *object, const char *name);
	void		*(*call_method)(void *object, const char *name, const char *format, ...);
	void		*(*new_function)(struct python_method *method, void *self, void *module);
	int		(*append)(void *list, void *object);
	intptr_t	(*list_size)(void *list);
	void		*(*list_item)(void *list, intptr_t at);
	void		*(*tuple_item)(void *tuple, intptr_t at);
	void		*(*dict_item)(void *dict, const char *key);
	long		(*number)(void *object);
	const char	*(*text)(void *object);
	void		(*set_profile)(int (*call)(void *, void *, int, void *), void *object);
	void		*(*new_capsule)(void *pointer, const char *name,
					void (*gone)(void *capsule));
	void		*(*frame_code)(void *frame);
	void		(*incref)(void *object);
	void		(*decref)(void *object);
	void		(*err_clear)(void);
	void		*none;
	void		*frame_type;
};

extern struct cpython cpython;

/* Of an object: where its type is in memory has never changed in builds with a GIL. */
static inline void *cpython_type(void *object)
{
	return object ? *(void **)((char *)object + sizeof(intptr_t)) : NULL;
}

/* An item of a tuple that is a text; NULL: it is not there, or is none.  No error is left. */
const char *cpython_text_of(void *tuple, intptr_t at);

/* Return: false: one is missing; the user has been told. */
bool cpython_find(void);
/* A reference, or NULL. */
void cpython_drop(void *object);

/* ---- begin.c, gc.c, trace.c ------------------------------------------------------------------ */

/* A thread has taken the GIL: is it time to put something into the interpreter? */
void python_look(void);
/* A GIL was made: if it is that of an interpreter that begins again, it will be time again. */
void python_look_again(void);
/* With the GIL held, in the main thread. */
void python_gc_begin(int category);
/* It is none of gc.callbacks any more. */
void python_gc_end(void);
/* The interpreter is gone that had it. */
void python_gc_forget(void);
void python_trace_begin(void);
/* Now and then, with the GIL held: is the calling thread traced still? */
void python_trace_look(void);

/* ---- codes.c: the functions of the program --------------------------------------------------- */

struct python_code {
	void		*code;		/* NULL: a free place */
	xsprof_name_t	name;
	bool		wanted;
};

/* Those whose names are to be asked for: modules, by commas; "all".  @module: sys, kept */
void python_codes_init(const char *wanted, void *module);
/*
 * With the GIL held. @keep_all: those that are not wanted will be asked for as often.
 *
 * Return: good until the next call.
 */
const struct python_code *python_code(void *code, bool keep_all);

/* ---- where threads are sampled: sample.h ----------------------------------------------------- */

/* They are: then threads say when they take and leave the first lock. */
extern bool python_sampling;

/* Python makes its first lock. */
void python_sample_init(int category);
/* A thread has taken the lock: is it time to begin? */
void python_sample_look(void);
/* Around a fork: before, in the parent, and in the child. */
void python_sample_forks(void);
void python_sample_parent(void);
void python_sample_forked(void);
/* What is where in Python's memory; the lock is held.  Return: false: the user has been told. */
bool python_sample_find(void);
/* Return: NULL: threads can be sampled. */
const char *python_sample_why_not(void);

/* ---- attach.c: a process that ran before we were loaded -------------------------------------- */

int xsprof_python_attach(const char *text);
/* tell.c: from now on what is said goes to who records into that session; a path that stays. */
void python_tell(const char *session);
/* There is a lock that was made by functions of ours. */
bool python_sample_met(void);

/* ---- threads.c: the calling thread, with the mutex of the first lock held -------------------- */

/* The process ran before we were loaded: nothing tells who takes the lock. */
extern bool python_late;
/* @state: Python's of it, as the lock has it. */
void python_thread_takes(void *state);
void python_thread_leaves(void *state);
/* It may have no mutex then. */
void python_thread_waits(bool waits);

#endif /* XSP_PYTHON_LOCAL_H */
