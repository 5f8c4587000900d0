/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Private header of the CPython collector: waits for the global lock (GIL), garbage collections
 * and, on request, each call of a function.
 *
 * The library is preloaded. Python and its headers are not needed: hooks.c interposes the C library
 * functions with which Python makes and takes its GIL, gil.c recognises a GIL by how it is
 * initialised, gc.c becomes a callback of the garbage collector, and trace.c is called for each
 * function. In a process without Python each of these functions costs two comparisons.
 */
#ifndef XSP_PYTHON_LOCAL_H
#define XSP_PYTHON_LOCAL_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/args.h>
#include <xsprof/op.h>
#include <xsprof/xsprof.h>

/* ---- user.c: libxsprof-user ------------------------------------------------------------------ */

/**
 * struct python_user - functions of libxsprof-user, see <xsprof/xsprof.h>
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
 * @name_thread: xsprof_thread_name_of()
 * @fact: xsprof_fact(); set, like those that follow, if threads are sampled
 * @stack_find: xsprof_stack_find()
 * @stack_add: xsprof_stack_add()
 * @sample: xsprof_sample()
 * @join: xsprof_join(); set, like those that follow, if we attached to a running process
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
	int		(*name_thread)(uint32_t tid, const char *name);
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

/* Opens the library. Return: false: not found; the user has been told. */
bool python_user_open(void);
/* The same for the functions that sampling needs. */
bool python_user_can_sample(void);
/* The same for xsprof_fact() alone. */
bool python_user_can_state(void);
/* The same for the functions that attaching needs. */
bool python_user_can_join(void);

/* Is this process being recorded now? */
static inline bool python_recorded(void)
{
	return __atomic_load_n(&python_user.page->ctl.enabled, __ATOMIC_RELAXED);
}

/* ---- object.c -------------------------------------------------------------------------------- */

/* Is the code at @caller in an object with the symbol _PyRuntime? Takes no lock. */
bool python_has(const void *caller);
/* Opens the object with that code, once. Return: false: it cannot be opened. */
bool python_open(const void *caller);
/* Looks up a symbol in that object; NULL: not found. */
void *python_symbol(const char *name);
/* Its handle for dlsym(). */
void *python_handle(void);
/* Is this a free-threaded build, in which the GIL is optional? */
bool python_is_free_threaded(void);

/* ---- gil.c ----------------------------------------------------------------------------------- */

#define GIL_COND	sizeof(pthread_cond_t)
#define GIL_MUTEX	sizeof(pthread_mutex_t)

/*
 * Layout of a GIL: its condition, its mutex, and the condition and mutex of a thread that must let
 * another take the lock, one after the other.
 */
#define GIL_SWITCH	(GIL_COND + GIL_MUTEX)

/* The fields before the condition: switch interval in us, last holder, and whether it is locked. */
struct gil_head {
	unsigned long	interval;
	void		*last_holder;
	int		locked;		/* -1: not initialised yet */
	unsigned long	switches;
};

/* The conditions of all GILs are in this address range; both NULL: none exists. */
extern const char *gil_lowest;
extern const char *gil_highest;

static inline bool gil_is_near(const void *cond)
{
	const char *c = cond;

	return __builtin_expect(c <= __atomic_load_n(&gil_highest, __ATOMIC_RELAXED), 0) &&
	       c >= __atomic_load_n(&gil_lowest, __ATOMIC_RELAXED);
}

/* The calling thread initialises a condition; @caller: an address in the caller. */
void gil_makes(const void *cond, const void *caller);
void gil_destroys(const void *cond);
/* It signals a condition. */
void gil_signals(const void *cond);
/*
 * It begins to wait on a condition, with the mutex held. Return: for gil_waited(); NULL: not a GIL.
 */
void *gil_waits(const void *cond);
/* It holds the mutex again, but not necessarily the GIL. */
void gil_waited(void *gil);
/*
 * It begins to wait until another thread has taken the GIL that it released. Return: for
 * gil_yielded(); NULL: not a GIL.
 */
void *gil_yields(const void *cond);
/* That wait is over. It may want the GIL again, or not. */
void gil_yielded(void *gil);

/* ---- api.c ----------------------------------------------------------------------------------- */

/* PyMethodDef: the same layout in all versions. */
struct python_method {
	const char	*name;
	void		*function;
	int		flags;
	const char	*doc;
};

#define PYTHON_METH_VARARGS	0x01
#define PYTHON_METH_FASTCALL	0x80

/**
 * struct cpython - functions of CPython's API
 * @initialized: is the interpreter initialised?
 * @add_pending: adds a call for the main thread. Return: not 0: the queue is full
 * @finalizing: is the interpreter shutting down?
 * @at_exit: adds a function called after the shutdown, without the GIL. Return: not 0: no room
 * @main_interpreter: the first interpreter
 * @new_state: creates a state of the calling thread, without the GIL
 * @this_state: the calling thread's first state that still exists; NULL: none
 * @take_gil: takes the GIL with a state
 * @clear_state: frees what a state refers to
 * @delete_state: deletes the state that has the GIL, and releases the GIL
 * @import: imports a module, new reference
 * @modules: table of the imported modules, borrowed reference
 * @attribute: of an object, new reference
 * @own_dict: an object's attributes, without its type's functions for that, new reference
 * @module_dict: a module's attributes, borrowed reference
 * @type: type of an object, new reference
 * @call_method: with a format, new reference
 * @new_function: a callable from a C function
 * @append: appends to a list
 * @list_size: length of a list
 * @list_item: borrowed reference
 * @tuple_item: borrowed reference
 * @dict_item: borrowed reference; NULL: no such key
 * @dict_values: a list of the values, new reference
 * @number: value of an int
 * @text: text of a str, valid as long as the str; NULL: none, with an exception set
 * @set_profile: sets the profile function of the calling thread
 * @new_capsule: an object with a destructor
 * @frame_code: code object of a frame, new reference; NULL before 3.9
 * @interpreter_of: a state's interpreter; NULL before 3.9
 * @incref: another reference
 * @decref: one less
 * @err_clear: clears the raised exception
 * @err_occurred: the raised exception's type; NULL: none
 * @err_is: is an exception raised that is of this type?
 * @exception: all exceptions that programs handle: not a user's interrupt, or the end
 * @none: None
 * @frame_type: type of frames
 * @int_type: type of integers
 */
struct cpython {
	int		(*initialized)(void);
	int		(*add_pending)(int (*call)(void *), void *argument);
	int		(*finalizing)(void);
	int		(*at_exit)(void (*call)(void));
	void		*(*main_interpreter)(void);
	void		*(*new_state)(void *interpreter);
	void		*(*this_state)(void);
	void		(*take_gil)(void *state);
	void		(*clear_state)(void *state);
	void		(*delete_state)(void);
	void		*(*import)(const char *name);
	void		*(*modules)(void);
	void		*(*attribute)(void *object, const char *name);
	void		*(*own_dict)(void *object, void *unused);
	void		*(*module_dict)(void *module);
	void		*(*type)(void *object);
	void		*(*call_method)(void *object, const char *name, const char *format, ...);
	void		*(*new_function)(struct python_method *method, void *self, void *module);
	int		(*append)(void *list, void *object);
	intptr_t	(*list_size)(void *list);
	void		*(*list_item)(void *list, intptr_t at);
	void		*(*tuple_item)(void *tuple, intptr_t at);
	void		*(*dict_item)(void *dict, const char *key);
	void		*(*dict_values)(void *dict);
	long		(*number)(void *object);
	const char	*(*text)(void *object);
	void		(*set_profile)(int (*call)(void *, void *, int, void *), void *object);
	void		*(*new_capsule)(void *pointer, const char *name,
					void (*gone)(void *capsule));
	void		*(*frame_code)(void *frame);
	void		*(*interpreter_of)(void *state);
	void		(*incref)(void *object);
	void		(*decref)(void *object);
	void		(*err_clear)(void);
	void		*(*err_occurred)(void);
	int		(*err_is)(void *type);
	void		**exception;
	void		*none;
	void		*frame_type;
	void		*int_type;
};

extern struct cpython cpython;

/* The type of an object: ob_type is at the same offset in all builds with a GIL. */
static inline void *cpython_type(void *object)
{
	return object ? *(void **)((char *)object + sizeof(intptr_t)) : NULL;
}

/* The text of a tuple's item; NULL: no such item, or not text. Leaves no exception set. */
const char *cpython_text_of(void *tuple, intptr_t at);

/* Return: false: a function is missing; the user has been told. */
bool cpython_find(void);
/* Drops a reference; @object may be NULL. */
void cpython_drop(void *object);

/* ---- begin.c, gc.c, trace.c ------------------------------------------------------------------ */

/* A thread has taken the GIL: installs our callbacks if it is time. */
void python_look(void);
/* A GIL was initialised: if the interpreter starts again, callbacks must be installed again. */
void python_look_again(void);
/* Called with the GIL, in the main thread. */
void python_gc_begin(int category);
/* Removes the callback from gc.callbacks. */
void python_gc_end(void);
/* The interpreter with the callback has ended. */
void python_gc_forget(void);
/* Called at each collection, with the GIL, unless NULL. @full: of all generations. */
extern void (*python_gc_met)(bool full);
void python_trace_begin(void);
/* Called now and then with the GIL: is the calling thread still traced? */
void python_trace_look(void);

/* ---- thread-names.c -------------------------------------------------------------------------- */

/* Can be read without the GIL. */
extern bool python_names_wanted;
/* The API is found, and the process is recorded; called with the GIL. Return: as below. */
int python_names_begin(void);
/* There is a thread that may have no name. */
void python_names_want(void);
/* The calling thread takes the first GIL for the first time: a name of its number is another's. */
void python_names_new(uint32_t tid);
/* Has the main thread look for names, if it is time. Called with a GIL's mutex held. */
void python_names_ask(void);
/*
 * Looks for names if they are wanted; called with the GIL. Return: 0; -1: an exception is set that
 * the program must see.
 */
int python_names_look(void);
/* In a forked child. */
void python_names_forked(void);

/* ---- codes.c: the functions of the program --------------------------------------------------- */

struct python_code {
	void		*code;		/* NULL: free slot */
	xsprof_name_t	name;
	bool		wanted;
};

/* Sets the functions to trace: modules, separated by commas, or "all". @module: sys, kept. */
void python_codes_init(const char *wanted, void *module);
/*
 * Describes a code object; called with the GIL. @keep_all: keep unwanted ones in the table too, as
 * they are looked up as often.
 *
 * Return: valid until the next call.
 */
const struct python_code *python_code(void *code, bool keep_all);

/* ---- where threads are sampled: sample.h ----------------------------------------------------- */

/* Threads are sampled: each reports when it takes and releases the first GIL. */
extern bool python_sampling;

/* Python initialises its first GIL. */
void python_sample_init(int category);
/* A thread has taken the GIL: starts sampling if it is time. */
void python_sample_look(void);
/* Another interpreter begins: what was found of asyncio is void. */
void python_tasks_again(void);
/*
 * Garbage is collected: a thread with the GIL in which functions of Python may be called. Return:
 * false: an exception of the program is set.
 */
bool python_tasks_collects(void);
/* Fork handlers: before, in the parent, in the child. */
void python_sample_forks(void);
void python_sample_parent(void);
void python_sample_forked(void);
/*
 * Finds the layout of Python's objects; called with the GIL. Return: 1; 0: not found, the user has
 * been told; -1: an exception of the program is set, try again.
 */
int python_sample_find(void);
/* Return: why threads cannot be sampled; NULL: they can. */
const char *python_sample_why_not(void);

/* ---- attach.c: a process that ran before we were loaded -------------------------------------- */

int xsprof_python_attach(const char *text);
/* tell.c: from now on messages go to the recorder of @session, a path that stays valid. */
void python_tell(const char *session);
/* Has a GIL been initialised through our functions? */
bool python_sample_met(void);

/* ---- threads.c: the calling thread, with the mutex of the first lock held -------------------- */

/* We attached to a running process: no function of ours sees the GIL taken. */
extern bool python_late;
/* @state: Python's thread state, as stored in the GIL. */
void python_thread_takes(void *state);
void python_thread_leaves(void *state);
/* May be called without the mutex. */
void python_thread_waits(bool waits);
/* The calling thread, of whatever kind, has changed its signal mask. Signal-safe. */
void python_thread_masks(void);
/* It changes its alternate stack to @stack, likewise. */
void python_thread_stack(const stack_t *stack);

#endif /* XSP_PYTHON_LOCAL_H */
