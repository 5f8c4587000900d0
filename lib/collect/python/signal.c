// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Asks the kernel about a thread: its CPU time, and in /proc whether it blocks a signal, whether
 * that is pending, how often the thread has waited, and where it waits; and defines which signals
 * our own threads block.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/python/native.h"
#include "collect/python/sample.h"

/* The field of /proc/PID/stat with the pending signals, see proc(5). */
#define STAT_SIGNAL	31

/* A file of the thread in /proc, as far as there is room. Return: false: there is none. */
static bool read_file(uint32_t tid, const char *name, char *text, size_t room)
{
	char path[48];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, room - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return true;
}

/*
 * Signals 1 to 31 that are pending, and that are blocked. /proc/PID/status has all signals, and
 * takes twice the time.
 */
static bool read_masks(uint32_t tid, unsigned long *pending, unsigned long *blocked)
{
	char text[1024], *at;

	if (!read_file(tid, "stat", text, sizeof(text)))
		return false;
	/* Field 2 is the thread's name in parentheses, which may have some of its own. */
	at = strrchr(text, ')');
	for (int field = 2; at && field < STAT_SIGNAL; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, " %lu %lu", pending, blocked) == 2;
}

uint64_t python_waits_of(uint32_t tid)
{
	static const char word[] = "\nvoluntary_ctxt_switches:";
	char text[4096], *at;

	if (!read_file(tid, "status", text, sizeof(text)))
		return 0;
	at = strstr(text, word);
	return at ? strtoull(at + sizeof(word) - 1, NULL, 10) + 1 : 0;
}

uint64_t python_cpu_of(uint32_t tid)
{
	struct timespec t;

	/* Programs have no name for the number of another thread's clock. */
	if (clock_gettime((clockid_t)(~tid << 3 | 6), &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The last word is the program counter, the one before it the stack pointer, see proc(5). */
enum python_place python_place_of(uint32_t tid, struct native_place *place)
{
	char text[256], *ip, *sp = NULL;

	if (!read_file(tid, "syscall", text, sizeof(text)))
		return PYTHON_PLACE_UNKNOWN;
	ip = strrchr(text, ' ');
	if (ip) {
		*ip++ = '\0';
		sp = strrchr(text, ' ');
	}
	if (!sp)
		return strncmp(text, "running", 7) ? PYTHON_PLACE_UNKNOWN : PYTHON_RUNS;
	*place = (struct native_place){
		/* Outside of system calls it is not after a call: the next byte's rule is its. */
		.ip = strtoull(ip, NULL, 16) + (*text == '-'), .cfa = strtoull(sp, NULL, 16),
	};
	return place->ip && place->cfa ? PYTHON_WAITS : PYTHON_PLACE_UNKNOWN;
}

/*
 * Some systems that are like Linux have 0 in these fields, whatever a thread blocks: the calling
 * thread must be told as it is.
 */
static bool masks_are_true(void)
{
	unsigned long pending, blocked, expected = 0;
	static int is;	/* 1: they are, -1: they are not */
	sigset_t set;

	if (!is && !pthread_sigmask(SIG_SETMASK, NULL, &set)) {
		for (int i = 1; i < 32; i++)
			if (sigismember(&set, i) == 1)
				expected |= 1ul << (i - 1);
		is = expected && read_masks((uint32_t)syscall(SYS_gettid), &pending, &blocked) &&
			blocked == expected ? 1 : -1;
	}
	return is > 0;
}

enum python_signal python_signal_of(uint32_t tid, int number)
{
	unsigned long pending, blocked, bit = 1ul << (number - 1);

	if (!masks_are_true() || !read_masks(tid, &pending, &blocked))
		return PYTHON_SIGNAL_UNKNOWN;
	if (blocked & bit)
		return PYTHON_SIGNAL_BLOCKED;
	return pending & bit ? PYTHON_SIGNAL_PENDING : PYTHON_SIGNAL_FREE;
}

bool python_stack_is_small(const stack_t *stack)
{
	/* What the kernel needs for any handler; the rest is measured, see python-frames.rst. */
	size_t needed = getauxval(AT_MINSIGSTKSZ) + (python_native ? 2304 : 704);

	return !(stack->ss_flags & SS_DISABLE) && stack->ss_size < needed;
}

void python_signals_of_others(sigset_t *set)
{
	static const int own[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(set, own[i]);
}
