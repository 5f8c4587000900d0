// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why something is not done; why the kernel does not let us look into a process, and what would.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum inject_tracer inject_tracer(pid_t tid)
{
	long tracer = target_status(tid, "TracerPid:", 0);
	char comm[16] = "";

	if (tracer <= 0)
		return TRACER_NONE;
	(void)xsp_proc_comm((pid_t)tracer, (pid_t)tracer, comm);
	return strcmp(comm, "xsprof") ? TRACER_OTHER : TRACER_XSPROF;
}

/* One that is traced, or ends, is refused with the errno of one that may not be traced. */
int inject_refuse_traced(pid_t tid, char *why)
{
	long tracer = target_status(tid, "TracerPid:", 0);
	struct xsp_proc_stat st;

	if (xsp_proc_stat(tid, &st) || st.state == 'Z' || st.state == 'X')
		return inject_refuse(why, -ESRCH, "it has ended, or is about to");
	if (tracer <= 0)
		return 0;
	if (tracer == getpid())
		return inject_refuse(why, -EAGAIN, "a thread of it does not stop: it waits for a "
				     "disk (state D), or gets no CPU: try again");
	if (inject_tracer(tid) == TRACER_XSPROF)
		return inject_refuse(why, -EAGAIN, "another xsprof (process %ld) comes to it just "
				     "now: try again", tracer);
	return inject_refuse(why, -EBUSY, "process %ld traces it (a debugger, strace): one at a "
			     "time can: end that first", tracer);
}

int inject_refuse_ptrace(pid_t tid, int err, char *why)
{
	char line[32] = "0";
	int scope, traced;

	if (err != EPERM && err != EACCES)
		return inject_refuse(why, -err, "ptrace: %s", strerror(err));
	traced = inject_refuse_traced(tid, why);
	if (traced)
		return traced;
	(void)xsp_proc_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof(line));
	scope = atoi(line);
	if (scope == 3)
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 3: no process may "
				     "use ptrace until the next boot");
	if (scope == 2)
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 2: ptrace needs "
				     "CAP_SYS_PTRACE: run xsprof as root");
	if (scope == 1)
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 1: only parents may "
				     "look into a process: 'sysctl kernel.yama.ptrace_scope=0', or "
				     "run xsprof as root (in a container: --cap-add SYS_PTRACE)");
	return inject_refuse(why, -EPERM, "the kernel does not let us look into it: it has more "
			     "rights than we have, does not want it (PR_SET_DUMPABLE), or a "
			     "sandbox of ours forbids it (in a container: --cap-add SYS_PTRACE)");
}
