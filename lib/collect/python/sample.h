/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Where Python's threads are, looked at some 100 times a second.
 *
 * start.c begins it, a thread of the library's ticks (tick.c), though not across forks (forks.c).
 * The thread that has the lock changes its frames: it is asked by a signal, unless it blocks that
 * (signal.c), and looks itself (ask.c). All others cannot change theirs as
 * long as they have not taken the lock, which threads.c counts: those are read from outside. Either
 * way frames.c walks, sample-code.c knows what a code is called, text.c and lines.c read strings
 * and line numbers. All memory of Python's is read by a call that fails where there is none
 * (memory.c).
 */
#ifndef XSP_PYTHON_SAMPLE_H
#define XSP_PYTHON_SAMPLE_H

#include <signal.h>
#include <sys/uio.h>

#include "collect/common/native.h"
#include "collect/common/python-layout.h"
#include "collect/python/local.h"

/* ---- threads.c: which there are -------------------------------------------------------------- */

/* Of more only the one that has the lock is looked at. */
#define PYTHON_THREADS	1024u

/* What the kernel says of a signal of a thread's. */
enum python_signal { PYTHON_SIGNAL_UNKNOWN, PYTHON_SIGNAL_FREE, PYTHON_SIGNAL_PENDING,
		     PYTHON_SIGNAL_BLOCKED };

/**
 * struct python_entry - a thread that has had the lock
 * @tid: its id; 0: a free place
 * @turn: raised when it takes the lock, and when it leaves it: odd: it has it
 * @state: Python's state of it when it took or left the lock; NULL: it had none
 * @waits: for the lock
 * @asked: a signal is on its way to it
 * @signal: of ours, as last seen; this and what follows is ask.c's
 * @signal_ns: when that was
 * @sent_ns: when one was sent last
 * @seen: the turn at which it was read, 1: it was not; this and what follows is tick.c's
 * @name: of its innermost function then
 * @stack: its id; 0: it had no frames
 * @line: of that function
 * @cpu_ns: its CPU time at the last tick
 * @at_ns: when that was
 */
struct python_entry {
	uint32_t	tid;
	uint32_t	turn;
	void		*state;
	bool		waits;
	bool		asked;
	enum python_signal signal;
	uint64_t	signal_ns;
	uint64_t	sent_ns;
	uint32_t	seen;
	xsprof_name_t	name;
	uint32_t	stack;
	uint32_t	line;
	uint64_t	cpu_ns;
	uint64_t	at_ns;
};

extern struct python_entry python_entries[PYTHON_THREADS];
/* There are more threads than that, or were. */
extern bool python_crowded;

/* How many places are used, or were. */
uint32_t python_entries_nr(void);
/* That of the calling thread; NULL: it has none. */
struct python_entry *python_thread_own(void);
/* That of the thread that has the lock; NULL: there is none, or it has no entry. */
struct python_entry *python_thread_holder(void);
/* Is there no thread of that id any more, as far as the kernel says? */
bool python_thread_ended(uint32_t tid);
/* Gives places of threads that have ended to others. */
void python_entries_sweep(void);
void python_threads_forked(void);
/* That of a thread, made where there is none; one thread asks.  Return: NULL: there is no room. */
struct python_entry *python_entry_of(uint32_t tid);

/* ---- entry.c: of threads, by whichever way --------------------------------------------------- */

struct python_reading;
/* As python_thread_own() and python_thread_holder(). */
struct python_entry *python_entry_own(void);
struct python_entry *python_entry_holder(void);
/* Of a thread that was read: has it not had the lock since @turn, as far as can be known? */
bool python_entry_stands(const struct python_entry *entry, uint32_t turn,
			 const struct python_reading *reading);
/* The calling thread, whose state that is: has it the lock? */
bool python_entry_holds(const struct python_entry *entry, const void *state);

/* ---- seen.c: the same where nobody says when a thread takes the lock ------------------------- */

/* The lock is held by the calling thread.  Return: false: it is not as it is expected to be. */
bool python_seen_find(void);
/* Looks which threads there are, and which one has the lock.  @keep: none loses its entry. */
void python_seen_look(bool keep);
/* Nothing is known of threads any more. */
void python_seen_forget(void);
struct python_entry *python_seen_own(void);
struct python_entry *python_seen_holder(void);
/* Before a thread is read, and after: does what was read stand? */
void python_seen_reads(const struct python_entry *entry);
bool python_seen_stands(const struct python_entry *entry, const struct python_reading *reading);
bool python_seen_holds(const void *state);

/* ---- memory.c: what may not be there --------------------------------------------------------- */

/* Return: false: not all of it is there.  Signal-safe. */
bool sample_peek(void *to, const void *from, size_t len);
/* The same of @n places, @len bytes in all. */
bool sample_peek_many(const struct iovec *to, const struct iovec *from, size_t n, size_t len);
/* The same up to the first of which not all is there.  Return: bytes. */
size_t sample_peek_some(const struct iovec *to, const struct iovec *from, size_t n);
/* The child of a fork is another process. */
void sample_peek_forked(void);
/* Return: the errno with which the call was refused; 0: it was not. */
int sample_peek_refused(void);

/* ---- text.c: Python's strings ---------------------------------------------------------------- */

/* The lock is held.  Return: false: they are not as they are expected to be. */
bool python_text_find(void);

#define PYTHON_TEXT_HEAD	48u	/* bytes of a string that tell what it is */
#define PYTHON_TEXT_SPAN	192u	/* that hold most strings as a whole */

/*
 * A number of what is in a string, of which @head has the first @known bytes, PYTHON_TEXT_HEAD or
 * more. @data: for its characters, where Python has no hash of it, of which no more are looked at.
 *
 * Return: 0: it is no such string.
 */
uint64_t python_text_id(const void *object, const char *head, size_t known, char *data,
			uint32_t size);
/*
 * In UTF-8, in front cut to @size and terminated; what an empty one is shown as. @data: as above.
 *
 * Return: false: it is no such string.
 */
bool python_text_read(const void *object, char *to, uint32_t size, char *data, uint32_t room);

/* ---- sample-code.c: what codes are called ---------------------------------------------------- */

#define PYTHON_CODE_SPAN	256u	/* bytes of a code that are looked at */
#define PYTHON_FILE_MAX		240u
#define PYTHON_FUNCTION_MAX	144u

/**
 * struct sampled_code - a code that was read
 * @id: tells it from others that are called otherwise
 * @name: what it is called; 0: it is not named yet
 * @hidden: Python has made it up
 * @first: its first line
 * @file: and file, where it is not named yet
 * @function: the same
 */
struct sampled_code {
	uint64_t	id;
	xsprof_name_t	name;
	bool		hidden;
	int32_t		first;
	char		file[PYTHON_FILE_MAX];
	char		function[PYTHON_FUNCTION_MAX];
};

/* The lock is held.  Return: false: codes are not as they are expected to be. */
bool python_code_find(void);
/* How many bytes of a code have to be read. */
uint32_t python_code_size(void);

#define PYTHON_TEXTS		2u	/* that a code is called by: file and function */

/* Where these are. @bytes: of a code.  Return: false: it is none. */
bool python_code_texts(const char *bytes, const void *text[PYTHON_TEXTS]);
/* @ids: of its texts; @data: for characters.  Return: false: it is none. */
bool python_code_read(struct sampled_code *code, const char *bytes,
		      const uint64_t ids[PYTHON_TEXTS], char *data, uint32_t room);
/* Where the object with its table of lines is; NULL: it has none. */
const void *python_code_lines(const char *bytes);
/*
 * The line at a place in a code; 0: not known.  @buffer: for that object, of which no more than
 * @room is looked at, and the first @got bytes have been read.
 */
uint32_t python_code_line(const char *bytes, int32_t at, char *buffer, size_t got, size_t room);
/* Names it, where it is new; tick.c alone. */
void python_code_name(struct sampled_code *code, const void *at);
/* What 3.12 has as code where C calls Python, once it was met. */
extern const void *python_code_hidden;
void python_code_init(int category);

/* ---- lines.c: line tables -------------------------------------------------------------------- */

enum python_lines { PYTHON_LINES_NONE, PYTHON_LINES_PAIRS, PYTHON_LINES_RANGES,
		    PYTHON_LINES_PLACES };

/*
 * @kind: of 3.9, 3.10, or from 3.11 on; @at: bytes into the code.  Return: 0: the table does not
 * say.
 */
uint32_t python_line_at(enum python_lines kind, const uint8_t *table, uint32_t size, int32_t first,
			int32_t at);

/* ---- frames.c: the walk ---------------------------------------------------------------------- */

#define PYTHON_DEPTH	64u	/* frames that are kept */
#define PYTHON_WALKED	4096u	/* and counted: of more it is said that they are at least so many */

enum { PYTHON_PAGE = 4096 };

#define PYTHON_WAYS	64u

/**
 * struct python_way - where a thread's state led to when it was read last
 * @state: of Python's
 * @inner: what it points to, where that is not the frame, and in it what does
 * @page: that of the innermost frame
 */
struct python_way {
	const void	*state;
	uintptr_t	inner;
	uintptr_t	page;
};

/**
 * struct python_reading - the frames of a thread
 * @nr: how many are kept, innermost first
 * @left: how many more there are
 * @line: of the innermost; 0: not known
 * @code: what they are of
 * @at: where these are
 * @frame: where the frames are
 * @entry: C called it, as far as the frame tells
 * @place: how far into the innermost it is
 * @ways: by states; a state may have lost its place to another
 * @window: for Python's memory
 * @view: in it: what is from @from to @to
 * @lines: the table of lines of the innermost
 * @lines_got: how much of it was read
 * @bytes: of codes
 * @text: where texts of codes are
 * @id: of these
 * @head: the first bytes of those that differ
 * @local: for the call that reads these
 * @remote: the same
 */
struct python_reading {
	uint32_t		nr;
	uint32_t		left;
	uint32_t		line;
	struct sampled_code	code[PYTHON_DEPTH];
	const void		*at[PYTHON_DEPTH];
	uintptr_t		frame[PYTHON_DEPTH];
	bool			entry[PYTHON_DEPTH];
	int32_t			place;
	uintptr_t		from;
	uintptr_t		to;
	struct python_way	ways[PYTHON_WAYS];
	char			window[2 * PYTHON_PAGE];
	const char		*view;
	char			lines[2 * PYTHON_PAGE];
	size_t			lines_got;
	char			bytes[PYTHON_DEPTH][PYTHON_CODE_SPAN];
	const void		*text[PYTHON_DEPTH][PYTHON_TEXTS];
	uint64_t		id[PYTHON_DEPTH][PYTHON_TEXTS];
	char			head[PYTHON_DEPTH * PYTHON_TEXTS][PYTHON_TEXT_SPAN];
	struct iovec		local[PYTHON_DEPTH * PYTHON_TEXTS + 2];
	struct iovec		remote[PYTHON_DEPTH * PYTHON_TEXTS + 2];
};

/*
 * Reads what @state, a thread's, leads to.  Return: false: it is not a stack of frames, as when
 * Python is in the middle of a change.  Signal-safe.
 */
bool python_read_frames(struct python_reading *reading, const void *state);

/* ---- native.c: frames of C ------------------------------------------------------------------- */

/* They are recorded. */
extern bool python_native;

void python_native_init(int category);
/* They are not, and the user is told why. */
void python_native_off(const char *why);
/* How often code was unloaded, as unwind_rule() has it.  Not signal-safe. */
uint32_t python_native_unloads(void);
/*
 * Calls that if nothing was unloaded since that number, and while nothing can be: the linker's lock
 * is held, which comes before that of names.  Return: whether it was called.
 */
bool python_native_guard(uint32_t unloads, void (*call)(void *arg), void *arg);
/* In the handler of a signal with that context.  Signal-safe. */
void python_native_walk(struct native_stack *stack, const void *context, uint32_t unloads);

/* ---- bounds.c: where C calls Python ---------------------------------------------------------- */

/**
 * struct python_bounds - which frames were entered from C
 * @each: all of them
 * @at: where a frame has a byte that is 1 if it was; 0: it has none
 */
struct python_bounds {
	bool		each;
	uint16_t	at;
};

extern struct python_bounds python_bounds;

/* The lock is held, and frames can be read.  Return: false: it is not known. */
bool python_bounds_find(void);

/* ---- stacks.c: stacks of samples ------------------------------------------------------------- */

/*
 * @native: its frames of C, NULL: not known; @unloads: as they were walked with. *@name is set to
 * the innermost function of Python.
 *
 * Return: the stack's id; 0: there are no frames.
 */
uint32_t python_stack_of(struct python_reading *reading, const struct native_stack *native,
			 uint32_t unloads, xsprof_name_t *name);
/*
 * The same of a stack without frames of C that has been recorded before. One thread at a time.
 *
 * Return: 0: it has not been.  Signal-safe.
 */
uint32_t python_stack_known(const struct python_reading *reading, xsprof_name_t *name);

/* ---- ask.c: the thread that has the lock looks itself ---------------------------------------- */

/* LEFT: it has not got the lock any more. */
enum python_answer { PYTHON_NO_ANSWER, PYTHON_ANSWER, PYTHON_ANSWER_BAD, PYTHON_ANSWER_LEFT };

/**
 * struct python_reply - what a thread answered
 * @reading: its frames
 * @at_ns: when it looked, CLOCK_MONOTONIC
 * @cpu_ns: its CPU time then
 * @recorded: for how many ticks it has recorded samples itself
 * @stack: of these samples
 * @name: of these samples
 */
struct python_reply {
	struct python_reading	*reading;
	uint64_t		at_ns;
	uint64_t		cpu_ns;
	uint32_t		recorded;
	uint32_t		stack;
	xsprof_name_t		name;
};

/* Is there a signal that the program does not use?  Looks for one, where need be. */
bool python_ask_ready(void);
/*
 * @now: CLOCK_MONOTONIC, ns. @at_once: python_ask_sleep() ends when an answer comes that has to be
 * recorded.  Return: false: it could not be asked.
 */
bool python_ask(struct python_entry *entry, uint64_t now, bool at_once);
/* For how many ticks it has not answered. */
void python_ask_ticks(uint32_t ticks);
/* Is one asked that has not answered? */
bool python_ask_pending(void);
/* Takes an answer that has come: *@reply stands until the next is asked. */
enum python_answer python_ask_answer(struct python_reply *reply);
/* Sleeps until @until (CLOCK_MONOTONIC, ns), an answer that is waited for, or python_ask_wake(). */
void python_ask_sleep(uint64_t until);
/* Signal-safe. */
void python_ask_wake(void);
/* That answer's frames of C; NULL: there are none. @unloads: as they were walked with. */
const struct native_stack *python_ask_native(uint32_t *unloads);
/* The answer is not waited for any longer.  Return: false: it comes just now. */
bool python_ask_cancel(void);
/* The signal is what it was before. */
void python_ask_end(void);
void python_ask_forked(void);
/* Takes the signal out of those that are to be blocked. */
void python_ask_keep(sigset_t *set);

/* ---- signal.c: what the kernel says, and is told --------------------------------------------- */

enum python_signal python_signal_of(uint32_t tid, int number);
/*
 * All but those that a thread raises by what it does itself: one of these that is blocked ends the
 * program, though that may handle it, as filters of seccomp have it do.
 */
void python_signals_of_others(sigset_t *set);

/* ---- thread.c: threads of ours -------------------------------------------------------------- */

/* @stack: bytes, beside the program's thread-local data.  Return: 0 or an errno. */
int python_thread_make(pthread_t *thread, size_t stack, void *(*run)(void *), void *arg);

/* ---- tick.c: the thread that looks ----------------------------------------------------------- */

#define PYTHON_HZ_MAX	1000u

void python_tick_init(uint32_t hz, int category);
/* For forks.c: it begins.  Return: false: the user has been told. */
bool python_ticker_make(void);
/* And has ended. */
void python_ticker_end(void);
/* In the child of a fork. */
void python_tick_forked(void);
/* In the calling thread, until nobody records: @goes_on is asked a few times a second. */
void python_tick_here(bool (*goes_on)(void));
/* It has ended, or ends at once when it begins; not waited for. */
void python_tick_quit(void);

/* ---- forks.c: when it does ------------------------------------------------------------------- */

/* The calling process may have the thread, and has not. */
void python_ticker_own(void);
/* Where it does not run, it does then. */
void python_tick_begin(void);
/* Before a fork: it has ended when this returns, and does not begin until all forks are over. */
void python_tick_stop(void);
/* In the parent of one. */
void python_tick_forked_parent(void);

#endif /* XSP_PYTHON_SAMPLE_H */
