/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Names of files in a session's directory on tmpfs: KIND.PID.START.SEQ, where the kind is 'p' for a
 * producer, 't' for one being created, 'e' for the reason why a process has none. Uses no stdio: a
 * forked child makes its name in a signal handler.
 */
#ifndef XSP_FILE_NAME_H
#define XSP_FILE_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define XSP_FILE_NAME	64u	/* more than the longest name */

static inline char *xsp_file_name_number(char *p, uint64_t v)
{
	char digits[20];
	int n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
	} while (v /= 10);
	while (n)
		*p++ = digits[--n];
	return p;
}

/**
 * xsp_file_name() - make the name of a process' file
 * @name: set to the name
 * @kind: kind of file
 * @pid: process id
 * @start: start time of the process, as the kernel counts it
 * @seq: number among its files
 */
static inline void xsp_file_name(char name[static XSP_FILE_NAME], char kind, uint32_t pid,
				 uint64_t start, uint32_t seq)
{
	char *p = name;

	*p++ = kind;
	*p++ = '.';
	p = xsp_file_name_number(p, pid);
	*p++ = '.';
	p = xsp_file_name_number(p, start);
	*p++ = '.';
	p = xsp_file_name_number(p, seq);
	*p = '\0';
}

/* Is @name of that kind and well-formed? Names go into messages. */
static inline bool xsp_file_is(const char *name, char kind)
{
	size_t len = strlen(name);

	return name[0] == kind && name[1] == '.' && len > 2 && len < XSP_FILE_NAME &&
	       strspn(name + 2, "0123456789.") == len - 2;
}

#endif /* XSP_FILE_NAME_H */
