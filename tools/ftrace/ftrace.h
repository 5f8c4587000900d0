/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records the kernel's tracer together with markers: events of the scheduler, of interrupts, or any
 * others in tracefs, on the clock of the markers, into the same capture.
 *
 * It uses its own tracefs instance and does not change the settings of others; the instance is
 * removed at the end of the recording, or, if the recorder was killed, at the start of the next
 * one.
 */
#ifndef XSPROF_FTRACE_H
#define XSPROF_FTRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/writer.h"

#define FTRACE_EVENTS_MAX	64	/* -e options on a command line */

/**
 * struct ftrace_options - options for the kernel's tracer
 * @events: arguments of -e, comma-separated lists: SYSTEM, SYSTEM:EVENT, EVENT, patterns; "sched"
 *	is a selection
 * @nr_events: number of -e options
 * @irq: record interrupts and softirqs
 * @syscalls: record system calls
 * @faults: record page faults
 * @tree: only the command's tasks, and the tasks that preempt or wake them
 * @clock: the tracer's clock, NULL: the one that matches the markers best
 * @buffer: bytes of each CPU's buffer, 0: default
 */
struct ftrace_options {
	const char	*events[FTRACE_EVENTS_MAX];
	uint32_t	nr_events;
	bool		irq;
	bool		syscalls;
	bool		faults;
	bool		tree;
	const char	*clock;
	uint64_t	buffer;
};

static inline bool ftrace_wanted(const struct ftrace_options *opts)
{
	return opts->nr_events || opts->irq || opts->syscalls || opts->faults;
}

/* ---- options ------------------------------------------------------------------------------- */

enum {
	OPT_IRQ = 700,
	OPT_SYSCALLS,
	OPT_FAULTS,
	OPT_FILTER_TREE,
	OPT_TRACE_CLOCK,
	OPT_TRACE_BUFFER,
};

#define FTRACE_OPTIONS \
	{ "event",	    required_argument, NULL, 'e' }, \
	{ "irq",	    no_argument,       NULL, OPT_IRQ }, \
	{ "syscalls",	    no_argument,       NULL, OPT_SYSCALLS }, \
	{ "faults",	    no_argument,       NULL, OPT_FAULTS }, \
	{ "filter-tree",    no_argument,       NULL, OPT_FILTER_TREE }, \
	{ "trace-clock",    required_argument, NULL, OPT_TRACE_CLOCK }, \
	{ "trace-buffer",   required_argument, NULL, OPT_TRACE_BUFFER }

#define FTRACE_HELP \
	"\n" \
	"Kernel events on the same timeline (needs root):\n" \
	"  -e, --event EVENT       SYSTEM, SYSTEM:EVENT or EVENT, or a pattern: sched,\n" \
	"                          'block:*', 'ext4:ext4_sync*'; a comma-separated list,\n" \
	"                          may be repeated. sched is needed to see where the time\n" \
	"                          of threads went\n" \
	"      --irq               interrupts and softirqs\n" \
	"      --syscalls          system calls\n" \
	"      --faults            page faults\n" \
	"      --filter-tree       only tasks of the command, and those that preempt or wake\n" \
	"                          them\n" \
	"      --trace-buffer SIZE size of each CPU's buffer in the kernel (default 4M)\n" \
	"      --trace-clock NAME  x86-tsc, mono_raw, mono or boot (default: the best one)\n"

static inline bool ftrace_is_option(int c)
{
	return c == 'e' || (c >= OPT_IRQ && c <= OPT_TRACE_BUFFER);
}

/* Handles an option. Return: -1: done; else an exit status after a message. */
int ftrace_option(struct ftrace_options *opts, const char *verb, int c, const char *arg);

/* Checks combinations of options. Return: -1, or an exit status after a message. */
int ftrace_check(const struct ftrace_options *opts, const char *verb);

/* ---- a recording --------------------------------------------------------------------------- */

struct ftrace;

/* Removes the instances of recorders that have ended. */
void ftrace_clean(void);

/**
 * ftrace_open() - create an instance and choose the events; tracing is not started
 * @opts: options
 * @ft: set; NULL: the kernel's events are not available
 *
 * Return: 0, also if they are not available, after a message with the reason; TOOL_USAGE after a
 * message: an event or a clock does not exist.
 */
int ftrace_open(const struct ftrace_options *opts, struct ftrace **ft);

/* The reason why there is no tracer, NULL: no error; for a note in the capture. */
const char *ftrace_why_not(void);

/* Do process ids here differ from the kernel's? Then so do those of the recorded processes. */
bool ftrace_namespaced(void);

/*
 * Descriptor where the command writes a mark before it begins, from which its kernel pid is found
 * in a pid namespace; -1: not needed.
 */
int ftrace_mark(const struct ftrace *ft);

/* Starts tracing; @tree: only these @nr processes and their children. Return: 0 or -errno. */
int ftrace_start(struct ftrace *ft, struct xsp_cap *cap, const pid_t *processes, uint32_t nr);

/* Reads the buffers. Return: ns until it must be called again. */
uint64_t ftrace_step(struct ftrace *ft, struct xsp_cap *cap);

/* Writes the rest and the statistics; removes the instance and frees @ft. */
void ftrace_finish(struct ftrace *ft, struct xsp_cap *cap);

/* Removes the instance without recording; @ft may be NULL. */
void ftrace_drop(struct ftrace *ft);

/**
 * struct ftrace_stats - statistics of a recording
 * @cpus: CPUs traced
 * @events: events stored, by the tracer's count
 * @bytes: their size in the tracer's buffers
 * @lost: events overwritten or dropped by the tracer
 * @unsaved: bytes that could not be written to the file
 */
struct ftrace_stats {
	uint32_t	cpus;
	uint64_t	events;
	uint64_t	bytes;
	uint64_t	lost;
	uint64_t	unsaved;
};

/* After ftrace_finish(): of the last recording. */
const struct ftrace_stats *ftrace_last_stats(void);

#endif /* XSPROF_FTRACE_H */
