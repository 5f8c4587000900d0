/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Writes parts of JSON for several outputs. The result is valid JSON whatever the trace contains.
 */
#ifndef XSPROF_OUT_JSON_H
#define XSPROF_OUT_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "text/buf.h"
#include "text/escape.h"
#include "text/put.h"

/* A string with quotes; needs XSP_ESCAPE_MAX * @len + 2 bytes. */
static inline char *json_string(char *p, const char *s, size_t len, bool *altered)
{
	*p++ = '"';
	p = xsp_escape_json(p, s, len, altered);
	*p++ = '"';
	return p;
}

/* A comma before all elements of a list but the first one. @any: there was one */
static inline char *json_comma(char *p, bool *any)
{
	if (*any)
		*p++ = ',';
	*any = true;
	return p;
}

/* JSON has no NaN and infinity: they become "NaN", "Infinity", "-Infinity". */
char *xsp_json_double(char *p, double v);
/* A number if a double represents it exactly, else a string of digits. */
char *xsp_json_safe_u64(char *p, uint64_t v);
char *xsp_json_safe_i64(char *p, int64_t v);
/* Bytes as a string of hex digits, for non-text. */
char *xsp_json_hex(char *p, const void *bytes, size_t len);
/*
 * "KEY":"text" and, if the text was altered, "KEY_hex":"...": needs XSP_ESCAPE_MAX + 2 bytes for
 * each byte of @s, and room for the keys.
 */
char *xsp_json_field(char *p, const char *key, const char *s, size_t len);
/* Writes text that is valid JSON, harmless when shown on a terminal. */
void xsp_json_put_valid(struct xsp_buf *buf, const char *json, size_t len);
/* Writes a string to a stdio stream. */
void xsp_json_print(FILE *file, const char *s, size_t len);

#endif /* XSPROF_OUT_JSON_H */
