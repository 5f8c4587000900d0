// SPDX-License-Identifier: LGPL-2.1-only
/*
 * UTF-8 decoding: see utf8.h.
 */
#include <string.h>

#include "text/utf8.h"

/* RFC 3629: the shortest form only, no surrogates, nothing above U+10FFFF. */
size_t xsp_utf8(const unsigned char *s, size_t len, unsigned int *cp)
{
	static const unsigned int least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n, i;

	if (s[0] < 0x80) {
		*cp = s[0];
		return 1;
	}
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
		return 0;
	*cp = s[0] & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
		return 0;
	return n;
}

size_t xsp_utf8_piece(const char *s, size_t len, size_t max)
{
	unsigned int cp;
	size_t n = 0;

	while (n < len && n < max) {
		size_t next = xsp_utf8((const unsigned char *)s + n, len - n, &cp);

		n += next ? next : 1;
	}
	return n;
}

char *xsp_utf8_copy(char *p, const char *s, size_t len)
{
	unsigned int cp;
	size_t n;

	for (; len; s += n, len -= n) {
		n = xsp_utf8((const unsigned char *)s, len, &cp);
		if (n == 1) {
			*p++ = *s;
		} else if (n) {
			memcpy(p, s, n);
			p += n;
		} else {
			memcpy(p, "\xef\xbf\xbd", 3);
			p += 3;
			n = 1;
		}
	}
	return p;
}
