// SPDX-License-Identifier: GPL-2.0-only
/*
 * pairs N: N times a marker, a write to trace_marker of the recorder's instance, and a marker,
 * while the thread changes CPUs. Both streams must put the write between its two markers.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

/* Opens the newest instance: that of the recorder that has just started us. */
static int open_marker(void)
{
	glob_t g;
	int fd = -1;

	if (glob("/sys/kernel/tracing/instances/xsprof-*/trace_marker", 0, NULL, &g))
		return -1;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		char parent[32];

		snprintf(parent, sizeof(parent), "/xsprof-%d-", (int)getppid());
		if (strstr(g.gl_pathv[i], parent))
			fd = open(g.gl_pathv[i], O_WRONLY | O_CLOEXEC);
	}
	globfree(&g);
	return fd;
}

static void move(int cpus, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % cpus, &set);
	/* If it may not run there it stays. */
	(void)sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), fd = open_marker();
	xsprof_name_t a = xsprof_name("before"), b = xsprof_name("after");

	if (fd < 0) {
		fprintf(stderr, "pairs: no instance of the recorder: %s\n", strerror(errno));
		return 1;
	}
	for (long i = 0; i < n; i++) {
		char text[24];
		int len = snprintf(text, sizeof(text), "%ld", i);

		if (i % 1000 == 0)
			move(cpus, (int)(i / 1000));
		xsprof_counter(a, i);
		if (write(fd, text, len) != len) {
			fprintf(stderr, "pairs: trace_marker: %s\n", strerror(errno));
			return 1;
		}
		xsprof_counter(b, i);
	}
	return 0;
}
