/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What CPython makes its threads wait for: its global lock, the GIL, and its garbage collector.
 *
 * The library is preloaded. Neither Python nor its headers are needed: hooks.c has the functions of
 * the C library by which Python makes and takes its lock, gil.c knows a GIL by how it is
 * made, and gc.c becomes one of the collector's callbacks. In a process without Python there
 * is nothing but two comparisons in each of these functions.
 */
#ifndef XSP_PYTHON_LOCAL_H
#define XSP_PYTHON_LOCAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/args.h>
#include <xsprof/xsprof.h>

/* ---- user.c: libxsprof-user ------------------------------------------------------------------ */

/**
 * struct python_user - functions of libxsprof-user, as <xsprof/xsprof.h> has them
 * @page: xsprof_ctl_page
 * @category: xsprof_category()
 * @name: xsprof_name_in()
 * @begin: xsprof_begin_args()
 * @end: xsprof_emit_end()
 * @end_args: xsprof_end_args()
 * @instant: xsprof_instant_args()
 * @span: xsprof_span()
 * @now: xsprof_now()
 */
struct python_user {
	const union xsprof_ctl_page *page;
	int		(*category)(const char *name);
	xsprof_name_t	(*name)(int category, const char *text);
	void		(*begin)(xsprof_name_t name, const struct xsprof_kv *kv, size_t n);
	void		(*end)(void);
	void		(*end_args)(const struct xsprof_kv *kv, size_t n);
	void		(*instant)(xsprof_name_t name, const struct xsprof_kv *kv, size_t n);
	void		(*span)(xsprof_name_t name, uint64_t begin, uint64_t end, uint64_t id,
				uint64_t parent);
	uint64_t	(*now)(void);
};

extern struct python_user python_user;

/* Return: false: it is not there; the user has been told. */
bool python_user_open(void);

/* Does anybody record this process now? */
static inline bool python_recorded(void)
{
	return __atomic_load_n(&python_user.page->ctl.enabled, __ATOMIC_RELAXED);
}

/* ---- object.c -------------------------------------------------------------------------------- */

/* Is the code at @caller of the object that has _PyRuntime? */
bool python_has(const void *caller);
/* Of the first that was found so; NULL: it has none. */
void *python_symbol(const char *name);

/* ---- gil.c ----------------------------------------------------------------------------------- */

#define GIL_COND	sizeof(pthread_cond_t)
#define GIL_MUTEX	sizeof(pthread_mutex_t)

/*
 * In each GIL stand, one behind the other: its condition, its mutex, and the condition and the
 * mutex of threads that have to let another one take it.
 */
#define GIL_SWITCH	(GIL_COND + GIL_MUTEX)

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

/* ---- gc.c ------------------------------------------------------------------------------------ */

/* A thread has taken the GIL: is it time to become one of the collector's callbacks? */
void python_gc_look(void);

#endif /* XSP_PYTHON_LOCAL_H */
