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
 * struct dump_late - activities of devices: their records are later than their times, so those of
 * the time shown may also follow after its end
 * @any: the capture has such records
 * @shown: the last one was written
 * @producer: its producer, if further records may continue it
 * @tid: its thread; 0: no record continues it
 */
struct dump_late {
	bool		any;
	bool		shown;
	uint32_t	producer;
	uint32_t	tid;
};

/**
 * struct dump - state of a dump
 * @out: passed to the format
 * @filter: the filter options
 * @source: the capture
 * @format: the output format
 * @whole: the output format, if it needs the whole capture; else NULL
 * @reading: options shared by all verbs; the limit is of events
 * @output: path, "-" for stdout
 * @pack: compressor, by its name
 * @follow: keep reading while the file grows
 * @look_on: read rings (--live)
 * @live: their state
 * @begun: the time shown has begun
 * @past_end: the time shown is over
 * @end_ns: when it was over, 0: at the latest event
 * @late: device activities after that
 * @deep: ranges nested deeper than viewers draw
 * @left: the reader of the output pipe has ended
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
/* @status: status of the output so far. */
int dump_output_close(struct dump *dump, int status);

/* parse.c. Return: -1: go on, else the exit status. */
int dump_parse(struct dump *dump, int argc, char **argv);

/* wanted.c */
/* Does it match the filter? Ends match with their begin, arguments and stacks with their record. */
bool dump_matches(struct dump *dump, const struct xsp_view *view);
bool dump_kernel_matches(struct dump *dump, const struct xsprof_event *ev);
bool dump_kernel_wanted(struct dump *dump, const struct xsprof_event *ev);
/* Does the record continue the device activity before it? */
bool dump_continues(const struct dump *dump, const struct xsprof_event *ev);
/* Is it in the time shown? Device activities count with their own times, not their record's. */
bool dump_in_time(struct dump *dump, const struct xsprof_event *ev);

/* whole.c */
const struct whole *dump_whole_find(const char *name);
/* Are the options valid for it? Return: -1: yes; else TOOL_USAGE after a message. */
int dump_whole_check(const struct dump *dump);
int dump_whole(struct dump *dump);

#endif /* XSPROF_DUMP_LOCAL_H */
