// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Sanitises text of other processes: see plain.h. Allocates nothing; only UTF-8 is supported.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"

/* As in text/escape.c: controls terminals, breaks lines or changes their direction. */
static bool is_unprintable(unsigned int c)
{
	return (c >= 0x80 && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Length of the non-ASCII character at @s; 0: invalid or unprintable. */
static size_t above_ascii(const unsigned char *s, size_t len)
{
	size_t n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;
	unsigned int code;

	if (*s < 0xc2 || *s > 0xf4 || n > len)
		return 0;
	/* Overlong forms, surrogates, and code points beyond the last one. */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xf0 && s[1] < 0x90) ||
	    (*s == 0xed && s[1] > 0x9f) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	code = *s & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fu);
	}
	return is_unprintable(code) ? 0 : n;
}

void xsp_plain(char *text, size_t len)
{
	unsigned char *s = (unsigned char *)text, *end = s + len;

	while (s < end) {
		size_t n = *s >= 0x80 ? above_ascii(s, (size_t)(end - s)) :
			   *s >= ' ' && *s != 0x7f;

		if (!n)
			*s = '?';
		s += n ? n : 1;
	}
}

bool xsp_plain_file(int dirfd, const char *name, char *text, size_t size)
{
	ssize_t n = readlinkat(dirfd, name, text, size - 1);
	int fd;

	if (n < 0) {
		fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return false;
		n = read(fd, text, size - 1);
		close(fd);
	}
	/* Created but not written yet. */
	if (n <= 0)
		return false;
	unlinkat(dirfd, name, 0);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	xsp_plain(text, strlen(text));
	return true;
}
