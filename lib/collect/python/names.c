// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of threads, as the module threading has them. The kernel knows them since Python 3.14 only,
 * cut after 15 bytes.
 *
 * When a thread takes a GIL for the first time, Python's main thread is asked to look as soon as it
 * runs functions again; any thread looks when garbage is collected. A thread that ends before that
 * keeps the kernel's name.
 */
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "collect/python/local.h"

#define KNOWN	4096u	/* names remembered, by thread id: others may be given twice */

bool python_names_wanted;	/* there may be threads without a name */

static bool ready;	/* the API is found, and the process was recorded */
static bool asked;	/* a pending call has yet to run */

/* Used with the GIL held. */
static struct {
	uint32_t	tid;
	uint32_t	hash;	/* of the name */
} known[KNOWN];
static bool any;	/* one is known */

static void forget(void)
{
	/* Most children never have threads: their memory stays the parent's. */
	if (any)
		memset(known, 0, sizeof(known));
	any = false;
}

/* Return: false: it has this name already. */
static bool is_new(uint32_t tid, const char *name)
{
	uint32_t hash = (uint32_t)xsp_hash_bytes(XSP_HASH_TEXT, name, strlen(name));
	uint32_t i = tid % KNOWN;

	if (known[i].tid == tid && known[i].hash == hash)
		return false;
	known[i].tid = tid;
	known[i].hash = hash;
	any = true;
	return true;
}

/*
 * Names a Thread. The main thread keeps the program's name, and those that Python did not start,
 * of the type @dummy, the kernel's, which says more. Return: false: it has its name already.
 */
static bool name(void *thread, const void *dummy)
{
	void *id, *called;
	const char *text;
	bool named = true;
	long tid;

	if (cpython_type(thread) == dummy)
		return true;
	id = cpython.attribute(thread, "_native_id");
	called = id ? cpython.attribute(thread, "_name") : NULL;
	/* None: it does not run yet. */
	tid = called && id != cpython.none ? cpython.number(id) : 0;
	text = tid > 0 && tid <= INT32_MAX && tid != getpid() ? cpython.text(called) : NULL;
	if (text)
		named = is_new((uint32_t)tid, text) &&
			!python_user.name_thread((uint32_t)tid, text);
	else
		cpython.err_clear();
	if (id == cpython.none)
		python_names_want();
	cpython_drop(called);
	cpython_drop(id);
	return named;
}

/* The latest threads are last. A lock of theirs may be held by the thread that is interrupted. */
static void name_all(void *threading, const char *table, const void *dummy)
{
	void *dict = cpython.attribute(threading, table);
	void *list = dict ? cpython.dict_values(dict) : NULL;
	intptr_t n = list ? cpython.list_size(list) : 0;

	while (n > 0 && name(cpython.list_item(list, n - 1), dummy))
		n--;
	if (!list)
		cpython.err_clear();
	cpython_drop(list);
	cpython_drop(dict);
}

static void look(void)
{
	void *threading, *dummy;

	__atomic_store_n(&python_names_wanted, false, __ATOMIC_RELAXED);
	/* Not imported: threads have no names, or all have theirs. */
	threading = cpython.dict_item(cpython.modules(), "threading");
	dummy = threading ? cpython.attribute(threading, "_DummyThread") : NULL;
	if (dummy) {
		name_all(threading, "_active", dummy);
		/* Started, but not entered in the other table yet. */
		name_all(threading, "_limbo", dummy);
	} else {
		cpython.err_clear();
	}
	cpython_drop(dummy);
}

static int pending(void *unused)
{
	(void)unused;
	__atomic_store_n(&asked, false, __ATOMIC_RELAXED);
	python_names_look();
	return 0;
}

void python_names_look(void)
{
	/* An interpreter that shuts down may have no table of modules any more. */
	if (__atomic_load_n(&python_names_wanted, __ATOMIC_RELAXED) && python_recorded() &&
	    !(cpython.finalizing && cpython.finalizing()))
		look();
}

void python_names_want(void)
{
	__atomic_store_n(&python_names_wanted, true, __ATOMIC_RELAXED);
}

void python_names_ask(void)
{
	if (!__atomic_load_n(&ready, __ATOMIC_RELAXED) || !python_recorded() ||
	    __atomic_load_n(&asked, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&asked, true, __ATOMIC_RELAXED))
		return;
	/* The queue is full: at the next time. */
	if (cpython.add_pending(pending, NULL))
		__atomic_store_n(&asked, false, __ATOMIC_RELAXED);
}

void python_names_begin(void)
{
	/* In another recording than the last, if we attached. */
	forget();
	__atomic_store_n(&ready, true, __ATOMIC_RELAXED);
	python_names_want();
	python_names_look();
}

void python_names_forked(void)
{
	/* What was asked in the parent is not done here. */
	asked = false;
	forget();
}
