// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What the user does not get, see refused.h.  The same sentence has the same number each time: a
 * recording that is resumed says again what it cannot do, and the last fact of a key counts.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <xsprof/collector.h>

#include "gpu/common/refused.h"

#define SENTENCES	32u	/* more are said, and not stated */
#define BYTES		256u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char sentences[SENTENCES][BYTES];

/* Return: SENTENCES: there are too many. */
static uint32_t number_of(const char *text)
{
	uint32_t n = 0;

	pthread_mutex_lock(&lock);
	while (n < SENTENCES && *sentences[n] && strcmp(sentences[n], text))
		n++;
	if (n < SENTENCES)
		strcpy(sentences[n], text);
	pthread_mutex_unlock(&lock);
	return n;
}

void gpu_refused(const char *fmt, ...)
{
	char text[BYTES], key[32];
	va_list args;
	uint32_t n;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	xsprof_say("%s", text);
	n = number_of(text);
	if (n == SENTENCES)
		return;
	snprintf(key, sizeof(key), "gpu.refused.%u", n);
	/* It fails where the process is not recorded: then there is no capture to have it. */
	(void)xsprof_fact(key, text);
}
