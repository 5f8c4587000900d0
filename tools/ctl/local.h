/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between the options of `xsprof ctl` (ctl.c) and what it says of processes (say.c).
 */
#ifndef XSPROF_CTL_LOCAL_H
#define XSPROF_CTL_LOCAL_H

#include <stdbool.h>

#include "ctl/page.h"

#define CTL_LINES	32u
#define CTL_FLAGS	16u

/**
 * struct ctl_asked - what was asked for
 * @pid: process
 * @output: file, as it was given; NULL: the default
 * @file: that, absolute
 * @duration_ns: 0: until it is stopped
 * @iterations: 0: by time
 * @timeout_ns: how long a process may not hear
 * @wait: until it has ended
 * @memory_snapshot: in place of a trace
 * @allow_lost: exit with status 0 if records were lost
 * @flags: keys that are to be true
 * @nr_flags: how many
 * @lines: of --set
 * @nr_lines: how many
 * @text: the request
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

/* Opens the process' page, or says why not; @rings: and points to those that it may hold. */
int ctl_reach(const struct ctl_asked *a, struct ctl_page *cp, bool rings);

/* Asks, or says why there is no answer.  Return: a status; 0: @answer is there. */
int ctl_request(const struct ctl_asked *a, struct ctl_page *cp, uint32_t verb,
		struct ctl_answer *answer);

/* Says why the process will not, or could not; @why: in its words.  Return: TOOL_FAILED. */
int ctl_refused(const struct ctl_asked *a, int err, const char *why);

/* Says what a file lacks that was written.  Return: a status. */
int ctl_losses(const struct ctl_asked *a, const char *file, const struct xsp_demand_lost *lost);

int ctl_status(struct ctl_asked *a, struct ctl_page *cp);
int ctl_list(void);

/* Does somebody record this process, other than the process itself on demand? */
bool ctl_has_rings(pid_t pid);

#endif /* XSPROF_CTL_LOCAL_H */
