// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Facts about the process, taken at attach into the arena: who it is and where it runs.  Plain
 * system calls only, since the attach of a forked child may happen in a signal handler.  What
 * cannot be read is left out.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ring/state.h"

#define FACT_MAX	2048

/**
 * xsp_read_file() - the first bytes of a small file
 * @path: path
 * @buf: filled and terminated
 * @size: bytes of @buf
 *
 * Return: bytes read, or a negative errno.
 */
long xsp_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (got < size - 1) {
		n = read(fd, buf + got, size - 1 - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += n;
	}
	buf[got] = 0;
	if (n < 0)
		n = -errno;
	close(fd);
	return n < 0 ? n : (long)got;
}

/* Field 22 of /proc/self/stat; the name in field 2 may hold anything, so count from its end. */
uint64_t xsp_start_time(void)
{
	uint64_t v = 0;
	char buf[1024];
	const char *p;
	int field;

	if (xsp_read_file("/proc/self/stat", buf, sizeof(buf)) <= 0)
		return 0;
	p = strrchr(buf, ')');
	for (field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return 0;
	for (p++; isdigit((unsigned char)*p); p++)
		v = v * 10 + (*p - '0');
	return v;
}

uint32_t xsp_pid_ns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (uint32_t)st.st_ino;
}

void xsp_boot_id(uint8_t id[16])
{
	char buf[64];
	unsigned int n = 0, hi = 0;

	memset(id, 0, 16);
	if (xsp_read_file("/proc/sys/kernel/random/boot_id", buf, sizeof(buf)) <= 0)
		return;
	for (const char *p = buf; *p && n < 32; p++) {
		unsigned int v;

		if (isdigit((unsigned char)*p))
			v = *p - '0';
		else if (*p >= 'a' && *p <= 'f')
			v = *p - 'a' + 10;
		else
			continue;
		if (n++ & 1)
			id[(n - 1) / 2] = hi << 4 | v;
		else
			hi = v;
	}
}

/* "key=value", the value cut to what fits. */
static void add(const char *key, const char *value, size_t len)
{
	char buf[FACT_MAX];
	size_t k = strlen(key);

	if (len > sizeof(buf) - k - 1)
		len = sizeof(buf) - k - 1;
	memcpy(buf, key, k);
	buf[k] = '=';
	memcpy(buf + k + 1, value, len);
	xsp_arena_add(XSPROF_ENTRY_FACT, 0, 0, buf, k + 1 + len);
}

static void add_link(const char *key, const char *path)
{
	char buf[FACT_MAX];
	ssize_t n = readlink(path, buf, sizeof(buf));

	if (n > 0)
		add(key, buf, n);
}

static void add_cmdline(void)
{
	char buf[FACT_MAX];
	long i, n = xsp_read_file("/proc/self/cmdline", buf, sizeof(buf));

	if (n <= 0)
		return;
	while (n && !buf[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	add("cmdline", buf, n);
}

static void add_cgroup(void)
{
	char buf[FACT_MAX];
	const char *p;

	if (xsp_read_file("/proc/self/cgroup", buf, sizeof(buf)) <= 0)
		return;
	p = strstr(buf, "0::");		/* the unified hierarchy, else the first line */
	if (p && (p == buf || p[-1] == '\n'))
		add("cgroup", p + 3, strcspn(p + 3, "\n"));
	else
		add("cgroup", buf, strcspn(buf, "\n"));
}

/* What tells one rank of a job from another; nothing else of the environment is anyone's. */
static const char *const wanted_env[] = {
	"RANK=", "LOCAL_RANK=", "WORLD_SIZE=", "LOCAL_WORLD_SIZE=", "GROUP_RANK=", "ROLE_RANK=",
	"MASTER_ADDR=", "MASTER_PORT=", "SLURM_", "OMPI_COMM_WORLD_", "PMI_RANK=",
	"CUDA_VISIBLE_DEVICES=", "OMP_NUM_THREADS=",
	"PT_PROFILER_JOB_NAME=", "PT_PROFILER_JOB_VERSION=", "PT_PROFILER_JOB_ATTEMPT_INDEX=",
};

extern char **environ;

static void add_env(void)
{
	char key[128] = "env.";

	for (char **e = environ; e && *e; e++) {
		size_t i, k = strcspn(*e, "=");

		for (i = 0; i < sizeof(wanted_env) / sizeof(wanted_env[0]); i++)
			if (!strncmp(*e, wanted_env[i], strlen(wanted_env[i])))
				break;
		if (i == sizeof(wanted_env) / sizeof(wanted_env[0]) || (*e)[k] != '=' ||
		    k > sizeof(key) - 5)
			continue;
		memcpy(key + 4, *e, k);
		key[4 + k] = 0;
		add(key, *e + k + 1, strlen(*e + k + 1));
	}
}

/* The registry's lock is held. */
void xsp_facts_add(void)
{
	struct utsname u;

	add_link("exe", "/proc/self/exe");
	add_cmdline();
	add_link("cwd", "/proc/self/cwd");
	if (!uname(&u))
		add("host", u.nodename, strlen(u.nodename));
	add_cgroup();
	add_env();
}
