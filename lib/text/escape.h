/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Escapes arbitrary bytes for an output: names and strings come from the traced program, and must
 * not drive a terminal or break JSON.
 */
#ifndef XSPROF_OUT_ESCAPE_H
#define XSPROF_OUT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define XSP_ESCAPE_MAX	6	/* maximum output bytes per input byte */

/*
 * For a terminal: UTF-8 is kept; control characters and those that reorder text become \xHH or
 * \u{HHHH}, invalid UTF-8 \xHH, a backslash \\. Nothing of the input is lost.
 */
char *xsp_escape_text(char *p, const char *s, size_t len);

/* The same to a file, for any length. Return: characters written. */
size_t xsp_escape_print(FILE *file, const char *s, size_t len);

/*
 * For the inside of a JSON string: control characters and those that reorder text become \uHHHH;
 * each byte of invalid UTF-8 becomes U+FFFD. @altered is set to true in the latter case, else
 * unchanged; may be NULL.
 */
char *xsp_escape_json(char *p, const char *s, size_t len, bool *altered);

/*
 * For text that is valid JSON already: in its strings the same characters become \uHHHH, except
 * control characters below 0x20, which are blanks there.
 */
char *xsp_escape_valid_json(char *p, const char *s, size_t len);

#endif /* XSPROF_OUT_ESCAPE_H */
