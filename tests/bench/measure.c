// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command and prints its cost: one line on descriptor 3 with user, system and wall seconds,
 * and in KiB: the peak memory of it or one of its children, as reported by the kernel at its end;
 * its own peak; its peak of anonymous memory. Resident memory includes mapped files. The last two
 * are sampled while it runs: 0 if it ended too soon. Returns the command's exit status. Usage:
 * measure COMMAND [ARGUMENT...] 3>FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* The kernel's own high-water mark never falls; anonymous memory has none, hence the maximum. */
static void look(pid_t pid, long *own, long *anon)
{
	char path[64], line[256];
	long kib;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "VmHWM: %ld kB", &kib) == 1)
			*own = kib;
		if (sscanf(line, "RssAnon: %ld kB", &kib) == 1 && kib > *anon)
			*anon = kib;
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	static long own, anon;	/* not on the stack that vfork shares */
	struct rusage ru;
	uint64_t start;
	pid_t pid, got;
	int status;

	if (argc < 2) {
		fprintf(stderr, "usage: measure COMMAND [ARGUMENT...] 3>FILE\n");
		return 2;
	}
	/* Taken by nobody else, and not the command's. */
	if (fcntl(3, F_SETFD, FD_CLOEXEC) < 0)
		bench_die("descriptor 3", errno);
	start = bench_ns();
	/* vfork: a forked copy of this process would count as the command's memory. */
	pid = vfork();
	if (pid < 0)
		bench_die("vfork", errno);
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	while (!(got = wait4(pid, &status, WNOHANG, &ru))) {
		look(pid, &own, &anon);
		bench_pause_us(bench_ns() - start < 100000000 ? 500 : 10000);
	}
	if (got < 0)
		bench_die("wait4", errno);
	dprintf(3, "%.6f\t%.6f\t%.6f\t%ld\t%ld\t%ld\n",
		ru.ru_utime.tv_sec + ru.ru_utime.tv_usec / 1e6,
		ru.ru_stime.tv_sec + ru.ru_stime.tv_usec / 1e6,
		(bench_ns() - start) / 1e9, ru.ru_maxrss, own, anon);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		fprintf(stderr, "measure: %s: could not be run\n", argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
