// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The thread that holds the GIL reads its own frames, in the handler of a signal sent to it alone:
 * only this thread can read them while they do not change.
 *
 * The signal is one whose default action is to be ignored. Any other, sent while the program calls
 * execve(), would end the new program: pending signals outlive handlers, and blocked ones stay
 * pending for the new program. So no signal is sent to a thread that blocks it according to /proc,
 * which is read again when the thread has changed its mask (hooks.c), and a while after it last
 * answered, as masks are changed in other ways too. The thread may still block it in between.
 * Without /proc, one signal is sent, and the next after it was handled, or after a second.
 *
 * One question is open at a time. The thread that answers takes the question first, so that a
 * question given up is never answered.
 *
 * If the stack was recorded before, as most were, the asked thread records its sample itself: the
 * sample has the time at which it was taken, and the ticking thread need not wake up for it.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/python/native.h"
#include "collect/python/own-time.h"
#include "collect/python/sample.h"

enum { IDLE, ASKED, BUSY, GOOD, RECORDED, BAD, NONE, LEFT };

/* ns between reads of a thread's signals in /proc; of one that is free, and tells of changes. */
#define LOOKS		4000000ull
#define LOOKS_FREE	100000000ull
#define FORGOTTEN	1000000000ull	/* ns: a signal sent before is no longer pending */
#define FIXED		8u		/* an answer without frames takes as long as these */
#define HANDLER_STACK	8192u		/* of a handler, to what it has been given */

static struct {
	int			is;
	struct python_entry	*entry;
	struct python_reading	reading;
	struct native_stack	native;
	uint32_t		unloads;	/* unloads when rules were read */
	uint32_t		ticks;		/* since the question was asked */
	bool			at_once;	/* wake the ticking thread for it */
	struct python_reply	reply;
} question;

void (*python_ask_more)(const struct python_entry *entry, const void *context);

static int woken;	/* a futex: 1: the ticking thread has work to do */

static const int candidates[] = { SIGURG, SIGWINCH };
static int number;	/* the signal; 0: none chosen */
static struct sigaction before;	/* its action before */

static void futex(int op, int value, const struct timespec *until)
{
	syscall(SYS_futex, &woken, op | FUTEX_PRIVATE_FLAG, value, until, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

/* ---- in the thread that is asked ------------------------------------------------------------- */

/* Return: NONE: the thread has no frames; LEFT: it no longer holds the GIL. */
static int answer(struct python_entry *entry)
{
	/* No state is current while Python takes or releases the GIL. */
	void *state = python.finalizing() ? NULL : python.current_state();

	if (!state && python.this_state())
		state = entry->state;
	if (state && !python_entry_holds(entry, state))
		return LEFT;
	if (!state)
		return NONE;
	return python_read_frames(&question.reading, state) ? GOOD : BAD;
}

/* Records the sample if its stack is known. Return: false: the ticking thread has to. */
static bool record(struct python_reply *reply, uint32_t tid)
{
	uint32_t ticks = __atomic_load_n(&question.ticks, __ATOMIC_RELAXED);

	reply->stack = python_stack_known(&question.reading, &reply->name);
	if (!reply->stack)
		return false;
	for (uint32_t i = 0; i < ticks; i++)
		python_user.sample(reply->name, tid, reply->stack, XSPROF_SAMPLE_RUNS,
				   question.reading.line);
	reply->recorded = ticks;
	return true;
}

/* Return: the time of the answer, ns. */
static uint64_t own_time(uint64_t elapsed, bool answered)
{
	const struct python_reading *r = &question.reading;
	uint32_t nr = r->nr + r->left + r->bares + question.native.nr;
	static uint64_t least_ns;

	/* Of another it is not known how many it read. */
	return python_own_time(&least_ns, elapsed, answered ? nr : 0,
			       answered ? FIXED : FIXED + PYTHON_DEPTH) + python_vm_exit_ns();
}

/*
 * Programs call the handler that was there before theirs, and not all pass on what the kernel gave
 * them. The kernel puts it on the stack that the handler runs on.
 */
static bool is_of_kernel(const void *argument)
{
	return (uintptr_t)argument - (uintptr_t)__builtin_frame_address(0) < HANDLER_STACK;
}

static void asked(int sig, siginfo_t *info, void *context)
{
	struct python_entry *entry = python_entry_own();
	int saved = errno, is = ASKED;
	uint64_t begin;
	bool wake;

	(void)sig;
	if (!is_of_kernel(info) || !is_of_kernel(context))
		return;
	/*
	 * At the limit of pending signals (RLIMIT_SIGPENDING) siginfo does not contain the sender.
	 */
	if (!entry || (info->si_code != SI_TKILL && (info->si_code != SI_USER || info->si_pid)))
		return;
	__atomic_store_n(&entry->asked, false, __ATOMIC_RELAXED);
	if (__atomic_load_n(&question.entry, __ATOMIC_RELAXED) == entry &&
	    __atomic_compare_exchange_n(&question.is, &is, BUSY, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
		begin = xsp_clock_ns(CLOCK_MONOTONIC);
		is = answer(entry);
		question.native.nr = 0;
		question.reply.recorded = 0;
		if (is == GOOD && python_native)
			python_native_walk(&question.native, context, question.unloads);
		else if (is == GOOD && record(&question.reply, entry->tid))
			is = RECORDED;
		/* After the store below the question may be a new one. */
		wake = question.at_once && is != RECORDED;
		question.reply.took_ns = own_time(xsp_clock_ns(CLOCK_MONOTONIC) - begin,
						  is == GOOD || is == RECORDED);
		/* Release: a thread that sees the answer also sees what was read. */
		__atomic_store_n(&question.is, is, __ATOMIC_RELEASE);
		if (wake)
			python_ask_wake();
	}
	if (python_ask_more)
		python_ask_more(entry, context);
	python_vm_exit();
	errno = saved;
}

/* ---- the signal ------------------------------------------------------------------------------ */

static bool has_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == asked;
}

static bool has_none(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) &&
	       (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN);
}

static bool is_ours(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && has_ours(&now);
}

/* If the program installs a handler at the same time, the program keeps the signal. */
static bool take(int sig, const struct sigaction *action)
{
	struct sigaction now;

	if (sigaction(sig, NULL, &now) || !has_none(&now) || sigaction(sig, action, &before))
		return false;
	if (has_none(&before))
		return true;
	(void)sigaction(sig, &before, NULL);
	return false;
}

/* What is known of threads is of another signal. */
static void look_again(void)
{
	uint32_t nr = python_entries_nr();

	for (uint32_t i = 0; i < nr; i++)
		__atomic_store_n(&python_entries[i].masked, true, __ATOMIC_RELAXED);
}

bool python_ask_ready(void)
{
	/*
	 * Use the alternate stack if the thread has one: threads with small stacks, as in Go, have
	 * one.
	 */
	struct sigaction action = {
		.sa_sigaction = asked, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK,
	};

	int before_it = number;

	/* Only if the program has not installed a handler since. */
	if (number && is_ours(number))
		return true;
	number = 0;
	/*
	 * A handler of the program that interrupts ours may longjmp() out of it, and no answer
	 * would come.
	 */
	python_signals_of_others(&action.sa_mask);
	for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]) && !number; i++)
		if (is_ours(candidates[i]) || take(candidates[i], &action))
			number = candidates[i];
	if (before_it && number && number != before_it)
		look_again();
	return number;
}

void python_ask_end(void)
{
	struct sigaction now;

	if (number && is_ours(number) && !sigaction(number, &before, &now) && !has_ours(&now))
		(void)sigaction(number, &now, NULL);
	number = 0;
}

/* ---- who asks -------------------------------------------------------------------------------- */

static enum python_signal look(struct python_entry *entry, bool asked_before, uint64_t now)
{
	/* Acquire: pairs with the release in python_thread_masks(). */
	bool masked = __atomic_exchange_n(&entry->masked, false, __ATOMIC_ACQUIRE), free;

	if (entry->told)
		entry->signal = entry->blocked >> (number - 1) & 1 ? PYTHON_SIGNAL_BLOCKED :
				PYTHON_SIGNAL_FREE;
	entry->told = false;
	/* It has answered: it did not block the signal then. */
	if (!asked_before && entry->signal == PYTHON_SIGNAL_FREE &&
	    entry->sent_ns > entry->signal_ns)
		entry->signal_ns = entry->sent_ns;
	free = entry->signal == PYTHON_SIGNAL_FREE && !python_late;
	/* Reading /proc costs a third of a tick. */
	if (asked_before || masked || now - entry->signal_ns >= (free ? LOOKS_FREE : LOOKS)) {
		entry->signal = python_signal_of(entry->tid, number);
		entry->signal_ns = now;
	}
	return entry->signal;
}

bool python_ask_may(struct python_entry *entry, uint64_t now)
{
	/* If still set, another thread may have taken the signal, or it was discarded. */
	bool asked_before = __atomic_load_n(&entry->asked, __ATOMIC_RELAXED);
	enum python_signal is = look(entry, asked_before, now);

	return is != PYTHON_SIGNAL_BLOCKED &&
	       !__atomic_load_n(&entry->small, __ATOMIC_RELAXED) &&
	       !(is == PYTHON_SIGNAL_UNKNOWN && asked_before && now - entry->sent_ns < FORGOTTEN);
}

bool python_ask_send(struct python_entry *entry, uint64_t now)
{
	entry->sent_ns = now;
	__atomic_store_n(&entry->asked, true, __ATOMIC_RELAXED);
	if (!syscall(SYS_tgkill, sample_pid(), entry->tid, number))
		return true;
	__atomic_store_n(&entry->asked, false, __ATOMIC_RELAXED);
	return false;
}

bool python_ask(struct python_entry *entry, uint64_t now, bool at_once)
{
	/*
	 * It may have released the GIL meanwhile: a system call that it waits in would return
	 * EINTR.
	 */
	if (!python_ask_may(entry, now) || python_entry_holder() != entry)
		return false;
	question.unloads = python_native_unloads();
	question.at_once = at_once;
	__atomic_store_n(&question.ticks, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&question.entry, entry, __ATOMIC_RELAXED);
	/* Release: the answering thread sees who is asked. */
	__atomic_store_n(&question.is, ASKED, __ATOMIC_RELEASE);
	if (python_ask_send(entry, now))
		return true;
	__atomic_store_n(&question.is, IDLE, __ATOMIC_RELAXED);
	return false;
}

bool python_ask_pending(void)
{
	return __atomic_load_n(&question.is, __ATOMIC_RELAXED) != IDLE;
}

void python_ask_ticks(uint32_t ticks)
{
	__atomic_store_n(&question.ticks, ticks, __ATOMIC_RELAXED);
}

enum python_answer python_ask_answer(struct python_reply *reply)
{
	int is = __atomic_load_n(&question.is, __ATOMIC_ACQUIRE);

	if (is == IDLE || is == ASKED || is == BUSY)
		return PYTHON_NO_ANSWER;
	*reply = question.reply;
	reply->reading = &question.reading;
	/* The answer's data stays valid until the next question. */
	__atomic_store_n(&question.is, IDLE, __ATOMIC_RELAXED);
	return is == GOOD || is == RECORDED ? PYTHON_ANSWER : is == BAD ? PYTHON_ANSWER_BAD :
	       is == LEFT ? PYTHON_ANSWER_LEFT : PYTHON_NO_ANSWER;
}

void python_ask_sleep(uint64_t until)
{
	const struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

	/* Acquire: pairs with the release in python_ask_wake(). */
	if (!__atomic_exchange_n(&woken, 0, __ATOMIC_ACQUIRE))
		futex(FUTEX_WAIT_BITSET, 0, &at);
}

void python_ask_wake(void)
{
	/* Release: the woken thread sees the reason. A sleep that has yet to begin ends at once. */
	__atomic_store_n(&woken, 1, __ATOMIC_RELEASE);
	futex(FUTEX_WAKE, 1, NULL);
}

const struct native_stack *python_ask_native(uint32_t *unloads)
{
	*unloads = question.unloads;
	/*
	 * If code was unloaded meanwhile, the frames may have been walked by rules of other code.
	 */
	return question.native.nr && python_native_unloads() == *unloads ? &question.native : NULL;
}

bool python_ask_cancel(void)
{
	int is = ASKED;

	return __atomic_compare_exchange_n(&question.is, &is, IDLE, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

void python_ask_keep(sigset_t *set)
{
	if (number && is_ours(number))
		sigdelset(set, number);
}

void python_ask_forked(void)
{
	question.is = IDLE;
}
