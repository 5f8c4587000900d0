/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Environment of the device's tests: amount of work, kind of kernel, seed. Owns the harness'
 * settings and random numbers; does not judge.
 *
 *	XSPROF_TIER=full	all of what costs most; in tier quick a third of it or less
 *	XSPROF_KERNEL=debug	a kernel with checkers: its own, lower figures
 *	XSPROF_ICOUNT=y		the clocks count the guest's instructions (boot.sh --icount)
 *	XSPROF_SEED=N		repeat a run
 */
#ifndef KMOD_ENV_H
#define KMOD_ENV_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

/* A guest without KVM, on a busy machine, with checkers: a limit against hanging, not a bar. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	1500

static inline bool env_is(const char *name, const char *value)
{
	const char *s = getenv(name);

	return s && !strcmp(s, value);
}

static inline bool env_full(void)
{
	return env_is("XSPROF_TIER", "full");
}

static inline bool env_debug(void)
{
	return env_is("XSPROF_KERNEL", "debug");
}

static inline bool env_icount(void)
{
	return env_is("XSPROF_ICOUNT", "y");
}

/* How often, on this kind of kernel. */
static inline uint64_t env_figure(uint64_t normal, uint64_t debug)
{
	return env_debug() ? debug : normal;
}

/* Of what costs most: all in tier full, one in @part in tier quick. */
static inline uint64_t env_part(uint64_t normal, uint64_t debug, unsigned int part)
{
	uint64_t n = env_figure(normal, debug);

	return env_full() ? n : (n + part - 1) / part;
}

static inline uint64_t env_costly(uint64_t normal, uint64_t debug)
{
	return env_part(normal, debug, 3);
}

static inline uint64_t env_mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ull;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 32;
}

/* A generator's state, from XSPROF_SEED or from chance; printed, so that a run can be repeated. */
__attribute__((unused)) static uint64_t env_seed(void)
{
	const char *s = getenv("XSPROF_SEED");
	uint64_t seed = 1;

	if (s)
		seed = strtoull(s, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = env_mix((uint64_t)time(NULL) ^ (uint64_t)getpid() << 32);
	printf("# seed: XSPROF_SEED=%llu\n", (unsigned long long)seed);
	fflush(stdout);
	return seed;
}

static inline uint64_t env_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ull;
	return env_mix(*state);
}

/* CPUs that are online now. */
static inline unsigned int env_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned int)n : 1;
}

/* Refused where that CPU is offline or not ours: the thread then stays where it is. */
static inline void env_on_cpu(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % env_cpus(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Wait a little for another task; never for a result by itself. */
static inline void env_nap(long us)
{
	const struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* The text of a small file without its newline.  Return: 0 or -errno. */
__attribute__((unused)) static int env_file_get(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	int err = 0;

	if (!f)
		return -errno;
	if (!fgets(text, (int)size, f))
		err = -ENODATA;
	fclose(f);
	text[err ? 0 : strcspn(text, "\n")] = 0;
	return err;
}

/* Return: 0 or -errno, that of the write among them. */
__attribute__((unused)) static int env_file_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err = -errno;
	close(fd);
	return err;
}

/* A memory cgroup of @max bytes.  Return: 0, or -errno where there is no such controller. */
__attribute__((unused)) static int env_cgroup(const char *dir, const char *max)
{
	char file[128];

	mkdir("/sys/fs/cgroup", 0755);
	mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL);
	if (env_file_put("/sys/fs/cgroup/cgroup.subtree_control", "+memory"))
		return -ENOENT;
	if (mkdir(dir, 0755) && errno != EEXIST)
		return -errno;
	snprintf(file, sizeof(file), "%s/memory.max", dir);
	return env_file_put(file, max);
}

#define ENV_PARAMETERS	"/sys/module/xsprof/parameters/"

/* A parameter of the module, or -1. */
__attribute__((unused)) static long long env_parameter(const char *name)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), ENV_PARAMETERS "%s", name);
	return env_file_get(path, text, sizeof(text)) ? -1 : strtoll(text, NULL, 0);
}

__attribute__((unused)) static int env_parameter_set(const char *name, long long value)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), ENV_PARAMETERS "%s", name);
	snprintf(text, sizeof(text), "%lld\n", value);
	return env_file_put(path, text);
}

#endif /* KMOD_ENV_H */
