// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Reads /proc. Allocates nothing: it also runs inside programs that record themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/proc.h"

#define PF_EXITING	0x4u	/* of <linux/sched.h>: field 9 of /proc/PID/stat shows it */

long xsp_proc_read(const char *path, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += n;
	}
	n = n < 0 ? -errno : (ssize_t)len;
	close(fd);
	buf[len] = '\0';
	return n;
}

int xsp_proc_line(const char *path, char *buf, size_t size)
{
	int n = xsp_proc_read(path, buf, size);

	if (n < 0)
		return n;
	n = strcspn(buf, "\n");
	buf[n] = '\0';
	return n;
}

static int parse_stat(const char *buf, struct xsp_proc_stat *st)
{
	/* The process' name is in parentheses and may contain parentheses and blanks. */
	const char *at = strrchr(buf, ')');

	if (!at || at[1] != ' ' || !at[2])
		return -ENOENT;
	at += 2;
	st->state = *at;
	st->start_time = 0;
	st->wstatus = -1;
	st->exiting = false;
	for (int i = 3; i < 52 && at; i++) {
		at = strchr(at, ' ');
		if (!at)
			break;
		at++;
		if (i + 1 == 9)
			st->exiting = strtoul(at, NULL, 10) & PF_EXITING;
		if (i + 1 == 22)
			st->start_time = strtoull(at, NULL, 10);
		if (i + 1 == 52)
			st->wstatus = strtol(at, NULL, 10);
	}
	return 0;
}

int xsp_proc_stat(pid_t pid, struct xsp_proc_stat *st)
{
	char path[64], buf[1024];
	int n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	n = xsp_proc_read(path, buf, sizeof(buf));
	if (n < 0)
		return n == -ESRCH ? -ENOENT : n;
	return parse_stat(buf, st);
}

int xsp_proc_has_uid(pid_t pid, uid_t uid)
{
	char path[64], buf[2048];
	unsigned int ids[4];
	const char *at;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	n = xsp_proc_read(path, buf, sizeof(buf));
	if (n < 0)
		return n == -ESRCH ? -ENOENT : n;
	at = strstr(buf, "\nUid:");
	if (!at || sscanf(at, "\nUid: %u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		return -ENOENT;
	for (int i = 0; i < 4; i++)
		if (ids[i] == uid)
			return 1;
	return 0;
}

uint64_t xsp_proc_start_time(void)
{
	struct xsp_proc_stat st;
	char buf[1024];

	if (xsp_proc_read("/proc/self/stat", buf, sizeof(buf)) <= 0 || parse_stat(buf, &st))
		return 0;
	return st.start_time;
}

/*
 * A line is "START-END PERM OFFSET MAJOR:MINOR INODE PATH". Paths may be long, so the file is read
 * as a stream, and only the beginning of each line is parsed.
 */
int xsp_proc_maps_file(pid_t pid, dev_t dev, ino_t ino)
{
	char path[64], line[128], buf[4096];
	unsigned long long inode;
	unsigned int maj, min;
	size_t len = 0;
	bool any = false;
	ssize_t n, i;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		any = true;
		for (i = 0; i < n; i++) {
			if (buf[i] != '\n') {
				if (len < sizeof(line) - 1)
					line[len++] = buf[i];
				continue;
			}
			line[len] = '\0';
			len = 0;
			if (sscanf(line, "%*s %*s %*s %x:%x %llu", &maj, &min, &inode) == 3 &&
			    inode == ino && makedev(maj, min) == dev) {
				close(fd);
				return 1;
			}
		}
	}
	n = n < 0 ? -errno : 0;
	close(fd);
	if (n)
		return n;
	return any ? 0 : -ESRCH;
}

int xsp_proc_comm(pid_t pid, pid_t tid, char *comm)
{
	char path[80], buf[64];
	int n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	n = xsp_proc_line(path, buf, sizeof(buf));
	if (n < 0)
		return n;
	if (n > 15)
		n = 15;
	memcpy(comm, buf, n);
	memset(comm + n, 0, 16 - n);
	return 0;
}

int xsp_proc_exe(pid_t pid, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return n;
}

uint32_t xsp_proc_pid_ns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (uint32_t)st.st_ino;
}

uint32_t xsp_proc_pid_ns_of(pid_t pid)
{
	struct stat st;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	return stat(path, &st) ? 0 : (uint32_t)st.st_ino;
}

int xsp_proc_boot_id(uint8_t *id)
{
	char text[64];
	int n, i, digits = 0;

	memset(id, 0, 16);
	n = xsp_proc_line("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	if (n < 0)
		return n;
	for (i = 0; i < n && digits < 32; i++) {
		static const char hex[] = "0123456789abcdef";
		const char *at = strchr(hex, text[i]);

		if (!at)
			continue;
		id[digits / 2] |= (at - hex) << (digits % 2 ? 0 : 4);
		digits++;
	}
	return digits == 32 ? 0 : -EINVAL;
}
