// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of threads, as the module threading has them. The kernel knows them since Python 3.14 only,
 * cut after 15 bytes.
 *
 * When a thread takes a GIL for the first time, Python's main thread is asked to look as soon as it
 * runs functions again; any thread looks when garbage is collected. A thread that ends before that
 * keeps the kernel's name.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "collect/python/local.h"
#include "collect/python/own-time.h"

#define KNOWN	16384u	/* names remembered, by thread id: others may be given twice */
#define NUMBERS	65536u	/* thread ids, modulo this, of which is remembered that they had a name */
#define WAYS	8u	/* places of a thread */
#define TRIES	100u	/* looks in a row for threads that were started and do not run yet */
#define SHARE	20u
#define CREDIT	((int64_t)5000000)
#define TABLES	4u	/* to find the tables takes about as long as this many threads */

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
static int64_t over;		/* time of looks above their share, ns; negative: below */
static uint64_t least_ns;	/* see python_own_time() */

static unsigned int tries;
static bool forked;		/* the child's thread did not take a GIL yet */

static struct known {
	uint32_t	tid;
	uint32_t	hash;	/* of the name */
} known[KNOWN];
static uint8_t had[NUMBERS / 8];
static bool any;	/* one is known */

static void forget(void)
{
	/* Most children never have threads: their memory stays the parent's. */
	if (any) {
		memset(known, 0, sizeof(known));
		memset(had, 0, sizeof(had));
	}
	any = false;
}

/* @is: @tid, or 0: a free place for it */
static struct known *find(uint32_t tid, uint32_t is)
{
	for (uint32_t i = 0; i < WAYS; i++)
		if (known[(tid + i) % KNOWN].tid == is)
			return &known[(tid + i) % KNOWN];
	return NULL;
}

static void give(uint32_t tid, const char *name)
{
	uint32_t hash = (uint32_t)xsp_hash_bytes(XSP_HASH_TEXT, name, strlen(name));
	static uint32_t turn;
	struct known *k = find(tid, tid);
	int err;

	if (k && k->hash == hash)
		return;
	err = python_user.name_thread(tid, name);
	/* The library counts a name that has no room as missed. */
	if (err && err != -ENOSPC)
		return;
	if (!k)
		k = find(tid, 0);
	/* Not always the same one: two threads would replace each other at each look. */
	if (!k)
		k = &known[(tid + turn++ % WAYS) % KNOWN];
	*k = (struct known){ tid, hash };
	had[tid % NUMBERS / 8] |= 1u << tid % 8;
	any = true;
}

/* Return: false: an exception is set that the program must see, as its user's interrupt. */
static bool go_on(void)
{
	/* What is missing, or not what it is in Python's own module, has no name. */
	if (cpython.err_is(*cpython.exception))
		cpython.err_clear();
	return !cpython.err_occurred();
}

/*
 * What a look needs of Python. All of it is read from dictionaries: no function of the program is
 * called, nor a module imported that is imported when it is used for the first time.
 */
struct look {
	void	*module;	/* dictionary of the module threading; others borrow from it */
	void	*dummy;		/* type of the threads that Python did not start */
	void	*main;		/* the main thread */
	bool	early;		/* there are threads that do not run yet */
	uint64_t nr;		/* threads */
};

static bool is_a(void *object, void *type)
{
	void *of_object = cpython.type(object);

	cpython_drop(of_object);
	return of_object == type;
}

/*
 * Names a Thread. Python's main thread keeps the kernel's name, the program's, and so do threads
 * that Python did not start: it says more.
 */
static void name(struct look *l, void *thread)
{
	void *dict, *id, *called;
	const char *text = NULL;
	long tid = 0;

	if (thread == l->main || is_a(thread, l->dummy))
		return;
	dict = cpython.own_dict(thread, NULL);
	id = dict ? cpython.dict_item(dict, "_native_id") : NULL;
	called = id ? cpython.dict_item(dict, "_name") : NULL;
	if (id == cpython.none)
		l->early = true;
	else if (called && is_a(id, cpython.int_type))
		tid = cpython.number(id);
	if (tid > 0 && tid <= INT32_MAX)
		text = cpython.text(called);
	if (text && *text)
		give((uint32_t)tid, text);
	cpython_drop(dict);
}

/* A lock of the table may be held by the thread that is interrupted: a copy is taken. */
static bool name_all(struct look *l, const char *table)
{
	void *dict = cpython.dict_item(l->module, table), *list;
	bool goes_on;
	intptr_t n;

	if (!dict)
		return go_on();
	/* A collection may run, and the program replace the table. */
	cpython.incref(dict);
	list = cpython.dict_values(dict);
	n = list ? cpython.list_size(list) : 0;
	goes_on = go_on();
	for (intptr_t i = 0; i < n && goes_on; i++, l->nr++) {
		name(l, cpython.list_item(list, i));
		goes_on = go_on();
	}
	cpython_drop(list);
	cpython_drop(dict);
	return goes_on;
}

static bool name_both(struct look *l)
{
	bool goes_on;

	l->dummy = cpython.dict_item(l->module, "_DummyThread");
	l->main = cpython.dict_item(l->module, "_main_thread");
	goes_on = go_on();
	if (!l->dummy || !l->main || !goes_on)
		return goes_on;
	/* The second one: started, but not entered in the first yet. */
	return name_all(l, "_active") && name_all(l, "_limbo");
}

static int look(uint64_t *nr)
{
	void *threading = cpython.dict_item(cpython.modules(), "threading");
	struct look l = { .module = threading ? cpython.module_dict(threading) : NULL };
	bool goes_on;

	*nr = 0;
	__atomic_store_n(&python_names_wanted, false, __ATOMIC_RELAXED);
	/* Not imported: threads have no names. */
	if (!l.module)
		return go_on() ? 0 : -1;
	cpython.incref(l.module);
	goes_on = name_both(&l);
	/* One that is interrupted while it starts another leaves that in there for ever. */
	tries = l.early ? tries + 1 : 0;
	if (l.early && tries < TRIES)
		python_names_want();
	cpython_drop(l.module);
	*nr = l.nr;
	return goes_on ? 0 : -1;
}

/*
 * All threads are looked at, with thousands of them not for each new one: this takes at most one
 * SHAREth of a CPU in the long run, and CREDIT ns and one look more at once.
 */
static int look_in_time(void)
{
	uint64_t begin = xsp_clock_ns(CLOCK_MONOTONIC), now, nr;
	int ret = look(&nr);

	now = xsp_clock_ns(CLOCK_MONOTONIC);
	over -= (int64_t)((now - looked_ns) / SHARE);
	if (over < -CREDIT)
		over = -CREDIT;
	over += (int64_t)python_own_time(&least_ns, now - begin, nr, TABLES);
	looked_ns = now;
	__atomic_store_n(&next_ns, over > 0 ? now + (uint64_t)over * SHARE : 0, __ATOMIC_RELAXED);
	return ret;
}

static bool is_early(void)
{
	uint64_t next = __atomic_load_n(&next_ns, __ATOMIC_RELAXED);

	return next && xsp_clock_ns(CLOCK_MONOTONIC) < next;
}

/* Then there may be no table of modules any more, and a thread that takes the GIL no state. */
static bool is_ending(void)
{
	return cpython.finalizing && cpython.finalizing();
}

static int pending(void *unused)
{
	(void)unused;
	__atomic_store_n(&asked, false, __ATOMIC_RELAXED);
	return python_names_look();
}

int python_names_look(void)
{
	if (!__atomic_load_n(&python_names_wanted, __ATOMIC_RELAXED) || !python_recorded() ||
	    is_early() || is_ending())
		return 0;
	return look_in_time();
}

void python_names_want(void)
{
	__atomic_store_n(&python_names_wanted, true, __ATOMIC_RELAXED);
}

void python_names_new(uint32_t tid)
{
	struct known *k = find(tid, tid);

	/*
	 * The first thread of a forked child keeps the kernel's name, and a look would make a
	 * producer of a child that records nothing.
	 */
	if (forked) {
		forked = false;
		return;
	}
	if (k)
		k->tid = 0;
	/* Like any call of the library, this first records the start of the calling thread. */
	if (had[tid % NUMBERS / 8] & 1u << tid % 8)
		(void)python_user.name_thread(tid, "");
	tries = 0;
	python_names_want();
}

/*
 * Up to 3.11 a pending call is of the interpreter of the calling thread's first state, and another
 * one may not run in the main thread again. Before 3.9 an interpreter that shuts down crashes when
 * a call is added, here where no thread state is current.
 */
static bool main_would_look(void)
{
	void *state = cpython.this_state();

	return cpython.interpreter_of &&
	       (!state || cpython.interpreter_of(state) == cpython.main_interpreter());
}

void python_names_ask(void)
{
	if (!__atomic_load_n(&ready, __ATOMIC_RELAXED) || !python_recorded() ||
	    __atomic_load_n(&asked, __ATOMIC_RELAXED) || is_ending() ||
	    !main_would_look() || is_early() ||
	    __atomic_exchange_n(&asked, true, __ATOMIC_RELAXED))
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
	over = 0;
	least_ns = 0;
	__atomic_store_n(&ready, true, __ATOMIC_RELAXED);
	python_names_want();
	return python_names_look();
}

void python_names_forked(void)
{
	/* The parent's threads are not here, though Python's tables still have them. */
	forked = true;
	python_names_wanted = false;
	/* A call that the parent had asked for may run here too, and finds nothing wanted. */
	asked = false;
	over = 0;
	next_ns = 0;
	forget();
}
