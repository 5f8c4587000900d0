// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Python's global lock (GIL): which threads wait for it, and which thread holds it meanwhile.
 *
 * Records: a range "GIL wait" of a waiting thread, with the holder at its begin; an instant "GIL
 * taken" if a thread takes the lock without waiting while others wait; a span "GIL held, wanted" of
 * a holder, from the time when it held the lock and another waited until it released the lock.
 * Without waiters no clock is read.
 *
 * A thread that was asked for the lock releases it and yields: it waits until another thread has
 * taken it. This is a wait of its own, which ends without the lock ("taken" is 0 at its end): what
 * the thread does then is unknown until it does it: it wants the lock back, or makes a system call
 * without it, or ends.
 *
 * A lock's state changes only with Python's own mutex of that lock held, so only what is read
 * without the mutex is atomic: the set of locks, the holder, and the number of yielding threads.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/python-names.h>

#include "collect/common/peek.h"
#include "collect/common/say.h"
#include "collect/python/local.h"

#define GILS	64u	/* one per interpreter with its own GIL; further ones are not recorded */

/**
 * struct gil - a GIL
 * @cond: its condition; NULL: destroyed
 * @holder: the thread that holds it; 0: none, or unknown
 * @waiters: number of waiting threads
 * @yielding: number of yielding threads; changes with the mutex held that they wait with
 * @asked: a thread has waited, not only yielded, since @holder took it
 * @wanted: ticks since when @holder is waited for, 0: not waited for
 */
struct gil {
	const char	*cond;
	uint32_t	holder;
	uint32_t	waiters;
	uint32_t	yielding;
	bool		asked;
	uint64_t	wanted;
};

/**
 * struct python_thread - state of the calling thread
 * @tid: its id, 0: not read yet
 * @waits: it waits for a GIL
 * @range: the wait is an open range in the trace
 * @told: we are called when it ends
 * @made: the condition that it initialised last
 */
struct python_thread {
	uint32_t	tid;
	bool		waits;
	bool		range;
	bool		told;
	const char	*made;
};

const char *gil_lowest;
const char *gil_highest;

static struct gil gils[GILS];
static uint32_t nr_gils;
static xsprof_name_t wait_name, held_name, taken_name, held_by, lock_key, taken_key;
static pthread_key_t thread_key;	/* calls ended() */
static bool has_key;
/* Not the general TLS model: it refers to glibc's dynamic linker by name. */
static __thread struct python_thread self __attribute__((tls_model("initial-exec")));

/* glibc's; other C libraries lack it. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));

static uint32_t this_tid(void)
{
	if (__builtin_expect(!self.tid, 0))
		self.tid = (uint32_t)syscall(SYS_gettid);
	return self.tid;
}

/* In a forked child: open ranges belong to the parent's trace. */
static void forked(void)
{
	self.tid = 0;
	self.waits = self.range = false;
	python_names_forked();
	python_sample_forked();
}

static struct gil *find(const char *cond)
{
	uint32_t nr = __atomic_load_n(&nr_gils, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < nr; i++)
		if (__atomic_load_n(&gils[i].cond, __ATOMIC_RELAXED) == cond)
			return &gils[i];
	return NULL;
}

/* ---- waits of the calling thread ------------------------------------------------------------- */

/* An argument with the GIL's number, if it is not the first. Return: number of arguments. */
static size_t number_of(const struct gil *gil, struct xsprof_kv *kv)
{
	if (gil == gils)
		return 0;
	*kv = xsprof_u64(lock_key, (uint64_t)(gil - gils));
	return 1;
}

static void begin_wait(const struct gil *gil)
{
	uint32_t holder = __atomic_load_n(&gil->holder, __ATOMIC_RELAXED);
	struct xsprof_kv kv[2];
	size_t n;

	self.waits = true;
	if (python_sampling)
		python_thread_waits(true);
	self.range = python_recorded();
	if (!self.range)
		return;
	/* Not __cxa_thread_atexit(), whose lock a thread may hold that needs Python's mutex. */
	if (!self.told && has_key)
		self.told = !pthread_setspecific(thread_key, &self);
	n = number_of(gil, kv);
	if (holder)
		kv[n++] = xsprof_u64(held_by, holder);
	python_user.begin(wait_name, kv, n);
}

/* @takes: the thread has the lock now. */
static void end_wait(bool takes)
{
	const struct xsprof_kv kv = xsprof_u64(taken_key, 0);

	if (self.range && python_recorded()) {
		if (takes)
			python_user.end();
		else
			python_user.end_args(&kv, 1);
	}
	self.waits = self.range = false;
	if (python_sampling)
		python_thread_waits(false);
}

/* The thread ends, maybe in a wait: an interpreter that is finalized ends threads that wait. */
static void ended(void *unused)
{
	(void)unused;
	/* Another destructor of the thread may wait for the lock once more. */
	self.told = false;
	if (self.waits)
		end_wait(false);
}

/* ---- which there are ------------------------------------------------------------------------- */

/* Return: false: nothing can be recorded. */
static bool prepare(const void *caller)
{
	enum { NEW, READY, OFF };
	static int state;
	int category;

	/* Checked once: Python makes its first GIL before it has a second thread. */
	if (state != NEW)
		return state == READY;
	state = OFF;
	if (!python_open(caller) || !python_user_open())
		return false;
	category = python_user.category(XSPROF_PYTHON_CATEGORY);
	if (category < 0)
		category = 0;
	wait_name = python_user.name(category, XSPROF_GIL_WAIT);
	held_name = python_user.name(category, XSPROF_GIL_HELD);
	taken_name = python_user.name(category, XSPROF_GIL_TAKEN);
	held_by = python_user.name(0, XSPROF_GIL_KEY_HOLDER);
	lock_key = python_user.name(0, XSPROF_GIL_KEY_LOCK);
	taken_key = python_user.name(0, XSPROF_GIL_KEY_TAKEN);
	/* If it fails, the wait in which a thread ends has no end. */
	has_key = !pthread_key_create(&thread_key, ended);
	/*
	 * The callback for collections is installed when a thread takes the GIL, which such a build
	 * does at its start, unless it is off from the beginning.
	 */
	if (python_is_free_threaded())
		collect_say("Python: a free-threaded build: calls of functions are not recorded, "
			    "nor collections if the GIL is off at the start (PYTHON_GIL=0)");
	/* If it fails, waits in a forked child have the parent's thread id. */
	if (__register_atfork)
		(void)__register_atfork(python_sample_forks, python_sample_parent, forked,
					NULL);
	python_sample_init(category);
	state = READY;
	return true;
}

static void add(const char *cond)
{
	struct gil *gil = find(NULL);
	const char *lowest = __atomic_load_n(&gil_lowest, __ATOMIC_RELAXED);

	if (!gil && nr_gils == GILS)
		return;
	if (!gil)
		gil = &gils[nr_gils];
	*gil = (struct gil){ 0 };
	__atomic_store_n(&gil->cond, cond, __ATOMIC_RELAXED);
	if (gil == &gils[nr_gils])
		__atomic_store_n(&nr_gils, nr_gils + 1, __ATOMIC_RELAXED);
	/* Relaxed: a thread that uses this lock got its address later. */
	if (cond + GIL_SWITCH > gil_highest)
		__atomic_store_n(&gil_highest, cond + GIL_SWITCH, __ATOMIC_RELAXED);
	if (!lowest || cond < lowest)
		__atomic_store_n(&gil_lowest, cond, __ATOMIC_RELAXED);
}

/*
 * Does the memory look like a GIL that is not initialised yet, not like another object of Python?
 */
static bool is_new(const char *cond)
{
	struct gil_head head;

	return collect_peek(&head, cond - sizeof(head), sizeof(head)) && head.locked == -1 &&
	       head.interval && head.interval < UINT32_MAX;
}

/*
 * All versions initialise the two conditions of a GIL one after the other. A forked child
 * initialises its GIL again. Interpreters are created one at a time, with the first one's GIL held.
 */
void gil_makes(const void *what, const void *caller)
{
	const char *cond = self.made;
	struct gil *gil;

	self.made = what;
	if (__builtin_expect(!cond || (const char *)what != cond + GIL_SWITCH, 1) ||
	    !python_has(caller) || !is_new(cond))
		return;
	gil = find(cond);
	if (gil)
		*gil = (struct gil){ .cond = cond };
	else if (prepare(caller))
		add(cond);
	python_look_again();
}

void gil_destroys(const void *cond)
{
	struct gil *gil = find(cond);

	if (gil)
		__atomic_store_n(&gil->cond, NULL, __ATOMIC_RELAXED);
}

/* ---- who waits, and who has it --------------------------------------------------------------- */

/* The state of the thread that takes or releases it, in whichever interpreter. */
static void *last_of(const struct gil *gil)
{
	return ((const struct gil_head *)(const void *)gil->cond - 1)->last_holder;
}

/*
 * Relaxed: when the lock is taken, the mutex is held with which the number changes. Else a thread
 * that has just stopped yielding may still count: then it waited until just before.
 */
static bool yielding(const struct gil *gil)
{
	return __atomic_load_n(&gil->yielding, __ATOMIC_RELAXED);
}

static void taken(struct gil *gil)
{
	bool recorded = python_recorded(), waited = self.waits;
	struct xsprof_kv kv;

	if (waited)
		end_wait(true);
	if (__builtin_expect(!self.tid, 0) && gil == gils)
		python_names_new(this_tid());
	__atomic_store_n(&gil->holder, this_tid(), __ATOMIC_RELAXED);
	gil->asked = gil->waiters;
	gil->wanted = (gil->asked || yielding(gil)) && recorded ? python_user.now() : 0;
	/* Waiting threads learn that the holder is now another thread. */
	if (!waited && gil->wanted)
		python_user.instant(taken_name, &kv, number_of(gil, &kv));
	python_look();
	if (__builtin_expect(__atomic_load_n(&python_names_wanted, __ATOMIC_RELAXED), 0))
		python_names_ask();
	if (python_sampling && gil == gils) {
		python_thread_takes(last_of(gil));
		python_sample_look();
	}
}

static void left(struct gil *gil)
{
	/* No span if threads only yielded, and none does any more. */
	if (gil->wanted && (gil->asked || yielding(gil)) && python_recorded())
		python_user.span(held_name, gil->wanted, python_user.now(),
				 (uint64_t)(gil - gils), 0);
	gil->wanted = 0;
	__atomic_store_n(&gil->holder, 0, __ATOMIC_RELAXED);
	if (python_sampling && gil == gils)
		python_thread_leaves(last_of(gil));
}

void gil_signals(const void *cond)
{
	struct gil *gil = find(cond);

	if (gil) {
		left(gil);
		return;
	}
	gil = find((const char *)cond - GIL_SWITCH);
	if (gil)
		taken(gil);
}

void *gil_waits(const void *cond)
{
	struct gil *gil = find(cond);

	if (!gil)
		return NULL;
	/* Python's wait times out every few milliseconds and goes on. */
	if (!self.waits)
		begin_wait(gil);
	/* Threads that only yielded until now wanted it for a while. */
	if ((!gil->wanted || (!gil->asked && !yielding(gil))) && gil->holder && python_recorded())
		gil->wanted = python_user.now();
	gil->asked = true;
	gil->waiters++;
	return gil;
}

void gil_waited(void *gil)
{
	struct gil *g = gil;

	g->waiters--;
}

/*
 * Waits on another mutex than the GIL's, which a thread that takes the lock holds too. Nobody has
 * taken the lock since the calling thread released it.
 */
void *gil_yields(const void *cond)
{
	struct gil *gil = find((const char *)cond - GIL_SWITCH);

	if (!gil || self.waits)
		return NULL;
	begin_wait(gil);
	__atomic_store_n(&gil->yielding, gil->yielding + 1, __ATOMIC_RELAXED);
	return gil;
}

void gil_yielded(void *gil)
{
	struct gil *g = gil;

	__atomic_store_n(&g->yielding, g->yielding - 1, __ATOMIC_RELAXED);
	end_wait(false);
}
