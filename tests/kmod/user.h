/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for tests of rights: change a process' user and capabilities, run a function as another
 * user, read the module's counters in sysfs.  No verdicts.
 */
#ifndef KMOD_USER_H
#define KMOD_USER_H

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "dev.h"
#include "env.h"

/* A number of /sys/class/misc/xsprof, or -1. */
__attribute__((unused)) static long long user_counter(const char *name)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "/sys/class/misc/xsprof/%s", name);
	return env_file_get(path, text, sizeof(text)) ? -1 : strtoll(text, NULL, 0);
}

/* Set the capabilities of the calling process to exactly @caps.  Return: 0 or -errno. */
static int user_caps(uint64_t caps)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)caps, .permitted = (uint32_t)caps },
		{ .effective = caps >> 32, .permitted = caps >> 32 },
	};

	return syscall(SYS_capset, &h, data) ? -errno : 0;
}

/* Become @uid with the capabilities in @caps and no others.  Return: 0 or -errno. */
__attribute__((unused)) static int user_become(uid_t uid, uint64_t caps)
{
	int err;

	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setgid(uid) || setuid(uid))
		return -errno;
	err = user_caps(caps);
	if (err)
		return err;
	/* setuid() cleared it; other processes of @uid may look again, as after an exec. */
	return prctl(PR_SET_DUMPABLE, 1) ? -errno : 0;
}

/* Run @call in a child that is @uid with @caps.  Return: what it returns, 0 to 100. */
__attribute__((unused)) static int user_as(uid_t uid, uint64_t caps, int (*call)(void *),
					   void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(user_become(uid, caps) ? 101 : call(arg));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 102;
}

#endif /* KMOD_USER_H */
