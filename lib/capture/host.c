// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Facts about this machine. Unknown ones are left out.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "capture/host.h"

#define HOST_ROOM	(16u << 10)

/* Adds "key=value\n"; line breaks in the value become blanks. */
static size_t add(char *text, size_t at, const char *key, const char *value)
{
	size_t from = at + strlen(key) + 1;
	int n;

	if (at >= HOST_ROOM)
		return at;
	n = snprintf(text + at, HOST_ROOM - at, "%s=%s\n", key, value);
	if (at + n >= HOST_ROOM)
		return at;
	for (; from < at + n - 1; from++)
		if (text[from] == '\n')
			text[from] = ' ';
	return at + n;
}

static size_t add_number(char *text, size_t at, const char *key, long value)
{
	char number[24];

	snprintf(number, sizeof(number), "%ld", value);
	return add(text, at, key, number);
}

/* Adds the first "model name" (x86) or "CPU part" (arm64) of /proc/cpuinfo. */
static size_t add_cpu(char *text, size_t at)
{
	static const char *const keys[] = { "model name", "Model", "CPU part" };
	char buf[4096], *line, *save;
	ssize_t n;
	size_t i;
	int fd;

	fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return at;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return at;
	buf[n] = '\0';
	for (line = strtok_r(buf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *colon = strchr(line, ':');

		for (i = 0; colon && i < sizeof(keys) / sizeof(keys[0]); i++)
			if (!strncmp(line, keys[i], strlen(keys[i])))
				return add(text, at, "cpu", colon + 1 + (colon[1] == ' '));
	}
	return at;
}

int xsp_host_add(struct xsp_cap *cap, const char *lines)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_HOST,
		.producer = XSPROF_NO_PRODUCER,
	};

	return xsp_cap_chunk(cap, &chunk, lines, strlen(lines));
}

int xsp_host_store(struct xsp_cap *cap, const char *more)
{
	char text[HOST_ROOM], boot[64];
	time_t now = time(NULL);
	struct utsname uts;
	size_t at = 0;
	struct tm tm;

	if (!uname(&uts)) {
		at = add(text, at, "hostname", uts.nodename);
		at = add(text, at, "kernel", uts.release);
		at = add(text, at, "kernel_version", uts.version);
		at = add(text, at, "machine", uts.machine);
	}
	at = add_cpu(text, at);
	at = add_number(text, at, "cpus", sysconf(_SC_NPROCESSORS_CONF));
	at = add_number(text, at, "cpus_online", sysconf(_SC_NPROCESSORS_ONLN));
	at = add_number(text, at, "page_size", sysconf(_SC_PAGESIZE));
	if (xsp_proc_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) > 0)
		at = add(text, at, "boot_id", boot);
	if (localtime_r(&now, &tm))
		at = add_number(text, at, "utc_offset", tm.tm_gmtoff);
	at = add_number(text, at, "uid", getuid());
	at = add_number(text, at, "recorder_pid", getpid());
	at = add(text, at, "xsprof", XSPROF_VERSION);
	if (more && at + strlen(more) < HOST_ROOM) {
		strcpy(text + at, more);
		at += strlen(more);
	}
	text[at] = '\0';
	return xsp_host_add(cap, text);
}
