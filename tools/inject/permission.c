// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why something is not done; why the kernel does not let us look into a process, and what would.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "inject/local.h"

int inject_refuse(char *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, INJECT_WHY, fmt, ap);
	va_end(ap);
	return err;
}

int inject_refuse_ptrace(pid_t pid, int err, char *why)
{
	char line[32] = "0";
	int scope;

	(void)pid;
	(void)xsp_proc_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof(line));
	scope = atoi(line);
	if (err != EPERM && err != EACCES)
		return inject_refuse(why, -err, "ptrace: %s", strerror(err));
	if (scope == 3)
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 3: nobody may look "
				     "into a process until the machine starts anew");
	if (scope == 2)
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 2: only who has "
				     "CAP_SYS_PTRACE may look into a process: run xsprof as root");
	if (scope == 1)
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 1: only parents may "
				     "look into a process: 'sysctl kernel.yama.ptrace_scope=0', or "
				     "run xsprof as root (in a container: --cap-add SYS_PTRACE)");
	return inject_refuse(why, -EPERM, "the kernel does not let us look into it: it has more "
			     "rights than we have, does not want it (PR_SET_DUMPABLE), or a "
			     "sandbox of ours forbids it (in a container: --cap-add SYS_PTRACE)");
}
