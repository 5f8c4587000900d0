// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Facts about the process, written into the arena at attach: its identity and environment. System
 * calls only, since a forked child may attach in a signal handler. Facts that cannot be read are
 * left out. The program may add more later.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/proc.h"
#include "process/local.h"

#define FACT_MAX	2048
#define TOLD		256u
#define WAYS		4u

/*
 * A fact and its parts; guarded by the names' lock. Static, as the stack of a signal handler, in
 * which a child may attach, is small.
 */
static char fact[FACT_MAX], buf[FACT_MAX];

/*
 * The latest values, as hashes: a collector that is stopped and started again and again tells the
 * same each time, and what is in the arena stays. Guarded likewise.
 */
static struct {
	uint64_t	key;
	uint64_t	value;
} told[TOLD];

/* The place of a key: its own, else a free one, else one of those it may have. */
static uint32_t place_of(uint64_t key)
{
	uint64_t first = xsp_hash_mix(key);
	uint32_t free_one = TOLD;

	for (uint32_t i = 0; i < WAYS; i++) {
		uint32_t at = (uint32_t)(first + i) % TOLD;

		if (told[at].key == key)
			return at;
		if (!told[at].key && free_one == TOLD)
			free_one = at;
	}
	return free_one < TOLD ? free_one : (uint32_t)(first + (first >> 32) % WAYS) % TOLD;
}

/* Adds "key=value", with the value cut to fit. */
static int add(const char *key, const char *value, size_t len)
{
	size_t k = strlen(key);

	if (len > sizeof(fact) - k - 1)
		len = sizeof(fact) - k - 1;
	memcpy(fact, key, k);
	fact[k] = '=';
	memcpy(fact + k + 1, value, len);
	return xsp_arena_add(XSPROF_ENTRY_FACT, 0, 0, fact, k + 1 + len);
}

static void add_link(const char *key, const char *path)
{
	ssize_t n = readlink(path, buf, sizeof(buf));

	if (n > 0)
		add(key, buf, n);
}

static void add_cmdline(void)
{
	long i, n = xsp_proc_read("/proc/self/cmdline", buf, sizeof(buf));

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
	const char *p;

	if (xsp_proc_read("/proc/self/cgroup", buf, sizeof(buf)) <= 0)
		return;
	p = strstr(buf, "0::");		/* the unified hierarchy, else the first line */
	if (p && (p == buf || p[-1] == '\n'))
		add("cgroup", p + 3, strcspn(p + 3, "\n"));
	else
		add("cgroup", buf, strcspn(buf, "\n"));
}

/* Variables that identify a rank of a job. Others may be secret and are not recorded. */
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

/* Called with the registry's lock held. */
void xsp_facts_add(void)
{
	struct utsname u;

	/* In another arena. */
	memset(told, 0, sizeof(told));
	add_link("exe", "/proc/self/exe");
	add_cmdline();
	add_link("cwd", "/proc/self/cwd");
	if (!uname(&u))
		add("host", u.nodename, strlen(u.nodename));
	add_cgroup();
	add_env();
}

int xsprof_fact(const char *key, const char *value)
{
	int ret = 0, err = errno;
	uint64_t of_key, of_value;
	uint32_t at;

	if (!key || !*key || strchr(key, '=') || strlen(key) >= FACT_MAX / 2 || !value)
		return -EINVAL;
	if (!xsp_attached_now())
		return -ENOTCONN;
	if (xsp_names_lock(true) < 0)
		return -EBUSY;
	of_key = xsp_hash_bytes(XSP_HASH_TEXT, key, strlen(key));
	of_value = xsp_hash_bytes(XSP_HASH_TEXT, value, strlen(value));
	at = place_of(of_key);
	if (told[at].key != of_key || told[at].value != of_value)
		ret = add(key, value, strlen(value));
	if (!ret) {
		told[at].key = of_key;
		told[at].value = of_value;
	}
	xsp_names_unlock();
	errno = err;
	return ret;
}
