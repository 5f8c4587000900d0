// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Creates threads of ours, in programs that set up stacks and signals in their own way.
 *
 * glibc puts the thread-local data of all objects on each stack and refuses one that is too small
 * for them: our size is what remains beside that data.
 */
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/python/sample.h"

#define TRIES	6	/* each with twice the stack of the one before */
#define SLICE	100000u	/* ns: the least that the kernel takes */
#define SLICE_HZ	250u	/* a slice of others is shorter than the period */

/* Adds what an object may take of each stack, with alignment. */
static int add_data(struct dl_phdr_info *info, size_t size, void *sum)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*(size_t *)sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
	return 0;
}

int python_thread_make(pthread_t *thread, size_t stack, void *(*run)(void *), void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), data = 0;
	sigset_t all, before;
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	dl_iterate_phdr(add_data, &data);
	stack = (stack + data + page - 1) / page * page;
	/* The program's signals are for its own threads. */
	python_signals_of_others(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < TRIES; i++, stack *= 2) {
		err = pthread_attr_setstacksize(&attr, stack);
		if (!err)
			err = pthread_create(thread, &attr, run, arg);
		if (err != EINVAL)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

void python_calm(struct python_calm *calm)
{
	sigset_t most;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &calm->cancel);
	python_signals_of_others(&most);
	python_ask_keep(&most);
	pthread_sigmask(SIG_BLOCK, &most, &calm->signals);
}

void python_calm_end(const struct python_calm *calm)
{
	int cancel;

	pthread_sigmask(SIG_SETMASK, &calm->signals, NULL);
	pthread_setcancelstate(calm->cancel, &cancel);
}

/* The kernel's struct sched_attr in its first version; some headers cannot be used with libc's. */
struct attributes {
	uint32_t	size;
	uint32_t	policy;
	uint64_t	flags;
	int32_t		nice;
	uint32_t	priority;
	uint64_t	runtime;
	uint64_t	deadline;
	uint64_t	period;
};

void python_ticker_begins(uint32_t hz)
{
	struct attributes attr;

	/* The program may cancel threads that it does not know. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	prctl(PR_SET_NAME, "xsprof-python");
	/* A filter of system calls may kill for one that it does not know. */
	if (hz <= SLICE_HZ || prctl(PR_GET_SECCOMP) ||
	    syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) || attr.policy != SCHED_OTHER)
		return;
	attr.runtime = SLICE;
	/* Without it more ticks are late, and counted as missed. */
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}
