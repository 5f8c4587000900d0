// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The ticking thread: at each tick it asks the thread that holds the GIL, reads the frames of all
 * others, and records a sample of each. A thread that has not held the GIL since it was read is
 * still at the same place. What cannot be found out is recorded as missed: at each tick a thread
 * gets one sample or one missed sample, unless it has no frames.
 *
 * It runs while the process is recorded, and not across a fork: Python warns programs that fork
 * with more than one thread.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/common/say.h"
#include "collect/python/look.h"
#include "collect/python/native.h"
#include "collect/python/sample.h"

#define SECOND	1000000000ull
#define STACK	(256u << 10)
#define AT_ONCE	(SECOND / 250)	/* ns */
#define GOES_ON	(SECOND / 10)	/* interval of calls of @goes_on, and of looks for a recorder */
#define PATIENCE	8u	/* ticks to wait for an answer */
#define SHARE		20
#define SHARE_EVERY	(SECOND / 50)	/* ns: quick ticks are not measured more often */
#define CREDIT		((int64_t)SECOND / 20)

bool python_sampling;

static struct {
	uint32_t	hz;
	uint64_t	category;	/* its bit */
	pthread_t	thread;
	pid_t		tid;
	bool		stop;
	bool		mute;		/* the message "no free signal" was printed */
	bool		mute_crowd;	/* the message "too many threads" was printed */
	uint64_t	next;		/* time of the next tick, ns; 0: no tick yet */
	uint64_t	at;		/* when it is taken: later, after a rest */
	uint64_t	share_at;	/* time when @over was computed, ns; 0: never */
	uint64_t	share_cpu;	/* its CPU time then, ns */
	uint64_t	answers;	/* time that asked threads took since then, ns */
	int64_t		over;		/* CPU time above its share, ns; negative: below */
} ticker;

/* The asked thread, and since how many ticks. */
static struct {
	struct python_entry	*entry;
	uint32_t		tid;
	uint32_t		turn;
	uint32_t		ticks;
	uint64_t		cpu_ns;		/* its CPU time when it was asked */
	uint64_t		at_ns;		/* that time */
} asked;

/* ---- the thread that has the lock ------------------------------------------------------------ */

/* The asked thread has released the GIL, has ended, or does not answer. */
static void give_up(uint64_t now)
{
	struct python_entry *entry = asked.entry;
	uint32_t turn = __atomic_load_n(&entry->turn, __ATOMIC_ACQUIRE);

	/*
	 * It released the GIL once and has not taken it again: it was at this place all the time.
	 */
	if (entry->tid != asked.tid || turn != asked.turn + 1 ||
	    !python_look_at(entry, turn, asked.ticks, now, false))
		python_missed(asked.tid, asked.ticks);
}

/* Return: the thread whose share of this tick is done; NULL: no thread holds the GIL. */
static struct python_entry *ask(struct python_entry *entry, uint64_t now)
{
	uint32_t tid = entry ? __atomic_load_n(&entry->tid, __ATOMIC_ACQUIRE) : 0;
	uint64_t cpu;

	if (!tid)
		return NULL;
	if (python_look_waits(entry, tid, now, &cpu))
		return entry;
	if (!python_ask_ready()) {
		if (!ticker.mute)
			collect_say("the program uses all signals that could interrupt Python "
				    "threads: threads are only sampled while they wait");
		ticker.mute = true;
		python_missed(tid, 1);
		return entry;
	}
	asked.entry = entry;
	asked.tid = tid;
	asked.turn = __atomic_load_n(&entry->turn, __ATOMIC_ACQUIRE);
	asked.ticks = 1;
	asked.cpu_ns = cpu;
	asked.at_ns = now;
	if (!python_ask(entry, now, ticker.next - now > AT_ONCE))
		give_up(now);
	return entry;
}

/* Return: true if the answer is still awaited. */
static bool waits_on(uint64_t now)
{
	bool over = asked.entry->tid != asked.tid ||
		    !(__atomic_load_n(&asked.entry->turn, __ATOMIC_ACQUIRE) & 1) ||
		    asked.ticks >= PATIENCE;

	if (over && python_ask_cancel()) {
		give_up(now);
		return false;
	}
	python_ask_ticks(++asked.ticks);
	return true;
}

static void take_stack(const struct python_reply *reply)
{
	xsprof_name_t name = reply->name;
	uint32_t stack = reply->stack, unloads;
	const struct native_stack *native;

	asked.entry->cpu_ns = asked.cpu_ns;
	asked.entry->at_ns = asked.at_ns;
	if (!reply->recorded) {
		native = python_ask_native(&unloads);
		stack = python_stack_of(reply->reading, native, unloads, &name);
	}
	/* It did not run until it answered: it was at this place for all these ticks. */
	for (uint32_t i = reply->recorded; stack && i < asked.ticks; i++)
		python_user.sample(name, asked.tid, stack, XSPROF_SAMPLE_RUNS,
				   reply->reading->line);
}

static void take_answer(void)
{
	struct python_reply reply;
	enum python_answer answer = python_ask_answer(&reply);

	if (answer != PYTHON_NO_ANSWER)
		ticker.answers += reply.took_ns;
	switch (answer) {
	case PYTHON_ANSWER:
		take_stack(&reply);
		break;
	case PYTHON_ANSWER_BAD:
		python_missed(asked.tid, asked.ticks);
		break;
	case PYTHON_ANSWER_LEFT:
		give_up(xsp_clock_ns(CLOCK_MONOTONIC));
		break;
	case PYTHON_NO_ANSWER:
		break;
	}
}

/*
 * Handles a thread that took the GIL during this tick: it is asked if no other was, else missed;
 * one that held the GIL while it was read is read again, once. @done: the thread already handled.
 */
static struct python_entry *look(struct python_entry *entry, struct python_entry *done,
				 uint64_t now)
{
	uint32_t turn;

	for (int i = 0; entry->tid && entry != done && i < 2; i++) {
		turn = __atomic_load_n(&entry->turn, __ATOMIC_ACQUIRE);
		if (python_look_at(entry, turn, 1, now, ticker.next - now > AT_ONCE))
			return done;
		if (!done && python_entry_holder() == entry)
			done = ask(entry, now);
	}
	if (entry->tid && entry != done)
		python_missed(entry->tid, 1);
	return done;
}

static void tick(uint64_t now)
{
	struct python_entry *done;
	uint32_t nr;

	if (python_late)
		/* An asked thread keeps its entry until it has answered. */
		python_seen_look(python_ask_pending());
	nr = python_entries_nr();
	take_answer();
	python_outside_tick();
	python_outside_take(PATIENCE);
	done = python_ask_pending() && waits_on(now) ? asked.entry :
							   ask(python_entry_holder(), now);
	for (uint32_t i = 0; i < nr; i++)
		done = look(&python_entries[i], done, now);
	python_tasks_look(now);
	if (python_crowded && !ticker.mute_crowd) {
		ticker.mute_crowd = true;
		collect_say("Python has more than %u threads: of the others, only the one that "
			    "holds the GIL is sampled", PYTHON_THREADS);
	}
}

/* ---- its life -------------------------------------------------------------------------------- */

/* Counts what this thread, and those that answered, took since that was last counted. */
static void count_share(uint64_t now)
{
	uint64_t cpu = xsp_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	ticker.over += (int64_t)(cpu - ticker.share_cpu + ticker.answers) -
		       (int64_t)((now - ticker.share_at) / SHARE);
	if (ticker.over < -CREDIT)
		ticker.over = -CREDIT;
	ticker.share_at = now;
	ticker.share_cpu = cpu;
	ticker.answers = 0;
}

/*
 * Ticks, with the answers of the asked threads, take at most one SHAREth of a CPU in the long run,
 * however many threads there are and however deep their stacks, and CREDIT ns more at once: the
 * first ones find the names of functions. Return: how long the next tick has to wait for that, ns.
 */
static uint64_t wait_for_share(uint64_t now)
{
	uint64_t took = xsp_clock_ns(CLOCK_MONOTONIC) - now;

	/* Reading the CPU time is a system call. */
	if (now - ticker.share_at >= SHARE_EVERY || took >= SECOND / ticker.hz / SHARE)
		count_share(now);
	return ticker.over > 0 ? (uint64_t)ticker.over * SHARE : 0;
}

/* Waking up costs most: at short periods an answer is left to the next tick. */
static void sleep_until(uint64_t at)
{
	while (!__atomic_load_n(&ticker.stop, __ATOMIC_ACQUIRE) &&
	       xsp_clock_ns(CLOCK_MONOTONIC) < at) {
		python_ask_sleep(at);
		take_answer();
		python_outside_take(PATIENCE);
	}
}

static void stop(void)
{
	__atomic_store_n(&ticker.stop, true, __ATOMIC_RELEASE);
	python_ask_wake();
}

/* Samples are of one category, which may be off. */
static bool wanted(void)
{
	return __atomic_load_n(&python_user.page->ctl.enabled, __ATOMIC_RELAXED) & ticker.category;
}

static void ticks(bool (*goes_on)(void))
{
	uint64_t period = SECOND / ticker.hz, now, wait, swept = xsp_clock_ns(CLOCK_MONOTONIC);
	/* Ticks during forks count as missed. */
	uint64_t next = ticker.next ? ticker.next : swept;
	/* A rest that a fork interrupted goes on. */
	uint64_t at = ticker.at > next ? ticker.at : next;
	/* static: a program that forks often calls this as often. */
	static uint64_t asked_at;
	bool recorded = wanted(), was_recorded;
	uint32_t late;

	/* Another thread's CPU time than before a fork, or in the last recording. */
	ticker.share_cpu = xsp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!ticker.share_at)
		ticker.share_at = swept;

	while (!__atomic_load_n(&ticker.stop, __ATOMIC_ACQUIRE)) {
		now = xsp_clock_ns(CLOCK_MONOTONIC);
		if (goes_on && now - asked_at > GOES_ON) {
			if (!goes_on()) {
				if (recorded && at > next && now >= next)
					python_missed(0, (uint32_t)(((now < at ? now : at - 1) -
								     next) / period) + 1);
				break;
			}
			asked_at = now;
		}
		if (now < at) {
			sleep_until(goes_on && at - now > GOES_ON ? now + GOES_ON : at);
			continue;
		}
		if (sample_peek_refused()) {
			collect_say("process_vm_readv() now fails: %s: Python frames are no longer "
				    "recorded",
				    strerror(sample_peek_refused()));
			python_sampling = false;
			break;
		}
		was_recorded = recorded;
		recorded = wanted();
		/* Missed ticks are not made up for: all would sample the same moment. */
		late = (uint32_t)((now - next) / period);
		if (recorded)
			next += (late + 1ull) * period;
		else	/* The program shall not pay for ticks: the recording may be over. */
			next = now + (period > GOES_ON ? period : GOES_ON);
		ticker.next = next;
		if (recorded && !python.finalizing()) {
			/* Since when it is recorded again is unknown. */
			if (late && was_recorded)
				python_missed(0, late);
			tick(now);
		}
		if (now - swept > SECOND && !python_late) {
			python_entries_sweep();
			swept = now;
		}
		wait = wait_for_share(now);
		/* Ticks in this time count as missed. */
		at = next + wait / period * period;
		ticker.at = at;
	}
	count_share(xsp_clock_ns(CLOCK_MONOTONIC));
	python_outside_take(0);
}

static void *run(void *unused)
{
	(void)unused;
	python_ticker_begins(ticker.hz);
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
	/* A fork ends the thread for a while. */
	if (!__atomic_load_n(&ticker.stop, __ATOMIC_ACQUIRE))
		ticker.next = ticker.at = 0;
	take_answer();
	/* An unanswered question is given up, unless the thread is just answering. */
	if (python_ask_cancel())
		python_missed(asked.tid, asked.ticks);
	for (uint32_t i = 0; python_ask_pending() && i < PATIENCE; i++) {
		python_ask_sleep(xsp_clock_ns(CLOCK_MONOTONIC) + SECOND / 1000);
		take_answer();
	}
}

void python_tick_quit(void)
{
	stop();
}

void python_tick_init(uint32_t hz, int category)
{
	python_look_init(category);
	ticker.hz = hz;
	ticker.category = 1ull << category;
	ticker.stop = false;
	python_vm_exit_init();
	if (python_native)
		python_ask_more = python_outside_answer;
}

bool python_ticker_make(void)
{
	char hz[16];
	int err;

	ticker.stop = false;
	ticker.tid = 0;
	err = python_thread_make(&ticker.thread, STACK, run, NULL);
	if (err) {
		collect_say("no sampling thread: %s: Python's frames are not "
			    "recorded", strerror(err));
		python_sampling = false;
		return false;
	}
	snprintf(hz, sizeof(hz), "%u", ticker.hz);
	(void)python_user.fact("python.hz", hz);
	return true;
}

void python_ticker_end(void)
{
	pid_t pid = getpid();

	stop();
	pthread_join(ticker.thread, NULL);
	/* Wait until the kernel no longer counts it as a thread of the process. */
	for (int i = 0; i < 10000 && !syscall(SYS_tgkill, pid, ticker.tid, 0); i++)
		sched_yield();
}

void python_tick_forked(void)
{
	ticker.next = ticker.at = 0;
	ticker.mute_crowd = false;
}
