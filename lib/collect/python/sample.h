/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Sampling of Python's threads, about 100 times a second.
 *
 * start.c starts it; a thread of the library ticks (tick.c), but not across forks (forks.c). The
 * thread that holds the GIL changes its frames, so it is asked by a signal, unless it blocks that
 * signal (signal.c), and reads them itself (ask.c). All other threads cannot change theirs until
 * they take the GIL, which threads.c counts: their frames are read from outside. In both cases
 * frames.c walks the frames, sample-code.c names their code, text.c and lines.c read strings and
 * line numbers. All of Python's memory is read with a system call, which fails on unmapped
 * addresses (memory.c).
 */
#ifndef XSP_PYTHON_SAMPLE_H
#define XSP_PYTHON_SAMPLE_H

#include <signal.h>
#include <sys/uio.h>

#include "collect/common/native.h"
#include "collect/common/python-layout.h"
#include "collect/python/local.h"
#include "collect/python/reading.h"
#include "collect/python/tasks.h"

/* ---- threads.c: which there are -------------------------------------------------------------- */

/* Of further threads only the GIL's holder is sampled. */
#define PYTHON_THREADS	1024u

/* State of a signal of a thread, as the kernel reports it. */
enum python_signal { PYTHON_SIGNAL_UNKNOWN, PYTHON_SIGNAL_FREE, PYTHON_SIGNAL_PENDING,
		     PYTHON_SIGNAL_BLOCKED };

/* RUNS: on a CPU, or it waits for one. WAITS: in the kernel. UNKNOWN: the kernel does not tell. */
enum python_place { PYTHON_PLACE_UNKNOWN, PYTHON_RUNS, PYTHON_WAITS };

/**
 * struct python_entry - a thread that has held the GIL
 * @tid: its id; 0: free slot
 * @turn: incremented when it takes and when it releases the GIL: odd: it holds it
 * @state: its Python thread state when it last took or released the GIL; NULL: none
 * @waits: it waits for the GIL
 * @asked: a signal to it is pending
 * @masked: it has changed its signal mask since @signal was read
 * @tell: when it takes the GIL it is to set the next three
 * @took: its turn then
 * @took_ns: the time then
 * @took_cpu_ns: its CPU time then
 * @small: its alternate stack has no room for our handler
 * @told: @blocked is its mask at @signal_ns, and @signal is not known yet
 * @blocked: that mask; bit n - 1: signal n
 * @signal: state of our signal when last read; used by ask.c, like the next two
 * @signal_ns: time of that
 * @sent_ns: time when a signal was last sent
 * @seen: @turn at which it was last read, 1: not read; used by tick.c, like those that follow
 * @name: name of its innermost function at that time
 * @stack: its stack id; 0: it had no frames
 * @line: line in that function
 * @cpu_ns: its CPU time at the last tick, or when it first took the GIL
 * @at_ns: time of that; 0: never
 * @voluntary: how often it had waited when outside.c last looked; 0: unknown
 * @held: its turn when it last held the GIL at a tick
 * @asleep_ns: its CPU time when asleep.c last looked; 0: never
 * @place: where it was then
 * @asleep: its stack then; 0: not read, or it has no frames
 * @unread: it could not be read
 */
struct python_entry {
	uint32_t	tid;
	uint32_t	turn;
	void		*state;
	bool		waits;
	bool		asked;
	bool		masked;
	bool		small;
	bool		told;
	bool		tell;
	uint32_t	took;
	uint64_t	took_ns;
	uint64_t	took_cpu_ns;
	uint64_t	blocked;
	enum python_signal signal;
	uint64_t	signal_ns;
	uint64_t	sent_ns;
	uint32_t	seen;
	xsprof_name_t	name;
	uint32_t	stack;
	uint32_t	line;
	uint64_t	cpu_ns;
	uint64_t	at_ns;
	uint64_t	voluntary;
	uint32_t	held;
	uint64_t	asleep_ns;
	enum python_place place;
	uint32_t	asleep;
	bool		unread;
};

extern struct python_entry python_entries[PYTHON_THREADS];
/* There were more threads than entries. */
extern bool python_crowded;

/* Number of slots used so far. */
uint32_t python_entries_nr(void);
/* The calling thread's entry; NULL: none. */
struct python_entry *python_thread_own(void);
/* The entry of the thread that holds the GIL; NULL: no holder, or no entry. */
struct python_entry *python_thread_holder(void);
/* Has the thread ended, according to the kernel? */
bool python_thread_ended(uint32_t tid);
/* Frees the entries of threads that have ended. */
void python_entries_sweep(void);
void python_threads_forked(void);
/* The entry of a thread, created if needed; only one thread calls it. Return: NULL: no room. */
struct python_entry *python_entry_of(uint32_t tid);

/* ---- entry.c: of threads, by whichever way --------------------------------------------------- */

/* As python_thread_own() and python_thread_holder(), also for seen.c. */
struct python_entry *python_entry_own(void);
struct python_entry *python_entry_holder(void);
/* Has a thread that was read not held the GIL since @turn, as far as can be known? */
bool python_entry_stands(const struct python_entry *entry, uint32_t turn,
			 const struct python_reading *reading);
/* Does the calling thread, with that state, hold the GIL? */
bool python_entry_holds(const struct python_entry *entry, const void *state);
/*
 * Reads the frames of a thread that has not held the GIL since @turn. *@stack: their stack id, with
 * @native among them unless it is NULL (@unloads belongs to it); 0: there are none. Called by one
 * thread. Return: false: they cannot be read.
 */
bool python_entry_read(struct python_entry *entry, uint32_t turn, struct python_reading *reading,
		       const struct native_stack *native, uint32_t unloads, xsprof_name_t *name,
		       uint32_t *stack);

/* ---- seen.c: the same where nobody says when a thread takes the lock ------------------------- */

/* Called with the GIL. Return: false: Python's memory does not look as expected. */
bool python_seen_find(void);
/* Reads the list of threads and the GIL's holder. @keep: keep the entries of ended threads. */
void python_seen_look(bool keep);
/* Forgets all threads. */
void python_seen_forget(void);
struct python_entry *python_seen_own(void);
struct python_entry *python_seen_holder(void);
/* Called before a thread is read; and after: is what was read consistent? */
void python_seen_reads(const struct python_entry *entry);
bool python_seen_stands(const struct python_entry *entry, const struct python_reading *reading);
bool python_seen_holds(const void *state);

/* ---- memory.c: what may not be there --------------------------------------------------------- */

/* Return: false: some of the memory cannot be read. Signal-safe. */
bool sample_peek(void *to, const void *from, size_t len);
/* The same for @n places with @len bytes in all. */
bool sample_peek_many(const struct iovec *to, const struct iovec *from, size_t n, size_t len);
/* The same up to the first place that cannot be read as a whole. Return: bytes read. */
size_t sample_peek_some(const struct iovec *to, const struct iovec *from, size_t n);
/* The process's id. */
pid_t sample_pid(void);
/* In a forked child: the process id has changed. */
void sample_peek_forked(void);
/* Return: the errno with which the system call was refused; 0: it was not refused. */
int sample_peek_refused(void);

/* ---- stacks.c: stacks of samples ------------------------------------------------------------- */

/*
 * @native: the thread's native frames, NULL: unknown; @unloads: the number with which they were
 *	walked. *@name is set to the innermost Python function.
 *
 * Return: the stack's id; 0: there are no frames.
 */
uint32_t python_stack_of(struct python_reading *reading, const struct native_stack *native,
			 uint32_t unloads, xsprof_name_t *name);
/*
 * The id of a stack without native frames that was recorded before. Called by one thread at a time.
 * Return: 0: it was not. Signal-safe.
 */
uint32_t python_stack_known(const struct python_reading *reading, xsprof_name_t *name);

/* ---- ask.c: the thread that has the lock looks itself ---------------------------------------- */

/* LEFT: the thread no longer holds the GIL. */
enum python_answer { PYTHON_NO_ANSWER, PYTHON_ANSWER, PYTHON_ANSWER_BAD, PYTHON_ANSWER_LEFT };

/**
 * struct python_reply - an answer
 * @reading: the frames
 * @recorded: number of ticks for which the asked thread has recorded samples itself
 * @stack: stack id of these samples
 * @name: name of these samples
 * @took_ns: how long the asked thread was busy with it
 */
struct python_reply {
	struct python_reading	*reading;
	uint32_t		recorded;
	uint32_t		stack;
	xsprof_name_t		name;
	uint64_t		took_ns;
};

/* Called in the handler for every thread; NULL: nothing. Set before the first signal. */
extern void (*python_ask_more)(const struct python_entry *entry, const void *context);
/* Is there a signal that the program does not use? Chooses one if needed. */
bool python_ask_ready(void);
/*
 * Asks a thread. @now: CLOCK_MONOTONIC, ns. @at_once: python_ask_sleep() returns as soon as an
 * answer comes that the caller has to record. Return: false: it cannot be asked.
 */
bool python_ask(struct python_entry *entry, uint64_t now, bool at_once);
/* Can the thread be asked, by what is known of its signals? python_ask_ready() was called. */
bool python_ask_may(struct python_entry *entry, uint64_t now);
/* Sends it the signal. Return: false: it has ended. */
bool python_ask_send(struct python_entry *entry, uint64_t now);
/* Sets the number of ticks since the question: the samples that its answer stands for. */
void python_ask_ticks(uint32_t ticks);
/* Has an asked thread not answered yet? */
bool python_ask_pending(void);
/* Takes the answer if there is one. *@reply is valid until the next question. */
enum python_answer python_ask_answer(struct python_reply *reply);
/* Sleeps until @until (CLOCK_MONOTONIC, ns), an answer that is waited for, or python_ask_wake(). */
void python_ask_sleep(uint64_t until);
/* Signal-safe. */
void python_ask_wake(void);
/*
 * The native frames of that answer; NULL: none. @unloads: the number with which they were walked.
 */
const struct native_stack *python_ask_native(uint32_t *unloads);
/* Gives the question up. Return: false: the thread is just answering. */
bool python_ask_cancel(void);
/* Restores the signal's action. */
void python_ask_end(void);
void python_ask_forked(void);
/* Removes our signal from a set to be blocked. */
void python_ask_keep(sigset_t *set);

/* ---- signal.c: what the kernel says, and is told --------------------------------------------- */

enum python_signal python_signal_of(uint32_t tid, int number);
/* How often the thread has left its CPU of its own accord, plus 1. Return: 0: unknown. */
uint64_t python_waits_of(uint32_t tid);
/* Its CPU time, ns. Return: 0: the thread does not exist, or the kernel does not tell. */
uint64_t python_cpu_of(uint32_t tid);
/*
 * All signals except those that a thread raises synchronously: blocking such a signal kills the
 * program even if it has a handler, as for seccomp filters (SIGSYS).
 */
void python_signals_of_others(sigset_t *set);
/* Is it an alternate stack on which our handler has no room? */
bool python_stack_is_small(const stack_t *stack);

/* ---- vm-exit.c: the end of a handler --------------------------------------------------------- */

/* Finds out whether python_vm_exit() has to do anything on this machine. */
void python_vm_exit_init(void);
/* How long python_vm_exit() takes, ns. */
uint64_t python_vm_exit_ns(void);
/* The end of a handler: the interrupted code runs as fast as before. Signal-safe. */
void python_vm_exit(void);

/* ---- thread.c: threads of ours -------------------------------------------------------------- */

/* @stack: stack size in bytes without thread-local data. Return: 0 or an errno. */
int python_thread_make(pthread_t *thread, size_t stack, void *(*run)(void *), void *arg);
/*
 * The calling thread is one that ticks: sets its name, and for short periods, from Linux 6.12 on, a
 * short slice. With it the thread runs when it wakes up: not after another's slice, some ticks
 * later.
 */
void python_ticker_begins(uint32_t hz);

/**
 * struct python_calm - state of a thread of the program before python_calm()
 * @signals: that it blocked
 * @cancel: whether it could be cancelled
 */
struct python_calm {
	sigset_t	signals;
	int		cancel;
};

/*
 * Until python_calm_end() the calling thread is not cancelled and runs no handler but ours: while
 * it waits for a thread of ours, a handler that forks would wait for the thread it interrupted.
 */
void python_calm(struct python_calm *calm);
void python_calm_end(const struct python_calm *calm);

/* ---- tick.c: the thread that looks ----------------------------------------------------------- */

#define PYTHON_HZ_MAX	1000u

void python_tick_init(uint32_t hz, int category);
/* For forks.c: creates the ticking thread. Return: false: the user has been told. */
bool python_ticker_make(void);
/* For forks.c: ends it. */
void python_ticker_end(void);
/* In a forked child. */
void python_tick_forked(void);
/* Ticks in the calling thread until @goes_on, called several times a second, returns false. */
void python_tick_here(bool (*goes_on)(void));
/* Ends the thread, now or when it starts; does not wait for that. */
void python_tick_quit(void);

/* ---- forks.c: when it does ------------------------------------------------------------------- */

/* Lets the calling process have the thread. */
void python_ticker_own(void);
/* Starts the thread if it does not run. */
void python_tick_begin(void);
/* Before a fork: ends the thread, which cannot start until all forks are over. */
void python_tick_stop(void);
/* In the parent of a fork. */
void python_tick_forked_parent(void);

#endif /* XSP_PYTHON_SAMPLE_H */
