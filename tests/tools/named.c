// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with names that control terminals: its own, a thread's, a category's, ranges',
 * arguments'.
 *
 *	named FILE	writes its process id into FILE, and runs until its standard input ends
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <xsprof/profiler.h>
#include <xsprof/xsprof.h>

/* Escape sequences in one byte and in two, a newline, text direction controls, invalid UTF-8. */
#define BAD	"\033[31m\xc2\x9b" "1m\n\xe2\x80\xae\xff"

static void *work(void *unused)
{
	(void)unused;
	xsprof_thread_name("thread" BAD);
	for (int i = 0; i < 100; i++) {
		xsprof_begin(xsprof_name("work" BAD));
		xsprof_end();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t name = xsprof_name_in(xsprof_category("cat" BAD), "range" BAD);
	pthread_t thread;
	FILE *file;
	char byte;

	if (argc < 2)
		return 2;
	/* At most 15 bytes fit. */
	prctl(PR_SET_NAME, "a\033[2J\xc2\x9b" "m\nb\xff");
	xsprof_begin(name);
	if (pthread_create(&thread, NULL, work, NULL))
		return 3;
	pthread_join(thread, NULL);
	xsprof_instant(name);
	file = fopen(argv[1], "w");
	if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file))
		return 4;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		xsprof_profiler_step();
	xsprof_end();
	return 0;
}
