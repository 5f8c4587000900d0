/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run of `xsprof record`: setup.c prepares it, record.c runs it, explain.c prints hints for
 * incomplete recordings.
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
 * struct recording - state of a run
 * @opts: options
 * @session: where producers create their rings
 * @launch: the command
 * @device: the device, until the drain owns it; -1 for none
 * @ftrace: the tracer of the kernel, NULL for none
 * @untraced: a tracer that failed to start, until it can be removed
 * @said: what was reported about the backend
 * @fd: descriptor of the capture
 * @cap: the capture
 * @zstd: its compressor
 * @drain: the drain; NULL after the end of the recording
 * @flush: writes the file to the disk
 * @progress: progress lines
 * @stats: totals at the end
 * @full: the tmpfs of the rings was full at some time
 * @small: the tmpfs had no room for rings of the usual size
 * @file_error: the capture could not be written completely
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
 * record_parse - parse the options
 * @argc: arguments, starting with the verb
 * @argv: arguments
 * @opts: filled in
 *
 * Return: -1 to continue; else the exit status, after help or an error was printed.
 */
int record_parse(int argc, char **argv, struct record_options *opts);
void record_help(void);
/*
 * Handles an unknown option: @c, or if that is 0 "--name" or "--name=value" in @word. Return: our
 * option that does the same as another profiler's option of that name, or NULL.
 */
const char *record_other_tool(int c, const char *word);

/* Functions of setup.c. Return: 0, or an exit status after a message. */

int record_check_command(const struct record_options *opts);

/* Is another recorder recording this process already? */
int record_check_not_recorded(const struct record_options *opts);
int record_make_session(struct recording *r);
int record_make_capture(struct recording *r, const struct xsp_drain_ops *ops);

/*
 * Warns in advance if memory will not suffice, and chooses ring sizes that fit if none was given;
 * refuses options that would allocate it at once.
 */
int record_check_room(struct recording *r);

/* Checks the free space for rings, and remembers shortages. */
void record_look_at_room(struct recording *r);

/* Functions of explain.c: why nothing was recorded, and remedies for losses; silent if quiet. */
void record_explain_nothing(const struct recording *r);
void record_explain_python(const struct recording *r);
/* @goes_on: the command does. */
void record_explain_gpu(const struct recording *r, bool goes_on);
void record_explain_modules(const struct recording *r);
void record_explain_losses(const struct recording *r);

#endif /* XSPROF_RECORD_LOCAL_H */
