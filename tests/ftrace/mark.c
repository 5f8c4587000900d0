// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the thread that wrote the mark in the tracer's text: lines as printed by 6.1, 6.12, 6.18
 * and 7.2, with each option that adds a column, of tasks whose names look like columns.
 */
#include <stddef.h>
#include <stdint.h>

#include "ftrace/mark.h"
#include "common/tap.h"

#define HEAD \
	"# tracer: nop\n#\n# entries-in-buffer/entries-written: 1/1   #P:2\n#\n" \
	"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n" \
	"#              | |         |   |||||     |         |\n"

static const struct {
	const char	*what;
	const char	*text;
	uint32_t	tid;
} cases[] = {
	{ "6.1", "           <...>-137     [001] .....     3.913788: tracing_mark_write: xsprof\n",
	  137 },
	{ "6.1 record-tgid",
	  "           <...>-137     (-------) [001] .....     3.913788: "
	  "tracing_mark_write: xsprof\n",
	  137 },
	{ "6.1 record-tgid, no irq-info",
	  "           <...>-139     (-------) [000]      3.964405: tracing_mark_write: xsprof\n",
	  139 },
	{ "6.1 sym-offset, sym-addr",
	  "           <...>-143     (-------) [001] .....  27190679360: "
	  "tracing_mark_write+0xdd/0x240 <ffffffff89dc36bd>: xsprof\n", 143 },
	{ "6.12 no irq-info",
	  "           <...>-181     [001]      4.983836: tracing_mark_write: xsprof\n", 181 },
	{ "6.12 x86-tsc",
	  "           <...>-187     (-------) [000] .....  16515704090: "
	  "tracing_mark_write: xsprof\n",
	  187 },
	{ "6.18", "           <...>-10402   [001] ...1.   644.632189: tracing_mark_write: xsprof\n",
	  10402 },
	{ "6.18 record-tgid, x86-tsc",
	  "           <...>-31972   (-------) [000] ...1. 20279725980389: "
	  "tracing_mark_write: xsprof\n", 31972 },
	{ "7.2 record-tgid",
	  "           <...>-145     (-------) [001] ...1.     3.980659: "
	  "tracing_mark_write: xsprof\n", 145 },
	{ "7.2 sym-offset, sym-addr, no irq-info",
	  "           <...>-149     (-------) [000]      3.918816: "
	  "tracing_mark_write+0x75/0x140 <ffffffff88314a25>: xsprof\n", 149 },
	{ "a known thread group",
	  "          xsprof-20011   (  19999) [001] d..2.   12.000001: "
	  "tracing_mark_write: xsprof\n",
	  20011 },
	{ "the longest numbers",
	  "          xsprof-4194304 (4194303) [1023] dNh3f 18446744073709551615: "
	  "tracing_mark_write: xsprof\n", 4194304 },
	{ "no newline at the end",
	  "           <...>-7       [001] .....     3.913788: tracing_mark_write: xsprof", 7 },

	{ "a task a-1 [2",
	  "         a-1 [2-345     [001] .....     3.913788: tracing_mark_write: xsprof\n", 345 },
	{ "a task x-9 [003] .",
	  "      x-9 [003] .-345     (    345) [001] .....     3.913788: "
	  "tracing_mark_write: xsprof\n", 345 },
	{ "a task (-------)",
	  "       (-------)-345     (-------) [001]     3.913788: tracing_mark_write: xsprof\n",
	  345 },
	{ "a task a (12) b-",
	  "       a (12) b--345     [001] .....     3.913788: tracing_mark_write: xsprof\n", 345 },
	{ "a task 1-2",
	  "             1-2-3       [001] .....     3.913788: tracing_mark_write: xsprof\n", 3 },
	{ "a task without a name",
	  "                -345     [001] .....     3.913788: tracing_mark_write: xsprof\n", 345 },
	{ "a task with a newline",
	  "            a-9\n[1-345     [001] .....     3.913788: tracing_mark_write: xsprof\n",
	  345 },
	{ "a task : xsprof",
	  "        : xsprof-345     [001] .....     3.913788: tracing_mark_write: xsprof\n", 345 },
	{ "a task : xsprof and a newline",
	  "       : xsprof\n-345     [001] .....     3.913788: tracing_mark_write: xsprof\n", 345 },

	{ "other text before and after",
	  "             cat-17      [000] .....     1.000000: tracing_mark_write: xsprofiler\n"
	  "             cat-18      [000] .....     1.000001: tracing_mark_write: other\n"
	  "           <...>-19      [000] .....     1.000002: tracing_mark_write: xsprof\n"
	  "             cat-20      [000] .....     1.000003: tracing_mark_write: other\n", 19 },
	{ "a line that is not understood before it",
	  "19 0 644632189212 # ffffffff81498b1a: xsprof\n"
	  "           <...>-19      [000] .....     1.000002: tracing_mark_write: xsprof\n", 19 },

	{ "nothing", "", 0 },
	{ "no mark",
	  "             cat-18      [000] .....     1.000001: tracing_mark_write: no\n", 0 },
	{ "the mark alone", ": xsprof", 0 },
	{ "no number",
	  "           <...>-        [000] .....     1.0: tracing_mark_write: xsprof\n", 0 },
	{ "task 0, which writes nothing",
	  "          <idle>-0       [000] .....     1.0: tracing_mark_write: xsprof\n", 0 },
	{ "a number out of range",
	  "           <...>-4294967297 [000] .....     1.0: tracing_mark_write: xsprof\n", 0 },
	{ "latency-format",
	  "   <...>-10402     1...1. 644632189us : tracing_mark_write: xsprof\n", 0 },
	{ "verbose",
	  "           <...>   10402   1 0 00000001 00000000 [266c4e7d] 644632.189ms (+0.000ms): "
	  "tracing_mark_write: xsprof\n", 0 },
	{ "an open bracket", "           <...>-1 (  2 [000] ..... 1.0: f: xsprof\n", 0 },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int head = 0; head < 2; head++) {
			char text[1024];
			uint32_t tid;

			snprintf(text, sizeof(text), "%s%s", head ? HEAD : "", cases[i].text);
			tid = ftrace_find_mark(text);
			if (tid != cases[i].tid)
				tap_wrong("%u, not %u, in: %s", tid, cases[i].tid, text);
			/* It must not read past the end of a truncated text. */
			for (size_t cut = strlen(text); cut > 0; cut--) {
				char *part = strndup(text, cut);

				if (part)
					ftrace_find_mark(part);
				free(part);
			}
		}
		tap_result("%s", cases[i].what);
	}
	return tap_done();
}
