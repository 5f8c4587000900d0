// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Installs our callbacks in the interpreter, when it runs and the process is recorded. Python runs
 * a pending call of ours in its main thread, with the GIL held.
 */
#include "collect/python/reading.h"

static int begin(void *unused)
{
	int category = python_user.category("python");

	(void)unused;
	if (category < 0)
		category = 0;
	python_gc_begin(category);
	python_trace_begin();
	return python_names_begin();
}

enum { NEW, BUSY, ASKED };

static int state;

void python_look_again(void)
{
	/* A forked child continues to use them. */
	if (!cpython.initialized || cpython.initialized())
		return;
	__atomic_store_n(&state, NEW, __ATOMIC_RELAXED);
	python_tasks_again();
	python_code_again();
}

void python_look(void)
{
	int is = NEW;

	/* Only in a recorded process, as each collection becomes a little slower. */
	if (__builtin_expect(__atomic_load_n(&state, __ATOMIC_RELAXED) != NEW, 1) ||
	    !python_recorded())
		return;
	/* Relaxed: the data read was stored before the first lock existed. */
	if (!__atomic_compare_exchange_n(&state, &is, BUSY, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	if (!cpython.initialized && !cpython_find())
		return;
	/* Python is not ready, or its queue of pending calls is full: try later. */
	is = !cpython.initialized() || cpython.add_pending(begin, NULL) ? NEW : ASKED;
	__atomic_store_n(&state, is, __ATOMIC_RELAXED);
}
