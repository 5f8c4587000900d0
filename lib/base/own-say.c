// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A line on the program's standard error, of the library's own: only ever from a program that was
 * asked to record itself, and that has nobody else who could tell.  It never ends or signals the
 * program for it, and never writes what a terminal would take for more than text.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ring/state.h"

#define LINE_MAX_BYTES	512

/* One write, so that lines of several processes stay whole. */
static void put(const char *line, size_t len)
{
	const struct timespec now = { 0, 0 };
	sigset_t set, old, pending;
	int sig = 0;

	/* A pipe that nobody reads, a file at its limit: that is not the program's doing. */
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
 * xsp_say() - "xsprof: TEXT" on standard error
 * @fmt: as for printf(); a longer line than 512 bytes is cut
 *
 * errno is kept.
 */
void xsp_say(const char *fmt, ...)
{
	char line[LINE_MAX_BYTES] = "xsprof: ";
	int err = errno, n = strlen(line), len;
	va_list ap;

	va_start(ap, fmt);
	len = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (len < 0)
		len = 0;
	len += n;
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	for (int i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[len] = '\n';
	put(line, len + 1);
	errno = err;
}
