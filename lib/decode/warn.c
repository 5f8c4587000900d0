// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Messages of the decoder: texts of errors, and warnings passed to the user's function, limited per
 * kind. Prints nothing.
 */
#include <stdio.h>

#include "decode/local.h"

#define WARN_EACH	5u
#define WARN_TEXT	1024

static const char *const warning_kinds[XST_WARN_KINDS] = {
	[XST_WARN_TRUNCATED]	= "about the end of the file",
	[XST_WARN_CHUNK]	= "about damaged chunks",
	[XST_WARN_RECORD]	= "about damaged records",
	[XST_WARN_TIME]		= "about times that go backwards",
	[XST_WARN_ARENA]	= "about names and facts",
	[XST_WARN_CLOCK]	= "about clocks",
	[XST_WARN_UNKNOWN]	= "about unknown types",
};

/* Names may contain anything; a message must be one line of text. */
static void clean(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

int xst_fail(struct xsprof_trace *t, int err, const char *fmt, ...)
{
	va_list args;
	int n;

	n = snprintf(t->error, sizeof(t->error), "%.300s: ", t->name ? t->name : "trace");
	va_start(args, fmt);
	vsnprintf(t->error + n, sizeof(t->error) - n, fmt, args);
	va_end(args);
	clean(t->error);
	return err;
}

void xst_warn(struct xsprof_trace *t, enum xst_warning kind, const char *fmt, ...)
{
	char text[WARN_TEXT];
	va_list args;
	int n;

	if (t->warned[kind]++ >= WARN_EACH || !t->warn)
		return;
	n = snprintf(text, sizeof(text), "%.300s: ", t->name);
	va_start(args, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, args);
	va_end(args);
	clean(text);
	t->warn(t->warn_data, text);
}

void xst_warn_totals(struct xsprof_trace *t)
{
	char text[WARN_TEXT];

	for (int kind = 0; kind < XST_WARN_KINDS; kind++) {
		if (t->warned[kind] <= WARN_EACH || !t->warn)
			continue;
		snprintf(text, sizeof(text), "%.300s: %llu more warnings %s", t->name,
			 (unsigned long long)t->warned[kind] - WARN_EACH, warning_kinds[kind]);
		clean(text);
		t->warn(t->warn_data, text);
		t->warned[kind] = WARN_EACH;
	}
}
