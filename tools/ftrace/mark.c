// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the thread that wrote the mark in the text of the tracer's "trace" file.  It knows the
 * columns of that text and nothing of instances.
 *
 *	           <...>-31972   (-------) [000] ...1. 20279725980389: tracing_mark_write: xsprof
 *	     TASK-PID    (TGID)  [CPU] IRQ-INFO TIME: FUNCTION: TEXT
 *
 * (TGID) is there with the option record-tgid, IRQ-INFO with irq-info.  A task's name may hold
 * any byte, those that separate columns and a newline among them, but it is the first column:
 * the line is read from its end, where each column has only characters of its own.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace/mark.h"

#define TAIL	": " FTRACE_MARK

/* The rest of the input: the bytes from @begin up to @end. */
struct rest {
	const char	*begin;
	const char	*end;
};

static bool ends_with(const struct rest *r, char c)
{
	return r->end > r->begin && r->end[-1] == c;
}

static bool take(struct rest *r, char c)
{
	if (!ends_with(r, c))
		return false;
	r->end--;
	return true;
}

/* Skips characters of @set. Return: their number. */
static size_t take_all(struct rest *r, const char *set)
{
	const char *end = r->end;

	while (r->end > r->begin && r->end[-1] && strchr(set, r->end[-1]))
		r->end--;
	return end - r->end;
}

/* "tracing_mark_write", with sym-offset and sym-addr "tracing_mark_write+0x8a/0x170 <ffff...>". */
static bool take_function(struct rest *r)
{
	while (r->end > r->begin && !ends_with(r, ':') && !ends_with(r, '\n'))
		r->end--;
	return take(r, ':');
}

/* Skips a column backwards: "[CPU]", or one word, whose letters differ between kernels. */
static bool take_irq_info(struct rest *r)
{
	if (ends_with(r, ']'))
		return true;
	while (r->end > r->begin && !isspace((unsigned char)r->end[-1]))
		r->end--;
	return take_all(r, " ") > 0;
}

/* "(  31972)", or "(-------)" while the tracer does not know it. */
static bool take_tgid(struct rest *r)
{
	if (!take(r, ')'))
		return true;
	return take_all(r, "0123456789- ") && take(r, '(') && take_all(r, " ");
}

/* Return: the thread id of the line that ends with the mark at @end, or 0. */
static uint32_t thread_of(const char *begin, const char *end)
{
	struct rest r = { begin, end };
	unsigned long tid;

	if (!take_function(&r) || !take_all(&r, "0123456789.") || !take_all(&r, " ") ||
	    !take_irq_info(&r) || !take(&r, ']') || !take_all(&r, "0123456789") ||
	    !take(&r, '[') || !take_all(&r, " ") || !take_tgid(&r))
		return 0;
	take_all(&r, " ");
	if (!take_all(&r, "0123456789") || !ends_with(&r, '-'))
		return 0;
	tid = strtoul(r.end, NULL, 10);
	return tid <= INT32_MAX ? tid : 0;
}

uint32_t ftrace_find_mark(const char *text)
{
	const char *at = text;
	uint32_t tid = 0;

	while (!tid && (at = strstr(at, TAIL)) != NULL) {
		char after = at[strlen(TAIL)];

		if (!after || after == '\n')
			tid = thread_of(text, at);
		at += strlen(TAIL);
	}
	return tid;
}
