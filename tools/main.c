// SPDX-License-Identifier: GPL-2.0-only
/*
 * The xsprof tool: one table of verbs, and which of them is meant.  It never does a verb's work.
 */
#include <string.h>

#include "cli/tool.h"

/* Weak: a build with only some verbs links, and reports the missing ones. */
#pragma weak cmd_record
#pragma weak cmd_recover
#pragma weak cmd_list
#pragma weak cmd_dump
#pragma weak cmd_report
#pragma weak cmd_info
#pragma weak cmd_snapshot
#pragma weak cmd_ctl
#pragma weak cmd_enable
#pragma weak cmd_disable

static const struct verb {
	const char	*name;
	int		(*run)(int argc, char **argv);
	const char	*what;
} verbs[] = {
	{ "record", cmd_record, "record a command, or running processes, into a capture" },
	{ "report", cmd_report, "show where time went: by name, thread, process, category; why" },
	{ "dump", cmd_dump, "print a capture: text, JSON of Chrome or Kineto, NDJSON, Perfetto" },
	{ "info", cmd_info, "summarize a capture: host, clocks, processes, losses" },
	{ "snapshot", cmd_snapshot, "copy the contents of rings into a capture; stops nothing" },
	{ "ctl", cmd_ctl, "start, stop and query traces in running processes" },
	{ "enable", cmd_enable, "enable categories of running processes" },
	{ "disable", cmd_disable, "disable categories of running processes" },
	{ "list", cmd_list, "list running recordings, and those of killed recorders" },
	{ "recover", cmd_recover, "save the records that a killed recorder left in memory" },
};

#define NR_VERBS	(sizeof(verbs) / sizeof(verbs[0]))

static void help(FILE *out)
{
	size_t i;

	fputs("usage: xsprof VERB [options]\n\n"
	      "Records PyTorch ops, markers, GPU and kernel events, and shows them.\n\n",
	      out);
	for (i = 0; i < NR_VERBS; i++)
		fprintf(out, "  %-9s %s\n", verbs[i].name, verbs[i].what);
	fputs("\n"
	      "  xsprof record -- python3 train.py   writes xsprof.data\n"
	      "  xsprof report                       reads it\n"
	      "  xsprof dump -f perfetto -o t.pftrace  for ui.perfetto.dev; -f chrome: also for\n"
	      "                                      chrome://tracing and speedscope\n"
	      "\n"
	      "  -h, --help                          this text\n"
	      "  -V, --version                       the version\n"
	      "\n"
	      "'xsprof VERB --help' lists the options of a verb; see also 'man xsprof'.\n", out);
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
	if (!verb->run)
		return tool_error("%s: not part of this build", verb->name);
	opterr = 0;
	return tool_finish(verb->run(argc, argv));
}

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < NR_VERBS; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* Verbs of other profilers, and likely guesses: the equivalent here, or NULL. */
static const char *other_word(const char *name)
{
	static const char *const words[][2] = {
		{ "script", "dump" }, { "print", "dump" }, { "export", "dump -f perfetto" },
		{ "convert", "dump -f perfetto" }, { "timechart", "dump -f perfetto" },
		{ "view", "dump -f perfetto" }, { "open", "dump -f perfetto" },
		{ "top", "dump --live" }, { "stat", "report" }, { "stats", "report" },
		{ "summary", "report" }, { "analyze", "report" },
		{ "annotate", "report --by line" },
		{ "profile", "record" }, { "trace", "record" }, { "run", "record" },
		{ "sched", "record -e sched" }, { "attach", "record -p" }, { "start", "ctl start" },
		{ "stop", "ctl stop" }, { "status", "ctl status" }, { "ps", "list" },
		{ "sessions", "list" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i][0], name))
			return words[i][1];
	return NULL;
}

static int unknown_verb(const char *name)
{
	const char *names[NR_VERBS + 1];
	const char *near = other_word(name);
	size_t i;

	for (i = 0; i < NR_VERBS; i++)
		names[i] = verbs[i].name;
	names[i] = NULL;
	if (!near)
		near = tool_closest(name, names);
	if (near)
		return tool_usage(NULL, "%s: %s, did you mean '%s'?", name,
				  name[0] == '-' ? "unknown option" : "no such verb", near);
	return tool_usage(NULL, "%s: %s", name,
			  name[0] == '-' ? "unknown option" : "no such verb");
}

int main(int argc, char **argv)
{
	const char *base = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const struct verb *verb;

	base = base ? base + 1 : argc > 0 ? argv[0] : "xsprof";
	if (!strcmp(base, "xsprof-dump")) {
		tool_name = "xsprof-dump";
		return run_verb(find_verb("dump"), argc, argv);
	}
	if (argc < 2) {
		help(stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		verb = argc > 2 ? find_verb(argv[2]) : NULL;
		if (verb) {
			char *args[] = { argv[2], (char *)"--help", NULL };

			return run_verb(verb, 2, args);
		}
		if (argc > 2)
			return unknown_verb(argv[2]);
		help(stdout);
		return tool_finish(0);
	}
	if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version") ||
	    !strcmp(argv[1], "version"))
		return tool_finish(tool_version());
	verb = find_verb(argv[1]);
	if (!verb)
		return unknown_verb(argv[1]);
	return run_verb(verb, argc - 1, argv + 1);
}
