/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Bytes of programs made fit for an output: names and strings are whatever the traced program
 * put there, so they must not drive a terminal and must not break JSON.
 */
#ifndef XSPROF_OUT_ESCAPE_H
#define XSPROF_OUT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define XSP_ESCAPE_MAX	6	/* a byte of input never becomes more bytes than this */

/*
 * For a terminal: UTF-8 stays, control characters and what reorders text become \xHH or
 * \u{HHHH}, bytes that are no UTF-8 \xHH, a backslash \\.  Nothing else of the input is lost.
 */
char *xsp_escape_text(char *p, const char *s, size_t len);

/* The same into a file, however long @s is.  Return: characters written. */
size_t xsp_escape_print(FILE *file, const char *s, size_t len);

/*
 * For the inside of a JSON string: control characters and what reorders text become \uHHHH, what
 * is no UTF-8 becomes U+FFFD, one for each byte.
 * @altered is set to true when that happened, else left alone; may be NULL.
 */
char *xsp_escape_json(char *p, const char *s, size_t len, bool *altered);

#endif /* XSPROF_OUT_ESCAPE_H */
