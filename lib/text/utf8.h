/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * UTF-8 decoding of arbitrary bytes: character boundaries, and text that is split or repaired.
 * Never reads beyond the given length.
 */
#ifndef XSPROF_OUT_UTF8_H
#define XSPROF_OUT_UTF8_H

#include <stddef.h>

/* Length of the character at @s, with its code point in @cp; 0: invalid UTF-8. */
size_t xsp_utf8(const unsigned char *s, size_t len, unsigned int *cp);
/*
 * Length of the first piece of @s: about @max bytes, at most 3 more, up to a character boundary. 0
 * only if @len is.
 */
size_t xsp_utf8_piece(const char *s, size_t len, size_t max);
/* Copies @s with U+FFFD for each byte of invalid UTF-8; needs 3 * @len bytes. Return: its end. */
char *xsp_utf8_copy(char *p, const char *s, size_t len);

#endif /* XSPROF_OUT_UTF8_H */
