// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Support for a library inside a foreign program: descriptors with high numbers, threads with all
 * signals blocked, and messages on standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"
#include "base/plain.h"

#define XSP_FD_MIN	512	/* above the low numbers that programs may rely on */
#define STACK_TRIES	6	/* each twice the size of the one before */
#define YIELDS		64u	/* before waiting for a lock sleeps */
#define WAIT_NS		1000000

/**
 * xsp_fd_high() - move a descriptor above the program's own
 * @fd: descriptor, or a negative number
 *
 * Return: the new one, with @fd closed; @fd if there is no higher one.
 */
int xsp_fd_high(int fd)
{
	int high;

	if (fd < 0)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, XSP_FD_MIN);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* Remembers which file @fd is. Return: 0 or a negative errno. */
int xsp_fd_note(struct xsp_fd_id *id, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	id->dev = st.st_dev;
	id->ino = st.st_ino;
	return 0;
}

/* Is @fd still that file? */
bool xsp_fd_is(const struct xsp_fd_id *id, int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == id->dev && st.st_ino == id->ino;
}

/**
 * xsp_wait_turn() - let the thread that holds a lock run
 * @lock: the lock word, with its owner's thread id
 * @owner: the owner that was read from it
 * @turns: number of calls for this lock, initially 0
 *
 * The owner holds the lock for a few dozen instructions unless it is preempted: the first calls
 * yield the CPU. Later calls sleep, because yielding gives the CPU to no thread of lower priority
 * (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE). There is no wake-up: the sleeper is late by at most
 * WAIT_NS.
 *
 * Signal-safe; errno is kept.
 */
void xsp_wait_turn(const uint32_t *lock, uint32_t owner, unsigned int *turns)
{
	const struct timespec most = { .tv_nsec = WAIT_NS };
	int err = errno;

	if (++*turns <= YIELDS)
		sched_yield();
	else
		syscall(SYS_futex, lock, FUTEX_WAIT_PRIVATE, owner, &most, NULL, 0);
	errno = err;
}

/* Adds what a module may take of each thread's stack, with alignment. */
static int add_tls(struct dl_phdr_info *info, size_t size, void *data)
{
	size_t *sum = data;

	(void)size;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
	return 0;
}

/*
 * glibc puts the thread-local data of all modules, megabytes in some programs, on the stack and
 * refuses a stack that is too small for them: our size is what remains beside them. glibc's own
 * overhead is undocumented, and found by trying.
 */
static int create(pthread_t *thread, pthread_attr_t *attr, size_t stack,
		  void *(*run)(void *data), void *data)
{
	size_t page = sysconf(_SC_PAGESIZE), tls = 0;
	int err, tries = 0;

	dl_iterate_phdr(add_tls, &tls);
	stack = (stack + tls + page - 1) / page * page;
	do {
		err = -pthread_attr_setstacksize(attr, stack);
		if (!err)
			err = -pthread_create(thread, attr, run, data);
		stack *= 2;
	} while (err == -EINVAL && tries++ < STACK_TRIES);
	return err;
}

/**
 * xsp_thread_start() - start a thread of the library
 * @thread: set to the thread
 * @name: shown in /proc, at most 15 bytes
 * @stack: stack size in bytes, without the program's thread-local data
 * @run: thread function
 * @data: passed to @run
 *
 * Return: 0 or a negative errno.
 */
int xsp_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *data),
		     void *data)
{
	/*
	 * Raised synchronously: if blocked, they kill the program even if it handles them, as with
	 * seccomp filters.
	 */
	static const int raised[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	err = -pthread_attr_init(&attr);
	if (err)
		return err;
	/* Block all signals of the program, except those a thread raises itself. */
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(raised) / sizeof(raised[0]); i++)
		sigdelset(&all, raised[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = create(thread, &attr, stack, run, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (!err)
		pthread_setname_np(*thread, name);
	return err;
}

#define LINE_MAX_BYTES	512

/* A single write, so that lines of several processes stay whole. */
static void put(const char *line, size_t len)
{
	const struct timespec now = { 0, 0 };
	sigset_t set, old, pending;
	int sig = 0;

	/*
	 * The program must not get a signal for our write to a closed pipe or beyond a file size
	 * limit.
	 */
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGXFSZ);
	if (pthread_sigmask(SIG_BLOCK, &set, &old))
		return;
	sigpending(&pending);
	if (write(STDERR_FILENO, line, len) < 0)
		sig = errno == EPIPE ? SIGPIPE : errno == EFBIG ? SIGXFSZ : 0;
	if (sig && !sigismember(&pending, sig)) {
		sigemptyset(&set);
		sigaddset(&set, sig);
		(void)sigtimedwait(&set, NULL, &now);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/**
 * xsp_vsay() - "xsprof: TEXT" on standard error
 * @fmt: as for vprintf(); a longer line than 512 bytes is cut
 * @ap: its arguments
 *
 * Never ends or signals the program, waits or allocates. Replaces control characters: parts of the
 * text may come from other processes, which must not control the terminal. Keeps errno.
 */
void xsp_vsay(const char *fmt, va_list ap)
{
	char line[LINE_MAX_BYTES] = "xsprof: ";
	int err = errno, n = strlen(line), len;

	len = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	if (len < 0)
		len = 0;
	len += n;
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	xsp_plain(line, len);
	line[len] = '\n';
	put(line, len + 1);
	errno = err;
}

/* Prints only if the process records itself: otherwise messages go to the recorder. */
void xsp_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	xsp_vsay(fmt, ap);
	va_end(ap);
}
