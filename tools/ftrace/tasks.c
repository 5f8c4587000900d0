// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits the instance to threads of processes, by the kernel's ids. It does not handle events.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "ftrace/local.h"
#include "ftrace/mark.h"

/* A forked process runs within this time. */
#define MARK_TRIES	2000
#define MARK_WAIT_US	1000

/* The kernel filters by thread; it follows threads and processes that are created later. */
static int set_process(struct ftrace *ft, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    tracefs_instance_file_append(ft->instance, "set_event_pid",
						 entry->d_name) < 0 && errno != ESRCH)
			err = -errno;
	closedir(dir);
	return err;
}

static int set_marked(struct ftrace *ft)
{
	int err = -ESRCH;
	char tid[16];

	for (int i = 0; i < MARK_TRIES && err; i++) {
		uint32_t found = 0;
		char *text;

		if (i)
			usleep(MARK_WAIT_US);
		text = tracefs_instance_file_read(ft->instance, "trace", NULL);
		if (text)
			found = ftrace_find_mark(text);
		free(text);
		if (found) {
			snprintf(tid, sizeof(tid), "%u", found);
			err = 0;
		}
	}
	if (!err && tracefs_instance_file_append(ft->instance, "set_event_pid", tid) < 0)
		err = -errno;
	/* The mark is not an event of the recording. */
	if (!err && (tracefs_trace_off(ft->instance) < 0 ||
		     tracefs_instance_file_write(ft->instance, "trace", "") < 0))
		err = -errno;
	close(ft->mark);
	ft->mark = -1;
	return err;
}

int ftrace_set_tasks(struct ftrace *ft, const pid_t *processes, uint32_t nr)
{
	int err = 0;

	if (ft->mark >= 0)
		return set_marked(ft);
	for (uint32_t i = 0; i < nr && !err; i++)
		err = set_process(ft, processes[i]);
	return err;
}
