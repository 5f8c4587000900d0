// SPDX-License-Identifier: GPL-2.0-only
/*
 * pingpong N: two processes that wake each other N times, by pipes: nothing but switches and
 * wake-ups, as fast as the scheduler does them.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static void pass(int in, int out)
{
	char ball;

	if (read(in, &ball, 1) != 1 || write(out, &ball, 1) != 1)
		exit(1);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;
	int there[2], back[2], status;
	pid_t pid;

	if (pipe(there) || pipe(back))
		bench_die("pipe", errno);
	pid = fork();
	if (pid < 0)
		bench_die("fork", errno);
	if (!pid) {
		for (long i = 0; i < n; i++)
			pass(there[0], back[1]);
		return 0;
	}
	if (write(there[1], "o", 1) != 1)
		return 1;
	for (long i = 0; i < n - 1; i++)
		pass(back[0], there[1]);
	return waitpid(pid, &status, 0) != pid || status;
}
