/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of xsprof dump: dump.c runs it, parse.c reads its options, output.c opens and closes
 * its output, wanted.c chooses events, live.c follows rings, whole.c has formats that need the
 * whole capture.
 */
#ifndef XSPROF_DUMP_LOCAL_H
#define XSPROF_DUMP_LOCAL_H

#include "cli/filter.h"
#include "cli/reading.h"
#include "dump/live.h"
#include "export/pack.h"
#include "format/common/out.h"

/**
 * struct dump_late - activities of devices: their records come later than their times, so those
 * of a window also stand behind its end
 * @any: the capture has such records
 * @shown: the last one is part of the output
 * @producer: of the last one, where further records continue it
 * @tid: likewise; 0: no record continues it
 */
struct dump_late {
	bool		any;
	bool		shown;
	uint32_t	producer;
	uint32_t	tid;
};

/**
 * struct dump - a dump under way
 * @out: what the format gets
 * @filter: what is wanted of it
 * @source: the capture
 * @format: of the output
 * @whole: of the output, where it is made of the whole capture; else NULL
 * @reading: the options that all verbs have; its limit is of events
 * @output: file, "-" for stdout
 * @pack: what packs it, by its name
 * @follow: go on while the file grows
 * @look_on: look into rings
 * @live: those
 * @begun: what is wanted has begun
 * @past_end: nothing later is wanted
 * @end_ns: when that was, 0: at the latest event
 * @late: activities behind that
 * @deep: ranges that are deeper in others than viewers draw
 * @left: the reader of a pipe ended
 */
struct dump {
	struct xsp_out			out;
	struct xsp_filter		filter;
	struct xsp_source		source;
	const struct xsp_format		*format;
	const struct whole		*whole;
	struct reading			reading;
	const char			*output;
	struct xsr_pack			pack;
	bool				follow;
	bool				look_on;
	struct live			live;
	bool				begun;
	bool				past_end;
	uint64_t			end_ns;
	struct dump_late		late;
	uint64_t			deep;
	bool				left;
};

/* output.c.  Return: 0, or an exit status after a message. */
int dump_output_check(const struct dump *dump);
int dump_output_open(struct dump *dump);
/* @status: of what was written there. */
int dump_output_close(struct dump *dump, int status);

/* parse.c.  Return: -1 go on, else the exit status. */
int dump_parse(struct dump *dump, int argc, char **argv);

/* wanted.c */
/* Does the filter name it? An end goes with its begin, arguments and stacks with their record. */
bool dump_matches(struct dump *dump, const struct xsp_view *view);
bool dump_kernel_matches(struct dump *dump, const struct xsprof_event *ev);
bool dump_kernel_wanted(struct dump *dump, const struct xsprof_event *ev);
/* Is it a record that continues the device activity before it? */
bool dump_continues(const struct dump *dump, const struct xsprof_event *ev);
/* Is it in the window? A device activity is by its own times, which are earlier than its record. */
bool dump_in_time(struct dump *dump, const struct xsprof_event *ev);

/* whole.c */
const struct whole *dump_whole_find(const char *name);
/* May this be asked of it?  Return: -1: yes; else TOOL_USAGE after a message. */
int dump_whole_check(const struct dump *dump);
int dump_whole(struct dump *dump);

#endif /* XSPROF_DUMP_LOCAL_H */
