/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interfaces between the files of inject/.
 */
#ifndef XSPROF_INJECT_LOCAL_H
#define XSPROF_INJECT_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "inject/inject.h"

/* permission.c: sets @why. Return: @err. */
int inject_refuse(char *why, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * permission.c: for an errno of ptrace(). Return: negative errno; -EAGAIN: this or another xsprof
 * traces the thread for a moment; -ESRCH: the thread is ending.
 */
int inject_refuse_ptrace(pid_t tid, int err, char *why);

/* permission.c: the tracer of the thread. */
enum inject_tracer { TRACER_NONE, TRACER_XSPROF, TRACER_OTHER };
enum inject_tracer inject_tracer(pid_t tid);

/* permission.c: for a thread that is already traced. Return: 0: it is not. */
int inject_refuse_traced(pid_t tid, char *why);

/* process.c: is loading permitted? Return: 0, or a negative errno with @why set. */
int process_check(pid_t pid, char *why);
/* What to say if it failed by @err with @why: has the process ended meanwhile? Return: as above. */
int process_ended(pid_t pid, int err, char *why);

/* status.c: the number @nr, from 0, after a word in /proc/PID/status. -1: none. */
long target_status(pid_t pid, const char *word, int nr);

/* ---- symbols.c ------------------------------------------------------------------------------- */

/**
 * struct symbol - a symbol of an ELF file
 * @name: name to look up
 * @value: its address in the file; 0: not found
 * @size: its size
 */
struct symbol {
	const char	*name;
	uint64_t	value;
	uint64_t	size;
};

#define SYMBOLS_BUDGET	(2ull << 30)	/* total bytes read from the files of a process */

/*
 * Looks up @nr symbols. @begin: lowest address of the file's segments; @restorer: address of the C
 * library's signal return code, 0: none; may be NULL; @budget: bytes that may still be read.
 *
 * Return: 0; -EFBIG: the budget is used up; another negative errno: not a readable ELF file.
 */
int symbols_find(int fd, struct symbol *symbols, size_t nr, uint64_t *begin, uint64_t *restorer,
		 uint64_t *budget);

/* ---- file.c ---------------------------------------------------------------------------------- */

/* Finds a regular file by its path in the process. Return: an O_PATH descriptor, or -errno. */
int file_find(pid_t pid, const char *path, struct stat *st);
/* Opens the file for reading. */
int file_open(int found);

/* ---- target.c -------------------------------------------------------------------------------- */

/**
 * struct target - a process, and addresses in it
 * @pid: process
 * @mem: /proc/PID/mem
 * @until: no thread is examined after this time
 * @dlopen: address of the function in the C library
 * @dlsym: likewise
 * @dlerror: likewise
 * @errno_at: address of its __errno_location()
 * @restorer: address of its signal return code, which is in each signal frame
 * @system_call: address of its syscall()
 * @initialized: address of Py_IsInitialized()
 * @add_pending: address of Py_AddPendingCall()
 * @add_pending_size: size of that function
 */
struct target {
	pid_t		pid;
	int		mem;
	uint64_t	until;
	uint64_t	dlopen;
	uint64_t	dlsym;
	uint64_t	dlerror;
	uint64_t	errno_at;
	uint64_t	restorer;
	uint64_t	system_call;
	uint64_t	initialized;
	uint64_t	add_pending;
	uint64_t	add_pending_size;
};

/*
 * Return: 0, or a negative errno with @why set. @library: it must be the same file in the process.
 */
int target_open(struct target *t, pid_t pid, const char *library, char *why);
void target_close(struct target *t);
bool target_read(const struct target *t, uint64_t from, void *to, size_t len);
bool target_write(const struct target *t, uint64_t to, const void *from, size_t len);
/*
 * Is this memory writable by the process itself? ptrace can write to protected memory too, e.g.
 * below the end of a stack. The stack of the first thread grows.
 */
bool target_has_room(const struct target *t, uint64_t from, uint64_t to);

/* ---- frame.c, thread.c: a thread that is stopped --------------------------------------------- */

#ifdef __x86_64__
#include <sys/user.h>

#define XSTATE_MAX	(16u << 10)	/* size of floating point and vector registers */

/**
 * struct stopped - a thread stopped by xsprof
 * @t: its process
 * @tid: the thread
 * @stops: a SIGSTOP arrived meanwhile, which must be delivered
 * @regs: its registers when it stopped
 * @mask: its signal mask
 * @xstate: its floating point and vector registers when it stopped
 * @xstate_len: size of @xstate
 */
struct stopped {
	const struct target	*t;
	pid_t			tid;
	bool			stops;
	struct user_regs_struct	regs;
	uint64_t		mask;
	char			xstate[XSTATE_MAX] __attribute__((aligned(64)));
	size_t			xstate_len;
};

/* Writes its state: a ucontext_t, and other registers. Return: false: no memory there. */
bool frame_write(const struct stopped *s, uint64_t at, uint64_t xstate_at);

/* Return: 0; -ESRCH: it has ended; another negative errno. */
int thread_stop(struct stopped *s, const struct target *t, pid_t tid);
/* Restores and releases the thread. */
void thread_go_on(struct stopped *s);
/* Prepares its use. Return: 0; -EAGAIN: its stack has no room; another negative errno. */
int thread_take(struct stopped *s);
/* Makes a system call in the thread. Return: its result, or a negative errno. */
int64_t thread_system_call(struct stopped *s, long nr, uint64_t a, uint64_t b, uint64_t c,
			   uint64_t d);
/*
 * Runs the thread from @regs until it makes a system call at @at, for at most @limit_ns. Return: 0;
 * -ETIMEDOUT; -ESRCH.
 */
int thread_run(struct stopped *s, const struct user_regs_struct *regs, uint64_t at,
	       uint64_t limit_ns);

/* ---- left.c: threads that are to be let go when they stop ------------------------------------ */

bool left_has_room(void);
void left_add(pid_t tid);
bool left_has(pid_t tid);

/* ---- safe.c: moments ------------------------------------------------------------------------- */

/* May the thread call a function that allocates memory and loads libraries? */
bool safe_for_loader(const struct stopped *s);
/* May the thread call Py_AddPendingCall()? */
bool safe_for_pending(const struct stopped *s);

/* ---- call.c: what is called ------------------------------------------------------------------ */

/**
 * struct call - data placed in the process for a call
 * @base: address of the data
 * @result: return value of the function; INT32_MIN: the library was not loaded; -ENXIO: Python is
 *	not initialized
 * @text: the message of dlerror() in that case
 */
struct call {
	uint64_t	base;
	int32_t		result;
	char		text[256];
};

/* Makes the call in this thread, at once. Return: 0: see @call; or a negative errno. */
int call_now(struct stopped *s, const struct inject *what, struct call *call);
/* Makes Python call it in its main thread. */
int call_later(struct stopped *s, const struct inject *what, struct call *call);
/* Has the call been made? Return: 1: yes, see @call; 0: not yet. */
int call_done(const struct target *t, struct call *call);
/* Cancels the call. Return: false: it is running now. */
bool call_cancel(struct stopped *s, struct call *call);
/* Frees its memory in the process. */
void call_free(struct stopped *s, struct call *call);
#endif

#endif /* XSPROF_INJECT_LOCAL_H */
