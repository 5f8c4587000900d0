// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The thread that ticks: at each tick it asks the thread that has the lock, reads those that have
 * not, and records where each was. A thread that has not had the lock since it was read is where it
 * was. What could not be found out is recorded as that.
 *
 * It runs while somebody records, and not across a fork: Python warns programs that fork with more
 * than one thread.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/common/say.h"
#include "collect/python/sample.h"

#define SECOND	1000000000ull
#define STACK	(256u << 10)
#define AT_ONCE	(SECOND / 250)	/* ns */
#define LONGEST	(SECOND / 100)	/* that a fork may have to wait */
#define GOES_ON	(SECOND / 10)	/* how often that is asked */
#define PATIENCE	8u	/* ticks that an answer is waited for */

bool python_sampling;

static struct {
	uint32_t	hz;
	uint32_t	unanswered;	/* ticks */
	xsprof_name_t	missed;		/* of the category, as all samples are */
	pthread_t	thread;
	pid_t		tid;
	int		stop;		/* a futex */
	bool		runs;
	bool		mute;		/* it was told that there is no signal */
} ticker;

static struct python_reading reading;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* What a thread of this process has run: programs have no name for the number of its clock. */
static uint64_t cpu_ns(uint32_t tid)
{
	return clock_ns((clockid_t)(~tid << 3 | 6));
}

/* ---- what is recorded ------------------------------------------------------------------------ */

/* Names what is new. Return: the stack's id; 0: there are no frames. */
static uint32_t stack_of(struct python_reading *r, xsprof_name_t *name)
{
	/* What is left out is nothing that a name may be. */
	uint64_t frames[PYTHON_DEPTH], key = (r->left + 1ull) * 0x9e3779b97f4a7c15u;
	uint32_t n = 0, stack;

	for (uint32_t i = 0; i < r->nr; i++) {
		struct sampled_code *code = &r->code[i];

		if (!code->name && !code->hidden)
			python_code_name(code, r->at[i]);
		if (code->hidden)
			continue;
		frames[n++] = XSPROF_FRAME_NAMED | code->name;
		key = (key ^ code->name) * 0xd6e8feb86659fd93u;
		key ^= key >> 32;
	}
	if (!n)
		return 0;
	*name = (xsprof_name_t)frames[0];
	stack = python_user.stack_find(key);
	return stack ? stack : python_user.stack_add(key, frames, n, r->left);
}

static void missed(const struct python_entry *entry, uint32_t n)
{
	python_user.sample(ticker.missed, entry ? entry->tid : 0, n, XSPROF_SAMPLE_MISSED, 0);
}

/* Of a thread that has not got the lock. */
static uint32_t how(struct python_entry *entry, uint64_t now)
{
	uint64_t cpu = cpu_ns(entry->tid);
	bool ran = entry->at_ns && cpu - entry->cpu_ns > (now - entry->at_ns) / 2;

	entry->cpu_ns = cpu;
	entry->at_ns = now;
	if (__atomic_load_n(&entry->waits, __ATOMIC_RELAXED))
		return XSPROF_SAMPLE_LOCK;
	return ran ? XSPROF_SAMPLE_NATIVE : XSPROF_SAMPLE_OFF;
}

/* Return: false: it cannot be said where it is. */
static bool read_thread(struct python_entry *entry, uint32_t turn)
{
	void *state = __atomic_load_n(&entry->state, __ATOMIC_RELAXED);

	if (entry->seen == turn)
		return true;
	entry->seen = 1;
	if (!state) {
		entry->stack = 0;
		entry->seen = turn;
		return true;
	}
	if (python_late)
		python_seen_reads(entry);
	if (!python_read_frames(&reading, state))
		return false;
	/* Had it the lock meanwhile? */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!python_entry_stands(entry, turn, &reading))
		return false;
	entry->stack = stack_of(&reading, &entry->name);
	entry->line = reading.line;
	entry->seen = turn;
	return true;
}

static void look_at(struct python_entry *entry, uint64_t now)
{
	uint32_t turn = __atomic_load_n(&entry->turn, __ATOMIC_ACQUIRE);

	/* It is asked, or it has taken the lock just now. */
	if (turn & 1 || !entry->tid)
		return;
	if (!read_thread(entry, turn)) {
		/* One that has taken the lock since is the next one that is asked. */
		if (__atomic_load_n(&entry->turn, __ATOMIC_RELAXED) == turn)
			missed(entry, 1);
		return;
	}
	if (entry->stack)
		python_user.sample(entry->name, entry->tid, entry->stack, how(entry, now),
				   entry->line);
}

/* ---- the thread that has the lock ------------------------------------------------------------ */

static void ask(void)
{
	struct python_entry *entry = python_entry_holder();

	if (!entry)
		return;
	if (!python_ask_ready()) {
		if (!ticker.mute)
			collect_say("the program uses all signals by which a Python thread could "
				    "be asked where it is: threads are only sampled while they "
				    "wait");
		ticker.mute = true;
		missed(entry, 1);
		return;
	}
	ticker.unanswered = 0;
	if (!python_ask(entry))
		missed(entry, 1);
}

static void take_answer(uint64_t until)
{
	struct python_reading *r;
	struct python_entry *entry;
	xsprof_name_t name;
	uint32_t stack;

	if (!python_ask_pending())
		return;
	switch (python_ask_answer(until, &r, &entry)) {
	case PYTHON_ANSWER:
		stack = stack_of(r, &name);
		entry->cpu_ns = cpu_ns(entry->tid);
		entry->at_ns = clock_ns(CLOCK_MONOTONIC);
		/* Until it answered it did not run: so long it was where it is. */
		for (uint32_t i = 0; stack && i <= ticker.unanswered; i++)
			python_user.sample(name, entry->tid, stack, XSPROF_SAMPLE_RUNS, r->line);
		break;
	case PYTHON_ANSWER_BAD:
		missed(entry, ticker.unanswered + 1);
		break;
	case PYTHON_NO_ANSWER:
		break;
	}
}

static void tick(uint64_t now, uint64_t next)
{
	uint32_t nr;

	if (python_late)
		/* One that is asked keeps its entry until it has answered. */
		python_seen_look(python_ask_pending());
	nr = python_entries_nr();
	/* It may have come when it was not waited for any longer. */
	take_answer(0);
	if (!python_ask_pending()) {
		ask();
	} else if (++ticker.unanswered == PATIENCE && python_ask_cancel()) {
		/* It blocks the signal, or has ended. */
		missed(NULL, PATIENCE);
	}
	for (uint32_t i = 0; i < nr; i++)
		look_at(&python_entries[i], now);
	/* Being woken twice a tick is what costs most: where ticks are close the next takes it. */
	if (next - now > AT_ONCE)
		take_answer(next - now > LONGEST ? now + LONGEST : next);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void sleep_until(uint64_t at)
{
	const struct timespec until = { (time_t)(at / SECOND), (long)(at % SECOND) };

	while (!__atomic_load_n(&ticker.stop, __ATOMIC_ACQUIRE) && clock_ns(CLOCK_MONOTONIC) < at)
		syscall(SYS_futex, &ticker.stop, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &until,
			NULL, FUTEX_BITSET_MATCH_ANY);
}

static void ticks(bool (*goes_on)(void))
{
	uint64_t period = SECOND / ticker.hz, next = clock_ns(CLOCK_MONOTONIC), now, swept = next;
	/* A program that forks often begins this as often. */
	static uint64_t asked;
	uint32_t late;

	while (!__atomic_load_n(&ticker.stop, __ATOMIC_ACQUIRE)) {
		now = clock_ns(CLOCK_MONOTONIC);
		/* Ticks that were missed are not made up for: they would tell of one moment. */
		late = (uint32_t)((now - next) / period);
		next += (late + 1ull) * period;
		if (python_recorded() && !python.finalizing()) {
			if (late)
				missed(NULL, late);
			tick(now, next);
		}
		if (now - swept > SECOND && !python_late) {
			python_entries_sweep();
			swept = now;
		}
		if (goes_on && now - asked > GOES_ON) {
			if (!goes_on())
				break;
			asked = now;
		}
		sleep_until(next);
	}
}

static void *run(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "xsprof-python");
	__atomic_store_n(&ticker.tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	ticks(NULL);
	return NULL;
}

void python_tick_here(bool (*goes_on)(void))
{
	char hz[16];

	snprintf(hz, sizeof(hz), "%u", ticker.hz);
	(void)python_user.fact("python.hz", hz);
	ticks(goes_on);
	/* What was asked and has not been answered is not waited for. */
	for (uint32_t i = 0; python_ask_pending() && !python_ask_cancel() && i < PATIENCE; i++)
		sleep_until(clock_ns(CLOCK_MONOTONIC) + SECOND / 1000);
	ticker.unanswered = 0;
}

void python_tick_quit(void)
{
	__atomic_store_n(&ticker.stop, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &ticker.stop, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

void python_tick_init(uint32_t hz, int category)
{
	ticker.missed = python_user.name(category, "sample missed");
	ticker.hz = hz;
	ticker.stop = 0;
}

/* No lock of Python's is taken, nor is one needed by the new thread. */
static __attribute__((noinline)) void begin(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	char hz[16];
	int err;

	ticker.stop = 0;
	ticker.tid = 0;
	err = pthread_attr_init(&attr);
	if (!err) {
		sigfillset(&all);
		pthread_attr_setstacksize(&attr, STACK);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		err = pthread_create(&ticker.thread, &attr, run, NULL);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		pthread_attr_destroy(&attr);
	}
	if (err) {
		collect_say("no thread that looks where Python's are: %s: its frames are not "
			    "recorded", strerror(err));
		python_sampling = false;
		return;
	}
	snprintf(hz, sizeof(hz), "%u", ticker.hz);
	(void)python_user.fact("python.hz", hz);
	ticker.runs = true;
}

void python_tick_begin(void)
{
	if (__builtin_expect(!ticker.runs, 0) && python_sampling)
		begin();
}

void python_tick_stop(void)
{
	pid_t pid = getpid();

	if (!ticker.runs)
		return;
	__atomic_store_n(&ticker.stop, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &ticker.stop, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
	pthread_join(ticker.thread, NULL);
	/* Until then the kernel counts it among the threads. */
	for (int i = 0; i < 10000 && !syscall(SYS_tgkill, pid, ticker.tid, 0); i++)
		sched_yield();
	ticker.runs = false;
}

void python_tick_forked(void)
{
	ticker.runs = false;
	ticker.unanswered = 0;
}
