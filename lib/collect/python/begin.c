// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is put into the interpreter: when it runs, and somebody records. Python runs a pending call
 * of ours, in its main thread and with its lock held, when it comes to it.
 */
#include "collect/python/local.h"

static int begin(void *unused)
{
	int category = python_user.category("python");

	(void)unused;
	if (category < 0)
		category = 0;
	python_gc_begin(category);
	python_trace_begin();
	return 0;
}

enum { NEW, BUSY, ASKED };

static int state;

void python_look_again(void)
{
	/* In the child of a fork it goes on. */
	if (cpython.initialized && !cpython.initialized())
		__atomic_store_n(&state, NEW, __ATOMIC_RELAXED);
}

void python_look(void)
{
	int is = NEW;

	/* Each collection is a little slower from then on: only where somebody records. */
	if (__builtin_expect(__atomic_load_n(&state, __ATOMIC_RELAXED) != NEW, 1) ||
	    !python_recorded())
		return;
	/* Relaxed: what it reads was there before the first lock was. */
	if (!__atomic_compare_exchange_n(&state, &is, BUSY, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	if (!cpython.initialized && !cpython_find())
		return;
	/* Not yet, or there is no room among those that are pending: at a later time. */
	is = !cpython.initialized() || cpython.add_pending(begin, NULL) ? NEW : ASKED;
	__atomic_store_n(&state, is, __ATOMIC_RELAXED);
}
