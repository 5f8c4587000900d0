// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Name of a process: see program.h.
 */
#include <string.h>

#include "ranges/program.h"
#include "text/utf8.h"

static const char *put_base(const char *path, size_t len, char *text)
{
	const char *slash = memrchr(path, '/', len);

	if (slash && slash + 1 < path + len) {
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	len = xsp_utf8_piece(path, len, XSP_PROGRAM_MAX - 4);
	memcpy(text, path, len);
	text[len] = '\0';
	return text;
}

const char *xsp_program(const struct xsprof_trace *trace, uint32_t producer, char *text)
{
	const char *command = xsprof_trace_fact(trace, producer, "cmdline");
	const char *exe = xsprof_trace_fact(trace, producer, "exe");
	size_t len = command ? strcspn(command, " ") : 0, exe_len = exe ? strlen(exe) : 0;

	if (len && !(exe_len > len && !strncmp(command, exe, exe_len)))
		return put_base(command, len, text);
	return exe_len ? put_base(exe, exe_len, text) : NULL;
}
