/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * UTF-8 in bytes of programs, which may be anything: where a character ends, and text that is cut
 * into pieces or made good.  It never looks beyond the length it is given.
 */
#ifndef XSPROF_OUT_UTF8_H
#define XSPROF_OUT_UTF8_H

#include <stddef.h>

/* Bytes of the character at @s, its code point in @cp; 0 when it is no UTF-8. */
size_t xsp_utf8(const unsigned char *s, size_t len, unsigned int *cp);
/*
 * How much of @s to take at once: about @max bytes, at most 3 more, up to the end of a character.
 * 0 only where @len is.
 */
size_t xsp_utf8_piece(const char *s, size_t len, size_t max);
/* @s with U+FFFD for each byte that is no UTF-8; needs 3 * @len bytes.  Return: its end. */
char *xsp_utf8_copy(char *p, const char *s, size_t len);

#endif /* XSPROF_OUT_UTF8_H */
