// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes markers as it is told, a line of input each, and answers each line with "done":
 *
 *	begin NAME	a range of this thread, category default
 *	io NAME		the same, category io
 *	end		the end of the innermost range
 *	async NAME	a range of the process, with id 1
 *	off, on		the program switches categories default and io
 *
 * It exits at the end of its input.
 */
#include <stdio.h>
#include <string.h>

#include <xsprof/xsprof.h>

static int io;

static int obey(const char *word, const char *name)
{
	if (!strcmp(word, "begin"))
		xsprof_begin(xsprof_name(name));
	else if (!strcmp(word, "io"))
		xsprof_begin(xsprof_name_in(io, name));
	else if (!strcmp(word, "end"))
		xsprof_end();
	else if (!strcmp(word, "async"))
		xsprof_async_begin(xsprof_name(name), 1);
	else if (!strcmp(word, "off") || !strcmp(word, "on"))
		return xsprof_category_enable(0, !word[2]) ||
		       xsprof_category_enable(io, !word[2]);
	else
		return 1;
	return 0;
}

int main(void)
{
	char line[256], word[64], name[64];

	io = xsprof_category("io");
	while (fgets(line, sizeof(line), stdin)) {
		int n = sscanf(line, "%63s %63s", word, name);

		if (n < 1 || obey(word, n > 1 ? name : "")) {
			fprintf(stderr, "obey: %s: cannot be done\n", line);
			return 1;
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
