// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tracks Python's threads that have held the GIL: the current holder, and whether a thread held it
 * since it was last read. Each thread writes its own entry, only while threads are sampled.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/python/native.h"
#include "collect/python/sample.h"

struct python_entry python_entries[PYTHON_THREADS];
bool python_late;
bool python_crowded;

/* With all slots taken: the entry of the GIL's holder until it releases it. */
static struct python_entry spare;
static bool full;	/* set since the last sweep */

static uint32_t nr_entries;
static struct python_entry *holder;	/* NULL: none, or unknown */
/* Not the general TLS model: it refers to glibc's dynamic linker by name. */
static __thread struct python_entry *own __attribute__((tls_model("initial-exec")));

uint32_t python_entries_nr(void)
{
	return __atomic_load_n(&nr_entries, __ATOMIC_ACQUIRE);
}

struct python_entry *python_thread_own(void)
{
	return own;
}

struct python_entry *python_thread_holder(void)
{
	return __atomic_load_n(&holder, __ATOMIC_RELAXED);
}

static bool has_small_stack(void)
{
	stack_t stack;

	/* Not sigaltstack(), which is ours. */
	return !syscall(SYS_sigaltstack, NULL, &stack) && python_stack_is_small(&stack);
}

/* What the ticking thread would have to ask the kernel for. */
static struct python_entry new_entry(void)
{
	struct python_entry entry = {
		.seen = 1, .at_ns = xsp_clock_ns(CLOCK_MONOTONIC),
		.cpu_ns = xsp_clock_ns(CLOCK_THREAD_CPUTIME_ID), .small = has_small_stack(),
	};

	entry.told = !syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &entry.blocked,
			      sizeof(entry.blocked));
	entry.signal_ns = entry.told ? entry.at_ns : 0;
	return entry;
}

/* Called with the GIL's mutex held: one thread at a time looks for a slot. */
static __attribute__((noinline)) struct python_entry *enter(void)
{
	uint32_t nr = nr_entries, i = 0;

	/* Asked now, as a signal handler cannot. */
	if (python_native)
		native_thread_begins();
	if (__atomic_load_n(&full, __ATOMIC_RELAXED))
		i = PYTHON_THREADS;
	for (; i < nr; i++)
		/* Acquire: pairs with the release in python_entries_sweep(). */
		if (!__atomic_load_n(&python_entries[i].tid, __ATOMIC_ACQUIRE))
			break;
	if (i == PYTHON_THREADS) {
		__atomic_store_n(&full, true, __ATOMIC_RELAXED);
		__atomic_store_n(&python_crowded, true, __ATOMIC_RELAXED);
		/* What is known is of another thread. */
		spare.at_ns = spare.asleep_ns = 0;
		spare.took = spare.held = 0;
		spare.small = has_small_stack();
		__atomic_store_n(&spare.masked, true, __ATOMIC_RELAXED);
		__atomic_store_n(&spare.tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
		own = &spare;
		return own;
	}
	python_entries[i] = new_entry();
	__atomic_store_n(&python_entries[i].tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (i == nr)
		__atomic_store_n(&nr_entries, nr + 1, __ATOMIC_RELEASE);
	own = &python_entries[i];
	return own;
}

struct python_entry *python_entry_of(uint32_t tid)
{
	uint32_t nr = nr_entries, room = nr, i, is;

	for (i = 0; i < nr; i++) {
		is = __atomic_load_n(&python_entries[i].tid, __ATOMIC_ACQUIRE);
		if (is == tid)
			return &python_entries[i];
		if (!is && room == nr)
			room = i;
	}
	if (room == PYTHON_THREADS) {
		python_crowded = true;
		return NULL;
	}
	python_names_want();
	python_entries[room] = (struct python_entry){ .seen = 1 };
	__atomic_store_n(&python_entries[room].tid, tid, __ATOMIC_RELEASE);
	if (room == nr)
		__atomic_store_n(&nr_entries, nr + 1, __ATOMIC_RELEASE);
	return &python_entries[room];
}

void python_thread_waits(bool waits)
{
	struct python_entry *entry = own;

	if (entry)
		__atomic_store_n(&entry->waits, waits, __ATOMIC_RELAXED);
}

void python_thread_masks(void)
{
	struct python_entry *entry = own;

	/* Release: a thread that sees it reads the mask as it is now. */
	if (entry)
		__atomic_store_n(&entry->masked, true, __ATOMIC_RELEASE);
}

void python_thread_stack(const stack_t *stack)
{
	if (own)
		__atomic_store_n(&own->small, python_stack_is_small(stack), __ATOMIC_RELAXED);
}

/* Asked at most once a tick: it is not asked whether a thread sleeps that has just begun to run. */
static __attribute__((noinline)) void tell(struct python_entry *entry)
{
	__atomic_store_n(&entry->tell, false, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->took_ns, xsp_clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
	__atomic_store_n(&entry->took_cpu_ns, xsp_clock_ns(CLOCK_THREAD_CPUTIME_ID),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&entry->took, entry->turn | 1, __ATOMIC_RELAXED);
	/* Release: a thread that sees the turn also sees the times. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

void python_thread_takes(void *state)
{
	struct python_entry *entry = own ? own : enter();

	if (__builtin_expect(__atomic_load_n(&entry->tell, __ATOMIC_RELAXED), 0))
		tell(entry);
	__atomic_store_n(&entry->state, state, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->turn, entry->turn | 1, __ATOMIC_RELAXED);
	__atomic_store_n(&holder, entry, __ATOMIC_RELAXED);
	/* Release: a thread that sees a change of its frames also sees that it took the GIL. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

void python_thread_leaves(void *state)
{
	struct python_entry *entry = own;

	__atomic_store_n(&holder, NULL, __ATOMIC_RELAXED);
	if (!entry)
		return;
	/* A thread that is ending has no state any more, though it was the last holder. */
	__atomic_store_n(&entry->state, python.this_state() ? state : NULL, __ATOMIC_RELAXED);
	/* Release: a thread that sees the turn also sees the frames, which then stay unchanged. */
	__atomic_store_n(&entry->turn, (entry->turn | 1) + 1, __ATOMIC_RELEASE);
	if (__builtin_expect(entry == &spare, 0)) {
		__atomic_store_n(&entry->tid, 0, __ATOMIC_RELEASE);
		own = NULL;
	}
}

bool python_thread_ended(uint32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

void python_entries_sweep(void)
{
	uint32_t nr = python_entries_nr(), tid, left = 0;

	for (uint32_t i = 0; i < nr; i++) {
		tid = __atomic_load_n(&python_entries[i].tid, __ATOMIC_ACQUIRE);
		if (tid && python_thread_ended(tid)) {
			__atomic_store_n(&python_entries[i].tid, 0, __ATOMIC_RELEASE);
			left++;
		}
	}
	if (left)
		__atomic_store_n(&full, false, __ATOMIC_RELAXED);
}

void python_threads_forked(void)
{
	memset(python_entries, 0, sizeof(python_entries[0]) * nr_entries);
	spare = (struct python_entry){ .seen = 1 };
	nr_entries = 0;
	full = python_crowded = false;
	own = holder = NULL;
}
