// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What is said in a process that ran before we were loaded: its standard error is the program's,
 * and may be any file. It is said to the recorder, by a message in its session, as processes say
 * why they are not recorded: a link, which is there whole and needs no descriptor.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

#define MESSAGES	4u	/* as many as the recorder hears of a process */
#define MESSAGE		256u	/* and bytes of each */

static const char *to;

/* When the recording has ended there is nobody to tell. */
static void tell(const char *line)
{
	char path[PATH_MAX + 64], text[MESSAGE];

	/* By the first character the recorder knows that it is recorded all the same. */
	snprintf(text, sizeof(text), ": %s", line);
	for (unsigned int i = 0; i < MESSAGES; i++) {
		snprintf(path, sizeof(path), "%s/e.%d.0.%u", to, (int)getpid(), i);
		if (!symlink(text, path) || errno != EEXIST)
			return;
	}
}

void python_tell(const char *session)
{
	to = session;
	collect_listener = tell;
}
