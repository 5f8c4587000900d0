// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Escapes arbitrary bytes for an output: see escape.h.
 */
#include <stdint.h>
#include <string.h>

#include "text/escape.h"
#include "text/utf8.h"

static const char hex[] = "0123456789abcdef";

/* C1 controls drive terminals too; line separators and bidi controls falsify lines. */
static bool unprintable(unsigned int cp)
{
	return (cp >= 0x80 && cp < 0xa0) || cp == 0x61c || (cp >= 0x200b && cp <= 0x200f) ||
	       (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xfeff;
}

static char *put_byte(char *p, unsigned char c)
{
	*p++ = '\\';
	*p++ = 'x';
	*p++ = hex[c >> 4];
	*p++ = hex[c & 15];
	return p;
}

/* At most \u{feff}: 8 bytes for 2 or 3 of input. */
static char *put_code(char *p, unsigned int cp)
{
	int shift = cp > 0xfff ? 12 : cp > 0xff ? 8 : 4;

	memcpy(p, "\\u{", 3);
	p += 3;
	for (; shift >= 0; shift -= 4)
		*p++ = hex[(cp >> shift) & 15];
	*p++ = '}';
	return p;
}

char *xsp_escape_text(char *p, const char *str, size_t len)
{
	const unsigned char *s = (const unsigned char *)str, *end = s + len;
	unsigned int cp = 0;
	size_t n;

	while (s < end) {
		if (*s >= 0x20 && *s < 0x7f) {
			if (*s == '\\')
				*p++ = '\\';
			*p++ = (char)*s++;
			continue;
		}
		n = *s < 0x80 ? 0 : xsp_utf8(s, (size_t)(end - s), &cp);
		if (!n) {
			p = put_byte(p, *s++);
		} else if (unprintable(cp)) {
			p = put_code(p, cp);
			s += n;
		} else {
			memcpy(p, s, n);
			p += n;
			s += n;
		}
	}
	return p;
}

size_t xsp_escape_print(FILE *file, const char *s, size_t len)
{
	char piece[XSP_ESCAPE_MAX * 256], *end;
	size_t n, shown = 0;

	for (; len; s += n, len -= n) {
		n = xsp_utf8_piece(s, len, 250);
		end = xsp_escape_text(piece, s, n);
		fwrite(piece, 1, (size_t)(end - piece), file);
		for (const char *p = piece; p < end; p++)
			shown += ((unsigned char)*p & 0xc0) != 0x80;
	}
	return shown;
}

static char *put_json_control(char *p, unsigned char c)
{
	*p++ = '\\';
	switch (c) {
	case '\n':
		*p++ = 'n';
		return p;
	case '\t':
		*p++ = 't';
		return p;
	case '\r':
		*p++ = 'r';
		return p;
	}
	memcpy(p, "u00", 3);
	p[3] = hex[c >> 4];
	p[4] = hex[c & 15];
	return p + 5;
}

/* The same text for parsers, but harmless when shown on a terminal. */
static char *put_json_code(char *p, unsigned int cp)
{
	*p++ = '\\';
	*p++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4)
		*p++ = hex[(cp >> shift) & 15];
	return p;
}

char *xsp_escape_json(char *p, const char *str, size_t len, bool *altered)
{
	const unsigned char *s = (const unsigned char *)str, *end = s + len;
	unsigned int cp;
	size_t n;

	while (s < end) {
		if (*s >= 0x20 && *s < 0x7f) {
			if (*s == '\\' || *s == '"')
				*p++ = '\\';
			*p++ = (char)*s++;
			continue;
		}
		if (*s < 0x80) {
			p = put_json_control(p, *s++);
			continue;
		}
		n = xsp_utf8(s, (size_t)(end - s), &cp);
		if (n && unprintable(cp)) {
			p = put_json_code(p, cp);
			s += n;
			continue;
		}
		if (n) {
			memcpy(p, s, n);
			p += n;
			s += n;
			continue;
		}
		memcpy(p, "\xef\xbf\xbd", 3);
		p += 3;
		s++;
		if (altered)
			*altered = true;
	}
	return p;
}

char *xsp_escape_valid_json(char *p, const char *str, size_t len)
{
	const unsigned char *s = (const unsigned char *)str, *end = s + len;
	unsigned int cp;
	size_t n;

	for (; s < end; s += n) {
		n = *s < 0x80 ? 0 : xsp_utf8(s, (size_t)(end - s), &cp);
		if (!n) {
			n = 1;
			cp = *s;
		}
		if (cp == 0x7f || (n > 1 && unprintable(cp))) {
			p = put_json_code(p, cp);
		} else {
			memcpy(p, s, n);
			p += n;
		}
	}
	return p;
}
