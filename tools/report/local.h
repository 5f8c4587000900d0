/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of `xsprof report` share: options.c knows what was asked for, report.c reads and
 * counts, steps.c counts by steps, shapes.c keeps inputs, modules.c modules, usage.c memory and
 * FLOPs of ranges; print.c, print-json.c and steps-print.c print the tables, usage-print.c that of
 * usage.c, threads.c one of threads where there is no range, waits.c one of waits, cause.c what the
 * time was for, words.c the words of a row; place.c knows where single ops were called.  Each calls
 * those after it.
 */
#ifndef XSPROF_REPORT_LOCAL_H
#define XSPROF_REPORT_LOCAL_H

#include "base/map.h"
#include "cause/cause.h"
#include "cli/filter.h"
#include "cli/reading.h"
#include "report/groups.h"
#include "report/open.h"

enum report_by {
	REPORT_BY_NAME		= 0x1,
	REPORT_BY_THREAD	= 0x2,
	REPORT_BY_PROCESS	= 0x4,
	REPORT_BY_CATEGORY	= 0x8,
	REPORT_BY_PATTERN	= 0x10,	/* by name, with * for each number in it */
	REPORT_BY_SHAPE		= 0x20,	/* by name and inputs */
	REPORT_BY_MODULE	= 0x40,	/* of the program, in which an op was called */
	REPORT_BY_LINE		= 0x80,	/* of the program, by which it was */
	/* What a backward op shares with its forward op; one of them. */
	REPORT_BY_PLACE		= REPORT_BY_MODULE | REPORT_BY_LINE,
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
};

/**
 * struct report_threads - which threads are of the recorded programs
 * @tree: their numbers; empty: it is not known
 * @fork: kind of event that tells of a new one
 * @parent: its fields
 * @child: the same
 * @counting: the time that is asked for has begun
 */
struct report_threads {
	struct xsp_map				tree;
	uint32_t				fork;
	const struct xsprof_kernel_field	*parent;
	const struct xsprof_kernel_field	*child;
	bool					counting;
};

/**
 * struct report - a report under way
 * @reading: the options that all verbs have; its limit is of rows in each table
 * @cause: where tasks were
 * @reader: what feeds it
 * @threads: of which programs tasks are
 * @by: REPORT_BY_*
 * @why: the ranges that are asked for with --why, else NULL
 * @gaps: --gaps was given
 * @gpu: --gpu was given
 * @gil: --gil was given
 * @functions: --by function was given
 * @samples: samples that --by function shows
 * @devices: there are activities of devices
 * @split: a name is in several categories: rows of ranges are by these too
 * @uncertain: --include-uncertain was given: times of ranges inside which records were lost count
 * @nr_uncertain: how many such ranges there were
 * @events: events read and wanted, those of ranges among them
 * @ranges: ranges counted, by enum xsprof_range_end
 * @unsure: of those, in no row: they were open when their processes ended, and when exactly that
 *	was is not known
 * @first_ns: time of the first event read
 * @last_ns: of the last
 * @lossy_ns: up to when records may be missing, 0 for none are
 * @unlisted: events that are no ranges and found no row
 * @open: what was open at the ends of processes
 * @show: what of it is wanted
 * @no_open: nothing of it
 * @waits: waits for synchronization objects that are under way
 * @by_step: --steps was given, for ranges of the name @step, NULL for what ends steps anyway
 * @steps: those
 * @shapes: inputs and modules of ranges that are open, NULL where rows are by neither
 * @cover: what ranges cover of their threads' time, NULL where rows are not of whole threads
 * @usage: what ranges that are open have used
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
	uint64_t			samples;
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
 * struct report_width - how wide the words of rows are
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

/* ---- print.c -------------------------------------------------------------------------------- */

void report_print(struct report *report);
/* All rows in their order; the first @ranges of them are ranges. */
struct xsp_group **report_sort(const struct report *report, size_t *n, size_t *ranges);
/* The time that is shown: from --from on, to --to where there was more. */
uint64_t report_shown_ns(const struct report *report);

static inline bool report_is_counter(uint32_t type)
{
	return type == XSPROF_REC_COUNTER_I64 || type == XSPROF_REC_COUNTER_F64;
}

/* ---- rows.c --------------------------------------------------------------------------------- */

struct report_part;
struct report_range_words;

/* The row that something belongs to; NULL when it is not wanted. */
struct xsp_group *report_row(struct report *report, uint32_t type, uint32_t producer, uint32_t pid,
			     uint32_t tid, uint32_t name, const struct report_range_words *words);
/* Of the pairer: a range, or a part of one. */
void report_range(void *data, const struct xsprof_range *range);
/* A whole range, @part. */
void report_whole(void *data, const struct report_part *part);

/* ---- print-json.c --------------------------------------------------------------------------- */

void report_print_json(struct report *report);

/* ---- start.c -------------------------------------------------------------------------------- */

/* @first: event of the trace.  Return: 0, or the exit status after a message. */
int report_start(struct report *report, const struct xsprof_event *first);

/* ---- options.c ------------------------------------------------------------------------------ */

void report_help(void);
/* Return: -1 go on, else the exit status. */
int report_options(struct report *report, int argc, char **argv);

/* ---- cover.c ------------------------------------------------------------------------------- */

/* How many times that are apart are remembered of a thread. */
#define REPORT_COVERED	64u

struct report_piece {
	uint64_t	begin;
	uint64_t	end;
};

int report_cover_new(struct report_cover **cover);
void report_cover_free(struct report_cover *cover);
/*
 * A range of the thread.  @pieces has room for REPORT_COVERED + 1, and gets what of its time was
 * covered by none before, as far as that is remembered.  Return: how many.
 */
uint32_t report_cover_add(struct report_cover *cover, uint32_t producer, uint32_t tid,
			  uint64_t begin, uint64_t end, struct report_piece *pieces);

/* ---- words.c ------------------------------------------------------------------------------- */

/* A text in a terminal: @width columns at least. */
void report_print_text(const char *s, size_t len, size_t width);
/* The heads of the columns of words, and the words of a row: both end the line. */
void report_print_heads(const struct report *report, const struct report_width *width, bool bold);
void report_print_words(const struct report *report, const struct xsp_group *group,
			const struct report_width *width);
/* What of inputs and modules is in no row; @ranges: there are rows. */
void report_print_left(const struct report *report, bool ranges);
/* Sets @split.  Return: 0 or -ENOMEM. */
int report_split(struct report *report);
/* @width is what @row needs at least. */
void report_widen(const struct report *report, const struct xsp_group *row,
		  struct report_width *width);
/* "train.py-12", in @buf or not. */
const char *report_process(const struct report *report, const struct xsp_group *group, char *buf,
			   size_t size);
bool report_colours(void);
/* Is its time in no other range of its row? */
bool report_counts_once(const struct report *report, const struct xsprof_range *range);

static inline size_t report_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* ---- steps.c -------------------------------------------------------------------------------- */

/* @range: the name, or pattern, of the ranges that are steps; NULL: see xsprof-report(1). */
int report_steps_new(struct report *report, const char *range, struct report_steps **steps);
void report_steps_free(struct report_steps *steps);
/* Any event of a program, after the pairer has had it. */
/* @rest: the begin of a range that goes on from another. */
void report_steps_event(struct report_steps *steps, const struct xsprof_event *ev, bool rest);
/* What the pairer ended. */
void report_steps_range(struct report_steps *steps, const struct xsprof_range *range);
/* There are no more. */
void report_steps_finish(struct report_steps *steps);
/* Was there one that was asked for? */
bool report_steps_any(const struct report_steps *steps);
void report_print_steps(const struct report_steps *steps);
void report_json_steps(const struct report_steps *steps);

/* ---- shapes.c ------------------------------------------------------------------------------- */

/*
 * @by: REPORT_BY_*: what of ranges is kept.  @flat: only some names are counted: each of these for
 * itself, whatever it is inside of.
 */
int report_shapes_new(struct xsprof_trace *trace, struct xsp_groups *groups, unsigned int by,
		      bool flat, struct report_shapes **shapes);
void report_shapes_free(struct report_shapes *shapes);
/* Any event of a program, after the pairer has had it. */
void report_shapes_event(struct report_shapes *shapes, const struct xsprof_event *ev);
#define REPORT_OUTER	32u	/* modules that a module may be in */

/**
 * struct report_range_words - what a range's row is by
 * @shape: text of its inputs, 0 for none
 * @module: of its module
 * @inside: it lies in another range of its row
 * @outer: where rows are by modules alone: those that its module is in, as far as it lies in no
 *	other range in them
 * @nr_outer: how many
 */
struct report_range_words {
	uint32_t	shape;
	uint32_t	module;
	bool		inside;
	uint32_t	outer[REPORT_OUTER];
	uint32_t	nr_outer;
};

/* Of what the pairer ended: to be asked once, for all. */
void report_shapes_of(struct report_shapes *shapes, const struct xsprof_range *range,
		      struct report_range_words *words);
/* Ops with inputs that there was no room for. */
uint64_t report_shapes_crowded(const struct report_shapes *shapes);
bool report_shapes_any(const struct report_shapes *shapes);
/* NULL where rows are not by module. */
const struct report_modules *report_shapes_modules(const struct report_shapes *shapes);

/* ---- modules.c ------------------------------------------------------------------------------ */

struct report_modules;

/**
 * struct report_module - the module of a range that is open
 * @sequence: of an op that has a backward, else -1
 * @word: number of its text, 0 for none
 * @called_in: the module that it or what is around it was called in, whatever it is of
 * @own: the op itself said so
 * @backward: it is a backward op, or inside of one
 * @linked: it is one, with the number of its forward op
 */
struct report_module {
	int64_t		sequence;
	uint32_t	word;
	uint32_t	called_in;
	bool		own;
	bool		backward;
	bool		linked;
};

/* @lines: lines are what it is about, in the place of modules. */
int report_modules_new(struct xsprof_trace *trace, struct xsp_groups *groups, bool lines,
		       struct report_modules **modules);
void report_modules_free(struct report_modules *modules);
/* A range begins inside of @outer, NULL for none. */
void report_modules_begin(struct report_modules *modules, const struct xsprof_event *ev,
			  struct report_module *outer, struct report_module *to);
/* More of the arguments that the op has. */
void report_modules_args(struct report_modules *modules, const struct xsprof_event *ev,
			 struct report_module *to);
/* The module that it is in, by its name; 0: none.  @module: number of its text. */
uint32_t report_modules_outer(struct report_modules *modules, uint32_t module);
bool report_modules_any(const struct report_modules *modules);
/* Texts that found no room. */
uint64_t report_modules_crowded(const struct report_modules *modules);
/* Backward ops, the forward ops of which are not known. */
uint64_t report_modules_unlinked(const struct report_modules *modules);

/* ---- usage.c -------------------------------------------------------------------------------- */

struct report_usage;

/* @rows: what ranges use is kept for rows; else it is only told what found no memory. */
int report_usage_new(struct report *report, struct xsprof_pairer *pairer, bool rows,
		     struct report_usage **usage);
void report_usage_free(struct report_usage *usage);
/* Any event of a program, after the pairer has had it. */
void report_usage_event(struct report_usage *usage, const struct xsprof_event *ev);

/**
 * struct report_used - what a range has used
 * @used: of the range; @flops are its own
 * @all_flops: those of what was inside as well
 * @unknown: its own are not known
 */
struct report_used {
	struct xsp_used	used;
	uint64_t	all_flops;
	bool		unknown;
};

/* Two parts of a range. */
void report_used_add(struct report_used *to, const struct report_used *part);
/* Of each range that the pairer gives, while it does.  Return: false: nothing; @used is not set. */
bool report_usage_of(struct report_usage *usage, struct report_used *used);
/* It is in no row, or its time is in none, because of losses. */
void report_usage_doubt(struct report_usage *usage, const struct report_used *used);
/* Adds @used to a row, which has a name or not: @inside of another of its row. */
void report_usage_add(struct report_usage *usage, struct xsp_group *row,
		      const struct report_used *used, bool named, bool inside);
/* Did any op say more of itself than its name? */
bool report_usage_said(const struct report_usage *usage);
/* Adds it to a row that is around that of the range. */
void report_usage_add_around(struct xsp_group *row, const struct report_used *used);

/* ---- usage-print.c -------------------------------------------------------------------------- */

/* "-1.5 kB", "-" for nothing. */
const char *report_bytes(char *buf, size_t size, int64_t bytes);
/* A table with the same rows as that of the times; nothing where there is nothing to tell. */
void report_print_usage(const struct report *report, struct xsp_group **rows, size_t n,
			const struct report_width *width);
/* What found no memory. */
void report_print_out_of_memory(const struct report *report);
void report_json_usage(const struct report *report);
void report_json_row_usage(const struct report *report, const struct xsp_group *row);

/* ---- threads.c ------------------------------------------------------------------------------ */

void report_threads_begin(struct report *report);
/* Any event, in order of time. */
void report_threads_event(struct report *report, const struct xsprof_event *ev);
/* The time that is shown has come, if @ns is no earlier: from then on it is counted. */
void report_threads_count(struct report *report, uint64_t ns);
void report_threads_free(struct report *report);
/* Is there nothing but the scheduler's events to tell where time went? */
bool report_threads_wanted(const struct report *report, size_t ranges);
void report_print_threads(const struct report *report);
void report_json_threads(const struct report *report);

/* ---- waits.c -------------------------------------------------------------------------------- */

int report_waits_new(struct report_waits **waits);
void report_waits_free(struct report_waits *waits);
#define REPORT_NO_WAIT	UINT64_MAX
/*
 * An XSPROF_REC_SYNC.  Return: how long the wait took that it ends, from @from on, in ns, or
 * REPORT_NO_WAIT.
 */
uint64_t report_waits_event(struct report_waits *waits, const struct xsprof_event *ev,
			    uint64_t from);
void report_waits_add(struct xsp_group *group, uint64_t ns);
/* Waits that there was no room for. */
uint64_t report_waits_crowded(const struct report_waits *waits);
/* Records of @ev's producer were lost. */
void report_waits_lost(struct report_waits *waits, const struct xsprof_event *ev);
/* The table of them, where there was any in @rows. */
void report_print_waits(const struct report *report, struct xsp_group **rows, size_t n);

/* ---- cause.c ------------------------------------------------------------------------------- */

#define CAUSE_COLUMNS	(CAUSE_CLASSES + 1)	/* wall, and the classes */

/* How wide the columns of a table are. */
struct cause_columns {
	size_t	wide[CAUSE_COLUMNS];
};

/* For the heads, and for a row. */
void cause_columns_widen(struct cause_columns *columns, uint64_t wall,
			 const struct cause_sum *sum);
void cause_columns_heads(const struct cause_columns *columns);
void cause_columns_print(const struct cause_columns *columns, uint64_t wall,
			 const struct cause_sum *sum);
/* What the time of @n rows was for; nothing where nobody knows. */
void report_print_cause(const struct report *report, struct xsp_group **rows, size_t n,
			const struct report_width *width);
void report_json_cause(const struct report *report);
void report_json_row_cause(const struct report *report, const struct xsp_group *row);
/* ",\"on_cpu_ns\":1,..." of all classes. */
void report_json_sum(const struct cause_sum *sum);
/* Lines "# ...": what there was to tell it from, and what was lost. */
void report_print_sources(const struct cause_stats *stats);
/* "\"recorded\":[\"sched\",...]": what there was to tell it from. */
void report_json_recorded(const struct cause_stats *stats);
/* "on_cpu" */
const char *report_class_word(uint32_t class);

#endif /* XSPROF_REPORT_LOCAL_H */
