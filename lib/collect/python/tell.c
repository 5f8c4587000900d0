// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Messages of a process that we attached to: its standard error belongs to the program and may be
 * any file. So they go to the recorder, as a message in its session like those of processes that
 * cannot be recorded: a symbolic link, created atomically and without a descriptor.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "collect/common/say.h"
#include "collect/python/local.h"

#define MESSAGES	4u	/* the recorder reads no more of a process */
#define MESSAGE		256u	/* bytes of a message */

static const char *to;

/* After the end of the recording there is no one to tell: the error is ignored. */
static void tell(const char *line)
{
	char path[PATH_MAX + 64], text[MESSAGE];

	/* The first character tells the recorder that the process is recorded nevertheless. */
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
