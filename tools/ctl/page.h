/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requesting side of a process's control page (base/demand-page.h): finds and opens it, sends
 * requests, waits. What is requested is up to the caller.
 */
#ifndef XSPROF_CTL_PAGE_H
#define XSPROF_CTL_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/demand-page.h"

/**
 * struct ctl_page - an open control page
 * @pid: its process, in this pid namespace
 * @comm: its name
 * @fd: descriptor of the page
 * @page: the mapped page
 * @st: fstat() of the page
 */
struct ctl_page {
	pid_t			pid;
	char			comm[16];
	int			fd;
	struct xsp_demand	*page;
	struct stat		st;
};

/**
 * struct ctl_answer - the answer of a process
 * @err: 0 or a negative errno
 * @number: number of the trace
 * @why: error message; @why and @file are safe to print to a terminal
 * @file: path of the trace
 * @lost: its losses, once it is written
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
 * @pid: the process
 *
 * Return: 0; -ESRCH: no such process; -EACCES: no permission; -ENOENT: it has no page; -EBADF: it
 * has closed its descriptor of the page; -EPROTO: another version; -errno.
 */
int ctl_open(struct ctl_page *cp, pid_t pid);
void ctl_close(struct ctl_page *cp);

/* Does /proc/PID/maps have a line with @what? false also if it cannot be read. */
bool ctl_maps_has(pid_t pid, const char *what);


/**
 * ctl_ask - send one request and wait for its answer
 * @cp: page
 * @verb: enum xsp_demand_verb
 * @text: text of the request, at most XSP_DEMAND_TEXT bytes
 * @timeout_ms: until the process has seen it; then there is no limit
 * @answer: set if 0 is returned
 *
 * Return: 0; -EMSGSIZE; -ETIMEDOUT: it was not seen, and is cancelled; -EAGAIN: other requests keep
 * the page busy; -ESRCH: the process has ended; -EPIPE: the program is ending.
 */
int ctl_ask(struct ctl_page *cp, uint32_t verb, const char *text, int64_t timeout_ms,
	    struct ctl_answer *answer);

/* The recording state: a consistent copy. Return: 0; -EAGAIN: it keeps changing. */
int ctl_now(const struct ctl_page *cp, struct xsp_demand_now *now);

/**
 * ctl_wait_end - wait until a trace has ended
 * @cp: page
 * @number: of the trace
 * @now: how it ended
 *
 * Return: 0; -ESRCH: the process has ended without an answer; -ESTALE: another trace has begun.
 */
int ctl_wait_end(const struct ctl_page *cp, uint32_t number, struct xsp_demand_now *now);

#endif /* XSPROF_CTL_PAGE_H */
