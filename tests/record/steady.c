// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that runs without a recorder: it writes markers at a given rate, whether they are read
 * or not.
 *
 *	steady FILE N US [THEN]
 *
 * FILE gets its process id after its first record. It writes N instants "tick", US microseconds
 * apart (N 0: until it is killed), then does THEN: an exit status, "exec" (runs steady2, another
 * name of this program that writes no marker, for half a second), or "kill".
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

static void sleep_us(unsigned long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

static void say_pid(const char *file)
{
	char making[256];
	FILE *f;

	snprintf(making, sizeof(making), "%s.new", file);
	f = fopen(making, "w");
	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f) || rename(making, file))
		exit(91);
}

int main(int argc, char **argv)
{
	unsigned long n, us, i;

	if (argc < 2 || strstr(argv[0], "steady2")) {
		sleep_us(500000);
		return 9;
	}
	if (argc < 4)
		return 90;
	n = strtoul(argv[2], NULL, 0);
	us = strtoul(argv[3], NULL, 0);
	for (i = 0; !n || i < n; i++) {
		xsprof_instant(XSPROF_NAME("tick"));
		if (!i)
			say_pid(argv[1]);
		if (us)
			sleep_us(us);
	}
	if (argc < 5)
		return 0;
	if (!strcmp(argv[4], "exec"))
		execl("/proc/self/exe", "steady2", NULL);
	if (!strcmp(argv[4], "kill"))
		kill(getpid(), SIGKILL);
	return atoi(argv[4]);
}
