/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a report: what is counted per name, thread, process or category, and a histogram
 * of durations each.  It never holds more than a fixed amount of memory: what finds no room is
 * counted in one row "(other)", and the report says so.
 */
#ifndef XSPROF_GROUPS_H
#define XSPROF_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xsprof/trace.h>

#include "cause/cause.h"

/*
 * A histogram's buckets are 1/64 of a power of two wide, so the middle of a bucket is within
 * 0.8 % of everything in it; below 64 ns they are 1 ns.  Only octaves that occur have memory.
 */
#define XSP_HIST_BITS	6
#define XSP_HIST_STEPS	(1u << XSP_HIST_BITS)

struct xsp_octave {
	struct xsp_octave	*next;
	uint32_t		shift;
	uint32_t		count[XSP_HIST_STEPS];
};

/* What makes a row; 0 for what the report is not split by. */
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
 * @bytes: allocated less freed, in memory of the host and of devices
 * @self: the same without what was inside
 * @flops: what ops computed, by what they had as inputs
 */
struct xsp_used {
	int64_t		bytes[XSP_USED_KINDS];
	int64_t		self[XSP_USED_KINDS];
	uint64_t	flops;
};

/**
 * struct xsp_group - a row
 * @key: what makes it
 * @pid: of the first in it
 * @count: how many
 * @uncertain: those of them inside which records were lost
 * @timed: those of them whose time is counted in what follows
 * @how: ranges by enum xsprof_range_end
 * @sum: sum of durations, ns
 * @total: the same without those inside another of the row's name
 * @on_thread: ranges that nest on a thread, among those timed
 * @of_thread: ranges of which it is known what their thread did, among those timed
 * @self: of these, sum of durations without what was inside
 * @min: shortest
 * @max: longest
 * @octaves: the histogram
 * @no_hist: some found no room in the histogram: percentiles are not known
 * @wall: sum of durations of those ranges whose time was told apart
 * @cause: that, by what it was for
 * @low: least finite value of a counter
 * @high: greatest
 * @last: latest value, of whatever kind
 * @strange: values that are NaN or infinite
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

/* @pattern: names that differ in their numbers only are one; @texts: there are others beside. */
int xsp_groups_new(const struct xsprof_trace *trace, bool pattern, bool texts,
		   struct xsp_groups **groups);
void xsp_groups_free(struct xsp_groups *groups);

/* Numbers of the texts of a name and its category, the same for the same text. */
void xsp_groups_words(struct xsp_groups *groups, uint32_t producer, uint32_t name,
		      uint32_t *text, uint32_t *category);
/* The category's alone: the name takes no room. */
uint32_t xsp_groups_category(struct xsp_groups *groups, uint32_t producer, uint32_t name);
/* The number of a text that is no name; 0 where there is no room for it. */
uint32_t xsp_groups_intern(struct xsp_groups *groups, const char *s, size_t len);
/* The same of what stands among names. */
uint32_t xsp_groups_intern_name(struct xsp_groups *groups, const char *s, size_t len);
const char *xsp_groups_word(const struct xsp_groups *groups, uint32_t word, size_t *len);

/* The row of @key, made when it is new; where there is no room "(other)", NULL for no range. */
struct xsp_group *xsp_groups_get(struct xsp_groups *groups, const struct xsp_key *key);
void xsp_group_duration(struct xsp_groups *groups, struct xsp_group *group, uint64_t ns);
/* The duration below which @part (0 to 1) of all lie, by the histogram. */
uint64_t xsp_group_quantile(const struct xsp_group *group, double part);

/* All rows, "(other)" first if it is used; @n is set.  The order is the caller's to change. */
struct xsp_group **xsp_groups_all(struct xsp_groups *groups, size_t *n);
bool xsp_groups_is_other(const struct xsp_groups *groups, const struct xsp_group *group);

#endif /* XSPROF_GROUPS_H */
