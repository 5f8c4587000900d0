/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Pieces of JSON that more than one output writes.  What comes out is valid JSON whatever the
 * trace holds.
 */
#ifndef XSPROF_OUT_JSON_H
#define XSPROF_OUT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "text/escape.h"
#include "text/put.h"

/* A string with its quotes; needs XSP_ESCAPE_MAX * @len + 2 bytes. */
static inline char *json_string(char *p, const char *s, size_t len, bool *altered)
{
	*p++ = '"';
	p = xsp_escape_json(p, s, len, altered);
	*p++ = '"';
	return p;
}

/* JSON has no NaN and no infinity: they are the strings "NaN", "Infinity", "-Infinity". */
char *xsp_json_double(char *p, double v);
/* As a number where a viewer's double holds it exactly, else as a string of digits. */
char *xsp_json_safe_u64(char *p, uint64_t v);
char *xsp_json_safe_i64(char *p, int64_t v);
/* Bytes as a string of hex digits, for what is no text. */
char *xsp_json_hex(char *p, const void *bytes, size_t len);
/*
 * "KEY":"text" and, where that cannot be all, "KEY_hex":"...": needs XSP_ESCAPE_MAX + 2 bytes for
 * each of @s, and room for the keys.
 */
char *xsp_json_field(char *p, const char *key, const char *s, size_t len);
/* A string through stdio, for what is no event. */
void xsp_json_print(FILE *file, const char *s, size_t len);

#endif /* XSPROF_OUT_JSON_H */
