// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a process is one that a library may be loaded into, by what the kernel says of it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "inject/local.h"

/* ---- filters of system calls ----------------------------------------------------------------- */

/*
 * Who has more of them than we have was not given all of them by who started us both, as all
 * processes of a container are.
 */
static bool is_filtered(pid_t tid)
{
	long mode = target_status(tid, "Seccomp:", 0);

	if (mode <= 0)
		return false;
	return mode == 1 || mode != target_status(getpid(), "Seccomp:", 0) ||
	       target_status(tid, "Seccomp_filters:", 0) >
	       target_status(getpid(), "Seccomp_filters:", 0);
}

static int check_filters(pid_t pid, char *why)
{
	struct dirent *entry;
	bool filtered = false;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !filtered && (entry = readdir(dir)))
		filtered = atoi(entry->d_name) && is_filtered(atoi(entry->d_name));
	if (dir)
		closedir(dir);
	if (!filtered)
		return 0;
	return inject_refuse(why, -EPERM, "it filters its system calls (seccomp), and may be ended "
			     "for one of ours: start it by 'xsprof record COMMAND', which has its "
			     "libraries before the filter");
}

/* ---- what it is ------------------------------------------------------------------------------ */

static int check_state(pid_t pid, char *why)
{
	struct xsp_proc_stat st;

	if (xsp_proc_stat(pid, &st))
		return inject_refuse(why, -ESRCH, "there is no such process");
	if (target_status(pid, "Tgid:", 0) != pid)
		return inject_refuse(why, -ESRCH, "is a thread of process %ld: name that",
				     target_status(pid, "Tgid:", 0));
	if (st.state == 'Z' && target_status(pid, "Threads:", 0) > 1)
		return inject_refuse(why, -ESRCH, "its main thread has ended, and others run on: "
				     "what Python's main thread is for cannot be done in it: start "
				     "it by 'xsprof record COMMAND'");
	if (st.state == 'Z' || st.exiting)
		return inject_refuse(why, -ESRCH, "it has ended, or is about to");
	if (target_status(pid, "VmSize:", 0) < 0)
		return inject_refuse(why, -ENOEXEC, "it is a thread of the kernel, and runs no "
				     "program");
	if (st.state == 'T' && target_status(pid, "TracerPid:", 0) <= 0)
		return inject_refuse(why, -EPERM, "it is stopped (Ctrl-Z, SIGSTOP): 'kill -CONT "
				     "%d' lets it go on, then try again", (int)pid);
	return inject_refuse_traced(pid, why);
}

static int check_user(pid_t pid, char *why)
{
	long euid = target_status(pid, "Uid:", 1);
	struct stat st;
	char path[64];

	if (geteuid() && euid >= 0 && euid != (long)geteuid())
		return inject_refuse(why, -EPERM, "it is of another user (%ld): run xsprof as that "
				     "user, or as root", euid);
	/* Its rings are the user's own files: root's would be closed to it. */
	if (euid >= 0 && euid != (long)geteuid())
		return inject_refuse(why, -EPERM, "it is of another user (%ld), who may not write "
				     "where root's recordings are: run xsprof as that user", euid);
	/* The kernel gives what is there to root then. */
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (geteuid() && !stat(path, &st) && st.st_uid != geteuid())
		return inject_refuse(why, -EPERM, "it does not want to be looked into, or its "
				     "program may not be read (PR_SET_DUMPABLE is not 1): start it "
				     "by 'xsprof record COMMAND'");
	return 0;
}

static int check_program(pid_t pid, char *why)
{
	unsigned char head[5];
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, head, sizeof(head)) : -1;
	if (fd >= 0)
		close(fd);
	if (n == sizeof(head) && !memcmp(head, "\177ELF", 4) && head[4] != 2)
		return inject_refuse(why, -ENOEXEC, "it is a program of 32 bits, and the libraries "
				     "here are of 64");
	return 0;
}

int process_check(pid_t pid, char *why)
{
	int err = check_state(pid, why);

	if (!err)
		err = check_user(pid, why);
	if (!err)
		err = check_filters(pid, why);
	return err ? err : check_program(pid, why);
}
