// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the library has inside a program that is not its own: descriptors out of the program's way,
 * threads with none of its signals, and lines on its standard error.
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

#define XSP_FD_MIN	512	/* out of the way of programs that count on low numbers */
#define STACK_TRIES	6	/* each twice as large as the one before */
#define YIELDS		64u	/* before a wait for a lock sleeps */
#define WAIT_NS		1000000

/**
 * xsp_fd_high() - a descriptor well above the program's own
 * @fd: descriptor, or a negative number
 *
 * Return: the new one, @fd being closed; @fd where there is no higher one.
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

/* Note what @fd is.  Return: 0 or a negative errno. */
int xsp_fd_note(struct xsp_fd_id *id, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	id->dev = st.st_dev;
	id->ino = st.st_ino;
	return 0;
}

/* Is @fd what was noted? */
bool xsp_fd_is(const struct xsp_fd_id *id, int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == id->dev && st.st_ino == id->ino;
}

/**
 * xsp_wait_turn() - let another thread go on that holds a lock
 * @lock: a word with the thread id of its owner
 * @owner: the one that was seen there
 * @turns: how often this was called for the lock, at first 0
 *
 * The owner holds the lock for a few dozen instructions, unless it is preempted: the first calls
 * yield the CPU.  Later calls sleep, because a yield gives the CPU to no thread of lower priority
 * (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE).  Nobody wakes the sleeper: it is WAIT_NS late at most.
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

/* With alignment, what a module may take of each thread's stack. */
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
 * glibc puts the thread-local data of all modules on the stack, which programs have megabytes
 * of, and refuses a stack that is too small for them: ours is what is left beside them.  What else
 * it keeps there is not told, and found by trying.
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
 * xsp_thread_start() - begin a thread of our own
 * @thread: set to it
 * @name: as it is seen in /proc, at most 15 bytes
 * @stack: bytes of its stack, beside the thread-local data of the program
 * @run: what it does
 * @data: passed to @run
 *
 * Return: 0 or a negative errno.
 */
int xsp_thread_start(pthread_t *thread, const char *name, size_t stack, void *(*run)(void *data),
		     void *data)
{
	/* Blocked they end the program, which may handle them: a filter of seccomp has it do so. */
	static const int raised[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	err = -pthread_attr_init(&attr);
	if (err)
		return err;
	/* The program's signals are its own threads'; save those that a thread raises itself. */
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

/* One write, so that lines of several processes stay whole. */
static void put(const char *line, size_t len)
{
	const struct timespec now = { 0, 0 };
	sigset_t set, old, pending;
	int sig = 0;

	/* The program must not get a signal for a write of ours to a closed pipe or a full file. */
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
 * The call never ends or signals the program, waits or allocates, and replaces control
 * characters: parts of a text come from other processes, which must not control the terminal.
 * errno is kept.
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

/* Only a program that records itself says more than was asked for: it has no recorder to. */
void xsp_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	xsp_vsay(fmt, ap);
	va_end(ap);
}
