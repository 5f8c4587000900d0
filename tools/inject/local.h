/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of inject/ call of each other.
 */
#ifndef XSPROF_INJECT_LOCAL_H
#define XSPROF_INJECT_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "inject/inject.h"

/* permission.c: says why.  Return: @err. */
int inject_refuse(char *why, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * permission.c: of an errno of ptrace().  Return: negative errno; -EAGAIN: it is ours, or another
 * xsprof's for a moment; -ESRCH: it ends.
 */
int inject_refuse_ptrace(pid_t tid, int err, char *why);

/* permission.c: who traces the thread? */
enum inject_tracer { TRACER_NONE, TRACER_XSPROF, TRACER_OTHER };
enum inject_tracer inject_tracer(pid_t tid);

/* permission.c: the same of one that is traced already.  Return: 0: it is not. */
int inject_refuse_traced(pid_t tid, char *why);

/* process.c: may it be?  Return: 0, or a negative errno after @why was set. */
int process_check(pid_t pid, char *why);

/* status.c: a number behind a word in /proc/PID/status; @nr: which, from 0 on.  -1: none */
long target_status(pid_t pid, const char *word, int nr);

/* ---- symbols.c ------------------------------------------------------------------------------- */

/**
 * struct symbol - of an ELF file
 * @name: what is looked for
 * @value: its address in the file; 0: there is none
 * @size: its bytes
 */
struct symbol {
	const char	*name;
	uint64_t	value;
	uint64_t	size;
};

#define SYMBOLS_BUDGET	(2ull << 30)	/* bytes that are read of all files of a process */

/*
 * Looks up @nr symbols.  @begin: where the file's memory begins by its own addresses; @restorer:
 * where it has the C library's end of a signal's handler, 0: nowhere; may be NULL; @budget: bytes
 * that may be read yet.
 *
 * Return: 0; -EFBIG: there are more; another negative errno: it is no ELF file that can be read.
 */
int symbols_find(int fd, struct symbol *symbols, size_t nr, uint64_t *begin, uint64_t *restorer,
		 uint64_t *budget);

/* ---- file.c ---------------------------------------------------------------------------------- */

/* A plain file, by the name that the process has for it.  Return: O_PATH, or a negative errno. */
int file_find(pid_t pid, const char *path, struct stat *st);
/* To read what was found. */
int file_open(int found);

/* ---- target.c -------------------------------------------------------------------------------- */

/**
 * struct target - a process and what is where in it
 * @pid: process
 * @mem: /proc/PID/mem
 * @until: no thread is looked at after that
 * @dlopen: of the C library
 * @dlsym: the same
 * @dlerror: the same
 * @errno_at: __errno_location() of it
 * @restorer: the end of a signal's handler; its address is in the frame of each
 * @system_call: syscall() of the C library
 * @initialized: Py_IsInitialized()
 * @add_pending: Py_AddPendingCall()
 * @add_pending_size: bytes of that
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

/* Return: 0, or a negative errno after @why was set.  @library: is it the same file there? */
int target_open(struct target *t, pid_t pid, const char *library, char *why);
void target_close(struct target *t);
bool target_read(const struct target *t, uint64_t from, void *to, size_t len);
bool target_write(const struct target *t, uint64_t to, const void *from, size_t len);
/*
 * May the process itself write there?  To what it protects, as behind the end of a stack, others
 * can. That of its first thread grows.
 */
bool target_has_room(const struct target *t, uint64_t from, uint64_t to);

/* ---- frame.c, thread.c: a thread that is stopped --------------------------------------------- */

#ifdef __x86_64__
#include <sys/user.h>

#define XSTATE_MAX	(16u << 10)	/* bytes of floating point and vector registers */

/**
 * struct stopped - a thread that is ours for a moment
 * @t: its process
 * @tid: it
 * @stops: a SIGSTOP came for it meanwhile, which it is to get
 * @regs: as it was when it stopped
 * @mask: of signals, as it was
 * @xstate: its floating point and vector registers, as they were
 * @xstate_len: bytes of that
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

/* Writes its state: a ucontext_t, and other registers.  Return: false: no memory is there. */
bool frame_write(const struct stopped *s, uint64_t at, uint64_t xstate_at);

/* Return: 0; -ESRCH it has ended; another negative errno. */
int thread_stop(struct stopped *s, const struct target *t, pid_t tid);
/* It goes on as it was. */
void thread_go_on(struct stopped *s);
/* It is about to be used.  Return: 0; -EAGAIN: its stack has no room; another negative errno. */
int thread_take(struct stopped *s);
/* One system call of it.  Return: what that gave, a negative errno among them. */
int64_t thread_system_call(struct stopped *s, long nr, uint64_t a, uint64_t b, uint64_t c,
			   uint64_t d);
/*
 * It runs from @regs on until it makes a system call at @at, for @limit_ns at most.  Return: 0;
 * -ETIMEDOUT; -ESRCH.
 */
int thread_run(struct stopped *s, const struct user_regs_struct *regs, uint64_t at,
	       uint64_t limit_ns);

/* ---- left.c: threads that are to be let go when they stop ------------------------------------ */

bool left_has_room(void);
void left_add(pid_t tid);
bool left_has(pid_t tid);

/* ---- safe.c: moments ------------------------------------------------------------------------- */

/* May a function be called in it that allocates memory and loads libraries? */
bool safe_for_loader(const struct stopped *s);
/* May Py_AddPendingCall() be called in it? */
bool safe_for_pending(const struct stopped *s);

/* ---- call.c: what is called ------------------------------------------------------------------ */

/**
 * struct call - what was put into the process for a call
 * @base: its memory there
 * @result: what the function returned; INT32_MIN: the library was not loaded; -ENXIO: Python does
 *	not run
 * @text: what dlerror() said then
 */
struct call {
	uint64_t	base;
	int32_t		result;
	char		text[256];
};

/* Loads and calls it in this thread, at once.  Return: 0: see @call; or a negative errno. */
int call_now(struct stopped *s, const struct inject *what, struct call *call);
/* Asks Python to do so in its main thread. */
int call_later(struct stopped *s, const struct inject *what, struct call *call);
/* Is that done?  Return: 1 yes, see @call; 0 not yet. */
int call_done(const struct target *t, struct call *call);
/* It is not to be done any more.  Return: false: it is just being done. */
bool call_cancel(struct stopped *s, struct call *call);
/* Its memory is not needed any more. */
void call_free(struct stopped *s, struct call *call);
#endif

#endif /* XSPROF_INJECT_LOCAL_H */
