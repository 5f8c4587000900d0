// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Native frames of threads that run without the GIL, as C code does that has released it. They are
 * asked by the same signal as the thread that has the GIL (ask.c), and walk their own stack.
 *
 * A signal ends some system calls (EINTR), and a thread without the GIL may be in one. So only a
 * thread is asked that was on a CPU for most of the last tick, by its CPU clock, and has not waited
 * for anything since it was last looked at, by /proc: it computes, or waits for a CPU. One that
 * sleeps is never woken. At most ASKED_MOST are asked per tick.
 *
 * The frames of Python of such a thread stay as they are while it does not have the GIL: the
 * ticking thread reads them when the answer has come. A thread that has not answered for some
 * ticks, or has taken the GIL meanwhile, gets its samples without native frames.
 */
#include "collect/python/native.h"
#include "collect/python/sample.h"

enum { IDLE, ASKED, BUSY, GOOD, LEFT };

#define ASKED_MOST	8u

/**
 * struct outside - a thread that was asked
 * @is: IDLE: free
 * @wake: the ticking thread is to be woken
 * @entry: the thread
 * @tid: its id
 * @turn: its turn
 * @unloads: unloads when it was asked
 * @native: its answer
 * @ticks: the samples that it stands for
 * @age: ticks since it was asked
 * @name: of the sample without native frames, like the two that follow
 * @stack: its stack id
 * @line: its line
 */
struct outside {
	int			is;
	bool			wake;
	struct python_entry	*entry;
	uint32_t		tid;
	uint32_t		turn;
	uint32_t		unloads;
	struct native_stack	native;
	uint32_t		ticks;
	uint32_t		age;
	xsprof_name_t		name;
	uint32_t		stack;
	uint32_t		line;
};

static struct outside asked[ASKED_MOST];
static uint32_t nr_asked;	/* slots that may be in use; the ticking thread's */

/* ---- in the thread that is asked ------------------------------------------------------------- */

void python_outside_answer(const struct python_entry *entry, const void *context)
{
	for (uint32_t i = 0; i < ASKED_MOST; i++) {
		struct outside *o = &asked[i];
		int is = ASKED;
		bool wake;

		if (__atomic_load_n(&o->entry, __ATOMIC_RELAXED) != entry ||
		    !__atomic_compare_exchange_n(&o->is, &is, BUSY, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		o->native.nr = 0;
		is = entry->turn == o->turn ? GOOD : LEFT;
		if (is == GOOD)
			python_native_walk(&o->native, context, o->unloads);
		/* After the store below the question may be a new one. */
		wake = o->wake;
		/* Release: a thread that sees the answer also sees the frames. */
		__atomic_store_n(&o->is, is, __ATOMIC_RELEASE);
		if (wake)
			python_ask_wake();
	}
}

/* ---- who asks -------------------------------------------------------------------------------- */

/* Has it waited since it was last looked at? Unknown at the first time. */
static bool has_waited(struct python_entry *entry)
{
	uint64_t waits = python_waits_of(entry->tid);
	bool has = !waits || waits != entry->voluntary;

	entry->voluntary = waits;
	return has;
}

static struct outside *find_free(void)
{
	for (uint32_t i = 0; i < ASKED_MOST; i++)
		if (__atomic_load_n(&asked[i].is, __ATOMIC_RELAXED) == IDLE)
			return &asked[i];
	return NULL;
}

/* The thread's question that is still open. */
static struct outside *find_open(const struct python_entry *entry, uint32_t turn)
{
	for (uint32_t i = 0; nr_asked && i < ASKED_MOST; i++)
		if (__atomic_load_n(&asked[i].is, __ATOMIC_RELAXED) != IDLE &&
		    asked[i].entry == entry && asked[i].tid == entry->tid && asked[i].turn == turn)
			return &asked[i];
	return NULL;
}

bool python_outside_ask(struct python_entry *entry, uint32_t turn, uint64_t now, bool at_once)
{
	struct outside *o = find_open(entry, turn);

	if (o) {
		o->ticks++;
		return true;
	}
	o = find_free();
	if (!o || has_waited(entry) || !python_ask_ready() || !python_ask_may(entry, now))
		return false;
	o->wake = at_once;
	o->tid = entry->tid;
	o->turn = turn;
	o->ticks = 1;
	o->age = 0;
	o->unloads = python_native_unloads();
	o->name = entry->name;
	o->stack = entry->stack;
	o->line = entry->line;
	__atomic_store_n(&o->entry, entry, __ATOMIC_RELAXED);
	if (__atomic_load_n(&entry->turn, __ATOMIC_RELAXED) != turn)
		return false;
	/* Release: the answering thread sees who is asked. */
	__atomic_store_n(&o->is, ASKED, __ATOMIC_RELEASE);
	if (python_ask_send(entry, now)) {
		nr_asked++;
		return true;
	}
	__atomic_store_n(&o->is, IDLE, __ATOMIC_RELAXED);
	return false;
}

static void record(struct outside *o, bool answered)
{
	static struct python_reading reading;
	struct python_entry *entry = o->entry;
	xsprof_name_t name;
	uint32_t stack;

	/* Last: is the entry another thread's by now? */
	if (answered && o->native.nr && python_native_unloads() == o->unloads &&
	    __atomic_load_n(&entry->turn, __ATOMIC_ACQUIRE) == o->turn &&
	    python_entry_read(entry, o->turn, &reading, &o->native, o->unloads, &name, &stack) &&
	    stack && entry->tid == o->tid)
		o->stack = stack;
	for (uint32_t i = 0; i < o->ticks; i++)
		python_user.sample(o->name, o->tid, o->stack, XSPROF_SAMPLE_NATIVE, o->line);
}

void python_outside_tick(void)
{
	for (uint32_t i = 0; i < ASKED_MOST; i++)
		asked[i].age++;
}

void python_outside_take(uint32_t patience)
{
	for (uint32_t i = 0; nr_asked && i < ASKED_MOST; i++) {
		struct outside *o = &asked[i];
		int is = ASKED;

		/* A question that is too old is given up, unless the thread is just answering. */
		if (o->age >= patience)
			(void)__atomic_compare_exchange_n(&o->is, &is, LEFT, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		/* Acquire: pairs with the release in python_outside_answer(). */
		is = __atomic_load_n(&o->is, __ATOMIC_ACQUIRE);
		if (is != GOOD && is != LEFT)
			continue;
		record(o, is == GOOD);
		__atomic_store_n(&o->is, IDLE, __ATOMIC_RELAXED);
		nr_asked--;
	}
}

void python_outside_forked(void)
{
	for (uint32_t i = 0; i < ASKED_MOST; i++)
		asked[i].is = IDLE;
	nr_asked = 0;
}
