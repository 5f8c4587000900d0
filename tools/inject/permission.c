// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error messages: why the kernel denies ptrace of a process, and what to do about it.
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

/* ptrace() returns EPERM for traced and ending threads too: tell these apart. */
int inject_refuse_traced(pid_t tid, char *why)
{
	long tracer = target_status(tid, "TracerPid:", 0);
	struct xsp_proc_stat st;

	if (xsp_proc_stat(tid, &st) || st.state == 'Z' || st.state == 'X')
		return inject_refuse(why, -ESRCH, "it has ended, or is about to");
	if (tracer <= 0)
		return 0;
	if (tracer == getpid())
		return inject_refuse(why, -EAGAIN, "one of its threads does not stop: it waits for "
				     "a disk (state D), or gets no CPU: try again");
	if (inject_tracer(tid) == TRACER_XSPROF)
		return inject_refuse(why, -EAGAIN, "another xsprof (process %ld) is attaching to "
				     "it: try again", tracer);
	return inject_refuse(why, -EBUSY, "process %ld traces it (a debugger, strace), and only "
			     "one can: end that first", tracer);
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
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 3: ptrace is "
				     "disabled until the next boot");
	if (scope == 2)
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 2: ptrace needs "
				     "CAP_SYS_PTRACE: run xsprof as root");
	if (scope == 1)
		return inject_refuse(why, -EPERM, "kernel.yama.ptrace_scope is 1: only parents may "
				     "trace a process: 'sysctl kernel.yama.ptrace_scope=0', or run "
				     "xsprof as root (in a container: --cap-add SYS_PTRACE)");
	return inject_refuse(why, -EPERM, "the kernel denies ptrace: it has more privileges than "
			     "xsprof, is not dumpable (PR_SET_DUMPABLE), or a sandbox forbids it "
			     "(in a container: --cap-add SYS_PTRACE)");
}
