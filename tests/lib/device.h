/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the producers of processes on the device, and copies one with pread() of a reader's
 * descriptor to a file that collect.h reads; so the walk over a ring is the same as for tmpfs.
 */
#ifndef XSP_TEST_DEVICE_H
#define XSP_TEST_DEVICE_H

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "lib/numbers.h"

#undef XSPROF_DEVICE	/* the one for allocations; not needed here */
#include <xsprof/ioctl.h>

#define INFOS	64

static int dev;
static struct xsprof_info infos[INFOS];
static unsigned int nr_infos;

/* Lists the producers of @pid, oldest first, in infos. */
static void look_up(pid_t pid)
{
	struct xsprof_info one;
	struct xsprof_list list = {
		.size = sizeof(list), .infos = (uintptr_t)&one, .info_size = sizeof(one),
	};

	nr_infos = 0;
	for (;;) {
		list.count = 1;
		if (ioctl(dev, XSPROF_IOC_LIST, &list))
			tap_bail("LIST: %s", strerror(errno));
		if (!list.count)
			return;
		list.after = one.id;
		/* A process that has ended has no pid here; its own view of its pid remains. */
		if (one.own_pid == (uint32_t)pid && nr_infos < INFOS)
			infos[nr_infos++] = one;
	}
}

static int open_producer(uint64_t id, uint32_t flags)
{
	struct xsprof_open arg = { .size = sizeof(arg), .flags = flags, .id = id };
	int fd = ioctl(dev, XSPROF_IOC_OPEN, &arg);

	if (fd < 0)
		tap_wrong("OPEN of %llu: %s", (unsigned long long)id, strerror(errno));
	return fd;
}

/* Copies a producer to a file of the session: number @seq of @pid. */
static void fetch_one(const struct xsprof_info *info, pid_t pid, unsigned int seq)
{
	static char buf[1 << 16];
	char path[300];
	uint64_t at = 0;
	ssize_t n;
	int from = open_producer(info->id, 0), to;

	if (from < 0)
		return;
	snprintf(path, sizeof(path), "%s/p.%d.1.%u", getenv("XSPROF_SESSION"), (int)pid, seq);
	to = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	while ((n = pread(from, buf, sizeof(buf), at)) > 0) {
		if (write(to, buf, n) != n)
			tap_bail("%s: %s", path, strerror(errno));
		at += n;
	}
	CHECK_EQ(n, 0);
	CHECK_EQ(at, info->total_size);
	close(from);
	close(to);
}

/* Return: the number of producers of @pid, whose memory collect() now finds. */
static unsigned int fetch(pid_t pid)
{
	look_up(pid);
	for (unsigned int i = 0; i < nr_infos; i++)
		fetch_one(&infos[i], pid, i);
	return nr_infos;
}

/* The kernel notices an end a moment after wait() returns. */
static uint32_t end_state(pid_t pid, unsigned int which)
{
	for (unsigned int i = 0; i < 30000; i++) {
		look_up(pid);
		if (which < nr_infos && infos[which].state != XSPROF_STATE_LIVE)
			return infos[which].state;
		usleep(1000);
	}
	tap_wrong("process %d does not end", pid);
	return 0;
}

static void end(int status)
{
	syscall(SYS_exit_group, status);
}

static void on_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		end(91);
}

/* Runs this program again, with another environment, to do @what. */
static pid_t start(const char *what, bool session, const char *setting)
{
	char *argv[] = { (char *)"device", (char *)what, NULL };
	char text[100];
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!session)
		unsetenv("XSPROF_SESSION");
	if (setting) {
		snprintf(text, sizeof(text), "%s", setting);
		putenv(text);
	}
	execv("/proc/self/exe", argv);
	_exit(126);
}

/* Return: whether there is a device. */
static bool open_device(void)
{
	dev = open(XSPROF_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	if (dev < 0)
		tap_skip("the device", "there is no " XSPROF_DEVICE_PATH);
	return dev >= 0;
}

#endif /* XSP_TEST_DEVICE_H */
