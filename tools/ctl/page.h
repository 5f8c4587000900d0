/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The asking side of a process' control page (base/demand-page.h): found, opened, asked, waited
 * for.  It never decides what is asked for.
 */
#ifndef XSPROF_CTL_PAGE_H
#define XSPROF_CTL_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/demand-page.h"

/**
 * struct ctl_page - one that is open
 * @pid: whose, as we see it
 * @comm: its name
 * @fd: the page's file
 * @page: mapped
 * @st: of the file
 */
struct ctl_page {
	pid_t			pid;
	char			comm[16];
	int			fd;
	struct xsp_demand	*page;
	struct stat		st;
};

/**
 * struct ctl_answer - what a process said
 * @err: 0 or a negative errno
 * @number: of the trace that it is about
 * @why: what went wrong; fit for a terminal, as is @file
 * @file: where the trace goes to
 * @lost: what that lacks, once it is written
 */
struct ctl_answer {
	int		err;
	uint32_t	number;
	char		why[XSP_DEMAND_WHY];
	char		file[PATH_MAX];
	struct xsp_demand_lost lost;
};

/**
 * ctl_open - find and open a process' control page
 * @cp: filled; to be closed with ctl_close()
 * @pid: whose
 *
 * Return: 0; -ESRCH: no such process; -EACCES: it may not be looked into; -ENOENT: it has none;
 * -EBADF: it has closed its descriptor of it; -EPROTO: it is of another version; -errno.
 */
int ctl_open(struct ctl_page *cp, pid_t pid);
void ctl_close(struct ctl_page *cp);

/* Does a line of its /proc/PID/maps hold @what?  false also where that cannot be read. */
bool ctl_maps_has(pid_t pid, const char *what);


/**
 * ctl_ask - one request, and its answer
 * @cp: page
 * @verb: enum xsp_demand_verb
 * @text: of the request, at most XSP_DEMAND_TEXT bytes
 * @timeout_ms: until the process has seen it; then it takes as long as it takes
 * @answer: filled, where 0 is returned
 *
 * Return: 0; -EMSGSIZE; -ETIMEDOUT: it was not seen, and is withdrawn; -EAGAIN: others ask all the
 * time; -ESRCH: the process has ended; -EPIPE: the program ends.
 */
int ctl_ask(struct ctl_page *cp, uint32_t verb, const char *text, int64_t timeout_ms,
	    struct ctl_answer *answer);

/* What it records: a copy in one piece.  Return: 0; -EAGAIN: it does not hold still. */
int ctl_now(const struct ctl_page *cp, struct xsp_demand_now *now);

/**
 * ctl_wait_end - until a trace has ended
 * @cp: page
 * @number: of the trace
 * @now: how it ended
 *
 * Return: 0; -ESRCH: the process has ended, and did not say; -ESTALE: another has begun since.
 */
int ctl_wait_end(const struct ctl_page *cp, uint32_t number, struct xsp_demand_now *now);

#endif /* XSPROF_CTL_PAGE_H */
