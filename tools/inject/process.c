// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks by /proc whether a library may be loaded into a process.
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
 * Does the process have more seccomp filters than this one? Then it did not inherit all of them
 * from a common parent, as processes of a container do.
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
	return inject_refuse(why, -EPERM, "it filters its system calls (seccomp), and the filter "
			     "may kill it for one of xsprof's: start it with 'xsprof record "
			     "COMMAND', which loads libraries before the filter");
}

/* ---- what it is ------------------------------------------------------------------------------ */

static int check_state(pid_t pid, char *why)
{
	struct xsp_proc_stat st;

	if (xsp_proc_stat(pid, &st))
		return inject_refuse(why, -ESRCH, "there is no such process");
	if (target_status(pid, "Tgid:", 0) != pid)
		return inject_refuse(why, -ESRCH, "is a thread of process %ld: use that id",
				     target_status(pid, "Tgid:", 0));
	if (st.state == 'Z' && target_status(pid, "Threads:", 0) > 1)
		return inject_refuse(why, -ESRCH, "its main thread has ended; recording needs "
				     "Python's main thread: start it with 'xsprof record COMMAND'");
	if (st.state == 'Z' || st.exiting)
		return inject_refuse(why, -ESRCH, "it has ended, or is about to");
	if (target_status(pid, "VmSize:", 0) < 0)
		return inject_refuse(why, -ENOEXEC, "it is a kernel thread");
	if (st.state == 'T' && target_status(pid, "TracerPid:", 0) <= 0)
		return inject_refuse(why, -EPERM, "it is stopped (Ctrl-Z, SIGSTOP): continue it "
				     "with 'kill -CONT %d', then try again", (int)pid);
	return inject_refuse_traced(pid, why);
}

static int check_user(pid_t pid, char *why)
{
	long euid = target_status(pid, "Uid:", 1);
	struct stat st;
	char path[64];

	if (geteuid() && euid >= 0 && euid != (long)geteuid())
		return inject_refuse(why, -EPERM, "it belongs to another user (%ld): run xsprof as "
				     "that user, or as root", euid);
	/* Its rings are files of its user: it could not open root's. */
	if (euid >= 0 && euid != (long)geteuid())
		return inject_refuse(why, -EPERM, "it belongs to another user (%ld), who cannot "
				     "write into root's recordings: run xsprof as that user", euid);
	/* For a process that is not dumpable these files belong to root. */
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (geteuid() && !stat(path, &st) && st.st_uid != geteuid())
		return inject_refuse(why, -EPERM, "it is not dumpable: PR_SET_DUMPABLE is not 1, "
				     "or its program file is not readable: start it with 'xsprof "
				     "record COMMAND'");
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
		return inject_refuse(why, -ENOEXEC, "it is a 32-bit program, and the libraries "
				     "here are 64-bit");
	return 0;
}

int process_ended(pid_t pid, int err, char *why)
{
	struct xsp_proc_stat st;

	if (!xsp_proc_stat(pid, &st) && st.state != 'Z' && !st.exiting)
		return err;
	return inject_refuse(why, -ESRCH, "it has ended, or is about to");
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
