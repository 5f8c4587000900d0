// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that did not stop in time when requested: a thread that waits for a disk, or for the
 * child of a vfork(), stops after that. It must not stay stopped: this releases it then.
 */
#ifdef __x86_64__

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "inject/local.h"

#define LEFT	64u

static pid_t left[LEFT];
static size_t nr_left;

bool left_has_room(void)
{
	return nr_left < LEFT;
}

void left_add(pid_t tid)
{
	left[nr_left++] = tid;
}

bool left_has(pid_t tid)
{
	for (size_t i = 0; i < nr_left; i++)
		if (left[i] == tid)
			return true;
	return false;
}

/* Return: false: it has not stopped yet. */
static bool settle(pid_t tid)
{
	int status, sig;
	pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

	if (!got || (got < 0 && errno == EINTR))
		return false;
	if (got < 0 || !WIFSTOPPED(status))
		return true;
	/* Delivers a signal that it was about to get, and keeps a group stop. */
	sig = status >> 16 || WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
	ptrace(PTRACE_DETACH, tid, 0, (void *)(long)sig);
	return true;
}

void inject_settle(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr_left; i++)
		if (!settle(left[i]))
			left[kept++] = left[i];
	nr_left = kept;
}

#else

#include "inject/local.h"

void inject_settle(void)
{
}

#endif /* __x86_64__ */
