// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options -p and -a: looks the named processes up before anything is started. Reads no rings.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "cli/attach.h"
#include "cli/tool.h"
#include "read/ring-device.h"

#define PIDS_MAX	4096u

static int add(struct attach *a, pid_t pid)
{
	pid_t *pids = realloc(a->pids, (a->nr + 1) * sizeof(*pids));
	uint64_t *starts;
	bool *met;

	if (!pids)
		return -ENOMEM;
	a->pids = pids;
	starts = realloc(a->starts, (a->nr + 1) * sizeof(*starts));
	if (!starts)
		return -ENOMEM;
	a->starts = starts;
	met = realloc(a->met, (a->nr + 1) * sizeof(*met));
	if (!met)
		return -ENOMEM;
	a->met = met;
	met[a->nr] = false;
	starts[a->nr] = 0;
	pids[a->nr++] = pid;
	return 0;
}

int attach_take(struct attach *a, const char *verb, const char *list)
{
	char *copy = strdup(list), *save = NULL, *word;
	uint64_t pid;
	int status = -1;

	if (!copy)
		return tool_error("out of memory");
	word = strtok_r(copy, ",", &save);
	if (!word)
		status = tool_usage(verb, "--pid: a process id is missing");
	for (; word && status < 0; word = strtok_r(NULL, ",", &save)) {
		if (tool_parse_u64(word, &pid) || !pid || pid > INT32_MAX)
			status = tool_usage(verb, "--pid: '%s' is not a process id: e.g. -p 12,13",
					    word);
		else if (a->nr == PIDS_MAX)
			status = tool_usage(verb, "--pid: more than %u processes: use -a for all",
					    PIDS_MAX);
		else if (add(a, pid))
			status = tool_error("out of memory");
	}
	free(copy);
	return status;
}

int attach_check_met(const struct attach *a)
{
	int status = 0;
	uint32_t i;

	for (i = 0; i < a->nr; i++)
		if (!a->met[i])
			status = tool_error("process %d: has no rings: 'xsprof list' shows the "
					    "processes that have", (int)a->pids[i]);
	return status;
}

void attach_text(const struct attach *a, char *buf, size_t size)
{
	size_t at;
	uint32_t i;

	at = snprintf(buf, size, a->all ? "(all processes)" : "(processes");
	for (i = 0; !a->all && i < a->nr && at < size; i++)
		at += snprintf(buf + at, size - at, "%s%d", i ? "," : " ", (int)a->pids[i]);
	if (!a->all && at < size)
		snprintf(buf + at, size - at, ")");
}

/* ---- who is there -------------------------------------------------------------------------- */

/**
 * struct search - looks for a producer of a process
 * @pid: the process
 * @found: the newest one, a living one before others
 * @any: there is one
 */
struct search {
	uint32_t		pid;
	struct xsprof_info	found;
	bool			any;
};

static int match(void *data, const struct xsprof_info *info)
{
	struct search *s = data;

	if (info->pid != s->pid)
		return 0;
	if (!s->any || info->state == XSPROF_STATE_LIVE || s->found.state != XSPROF_STATE_LIVE)
		s->found = *info;
	s->any = true;
	return 0;
}

static int find(struct attach *a, int fd, uint32_t i, bool consume)
{
	struct search s = { .pid = a->pids[i] };
	int err = xsp_device_each(fd, 0, match, &s);

	if (err) {
		tool_error(XSPROF_DEVICE_PATH ": %s", strerror(-err));
		return TOOL_USAGE;
	}
	if (!s.any) {
		tool_error("process %d: not a producer, or not readable by you: 'xsprof list' "
			   "shows those that are; a process becomes a producer at its first marker",
			   (int)a->pids[i]);
		return TOOL_USAGE;
	}
	if (consume && s.found.flags & XSPROF_INFO_CONSUMED) {
		tool_error("process %d (%s): already has a recorder ('xsprof list' shows it); "
			   "'xsprof dump --live -p %d' can read its events at the same time",
			   (int)a->pids[i], s.found.comm, (int)a->pids[i]);
		return TOOL_USAGE;
	}
	a->starts[i] = s.found.start_time;
	return 0;
}

int attach_device(struct attach *a, int *fd, bool consume)
{
	int status = 0;
	uint32_t i;

	*fd = xsp_device_open();
	if (*fd < 0) {
		tool_error("%s: " XSPROF_DEVICE_PATH " %s; without the module only processes "
			   "started by 'xsprof record' have rings that can be read",
			   a->all ? "-a" : "-p", xsp_device_strerror(*fd));
		return TOOL_USAGE;
	}
	for (i = 0; i < a->nr && !status; i++)
		status = find(a, *fd, i, consume);
	if (!status)
		return 0;
	close(*fd);
	*fd = -1;
	return status;
}

struct xsp_device_filter attach_filter(const struct attach *a)
{
	return (struct xsp_device_filter){
		.pids = a->pids,
		.starts = a->starts,
		.nr_pids = a->nr,
		.all = a->all,
		.go_on = true,
	};
}

/* A process that executes another program has no producer for a moment, but exists. */
static bool runs(pid_t pid, uint64_t start)
{
	struct xsp_proc_stat st;

	return !xsp_proc_stat(pid, &st) && st.start_time == start && st.state != 'Z' &&
	       st.state != 'X';
}

bool attach_ended(const struct attach *a, const struct xsp_drain *d)
{
	uint32_t i;

	if (a->all || xsp_drain_producers(d))
		return false;
	for (i = 0; i < a->nr; i++)
		if (runs(a->pids[i], a->starts[i]))
			return false;
	return true;
}

void attach_free(struct attach *a)
{
	free(a->pids);
	free(a->starts);
	free(a->met);
	memset(a, 0, sizeof(*a));
}
