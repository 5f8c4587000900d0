/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between the options of `xsprof ctl` (ctl.c) and its messages about processes (say.c).
 */
#ifndef XSPROF_CTL_LOCAL_H
#define XSPROF_CTL_LOCAL_H

#include <stdbool.h>

#include "ctl/page.h"

#define CTL_LINES	32u
#define CTL_FLAGS	16u

/**
 * struct ctl_asked - the requested action
 * @pid: process
 * @output: the file as given; NULL: the default
 * @file: its absolute path
 * @duration_ns: 0: until it is stopped
 * @iterations: 0: by time
 * @timeout_ns: how long to wait until the process answers
 * @wait: wait until the trace has ended
 * @memory_snapshot: a memory snapshot instead of a trace
 * @allow_lost: exit with status 0 if records were lost
 * @flags: configuration keys to set to true
 * @nr_flags: number of @flags
 * @lines: lines of --set
 * @nr_lines: number of @lines
 * @text: the text of the request
 */
struct ctl_asked {
	pid_t		pid;
	const char	*output;
	char		file[PATH_MAX];
	uint64_t	duration_ns;
	uint64_t	iterations;
	uint64_t	timeout_ns;
	bool		wait;
	bool		memory_snapshot;
	bool		allow_lost;
	const char	*flags[CTL_FLAGS];
	uint32_t	nr_flags;
	const char	*lines[CTL_LINES];
	uint32_t	nr_lines;
	char		text[XSP_DEMAND_TEXT + 1];
};

/* Opens the control page of the process, or prints why not; @rings: mentions its rings, if any. */
int ctl_reach(const struct ctl_asked *a, struct ctl_page *cp, bool rings);

/* Sends a request, or prints why there is no answer. Return: a status; 0: @answer is set. */
int ctl_request(const struct ctl_asked *a, struct ctl_page *cp, uint32_t verb,
		struct ctl_answer *answer);

/* Prints why the process refused or failed; @why: the process's message. Return: TOOL_FAILED. */
int ctl_refused(const struct ctl_asked *a, int err, const char *why);

/* Prints the losses of a trace file. Return: a status. */
int ctl_losses(const struct ctl_asked *a, const char *file, const struct xsp_demand_lost *lost);

int ctl_status(struct ctl_asked *a, struct ctl_page *cp);
int ctl_list(void);

/* Does a recording of this process exist, other than its own on demand? */
bool ctl_has_rings(pid_t pid);

#endif /* XSPROF_CTL_LOCAL_H */
