// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads from /proc whether a thread blocks a signal and whether it is pending; and defines which
 * signals our own threads block.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/python/sample.h"

static bool has(const char *text, const char *line, int number)
{
	const char *at = strstr(text, line);

	return at && strtoull(at + strlen(line), NULL, 16) >> (number - 1) & 1;
}

enum python_signal python_signal_of(uint32_t tid, int number)
{
	char path[48], text[8192];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return PYTHON_SIGNAL_UNKNOWN;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	if (!strstr(text, "\nSigBlk:"))
		return PYTHON_SIGNAL_UNKNOWN;
	if (has(text, "\nSigBlk:", number))
		return PYTHON_SIGNAL_BLOCKED;
	return has(text, "\nSigPnd:", number) ? PYTHON_SIGNAL_PENDING : PYTHON_SIGNAL_FREE;
}

void python_signals_of_others(sigset_t *set)
{
	static const int own[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(set, own[i]);
}
