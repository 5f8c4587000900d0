/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's tracer beside a recording: events of the scheduler, of interrupts, of whatever
 * tracefs has, by the clock of the markers, into the same capture.
 *
 * It works in an instance of its own and never touches what anybody else set; the instance goes
 * with the recording, or, where the recorder was killed, at the next one's start.
 */
#ifndef XSPROF_FTRACE_H
#define XSPROF_FTRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/writer.h"

#define FTRACE_EVENTS_MAX	64	/* of -e on one command line */

/**
 * struct ftrace_options - what is wanted of the kernel
 * @events: as -e took them, lists with commas: SYSTEM, SYSTEM:EVENT, EVENT, patterns; "sched" is
 *	a chosen few
 * @nr_events: how many
 * @irq: interrupts and softirqs
 * @syscalls: system calls
 * @faults: page faults
 * @tree: only the command's tasks, and who preempts or wakes them
 * @clock: the tracer's, NULL for the one that fits the markers best
 * @buffer: bytes of each CPU's buffer, 0 for the default
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
	"Events of the kernel on the same timeline (needs root):\n" \
	"  -e, --event EVENT       SYSTEM, SYSTEM:EVENT, EVENT, or a pattern of one, as\n" \
	"                          sched, 'block:*', 'ext4:ext4_sync*'; several with ','\n" \
	"                          between them, or with -e again. sched is what it takes\n" \
	"                          to say where time went\n" \
	"      --irq               interrupts and softirqs\n" \
	"      --syscalls          system calls\n" \
	"      --faults            page faults\n" \
	"      --filter-tree       only the command's tasks, and who preempts or wakes them\n" \
	"      --trace-buffer SIZE memory of each CPU's buffer in the kernel (default 4M)\n" \
	"      --trace-clock NAME  x86-tsc, mono_raw, mono or boot (default: what fits best)\n"

static inline bool ftrace_is_option(int c)
{
	return c == 'e' || (c >= OPT_IRQ && c <= OPT_TRACE_BUFFER);
}

/* Return: -1 it was taken; else an exit status after a message. */
int ftrace_option(struct ftrace_options *opts, const char *verb, int c, const char *arg);

/* Options that mean nothing with the others.  Return: -1, or an exit status after a message. */
int ftrace_check(const struct ftrace_options *opts, const char *verb);

/* ---- a recording --------------------------------------------------------------------------- */

struct ftrace;

/* Removes instances of recorders that are gone. */
void ftrace_clean(void);

/**
 * ftrace_open() - an instance with the events chosen; nothing is traced yet
 * @opts: what is wanted
 * @ft: set; NULL where the kernel's events are not to be had
 *
 * Return: 0, also where they are not to be had, after a line that says why; TOOL_USAGE after a
 * message: an event, or a clock, that does not exist.
 */
int ftrace_open(const struct ftrace_options *opts, struct ftrace **ft);

/* Why there is none, NULL where nothing went wrong; for a note in the capture. */
const char *ftrace_why_not(void);

/* Are our process ids others than the kernel's?  Then so are those of what we record. */
bool ftrace_namespaced(void);

/*
 * Where the command is to write a mark before it begins, so that the kernel's number of it can be
 * found out in a pid namespace; -1 where that is not needed.
 */
int ftrace_mark(const struct ftrace *ft);

/* Begin; with @tree only these @nr processes and what they fork.  Return: 0 or -errno. */
int ftrace_start(struct ftrace *ft, struct xsp_cap *cap, const pid_t *processes, uint32_t nr);

/* Return: ns until it must be called again. */
uint64_t ftrace_step(struct ftrace *ft, struct xsp_cap *cap);

/* What is left, and the account; removes the instance and frees @ft. */
void ftrace_finish(struct ftrace *ft, struct xsp_cap *cap);

/* The same with nothing recorded; NULL is fine. */
void ftrace_drop(struct ftrace *ft);

/**
 * struct ftrace_stats - how it went
 * @cpus: CPUs traced
 * @events: stored, by the tracer's own count
 * @lost: overwritten or dropped by the tracer
 * @unsaved: bytes that found no room in the file
 */
struct ftrace_stats {
	uint32_t	cpus;
	uint64_t	events;
	uint64_t	lost;
	uint64_t	unsaved;
};

/* After ftrace_finish(): of the last one. */
const struct ftrace_stats *ftrace_last_stats(void);

#endif /* XSPROF_FTRACE_H */
