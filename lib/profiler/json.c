// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Metadata as JSON: a text is written as a string of it, whatever its bytes are.
 */
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "text/escape.h"

char *xsp_json_string(const char *text)
{
	size_t len = strlen(text);
	char *json = malloc(XSP_ESCAPE_MAX * len + 3), *p = json;

	if (!json)
		return NULL;
	*p++ = '"';
	p = xsp_escape_json(p, text, len, NULL);
	*p++ = '"';
	*p = '\0';
	return json;
}
