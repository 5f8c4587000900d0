// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Python's global lock: which thread waits for it, and which one has it meanwhile.
 *
 * What is recorded: a range "GIL wait" of the thread that waits, with the thread that had the lock
 * when it began; an instant "GIL taken" where a thread that had not to wait takes it while others
 * do; and a span "GIL held, wanted" of a thread that had it while others waited: from where it had
 * it and another waited to where it left it. What nobody waits for costs no clock.
 *
 * All changes of a lock's state are made with Python's own mutex of that lock held, so nothing here
 * is atomic but what is looked at without it: which locks there are, and who has one.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/python-names.h>

#include "collect/common/peek.h"
#include "collect/common/say.h"
#include "collect/python/local.h"

#define GILS	64u	/* one of each interpreter that has its own; of more nothing is recorded */

/**
 * struct gil - a lock
 * @cond: where threads wait for it; NULL: it has been destroyed
 * @holder: the thread that has it; 0: none, or not known
 * @waiters: threads that wait
 * @wanted: ticks at which @holder was known to be waited for, 0: it is not
 */
struct gil {
	const char	*cond;
	uint32_t	holder;
	uint32_t	waiters;
	uint64_t	wanted;
};

/**
 * struct python_thread - the calling thread
 * @tid: its id, 0: not asked yet
 * @waits: for a GIL
 * @range: the wait is recorded as a range that is open
 * @made: the condition that it made last
 */
struct python_thread {
	uint32_t	tid;
	bool		waits;
	bool		range;
	const char	*made;
};

const char *gil_lowest;
const char *gil_highest;

static struct gil gils[GILS];
static uint32_t nr_gils;
static xsprof_name_t wait_name, held_name, taken_name, held_by, lock_key;
/* Not the general model: that needs the dynamic linker of glibc by its name. */
static __thread struct python_thread self __attribute__((tls_model("initial-exec")));

/* glibc's; other C libraries have none of that name. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));

static uint32_t this_tid(void)
{
	if (__builtin_expect(!self.tid, 0))
		self.tid = (uint32_t)syscall(SYS_gettid);
	return self.tid;
}

/* Ranges that are open are the parent's. */
static void forked(void)
{
	self.tid = 0;
	self.waits = self.range = false;
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

/* ---- which there are ------------------------------------------------------------------------- */

/* Return: false: nothing can be recorded. */
static bool prepare(const void *caller)
{
	enum { NEW, READY, OFF };
	static int state;
	int category;

	/* Python makes its first lock before it has a second thread. */
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
	/* All of that is begun by a thread that takes the lock. */
	if (python_is_free_threaded())
		collect_say("Python: a free-threaded build: while its global lock is off its "
			    "collections and functions are not recorded");
	/* With no memory for it a child's waits have its parent's number. */
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
	/* A thread that waits for this lock, or takes it, got its address behind this. */
	if (cond + GIL_SWITCH > gil_highest)
		__atomic_store_n(&gil_highest, cond + GIL_SWITCH, __ATOMIC_RELAXED);
	if (!lowest || cond < lowest)
		__atomic_store_n(&gil_lowest, cond, __ATOMIC_RELAXED);
}

/* Is it what Python has before the lock is made, and not something else that it has? */
static bool is_new(const char *cond)
{
	struct gil_head head;

	return collect_peek(&head, cond - sizeof(head), sizeof(head)) && head.locked == -1 &&
	       head.interval && head.interval < UINT32_MAX;
}

/*
 * All versions make the two conditions of a lock one after the other. The lock is made anew in the
 * child of a fork. Interpreters are made with the first one's lock held, one at a time.
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

/* Which lock it is, where it is not the first: an interpreter's own.  Return: how many. */
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
	n = number_of(gil, kv);
	if (holder)
		kv[n++] = xsprof_u64(held_by, holder);
	python_user.begin(wait_name, kv, n);
}

static void end_wait(void)
{
	if (self.range && python_recorded())
		python_user.end();
	self.waits = self.range = false;
	if (python_sampling)
		python_thread_waits(false);
}

/* Python's state of the thread that takes or leaves it, of whichever interpreter that is. */
static void *last_of(const struct gil *gil)
{
	return ((const struct gil_head *)(const void *)gil->cond - 1)->last_holder;
}

static void taken(struct gil *gil)
{
	bool recorded = python_recorded(), waited = self.waits;
	struct xsprof_kv kv;

	if (waited)
		end_wait();
	__atomic_store_n(&gil->holder, this_tid(), __ATOMIC_RELAXED);
	gil->wanted = gil->waiters && recorded ? python_user.now() : 0;
	/* Those that wait learn that it is another thread that has it now. */
	if (!waited && gil->wanted)
		python_user.instant(taken_name, &kv, number_of(gil, &kv));
	python_look();
	if (python_sampling && gil == gils) {
		python_thread_takes(last_of(gil));
		python_sample_look();
	}
}

static void left(struct gil *gil)
{
	if (gil->wanted && python_recorded())
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
	/* Python wakes up each few milliseconds, and waits on. */
	if (!self.waits)
		begin_wait(gil);
	if (!gil->wanted && gil->holder && python_recorded())
		gil->wanted = python_user.now();
	gil->waiters++;
	return gil;
}

void gil_waited(void *gil)
{
	struct gil *g = gil;

	g->waiters--;
}

/*
 * With another mutex than the lock's: who has it is a glance. The wait goes on, as one, when the
 * thread then waits for the lock itself.
 */
void gil_yields(const void *cond)
{
	struct gil *gil = find((const char *)cond - GIL_SWITCH);

	if (gil && !self.waits)
		begin_wait(gil);
}
