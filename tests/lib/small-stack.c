// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signal handlers may have small stacks: measures the stack used by the first marker of a child, if
 * it attaches and if it cannot. The kernel's part of a signal frame depends on the processor: an
 * empty handler measures it.
 *
 *	session XSPROF_BUFFER_SIZE=256k small-stack
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#include "common/tap.h"

#define STACK	(256u << 10)
#define MOST	3072u		/* libxsprof-user(3) */
#define PAINT	0xa5

static unsigned char *stack;
static xsprof_name_t name;

static void nothing(int sig)
{
	(void)sig;
}

static void marks(int sig)
{
	(void)sig;
	xsprof_begin(name);
	xsprof_end();
}

static size_t taken_by(void (*handler)(int sig))
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	size_t free = 0;

	memset(stack, PAINT, STACK);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	while (free < STACK && stack[free] == PAINT)
		free++;
	return STACK - free;
}

static void limit(int what, rlim_t to)
{
	struct rlimit rl = { to, to };

	if (setrlimit(what, &rl))
		_exit(100);
}

static void plain(void) { }
static void no_files(void) { limit(RLIMIT_FSIZE, 0); }
static void no_descriptors(void) { limit(RLIMIT_NOFILE, 0); }
static void no_memory(void) { limit(RLIMIT_AS, 1); }

static void another(void)
{
	if (setgid(12345) || setuid(12345))
		_exit(100);
}

static const struct {
	const char	*what;
	void		(*make)(void);
} children[] = {
	{ "that attaches", plain },
	{ "that may write no file", no_files },
	{ "that may open none", no_descriptors },
	{ "that may map nothing", no_memory },
	{ "that is another user", another },
};

/* Return: the stack used, in units of 32 bytes; 0: unknown. */
static int of_child(void (*make)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		tap_bail("fork: %s", strerror(errno));
	if (!pid) {
		size_t kernel, all;

		make();
		kernel = taken_by(nothing);
		all = taken_by(marks);
		_exit(all > kernel ? (int)((all - kernel + 31) / 32) : 0);
	}
	if (waitpid(pid, &status, 0) != pid)
		tap_bail("waitpid: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 100)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int main(void)
{
	stack_t ss = { .ss_size = STACK };

	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ss.ss_sp = stack;
	if (stack == MAP_FAILED || sigaltstack(&ss, NULL))
		tap_bail("no stack: %s", strerror(errno));
	name = xsprof_name("small");
	/* Bind the calls first: the dynamic linker's stack is not counted. */
	marks(0);
	if (!xsprof_enabled())
		tap_bail("not attached: run it under session");
	for (size_t i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		int units = of_child(children[i].make);

		if (units < 0) {
			tap_skip("the first marker of a child", "not root");
			continue;
		}
		tap_note("%d bytes", 32 * units);
		CHECK(units > 0 && 32u * (unsigned int)units <= MOST);
		tap_result("the first marker of a child %s takes little of a handler's stack",
			   children[i].what);
	}
	return tap_done();
}
