// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with the library's own markers: PAIRS pairs on each thread, in this process and in each
 * forked child. Then it prints the library's counts.
 *
 *	marker PAIRS THREADS CHILDREN [kill | names | exec]
 *
 * "names": each pair has its own name; "exec": it executes itself at the end.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

static long pairs;
static bool names;

static void *emit(void *unused)
{
	uint32_t name = xsprof_name("pair");
	long i;

	(void)unused;
	for (i = 0; i < pairs; i++) {
		char text[32];

		if (names) {
			snprintf(text, sizeof(text), "pair number %ld", i);
			name = xsprof_name(text);
		}
		xsprof_begin(name);
		xsprof_end();
		/* Do not overflow the ring: that is another test. */
		if (i % 4096 == 4095)
			xsprof_flush(2000);
	}
	return NULL;
}

static int work(int threads)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	pthread_t t[16];
	int i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, emit, NULL))
			return 90;
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	if (xsprof_get_stats(&stats))
		return 91;
	printf("pid %d events %ld lost %llu attached %d\n", (int)getpid(), 2 * pairs * threads,
	       (unsigned long long)stats.lost, stats.attached);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int i, status, threads, children, bad = 0;

	if (argc < 4)
		return 92;
	names = argc > 4 && !strcmp(argv[4], "names");
	pairs = atol(argv[1]);
	threads = atoi(argv[2]) < 16 ? atoi(argv[2]) : 16;
	children = atoi(argv[3]);
	for (i = 0; i < children; i++)
		if (!fork())
			exit(work(threads));
	bad = work(threads);
	for (i = 0; i < children; i++)
		if (wait(&status) < 0 || status)
			bad = 93;
	if (argc > 4 && !strcmp(argv[4], "kill"))
		kill(getpid(), SIGKILL);
	if (!bad && argc > 4 && !strcmp(argv[4], "exec")) {
		execl("/proc/self/exe", argv[0], argv[1], argv[2], argv[3], NULL);
		bad = 94;
	}
	return bad;
}
