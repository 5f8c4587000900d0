/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run of `xsprof record`, for the files that are it: setup.c makes what it needs, record.c
 * runs it, explain.c says what helps where it has not recorded all.
 */
#ifndef XSPROF_RECORD_LOCAL_H
#define XSPROF_RECORD_LOCAL_H

#include "cli/progress.h"
#include "drain/drain.h"
#include "read/recording.h"
#include "record/flush.h"
#include "record/launch.h"
#include "record/options.h"

/**
 * struct recording - everything of one run
 * @opts: what was asked for
 * @session: where producers put their rings
 * @launch: the command
 * @device: the device, until the drain has it; -1 for none
 * @ftrace: the tracer of the kernel, NULL for none
 * @untraced: one that did not start, until it can be removed
 * @said: what was said of where rings are
 * @fd: the capture's file
 * @cap: the capture
 * @zstd: its compressor
 * @drain: reads into it; NULL once the recording has ended
 * @flush: sends the file to the disk
 * @progress: what is shown of it
 * @stats: how it ended
 * @full: the tmpfs of the rings was full at some time
 * @small: it had no room for rings of the usual size
 * @file_error: the capture could not be written as it should
 */
struct recording {
	struct record_options		opts;
	struct xsp_recording		session;
	struct launch			launch;
	int				device;
	struct ftrace			*ftrace;
	struct ftrace			*untraced;
	uint32_t			said;
	int				fd;
	struct xsp_cap			cap;
	struct xsp_cap_compressor	zstd;
	struct xsp_drain		*drain;
	struct flush			flush;
	struct progress			progress;
	struct xsp_drain_stats		stats;
	bool				full;
	bool				small;
	int				file_error;
};

/**
 * record_parse - read the options
 * @argc: arguments, the verb first
 * @argv: arguments
 * @opts: filled in
 *
 * Return: -1 to go on; else the exit status: help was asked for, or an error reported.
 */
int record_parse(int argc, char **argv, struct record_options *opts);
void record_help(void);
/*
 * An unknown option: @c, or if that is 0 "--name" or "--name=value" in @word.  Return: what does
 * here what another profiler's option of that name does, or NULL.
 */
const char *record_other_tool(int c, const char *word);

/* Each of these, of setup.c: 0, or an exit status after a message. */

int record_check_command(const struct record_options *opts);

/* Is somebody recording us already? */
int record_check_not_recorded(const struct record_options *opts);
int record_make_session(struct recording *r);
int record_make_capture(struct recording *r, const struct xsp_drain_ops *ops);

/*
 * Says beforehand what memory there will not be enough of, and chooses rings that fit where no
 * size was asked for; refused is what takes it at once.
 */
int record_check_room(struct recording *r);

/* Is there room left where the rings are?  What there was not is remembered. */
void record_look_at_room(struct recording *r);

/* Of explain.c: why nothing came, and what helps against losses; quiet recordings have neither. */
void record_explain_nothing(const struct recording *r);
void record_explain_gpu(const struct recording *r);
void record_explain_modules(const struct recording *r);
void record_explain_losses(const struct recording *r);

#endif /* XSPROF_RECORD_LOCAL_H */
