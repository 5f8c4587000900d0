// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Validates JSON that is copied into a trace verbatim. Nesting is limited, so that no text exhausts
 * the stack.
 */
#include <stdlib.h>
#include <string.h>

#include "text/json-valid.h"
#include "text/utf8.h"

#define DEPTH	200
#define NO_UNIT	0x10000u

static const char *space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

/* Return: the UTF-16 code unit written as "\uXXXX" at @s, or NO_UNIT. */
static unsigned int unit(const char *s)
{
	char hex[5] = "";

	if (s[0] != '\\' || s[1] != 'u' || strspn(s + 2, "0123456789abcdefABCDEF") < 4)
		return NO_UNIT;
	memcpy(hex, s + 2, 4);
	return (unsigned int)strtoul(hex, NULL, 16);
}

static bool is_high(unsigned int cp)
{
	return cp >= 0xd800 && cp < 0xdc00;
}

static bool is_low(unsigned int cp)
{
	return cp >= 0xdc00 && cp < 0xe000;
}

/* NULL: invalid. All parse functions return the end of what they parsed. */
static const char *escape(const char *s)
{
	unsigned int cp;

	if (s[1] != 'u')
		return s[1] && strchr("\"\\/bfnrt", s[1]) ? s + 2 : NULL;
	cp = unit(s);
	/* An unpaired surrogate is no character: strict readers refuse the whole file. */
	if (cp == NO_UNIT || is_low(cp) || (is_high(cp) && !is_low(unit(s + 6))))
		return NULL;
	return s + (is_high(cp) ? 12 : 6);
}

static const char *string(const char *s)
{
	unsigned int cp;
	size_t n;

	if (*s++ != '"')
		return NULL;
	while (*s != '"') {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s == '\\') {
			s = escape(s);
			if (!s)
				return NULL;
			continue;
		}
		n = xsp_utf8((const unsigned char *)s, strnlen(s, 4), &cp);
		if (!n)
			return NULL;
		s += n;
	}
	return s + 1;
}

static const char *digits(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n ? s + n : NULL;
}

static const char *number(const char *s)
{
	s += *s == '-';
	if (*s == '0' && s[1] >= '0' && s[1] <= '9')
		return NULL;
	s = digits(s);
	if (s && *s == '.')
		s = digits(s + 1);
	if (s && (*s == 'e' || *s == 'E')) {
		s++;
		s = digits(s + (*s == '+' || *s == '-'));
	}
	return s;
}

static const char *value(const char *s, int depth);

static const char *members(const char *s, char close, int depth)
{
	s = space(s + 1);
	if (*s == close)
		return s + 1;
	while (s) {
		if (close == '}') {
			s = string(s);
			s = s ? space(s) : NULL;
			if (!s || *s != ':')
				return NULL;
			s = space(s + 1);
		}
		s = value(s, depth + 1);
		if (!s)
			return NULL;
		s = space(s);
		if (*s == close)
			return s + 1;
		if (*s != ',')
			return NULL;
		s = space(s + 1);
	}
	return NULL;
}

static const char *value(const char *s, int depth)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t i;

	if (depth > DEPTH)
		return NULL;
	switch (*s) {
	case '{':
		return members(s, '}', depth);
	case '[':
		return members(s, ']', depth);
	case '"':
		return string(s);
	}
	for (i = 0; i < 3; i++)
		if (!strncmp(s, words[i], strlen(words[i])))
			return s + strlen(words[i]);
	return number(s);
}

bool xsp_json_valid(const char *s)
{
	s = value(space(s), 0);
	return s && !*space(s);
}
