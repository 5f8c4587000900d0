// SPDX-License-Identifier: GPL-2.0-only
/*
 * The process that formats events by libtraceevent: see apart.h. It is a fork of the dump with the
 * trace as of that time; it keeps no descriptor but the socket.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc.h"
#include "format/common/apart-local.h"

#ifndef SYS_close_range
#define SYS_close_range	436
#endif

#define MEMORY		(256ul << 20)	/* in addition to what the dump uses */
#define SOCKET		3

/* The library handles, by the id of their kind. */
struct server {
	const struct xsprof_trace	*trace;
	struct apart_shared		*shared;
	struct xsp_symbols		*symbols;
	struct xsp_library		*libraries[UINT16_MAX + 1];
};

/* Bytes of private memory in use. */
static uint64_t own_memory(void)
{
	unsigned long pages = 0;
	char text[256];

	if (xsp_proc_read("/proc/self/statm", text, sizeof(text)) > 0)
		(void)sscanf(text, "%*u %*u %*u %*u %*u %lu", &pages);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(void)
{
	struct rlimit none = { 0, 0 }, room;
	uint64_t bytes = own_memory() + MEMORY;

	setrlimit(RLIMIT_CORE, &none);
	if (!getrlimit(RLIMIT_DATA, &room) && room.rlim_cur > bytes) {
		room.rlim_cur = bytes;
		setrlimit(RLIMIT_DATA, &room);
	}
}

/* A crash must end the process without output; SIGINT is handled by the dump. */
static void set_signals(void)
{
	static const int ends[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
	static const int others[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signal(ends[i], SIG_DFL);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		signal(others[i], SIG_IGN);
}

/* Moves @fd to SOCKET and closes the others, so that this process keeps no pipe open. */
static void keep_socket(int fd)
{
	int null;

	if (fd != SOCKET && dup2(fd, SOCKET) < 0)
		_exit(1);
	/* The system call is in Linux 5.9, its wrapper in glibc 2.34. */
	if (syscall(SYS_close_range, SOCKET + 1, ~0u, 0))
		for (long i = SOCKET + 1, n = sysconf(_SC_OPEN_MAX); i < n; i++)
			close((int)i);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < SOCKET; i++)
		if (null < 0 || dup2(null, i) < 0)
			close(i);
	if (null > SOCKET)
		close(null);
}

static struct xsp_library *get_library(struct server *s, const struct xsprof_kernel_event *kind)
{
	struct xsp_library **lib = &s->libraries[kind->id & UINT16_MAX];

	if (!*lib && (s->symbols || !xsp_symbols_new(s->trace, &s->symbols)))
		(void)xsp_library_open(s->symbols, kind, lib);
	return *lib;
}

static void print(struct server *s, uint32_t i)
{
	struct apart_shared *shared = s->shared;
	const struct xsprof_kernel_event *kind;
	struct apart_said said = { .what = APART_NOTHING };
	struct xsp_library *lib;
	const char *text;
	size_t len;

	if (!shared->ask[i].size)
		return;
	kind = xsprof_trace_kernel_event(s->trace, shared->ask[i].id);
	lib = kind ? get_library(s, kind) : NULL;
	if (lib) {
		text = xsp_library_print(lib, shared->events + shared->ask[i].at,
					 shared->ask[i].size, &len);
		memcpy(shared->texts[i], text, len);
		said = (struct apart_said){ APART_TEXT, (uint32_t)len };
	} else if (!kind) {
		said.what = APART_UNKNOWN;
	}
	shared->said[i] = said;
}

void apart_serve(const struct xsprof_trace *trace, struct apart_shared *shared, int fd,
		 pid_t parent)
{
	struct server *s = calloc(1, sizeof(*s));
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!s || getppid() != parent)
		_exit(1);
	set_signals();
	keep_socket(fd);
	limit();
	s->trace = trace;
	s->shared = shared;
	while (recv(SOCKET, &byte, 1, 0) == 1) {
		for (uint32_t i = shared->done; i < shared->nr; i++) {
			print(s, i);
			/* Publishes the text. */
			atomic_store_explicit(&shared->done, i + 1, memory_order_release);
		}
		if (send(SOCKET, "", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}
