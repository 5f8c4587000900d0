// SPDX-License-Identifier: GPL-2.0-only
/*
 * --realtime: see realtime.h. Never changes the priority of recorded processes.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tool.h"
#include "record/realtime.h"

#define PRIORITY_MAX	99u

int realtime_take(const char *text, uint32_t *priority)
{
	unsigned long value = 1;
	char *end = NULL;

	if (text)
		value = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
	if (!value || value > PRIORITY_MAX || (end && *end))
		return tool_usage("record", "--realtime: '%s': expected a priority, 1 to %u", text,
				  PRIORITY_MAX);
	*priority = (uint32_t)value;
	return -1;
}

/* Threads and processes created by this one get normal priority. */
static int set(uint32_t priority)
{
	struct sched_param param = { .sched_priority = (int)priority };

	return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) ? -errno : 0;
}

int realtime_check(uint32_t priority)
{
	int policy = sched_getscheduler(0), err;
	struct sched_param before;

	if (!priority)
		return 0;
	err = policy < 0 || sched_getparam(0, &before) ? -errno : set(priority);
	/* Restore it with its nice value, which the command inherits. */
	if (!err && sched_setscheduler(0, policy, &before))
		err = -errno;
	if (!err)
		return 0;
	tool_error("--realtime: %s%s", strerror(-err),
		   err == -EPERM ? ": needs root, CAP_SYS_NICE or a higher 'ulimit -r'" : "");
	return TOOL_USAGE;
}

void realtime_begin(uint32_t priority)
{
	int err = priority ? set(priority) : 0;

	if (err)
		tool_note("--realtime: %s: the recorder runs at normal priority", strerror(-err));
}
