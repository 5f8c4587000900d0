/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of `xsprof report`: options.c parses the options, report.c reads and counts,
 * steps.c counts by steps, shapes.c keeps inputs, modules.c modules, usage.c memory and FLOPs of
 * ranges; print.c, print-json.c and steps-print.c print the tables, usage-print.c that of usage.c,
 * threads.c a table of threads if there are no ranges, waits.c a table of waits, cause.c the causes
 * of time, words.c the words of a row; place.c where single ops were called. Each calls later ones.
 */
#ifndef XSPROF_REPORT_LOCAL_H
#define XSPROF_REPORT_LOCAL_H

#include "base/map.h"
#include "cause/cause.h"
#include "cli/filter.h"
#include "cli/reading.h"
#include "report/groups.h"
#include "report/hints.h"
#include "report/open.h"

enum report_by {
	REPORT_BY_NAME		= 0x1,
	REPORT_BY_THREAD	= 0x2,
	REPORT_BY_PROCESS	= 0x4,
	REPORT_BY_CATEGORY	= 0x8,
	REPORT_BY_PATTERN	= 0x10,	/* by name, with each number replaced by * */
	REPORT_BY_SHAPE		= 0x20,	/* by name and inputs */
	REPORT_BY_MODULE	= 0x40,	/* the module of the program that called the op */
	REPORT_BY_LINE		= 0x80,	/* the line of the program that called the op */
	REPORT_BY_KERNEL	= 0x100,	/* of devices; may be combined with the name */
	REPORT_BY_PLACE		= REPORT_BY_MODULE | REPORT_BY_LINE,	/* at most one of them */
};

enum report_sort {
	REPORT_SORT_TOTAL,
	REPORT_SORT_SELF,
	REPORT_SORT_COUNT,
	REPORT_SORT_MEAN,
	REPORT_SORT_MIN,
	REPORT_SORT_P50,
	REPORT_SORT_P99,
	REPORT_SORT_MAX,
	REPORT_SORT_MEMORY,
	REPORT_SORT_FLOPS,
	REPORT_SORT_NAME,
	REPORT_SORT_WAITED, REPORT_SORT_HELD,	/* with --gil alone */
	REPORT_SORT_UNKNOWN,
};

/**
 * struct report_threads - which threads belong to the recorded programs
 * @tree: thread ids; empty: not known
 * @fork: kind of the event of a new thread
 * @parent: field of that event
 * @child: field of that event
 * @counting: the requested time has begun
 */
struct report_threads {
	struct xsp_map				tree;
	uint32_t				fork;
	const struct xsprof_kernel_field	*parent;
	const struct xsprof_kernel_field	*child;
	bool					counting;
};

/**
 * struct report - a report
 * @reading: options shared by all verbs; the limit is of rows in each table
 * @cause: scheduler state of tasks
 * @reader: feeds @cause
 * @threads: which threads belong to the recorded programs
 * @by: REPORT_BY_*
 * @why: state of --why, else NULL
 * @gaps: --gaps was given
 * @gpu: --gpu was given
 * @gil: --gil was given
 * @functions: --by function was given, alone or with thread
 * @hints: records that other options show
 * @devices: there are activities of devices
 * @split: a name is in several categories: rows of ranges are also by category
 * @uncertain: --include-uncertain was given: ranges with lost records inside count with their times
 * @nr_uncertain: number of such ranges
 * @events: events that match the options, including those of ranges
 * @ranges: ranges counted, by enum xsprof_range_end
 * @unsure: of those, ranges in no row: open at the end of a process, at a time not known exactly
 * @first_ns: time of the first event
 * @last_ns: time of the last event
 * @lossy_ns: records may be missing up to this time; 0: none are
 * @unlisted: events other than of ranges that fit in no row
 * @open: ranges open at the ends of processes
 * @show: which of them are printed
 * @no_open: print none of them
 * @waits: current waits for synchronization objects
 * @by_step: --steps was given, with the range name @step, NULL: ends of steps are found
 * @steps: the steps
 * @shapes: inputs and modules of open ranges, NULL if rows are by neither
 * @cover: covered times of threads, NULL if rows are not of whole threads
 * @usage: what open ranges have used
 * @join: parts of ranges
 */
struct report {
	struct xsp_source		source;
	struct xsp_filter		filter;
	struct xsp_groups		*groups;
	struct xsprof_pairer_stats	pairs;
	struct reading			reading;
	struct cause			*cause;
	struct cause_reader		*reader;
	struct report_threads		threads;
	unsigned int			by;
	enum report_sort		sort;
	bool				json;
	const char			*why;
	bool				gaps;
	bool				gpu;
	bool				gil;
	bool				functions;
	struct report_hints		hints;
	bool				devices;
	bool				split;
	bool				uncertain;
	uint64_t			nr_uncertain;
	uint64_t			events;
	uint64_t			ranges[3];
	uint64_t			unsure;
	uint64_t			first_ns;
	uint64_t			last_ns;
	uint64_t			lossy_ns;
	uint64_t			unlisted;
	struct open_ranges		open;
	struct open_show		show;
	bool				no_open;
	struct report_waits		*waits;
	bool				by_step;
	const char			*step;
	struct report_steps		*steps;
	struct report_shapes		*shapes;
	struct report_cover		*cover;
	struct report_usage		*usage;
	struct report_join		*join;
};

/**
 * struct report_width - widths of the columns of words
 * @process: process
 * @thread: thread
 * @category: category
 * @module: module
 */
struct report_width {
	size_t	process;
	size_t	thread;
	size_t	category;
	size_t	module;
};

/* ---- print.c, print-json.c ------------------------------------------------------------------ */

void report_print(struct report *report);
void report_print_json(struct report *report);
/* All rows, sorted; the first @ranges of them are of ranges. */
struct xsp_group **report_sort(const struct report *report, size_t *n, size_t *ranges);
/* The duration that is shown: from --from to --to, or to the end. */
uint64_t report_shown_ns(const struct report *report);

static inline bool report_is_counter(uint32_t type)
{
	return type == XSPROF_REC_COUNTER_I64 || type == XSPROF_REC_COUNTER_F64;
}

/* ---- rows.c --------------------------------------------------------------------------------- */

struct report_part;
struct report_range_words;

/* Finds or adds the row of an event; NULL: the options exclude it. */
struct xsp_group *report_row(struct report *report, uint32_t type, uint32_t producer, uint32_t pid,
			     uint32_t tid, uint32_t name, const struct report_range_words *words);
/* Called by the pairer for each range or part of one. */
void report_range(void *data, const struct xsprof_range *range);
/* Called for each whole range. */
void report_whole(void *data, const struct report_part *part);

/* ---- read.c --------------------------------------------------------------------------------- */

/*
 * Calls @event with each event: of those after --to, unless @whole, only with activities of
 * devices, and sets @show.window. Return: 0, or an exit status after a message.
 */
int report_read(struct report *report, bool whole,
		int (*event)(void *data, const struct xsprof_event *ev), void *data);
/* Calls @event again, with each event up to @to_ns. Return: 0 or -errno. */
int report_read_again(struct report *report, uint64_t to_ns,
		      void (*event)(void *data, const struct xsprof_event *ev), void *data);

/* ---- options.c ------------------------------------------------------------------------------ */

void report_help(void);
/* Return: -1: go on, else the exit status. */
int report_options(struct report *report, int argc, char **argv);

/* ---- cover.c ------------------------------------------------------------------------------- */

#define REPORT_COVERED	64u	/* separate covered times that are kept of a thread */

struct report_piece {
	uint64_t	begin;
	uint64_t	end;
};

int report_cover_new(struct report_cover **cover);
void report_cover_free(struct report_cover *cover);
/*
 * Adds a range of the thread. @pieces has room for REPORT_COVERED + 1, and gets the parts of its
 * time that no earlier range covered, as far as that is known. Return: their number.
 */
uint32_t report_cover_add(struct report_cover *cover, uint32_t producer, uint32_t tid,
			  uint64_t begin, uint64_t end, struct report_piece *pieces);

/* ---- words.c ------------------------------------------------------------------------------- */

/* Prints a text for a terminal, at least @width columns wide. */
void report_print_text(const char *s, size_t len, size_t width);
/* Print the heads of the columns of words, and the words of a row: both end the line. */
void report_print_heads(const struct report *report, const struct report_width *width, bool bold);
void report_print_words(const struct report *report, const struct xsp_group *group,
			const struct report_width *width);
/* Prints which inputs and modules are in no row; @ranges: there are rows. */
void report_print_left(const struct report *report, bool ranges);
/* Sets @split. Return: 0 or -ENOMEM. */
int report_split(struct report *report);
void report_widen(const struct report *report, const struct xsp_group *row,
		  struct report_width *width);
/* "train.py-12"; "loader-13"; in @buf or static. */
const char *report_process(const struct report *report, const struct xsp_group *group, char *buf,
			   size_t size);
const char *report_thread(const struct report *report, const struct xsp_key *key, char *buf,
			  size_t size);
bool report_colours(void);
/* Does the time of the range count in its row? Not if another range of the row contains it. */
bool report_counts_once(const struct report *report, const struct xsprof_range *range);

static inline size_t report_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* ---- steps.c -------------------------------------------------------------------------------- */

/* @range: name or pattern of the ranges that are steps; NULL: see xsprof-report(1). */
int report_steps_new(struct report *report, const char *range, struct report_steps **steps);
void report_steps_free(struct report_steps *steps);
/* Handles an event of a program, after the pairer has. @rest: it continues a range in parts. */
void report_steps_event(struct report_steps *steps, const struct xsprof_event *ev, bool rest);
/* Handles a range that the pairer ended. */
void report_steps_range(struct report_steps *steps, const struct xsprof_range *range);
/* No more events follow. */
void report_steps_finish(struct report_steps *steps);
/* Was there a step that matches the options? */
bool report_steps_any(const struct report_steps *steps);
void report_print_steps(const struct report_steps *steps);
void report_json_steps(const struct report_steps *steps);

/* ---- shapes.c ------------------------------------------------------------------------------- */

/*
 * @by: REPORT_BY_*: what is kept. @flat: rows of some names only: ranges inside others count as
 *	well.
 */
int report_shapes_new(struct xsprof_trace *trace, struct xsp_groups *groups, unsigned int by,
		      bool flat, struct report_shapes **shapes);
void report_shapes_free(struct report_shapes *shapes);
/* Handles an event of a program, after the pairer has. */
void report_shapes_event(struct report_shapes *shapes, const struct xsprof_event *ev);
#define REPORT_OUTER	32u	/* nesting of modules */

/**
 * struct report_range_words - keys of the row of a range
 * @shape: number of the text of its inputs, 0: none
 * @module: number of the text of its module
 * @inside: it is inside another range of its row
 * @outer: if rows are by module alone: modules around its module, unless another range of the same
 *	module contains it
 * @nr_outer: their number
 */
struct report_range_words {
	uint32_t	shape;
	uint32_t	module;
	bool		inside;
	uint32_t	outer[REPORT_OUTER];
	uint32_t	nr_outer;
};

/* For a range that the pairer ended: to be called once for each. */
void report_shapes_of(struct report_shapes *shapes, const struct xsprof_range *range,
		      struct report_range_words *words);
/* Number of ops whose inputs did not fit. */
uint64_t report_shapes_crowded(const struct report_shapes *shapes);
bool report_shapes_any(const struct report_shapes *shapes);
/* NULL if rows are not by module. */
const struct report_modules *report_shapes_modules(const struct report_shapes *shapes);

/* ---- modules.c ------------------------------------------------------------------------------ */

struct report_modules;

/**
 * struct report_module - the module of an open range
 * @sequence: sequence number of an op that has a backward op, else -1
 * @word: number of the module's text, 0: none
 * @called_in: the module that called it or a range around it, also if @word is another one
 * @own: the op itself has a module
 * @backward: it is a backward op, or inside one
 * @linked: it is a backward op with the sequence number of its forward op
 */
struct report_module {
	int64_t		sequence;
	uint32_t	word;
	uint32_t	called_in;
	bool		own;
	bool		backward;
	bool		linked;
};

/* @lines: keep lines instead of modules. */
int report_modules_new(struct xsprof_trace *trace, struct xsp_groups *groups, bool lines,
		       struct report_modules **modules);
void report_modules_free(struct report_modules *modules);
/* A range begins inside @outer, NULL: none. */
void report_modules_begin(struct report_modules *modules, const struct xsprof_event *ev,
			  struct report_module *outer, struct report_module *to);
/* Handles further arguments of the op. */
void report_modules_args(struct report_modules *modules, const struct xsprof_event *ev,
			 struct report_module *to);
/* The module around @module, by its name; 0: none. @module: number of its text. */
uint32_t report_modules_outer(struct report_modules *modules, uint32_t module);
bool report_modules_any(const struct report_modules *modules);
/* Number of texts that did not fit. */
uint64_t report_modules_crowded(const struct report_modules *modules);
/* Number of backward ops with an unknown forward op. */
uint64_t report_modules_unlinked(const struct report_modules *modules);

/* ---- usage.c -------------------------------------------------------------------------------- */

struct report_usage;

/* @rows: keep the usage of ranges for rows; else only failed allocations are collected. */
int report_usage_new(struct report *report, struct xsprof_pairer *pairer, bool rows,
		     struct report_usage **usage);
void report_usage_free(struct report_usage *usage);
/* Handles an event of a program, after the pairer has. */
void report_usage_event(struct report_usage *usage, const struct xsprof_event *ev);

/**
 * struct report_used - what a range has used
 * @used: by the range; @flops are its own
 * @all_flops: including inner ranges
 * @unknown: its own FLOPs are not known
 */
struct report_used {
	struct xsp_used	used;
	uint64_t	all_flops;
	bool		unknown;
};

/* Adds the usage of a part of the range. */
void report_used_add(struct report_used *to, const struct report_used *part);
/* For a range that the pairer just ended. Return: false: it used nothing; @used is not set. */
bool report_usage_of(struct report_usage *usage, struct report_used *used);
/* The range is in no row, or its time does not count, because of losses. */
void report_usage_doubt(struct report_usage *usage, const struct report_used *used);
/* Adds @used to a row; @inside: the range is inside another of the row. */
void report_usage_add(struct report_usage *usage, struct xsp_group *row,
		      const struct report_used *used, bool named, bool inside);
/* Did any op have arguments? */
bool report_usage_said(const struct report_usage *usage);
/* Adds it to a row of something around the range. */
void report_usage_add_around(struct xsp_group *row, const struct report_used *used);

/* ---- usage-print.c -------------------------------------------------------------------------- */

/* Prints a table with the same rows as that of times; nothing if all is 0. */
void report_print_usage(const struct report *report, struct xsp_group **rows, size_t n,
			const struct report_width *width);
/* Prints the allocations that failed. */
void report_print_out_of_memory(const struct report *report);
void report_json_usage(const struct report *report);
void report_json_row_usage(const struct report *report, const struct xsp_group *row);

/* ---- threads.c ------------------------------------------------------------------------------ */

void report_threads_begin(struct report *report);
/* Handles any event, in order of time. */
void report_threads_event(struct report *report, const struct xsprof_event *ev);
/* Counting begins when @ns reaches the begin of the time that is shown. */
void report_threads_count(struct report *report, uint64_t ns);
void report_threads_free(struct report *report);
/* Are the scheduler's events all that the capture has? */
bool report_threads_wanted(const struct report *report, size_t ranges);
void report_print_threads(const struct report *report);
void report_json_threads(const struct report *report);

/* ---- waits.c -------------------------------------------------------------------------------- */

int report_waits_new(struct report_waits **waits);
void report_waits_free(struct report_waits *waits);
#define REPORT_NO_WAIT	UINT64_MAX
/*
 * Handles an XSPROF_REC_SYNC. Return: the duration in ns of the wait that it ends, from @from on,
 * or REPORT_NO_WAIT.
 */
uint64_t report_waits_event(struct report_waits *waits, const struct xsprof_event *ev,
			    uint64_t from);
void report_waits_add(struct xsp_group *group, uint64_t ns);
/* Number of waits that did not fit. */
uint64_t report_waits_crowded(const struct report_waits *waits);
/* Records of @ev's producer were lost. */
void report_waits_lost(struct report_waits *waits, const struct xsprof_event *ev);
/* Prints the table of waits, if @rows has any. */
void report_print_waits(const struct report *report, struct xsp_group **rows, size_t n);

/* ---- cause.c ------------------------------------------------------------------------------- */

#define CAUSE_COLUMNS	(CAUSE_CLASSES + 1)	/* wall time, and the classes */

/* The widths of the columns of a table. */
struct cause_columns {
	size_t	wide[CAUSE_COLUMNS];
};

/* Widens them for the heads, and for a row. */
void cause_columns_widen(struct cause_columns *columns, uint64_t wall,
			 const struct cause_sum *sum);
void cause_columns_heads(const struct cause_columns *columns);
void cause_columns_print(const struct cause_columns *columns, uint64_t wall,
			 const struct cause_sum *sum);
/* Prints the causes of the time of @n rows; nothing if none are known. */
void report_print_cause(const struct report *report, struct xsp_group **rows, size_t n,
			const struct report_width *width);
void report_json_cause(const struct report *report);
void report_json_row_cause(const struct report *report, const struct xsp_group *row);
/* ",\"on_cpu_ns\":1,..." of all classes. */
void report_json_sum(const struct cause_sum *sum);
/* Lines "# ...": what was recorded, and what was lost. */
void report_print_sources(const struct cause_stats *stats);
/* "\"recorded\":[\"sched\",...]": what was recorded. */
void report_json_recorded(const struct cause_stats *stats);
/* "on_cpu" */
const char *report_class_word(uint32_t class);

#endif /* XSPROF_REPORT_LOCAL_H */
