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
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "collect/python/local.h"

#define KNOWN	4096u	/* names remembered, by thread id: others may be given twice */
#define SHARE	20u
#define CREDIT	((int64_t)5000000)

/*
 * Accesses to flags and time are relaxed: they only say whether to look. The tables of Python that
 * are read are ordered by the GIL, which the new thread held before the one that looks.
 */
bool python_names_wanted;	/* there may be threads without a name */
static bool ready;	/* the API is found, and the process was recorded */
static bool asked;	/* a pending call has yet to run */
static uint64_t next_ns;	/* no look before this time, CLOCK_MONOTONIC; 0: at any time */

/* Used with the GIL held. */
static uint64_t looked_ns;	/* time of the last look */
static int64_t over;		/* CPU time of looks above their share, ns; negative: below */

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

/* Return: false: an exception is set that the program must see, as its user's interrupt. */
static bool go_on(void)
{
	/* What is missing, or not what it is in Python's own module, has no name. */
	if (cpython.err_is(*cpython.exception))
		cpython.err_clear();
	return !cpython.err_occurred();
}

/* What a look needs of Python. */
struct look {
	void	*threading;
	void	*dummy;		/* type of the threads that Python did not start */
	void	*key_id;
	void	*key_name;
};

/*
 * Names a Thread. The main thread keeps the program's name, and those that Python did not start the
 * kernel's, which says more. Functions of a program that derives from Thread are not called.
 */
static void name(const struct look *l, void *thread)
{
	void *type = cpython.type(thread), *id, *called;
	const char *text;
	long tid;

	cpython_drop(type);
	if (!type || type == l->dummy)
		return;
	id = cpython.own_attribute(thread, l->key_id);
	called = id ? cpython.own_attribute(thread, l->key_name) : NULL;
	/* None: it does not run yet. */
	if (id == cpython.none)
		python_names_want();
	tid = called && id != cpython.none ? cpython.number(id) : 0;
	text = tid > 0 && tid <= INT32_MAX && tid != getpid() ? cpython.text(called) : NULL;
	/* A name that cannot be added is counted as missed by the library. */
	if (text && is_new((uint32_t)tid, text))
		(void)python_user.name_thread((uint32_t)tid, text);
	cpython_drop(called);
	cpython_drop(id);
}

/* A lock of the table may be held by the thread that is interrupted: a copy is taken. */
static bool name_all(const struct look *l, const char *table)
{
	void *dict = cpython.attribute(l->threading, table);
	void *list = dict ? cpython.dict_values(dict) : NULL;
	intptr_t n = list ? cpython.list_size(list) : 0;
	bool goes_on = go_on();

	for (intptr_t i = 0; i < n && goes_on; i++) {
		name(l, cpython.list_item(list, i));
		goes_on = go_on();
	}
	cpython_drop(list);
	cpython_drop(dict);
	return goes_on;
}

static int look(void)
{
	struct look l = { .threading = cpython.dict_item(cpython.modules(), "threading") };
	bool goes_on;

	__atomic_store_n(&python_names_wanted, false, __ATOMIC_RELAXED);
	/* Not imported: threads have no names. */
	if (l.threading) {
		cpython.incref(l.threading);
		l.dummy = cpython.attribute(l.threading, "_DummyThread");
		l.key_id = cpython.new_text("_native_id");
		l.key_name = cpython.new_text("_name");
	}
	goes_on = go_on();
	/* The second one: started, but not entered in the first yet. */
	if (l.dummy && l.key_id && l.key_name && goes_on)
		goes_on = name_all(&l, "_active") && name_all(&l, "_limbo");
	cpython_drop(l.key_name);
	cpython_drop(l.key_id);
	cpython_drop(l.dummy);
	cpython_drop(l.threading);
	return goes_on ? 0 : -1;
}

/*
 * All threads are looked at, with thousands of them not for each new one: this takes at most one
 * SHAREth of a CPU in the long run, and CREDIT ns more at once.
 */
static int look_in_time(void)
{
	uint64_t begin = xsp_clock_ns(CLOCK_THREAD_CPUTIME_ID), now;
	int ret = look();

	now = xsp_clock_ns(CLOCK_MONOTONIC);
	over -= (int64_t)((now - looked_ns) / SHARE);
	if (over < -CREDIT)
		over = -CREDIT;
	over += (int64_t)(xsp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
	looked_ns = now;
	__atomic_store_n(&next_ns, over > 0 ? now + (uint64_t)over * SHARE : 0, __ATOMIC_RELAXED);
	return ret;
}

static bool is_early(void)
{
	uint64_t next = __atomic_load_n(&next_ns, __ATOMIC_RELAXED);

	return next && xsp_clock_ns(CLOCK_MONOTONIC) < next;
}

static int pending(void *unused)
{
	(void)unused;
	__atomic_store_n(&asked, false, __ATOMIC_RELAXED);
	return python_names_look();
}

int python_names_look(void)
{
	/* An interpreter that shuts down may have no table of modules any more. */
	if (!__atomic_load_n(&python_names_wanted, __ATOMIC_RELAXED) || !python_recorded() ||
	    is_early() || (cpython.finalizing && cpython.finalizing()))
		return 0;
	return look_in_time();
}

void python_names_want(void)
{
	__atomic_store_n(&python_names_wanted, true, __ATOMIC_RELAXED);
}

void python_names_new(uint32_t tid)
{
	if (known[tid % KNOWN].tid == tid)
		known[tid % KNOWN].tid = 0;
	python_names_want();
}

/*
 * Up to 3.11 a pending call is of the interpreter that runs in the calling thread, and another one
 * may not run in the main thread again. Before 3.9 an interpreter that shuts down crashes when a
 * call is added, here where no thread state is current.
 */
static bool main_would_look(void *state)
{
	return cpython.interpreter_of && state &&
	       cpython.interpreter_of(state) == cpython.main_interpreter();
}

void python_names_ask(void *state)
{
	if (!__atomic_load_n(&ready, __ATOMIC_RELAXED) || !python_recorded() ||
	    __atomic_load_n(&asked, __ATOMIC_RELAXED) || !main_would_look(state) ||
	    is_early() || __atomic_exchange_n(&asked, true, __ATOMIC_RELAXED))
		return;
	/* The queue is full: at the next time. */
	if (cpython.add_pending(pending, NULL))
		__atomic_store_n(&asked, false, __ATOMIC_RELAXED);
}

int python_names_begin(void)
{
	/* In another recording than the last, if we attached. */
	forget();
	/* An interpreter that has ended took its calls along. */
	__atomic_store_n(&asked, false, __ATOMIC_RELAXED);
	__atomic_store_n(&next_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&ready, true, __ATOMIC_RELAXED);
	python_names_want();
	return python_names_look();
}

void python_names_forked(void)
{
	/* What was asked in the parent is not done here. */
	asked = false;
	forget();
}
