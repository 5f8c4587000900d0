/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a report: counts per name, thread, process or category, each with a histogram of
 * durations. Memory has a fixed limit: what does not fit is counted in one row "(other)", and the
 * report says so.
 */
#ifndef XSPROF_GROUPS_H
#define XSPROF_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "cause/cause.h"

/*
 * The buckets of a histogram are 1/64 of a power of two wide, so the middle of a bucket is within
 * 0.8 % of each duration in it; below 64 ns they are 1 ns wide. Only octaves that occur use memory.
 */
#define XSP_HIST_BITS	6
#define XSP_HIST_STEPS	(1u << XSP_HIST_BITS)

struct xsp_octave {
	struct xsp_octave	*next;
	uint32_t		shift;
	uint32_t		count[XSP_HIST_STEPS];
};

/* The key of a row; fields by which the report is not split are 0. */
struct xsp_key {
	uint32_t	type;		/* 0 ranges, else the type of the events */
	uint32_t	name;		/* number of the text */
	uint32_t	category;	/* number of the text */
	uint32_t	shape;		/* number of the text of the inputs */
	uint32_t	module;		/* number of the text of the module */
	uint32_t	producer;	/* + 1 */
	uint64_t	tid;		/* + 1 */
};

enum { XSP_USED_CPU, XSP_USED_DEVICE, XSP_USED_KINDS };

/**
 * struct xsp_used - what ranges used
 * @bytes: allocated minus freed, memory of the host and of devices
 * @self: the same without inner ranges
 * @flops: FLOPs of ops, computed from the shapes of their inputs
 */
struct xsp_used {
	int64_t		bytes[XSP_USED_KINDS];
	int64_t		self[XSP_USED_KINDS];
	uint64_t	flops;
};

/**
 * struct xsp_group - a row
 * @key: its key
 * @pid: of the first event in it
 * @count: events or ranges
 * @uncertain: of these, ranges with lost records inside
 * @timed: of these, those whose time is counted below
 * @how: ranges, by enum xsprof_range_end
 * @sum: sum of durations, ns
 * @total: the same without ranges inside another of the same name
 * @on_thread: of @timed, ranges that nest on a thread
 * @of_thread: of @timed, ranges for which the scheduler's events are known
 * @self: sum of their durations without inner ranges
 * @min: shortest duration
 * @max: longest duration
 * @octaves: the histogram
 * @no_hist: some durations did not fit in the histogram: no percentiles
 * @wall: sum of durations of ranges with known causes
 * @cause: @wall by cause
 * @low: least finite value of a counter
 * @high: greatest finite value
 * @last: latest value, also NaN or infinite
 * @strange: number of values that are NaN or infinite
 * @used: by those whose time is in @total and @self
 */
struct xsp_group {
	struct xsp_key		key;
	uint32_t		pid;
	bool			no_hist;
	uint64_t		count;
	uint64_t		uncertain;
	uint64_t		timed;
	uint64_t		how[3];
	uint64_t		sum;
	uint64_t		total;
	uint64_t		on_thread;
	uint64_t		of_thread;
	uint64_t		self;
	uint64_t		min;
	uint64_t		max;
	struct xsp_octave	*octaves;
	uint64_t		wall;
	struct cause_sum	cause;
	double			low;
	double			high;
	double			last;
	uint64_t		strange;
	struct xsp_used		used;
};

struct xsp_groups;

/*
 *  @pattern: names that differ only in numbers are one; @texts: texts other than names are used
 * too.
 */
int xsp_groups_new(const struct xsprof_trace *trace, bool pattern, bool texts,
		   struct xsp_groups **groups);
void xsp_groups_free(struct xsp_groups *groups);

/* Sets the numbers of the texts of a name and its category; equal texts have equal numbers. */
void xsp_groups_words(struct xsp_groups *groups, uint32_t producer, uint32_t name,
		      uint32_t *text, uint32_t *category);
/* The category only; adds no text for the name. */
uint32_t xsp_groups_category(struct xsp_groups *groups, uint32_t producer, uint32_t name);
/* The number of a text that is not a name; 0 if it does not fit. */
uint32_t xsp_groups_intern(struct xsp_groups *groups, const char *s, size_t len);
/* The same for a text that counts as a name. */
uint32_t xsp_groups_intern_name(struct xsp_groups *groups, const char *s, size_t len);
const char *xsp_groups_word(const struct xsp_groups *groups, uint32_t word, size_t *len);

/*
 *  Finds or adds the row of @key. If it does not fit: "(other)", or NULL if @key is not of ranges.
 */
struct xsp_group *xsp_groups_get(struct xsp_groups *groups, const struct xsp_key *key);
void xsp_group_duration(struct xsp_groups *groups, struct xsp_group *group, uint64_t ns);
/* The duration below which @part (0 to 1) of all lie, from the histogram. */
uint64_t xsp_group_quantile(const struct xsp_group *group, double part);

/* All rows, "(other)" first if it is used; sets @n. The caller may reorder them. */
struct xsp_group **xsp_groups_all(struct xsp_groups *groups, size_t *n);
bool xsp_groups_is_other(const struct xsp_groups *groups, const struct xsp_group *group);

#endif /* XSPROF_GROUPS_H */
