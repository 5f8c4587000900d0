// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's thread blocks the program's signals, but not those that it causes itself, such as
 * SIGSYS by a seccomp filter: the program's handler gets these.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/own.h"
#include "common/tap.h"

static int trapped;

static void handle(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	__atomic_fetch_add(&trapped, 1, __ATOMIC_RELAXED);
}

static void *look(void *mask)
{
	pthread_sigmask(SIG_SETMASK, NULL, mask);
	return NULL;
}

static void *ask(void *unused)
{
	syscall(SYS_getppid);
	return unused;
}

static void run(void *(*what)(void *data), void *data)
{
	pthread_t thread;

	CHECK_EQ(xsp_thread_start(&thread, "own", 65536, what, data), 0);
	pthread_join(thread, NULL);
}

/* For all threads that start from now on. */
static bool trap(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	return !sigaction(SIGSYS, &action, NULL) && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	run(look, &mask);
	CHECK(sigismember(&mask, SIGTERM) && sigismember(&mask, SIGALRM) &&
	      sigismember(&mask, SIGUSR1));
	tap_result("the program's signals are blocked");
	if (trap()) {
		run(ask, NULL);
		CHECK_EQ(trapped, 1);
		tap_result("one that it raises itself is handled");
	} else {
		tap_skip("one that it raises itself is handled", "no filter can be set here");
	}
	return tap_done();
}
