// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the user does not get, see refused.h.  The number of a fact is a hash of the sentence: a
 * recording that is resumed states the same fact again, and collectors that do not know of each
 * other state different ones.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <xsprof/collector.h>

#include "gpu/common/refused.h"

#define BYTES		512u

static uint32_t number_of(const char *text)
{
	uint32_t h = 0x811c9dc5u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x01000193u;
	return h;
}

void gpu_refused(const char *fmt, ...)
{
	char text[BYTES], key[32];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	xsprof_say("%s", text);
	snprintf(key, sizeof(key), "gpu.refused.%u", number_of(text));
	/* It fails where the process is not recorded: then there is no capture to have it. */
	(void)xsprof_fact(key, text);
}
