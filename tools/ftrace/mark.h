/* SPDX-License-Identifier: GPL-2.0-only */
/* The mark that a command writes in a pid namespace, in the tracer's text. */
#ifndef XSPROF_FTRACE_MARK_H
#define XSPROF_FTRACE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#define FTRACE_MARK	"xsprof"	/* what is written to trace_marker */

/**
 * ftrace_find_mark() - find the thread that wrote the mark
 * @text: contents of the instance's file "trace"
 *
 * Return: the kernel's thread id; 0: no mark yet, or its line cannot be parsed.
 */
uint32_t ftrace_find_mark(const char *text);

#endif /* XSPROF_FTRACE_MARK_H */
