// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Just so much of JSON as metadata needs: a string is written, a value is checked.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

#define DEPTH	64	/* of values inside each other */

char *xsp_json_string(const char *text)
{
	size_t len = strlen(text);
	char *json = malloc(6 * len + 3), *p = json;

	if (!json)
		return NULL;
	*p++ = '"';
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = (char)c;
		} else if (c < 0x20) {
			p += sprintf(p, "\\u%04x", c);
		} else {
			*p++ = (char)c;
		}
	}
	*p++ = '"';
	*p = '\0';
	return json;
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

/* All of them: past the value, or NULL where it is none. */

static const char *skip_string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s != '\\')
			continue;
		s++;
		if (*s == 'u') {
			for (int i = 1; i <= 4; i++)
				if (!isxdigit((unsigned char)s[i]))
					return NULL;
			s += 4;
		} else if (!*s || !strchr("\"\\/bfnrt", *s)) {
			return NULL;
		}
	}
	return s + 1;
}

static const char *skip_digits(const char *s)
{
	if (!isdigit((unsigned char)*s))
		return NULL;
	while (isdigit((unsigned char)*s))
		s++;
	return s;
}

static const char *skip_number(const char *s)
{
	s += *s == '-';
	s = *s == '0' ? s + 1 : skip_digits(s);
	if (s && *s == '.')
		s = skip_digits(s + 1);
	if (s && (*s == 'e' || *s == 'E')) {
		s++;
		s = skip_digits(s + (*s == '+' || *s == '-'));
	}
	return s;
}

static const char *skip_word(const char *s)
{
	static const char *const words[] = { "true", "false", "null" };

	for (int i = 0; i < 3; i++)
		if (!strncmp(s, words[i], strlen(words[i])))
			return s + strlen(words[i]);
	return NULL;
}

static const char *skip_value(const char *s, int depth);

/* Of an object or an array, from behind its bracket. */
static const char *skip_members(const char *s, bool object, int depth)
{
	char end = object ? '}' : ']';

	s = skip_blanks(s);
	if (*s == end)
		return s + 1;
	for (;;) {
		if (object) {
			s = skip_string(skip_blanks(s));
			if (!s)
				return NULL;
			s = skip_blanks(s);
			if (*s++ != ':')
				return NULL;
		}
		s = skip_value(s, depth + 1);
		if (!s)
			return NULL;
		if (*s == end)
			return s + 1;
		if (*s++ != ',')
			return NULL;
	}
}

static const char *skip_value(const char *s, int depth)
{
	if (depth > DEPTH)
		return NULL;
	s = skip_blanks(s);
	if (*s == '{' || *s == '[')
		s = skip_members(s + 1, *s == '{', depth);
	else if (*s == '"')
		s = skip_string(s);
	else if (*s == '-' || isdigit((unsigned char)*s))
		s = skip_number(s);
	else
		s = skip_word(s);
	return s ? skip_blanks(s) : NULL;
}

bool xsp_json_valid(const char *json)
{
	const char *end = skip_value(json, 0);

	return end && !*end;
}
