// SPDX-License-Identifier: GPL-2.0-only
/*
 * A daemon that speaks dynolog's protocol, for programs that are not part of the test:
 *
 *	daemon FOLDER	makes its socket in FOLDER; each line of standard input is a request
 *
 * A "|" in a line stands for a line break. It prints "ready" when a program asks, and "handed" when
 * a program has got a request.
 */
#include <stdio.h>

#include "profiler/fake.h"

static struct fake fake;

int main(int argc, char **argv)
{
	char line[2000], *p;

	if (argc != 2 || !fake_start(&fake, argv[1]))
		return 2;
	fake_until(&fake, &fake.requests, 1);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (p = line; *p; p++)
			if (*p == '|')
				*p = '\n';
		fake_until(&fake, &fake.handed, fake_configure(&fake, "%s", line));
		puts("handed");
		fflush(stdout);
	}
	fake_end(&fake);
	return 0;
}
