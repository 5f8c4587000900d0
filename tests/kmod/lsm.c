// SPDX-License-Identifier: GPL-2.0-only
/*
 * Security modules are consulted for the device's file and its ioctls, not for each producer's
 * process. Uses Landlock, with which any process may restrict itself.
 */
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ring.h"
#include "user.h"

#define USER	1000

/* Since version 5 of Landlock, Linux 6.10 */
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV	(1ull << 15)
#endif

#define READ_WRITE	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)

/* Return: its version, or -errno where the kernel has none. */
static int landlock_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);

	return version < 0 ? -errno : (int)version;
}

/* From now on the process may only do @allowed of @handled, with the device.  Return: 0, -errno. */
static int restrict_to(uint64_t handled, uint64_t allowed)
{
	struct landlock_ruleset_attr rules = { .handled_access_fs = handled };
	struct landlock_path_beneath_attr device = { .allowed_access = allowed };
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0), err = 0;

	if (fd < 0)
		return -errno;
	device.parent_fd = open(XSPROF_DEVICE_PATH, O_PATH | O_CLOEXEC);
	if (device.parent_fd < 0 ||
	    (allowed &&
	     syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &device, 0)) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_landlock_restrict_self, fd, 0))
		err = -errno;
	close(device.parent_fd);
	close(fd);
	return err;
}

FIXTURE(lsm)
{
	int	version;
};

FIXTURE_SETUP(lsm)
{
	self->version = landlock_version();
	if (self->version < 0)
		SKIP(return, "this kernel has no Landlock");
}

FIXTURE_TEARDOWN(lsm)
{
}

static int open_withheld(void *unused)
{
	int fd = dev_open();

	if (fd < 0)
		return 1;
	close(fd);
	if (restrict_to(READ_WRITE, LANDLOCK_ACCESS_FS_READ_FILE))
		return 2;
	return dev_open() == -EACCES ? 0 : 3;
}

TEST_F(lsm, is_asked_about_the_file)
{
	if (self->version < 0)	/* skipped: some harnesses come here all the same */
		return;
	EXPECT_EQ(0, user_as(USER, 0, open_withheld, NULL));
}

/* Each command, as far as that it came to the module: none answers EACCES by itself. */
static bool withheld(int fd)
{
	static const unsigned long commands[] = {
		XSPROF_IOC_ATTACH, XSPROF_IOC_KICK, XSPROF_IOC_LIST, XSPROF_IOC_OPEN,
		XSPROF_IOC_POPULATE, XSPROF_IOC_CONTROL, XSPROF_IOC_SYNCS, XSPROF_IOC_EMIT,
		XSPROF_IOC_SCHED,
	};
	unsigned int n = 0;

	for (unsigned int i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		n += dev_call(fd, commands[i], NULL) == -EACCES;
	return n == sizeof(commands) / sizeof(commands[0]);
}

static int ioctl_withheld(void *unused)
{
	struct dev before, after;
	int fd;

	if (dev_attach(&before, XSPROF_MODE_DISCARD, 16 << 10, 1))
		return 1;
	if (restrict_to(READ_WRITE | LANDLOCK_ACCESS_FS_IOCTL_DEV, READ_WRITE))
		return 2;
	fd = dev_open();
	if (fd < 0)
		return 3;
	if (!withheld(fd) || dev_read_id(&after, fd, before.id, 0) != -EACCES)
		return 4;
	/* Of a descriptor that it had it was asked before. */
	return dev_ring_open(&before, before.nr) ? 5 : 0;
}

TEST_F(lsm, is_asked_about_the_calls)
{
	if (self->version < 5)
		SKIP(return, "this kernel's Landlock knows no ioctl");
	EXPECT_EQ(0, user_as(USER, 0, ioctl_withheld, NULL));
}

/* What the kernel itself says: that call checks what ptrace would to read. */
static bool could_ptrace(pid_t pid)
{
	size_t len;
	void *head;

	return !syscall(SYS_get_robust_list, pid, &head, &len);
}

/* The security module forbids to look into the process outside, and the device does not ask it. */
static int look_outside(void *unused)
{
	pid_t outside = getpid(), pid;
	struct dev d, r;
	int status;

	if (dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1))
		return 1;
	pid = fork();
	if (!pid) {
		if (!could_ptrace(outside))
			_exit(2);
		if (restrict_to(READ_WRITE, READ_WRITE))
			_exit(3);
		if (could_ptrace(outside))
			_exit(4);
		_exit(dev_read_id(&r, dev_open(), d.id, XSPROF_OPEN_CONSUME) ? 5 : 0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}

TEST_F(lsm, is_not_asked_about_each_process)
{
	if (self->version < 0)
		return;
	EXPECT_EQ(0, user_as(USER, 0, look_outside, NULL));
}

TEST_HARNESS_MAIN
