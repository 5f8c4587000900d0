// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Python's threads in a process that we attached to while it ran: no function of ours is called
 * when a thread takes the GIL. So before each sample Python's own list of threads is read, and its
 * GIL: the last holder, whether it is locked, and how often it changed hands.
 *
 * The addresses are found once, in a thread that holds the GIL: there is one place in Python's
 * memory with that thread's state as the holder.
 *
 * If a thread releases the GIL and takes it again with no other thread in between, none of these
 * values changes: a walk over its frames is accepted if the thread has not run meanwhile, by its
 * CPU clock, or if a second walk gives the same.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/python/sample.h"

/* Weak: not every C library has it, and we are loaded into programs of all of them. */
#pragma weak dladdr1

#define SPAN		64u	/* words of a thread's state */
#define HEAD_SPAN	32768u	/* bytes searched of an interpreter's state */
#define PTHREAD_SPAN	2048u	/* bytes searched of the C library's thread structure */
#define NEXT		1u	/* offset of the next state in words, in all versions since 3.9 */
#define INTERPRETER	2u

/* The fields before the GIL's condition: the same layout in all versions. */
static const struct gil_head *gil;
static const char *interpreter;
static uint32_t head_at;	/* offset in an interpreter: its newest thread state */
static uint32_t id_at;		/* word in a thread state: pthread_self() */
static uint32_t tid_at;		/* offset in the C library's thread structure: gettid() */
static bool native;		/* gettid() also follows pthread_self() in the thread state */

/* Values at the begin of the walk. */
static struct {
	void		*last;
	unsigned long	switches;
	uint64_t	cpu_ns;
} before;

static uint32_t seen[PYTHON_THREADS];	/* by entry: number of the look that last saw it */
static uint32_t looks;

static void *last_holder(void)
{
	return __atomic_load_n(&gil->last_holder, __ATOMIC_ACQUIRE);
}

static bool is_locked(void)
{
	return __atomic_load_n(&gil->locked, __ATOMIC_ACQUIRE) == 1;
}

static unsigned long switches(void)
{
	return __atomic_load_n(&gil->switches, __ATOMIC_ACQUIRE);
}

/* ---- what is where --------------------------------------------------------------------------- */

#define CANDIDATES	32u

static bool is_held_by(const struct gil_head *g, const void *state)
{
	return __atomic_load_n(&g->last_holder, __ATOMIC_ACQUIRE) == state &&
	       __atomic_load_n(&g->locked, __ATOMIC_ACQUIRE) == 1;
}

/* Finds addresses that look like a GIL held by @state. */
static size_t find_candidates(const void *state, const struct gil_head **found)
{
	const char *runtime = python_symbol("_PyRuntime");
	const ElfW(Sym) *symbol = NULL;
	const struct gil_head *g;
	Dl_info info;
	size_t nr = 0;

	if (!runtime || !dladdr1 || !dladdr1(runtime, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !symbol)
		return 0;
	for (size_t at = 0; at + sizeof(*g) <= symbol->st_size; at += sizeof(void *)) {
		g = (const struct gil_head *)(runtime + at);
		if (is_held_by(g, state) && g->interval && g->interval <= UINT32_MAX &&
		    nr < CANDIDATES)
			found[nr++] = g;
	}
	return nr;
}

/* Keeps the one that is no longer held after the thread releases the GIL. */
static bool find_gil(const void *state)
{
	const struct gil_head *found[CANDIDATES];
	size_t nr = find_candidates(state, found), left = 0;
	void *(*leave)(void) = NULL, *own;
	void (*take)(void *) = NULL;

	if (!python_find(&leave, "PyEval_SaveThread", NULL) ||
	    !python_find(&take, "PyEval_RestoreThread", NULL))
		return false;
	own = leave();
	for (size_t i = 0; i < nr; i++)
		if (!is_held_by(found[i], state))
			found[left++] = found[i];
	take(own);
	if (left == 1 && is_held_by(found[0], state))
		gil = found[0];
	return gil;
}

static bool find_head(void)
{
	void *(*first)(void *) = NULL, *state;
	const char *locks = (const char *)gil;
	void *there;

	if (!python_find(&first, "PyInterpreterState_ThreadHead", NULL))
		return false;
	state = first((void *)(uintptr_t)interpreter);
	for (uint32_t at = 0; at < HEAD_SPAN; at += sizeof(void *)) {
		/* Skip the GIL inside the interpreter: it holds a thread state too. */
		if (interpreter + at >= locks && interpreter + at < locks + sizeof(*gil))
			continue;
		if (!sample_peek(&there, interpreter + at, sizeof(there)))
			return false;
		if (there == state) {
			head_at = at;
			return true;
		}
	}
	return false;
}

static bool find_thread(const void *const *state)
{
	const char *self = (const char *)pthread_self();
	uint32_t tid = (uint32_t)syscall(SYS_gettid), there;

	for (id_at = 0; id_at < SPAN - 1 && state[id_at] != self; id_at++)
		;
	if (id_at == SPAN - 1)
		return false;
	native = (uintptr_t)state[id_at + 1] == tid;
	for (tid_at = 0; !native && tid_at < PTHREAD_SPAN; tid_at += sizeof(there)) {
		if (!sample_peek(&there, self + tid_at, sizeof(there)))
			return false;
		if (there == tid)
			return true;
	}
	return native;
}

bool python_seen_find(void)
{
	const void *state[SPAN];
	void *(*main_one)(void) = NULL;
	const char *own = python.this_state();

	if (!own || !python_find(&main_one, "PyInterpreterState_Main", NULL))
		return false;
	/* Another interpreter may run than in the last recording. */
	if (gil && id_at && interpreter == main_one() && is_held_by(gil, own))
		return true;
	gil = NULL;
	interpreter = main_one();
	return interpreter && sample_peek(state, own, sizeof(state)) &&
	       state[INTERPRETER] == interpreter && find_gil(own) && find_head() &&
	       find_thread(state);
}

/* ---- which threads there are ----------------------------------------------------------------- */

static uint32_t tid_of(const void *const *state)
{
	const char *id = state[id_at];
	uint32_t tid = 0;

	if (native)
		return (uint32_t)(uintptr_t)state[id_at + 1];
	return id && sample_peek(&tid, id + tid_at, sizeof(tid)) ? tid : 0;
}

static void see(const void *at, uint32_t tid, const void *holder)
{
	struct python_entry *entry = python_entry_of(tid);
	uint32_t turn;

	if (!entry)
		return;
	seen[entry - python_entries] = looks;
	/* A new turn each time: it is unknown whether the thread held the GIL in between. */
	turn = (entry->turn | 1) + 1;
	__atomic_store_n(&entry->state, (void *)(uintptr_t)at, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->turn, turn + (at == holder), __ATOMIC_RELEASE);
}

void python_seen_look(bool keep)
{
	const void *holder = is_locked() ? last_holder() : NULL;
	const void *state[SPAN];
	uint32_t nr = 0, tid;
	void *at;

	looks++;
	if (!sample_peek(&at, interpreter + head_at, sizeof(at)))
		at = NULL;
	/* The list may change while it is read: stop at the first invalid link. */
	while (at && nr++ < PYTHON_THREADS && sample_peek(state, at, sizeof(state)) &&
	       state[INTERPRETER] == interpreter) {
		tid = tid_of(state);
		if (tid)
			see(at, tid, holder);
		at = (void *)(uintptr_t)state[NEXT];
	}
	nr = python_entries_nr();
	for (uint32_t i = 0; i < nr; i++)
		if (seen[i] != looks && !keep)
			__atomic_store_n(&python_entries[i].tid, 0, __ATOMIC_RELEASE);
}

void python_seen_forget(void)
{
	uint32_t nr = python_entries_nr();

	for (uint32_t i = 0; i < nr; i++)
		__atomic_store_n(&python_entries[i].tid, 0, __ATOMIC_RELEASE);
}

static struct python_entry *by_tid(uint32_t tid)
{
	uint32_t nr = python_entries_nr();

	for (uint32_t i = 0; i < nr; i++)
		if (__atomic_load_n(&python_entries[i].tid, __ATOMIC_ACQUIRE) == tid)
			return &python_entries[i];
	return NULL;
}

/* Also called in a signal handler. */
struct python_entry *python_seen_own(void)
{
	return by_tid((uint32_t)syscall(SYS_gettid));
}

struct python_entry *python_seen_holder(void)
{
	const void *holder = is_locked() ? last_holder() : NULL;
	uint32_t nr = python_entries_nr();

	for (uint32_t i = 0; holder && i < nr; i++)
		if (python_entries[i].tid && python_entries[i].state == holder)
			return &python_entries[i];
	return NULL;
}

bool python_seen_holds(const void *state)
{
	return is_locked() && last_holder() == state;
}

/* ---- whether what was read stands ------------------------------------------------------------ */

void python_seen_reads(const struct python_entry *entry)
{
	before.last = last_holder();
	before.switches = switches();
	before.cpu_ns = python_cpu_of(entry->tid);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static bool reads_again(const struct python_reading *r, const void *state)
{
	static struct python_reading again;

	return python_read_frames(&again, state) && again.nr == r->nr && again.left == r->left &&
	       again.place == r->place && !memcmp(again.at, r->at, r->nr * sizeof(r->at[0]));
}

bool python_seen_stands(const struct python_entry *entry, const struct python_reading *r)
{
	const void *last = last_holder();

	if (is_locked() && last == entry->state)
		return false;
	if (last != entry->state && before.last != entry->state && before.switches == switches())
		return true;
	/* 0: its clock is unknown. */
	if (before.cpu_ns && before.cpu_ns == python_cpu_of(entry->tid))
		return true;
	return reads_again(r, entry->state) && !python_seen_holds(entry->state);
}
