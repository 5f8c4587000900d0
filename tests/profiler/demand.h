/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of traces on demand: a directory for traces, a machine configuration that makes the
 * library poll the daemon often, and the daemon.
 */
#ifndef XSP_TEST_DEMAND_H
#define XSP_TEST_DEMAND_H

#include <dirent.h>

#include "profiler/fake.h"

static struct fake fake;
static char top[100], traces[150], conf[150];
static bool by_path;
static pid_t owner;

__attribute__((unused)) static const char *in_traces(const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", traces, name);
	return path;
}

__attribute__((unused)) static unsigned int entries(const char *path)
{
	unsigned int n = 0;
	DIR *dir = opendir(path);

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n - 2;
}

__attribute__((unused)) static long long real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000ll + ts.tv_nsec / 1000000;
}

__attribute__((unused)) static void until_asks(pid_t pid)
{
	for (unsigned int i = 0; i < 1000; i++) {
		int32_t asks;

		fake_more(&fake, &fake.requests, 1);
		pthread_mutex_lock(&fake.lock);
		asks = fake.pids[0];
		pthread_mutex_unlock(&fake.lock);
		if (asks == pid)
			return;
	}
	tap_wrong("process %d does not ask", (int)pid);
}

__attribute__((unused)) static unsigned int sockets(void)
{
	unsigned int n = 0;
	struct dirent *e;
	DIR *dir = opendir(top);

	while (dir && (e = readdir(dir)))
		n += !strncmp(e->d_name, "dynoconfigclient", 16);
	if (dir)
		closedir(dir);
	return n;
}

/* Return: false if another daemon already runs on this machine. */
__attribute__((unused)) static bool demand_begin(bool path)
{
	static const char text[] = "ON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=0.02\n"
				   "ACTIVITIES_WARMUP_PERIOD_SECS=0\n";
	int fd;

	by_path = path;
	owner = getpid();
	strcpy(top, "/tmp/xsprof-demand.XXXXXX");
	if (!mkdtemp(top))
		tap_bail("%s: %s", top, strerror(errno));
	snprintf(traces, sizeof(traces), "%s/traces", top);
	if (mkdir(traces, 0700) || mkdir(in_traces("sub"), 0700) ||
	    symlink("sub", in_traces("link")))
		tap_bail("%s: %s", traces, strerror(errno));
	snprintf(conf, sizeof(conf), "%s/conf", top);
	fd = open(conf, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		tap_bail("%s: %s", conf, strerror(errno));
	close(fd);
	setenv("KINETO_CONFIG", conf, 1);
	setenv("KINETO_ONDEMAND_TRACE_DIR", traces, 1);
	setenv("SLURM_JOB_ID", "77", 1);
	setenv("LOCAL_RANK", "3", 1);
	unsetenv("KINETO_LOG_LEVEL");
	unsetenv("KINETO_IPC_SOCKET_DIR");
	if (by_path)
		setenv("KINETO_IPC_SOCKET_DIR", top, 1);
	else
		fake_alone();
	return fake_start(&fake, by_path ? top : NULL);
}

__attribute__((unused)) static void demand_end(void)
{
	fake_end(&fake);
	unlink(conf);
	unlink(in_traces("link"));
	rmdir(in_traces("sub"));
	CHECK(!rmdir(traces));
}

/* Runs after the library's destructor, to see what the library leaves. */
__attribute__((destructor(102))) static void at_end(void)
{
	if (getpid() != owner || !*top || !rmdir(top))
		return;
	printf("# wrong: %s: %s: a socket is left\n", top, strerror(errno));
	fflush(stdout);
	_exit(1);
}

#endif /* XSP_TEST_DEMAND_H */
