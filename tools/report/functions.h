/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples by function, and by thread: functions.c reads, functions-print.c prints.
 */
#ifndef XSPROF_REPORT_FUNCTIONS_H
#define XSPROF_REPORT_FUNCTIONS_H

#include "report/local.h"

#define FUNCTION_HOWS	5u	/* enum xsprof_sample_how */
/* A capture may have stacks of any depth, of any number of threads: more share the row "?". */
#define FUNCTION_ROWS	(1u << 19)

/**
 * struct function - a function, or a function of a thread
 * @word: number of its text; 0: it has no name
 * @thread: the thread; its producer and tid only, each + 1, 0: of all threads
 * @self: samples in which it was the innermost function, by enum xsprof_sample_how
 * @total: samples in which it was anywhere in the stack, likewise
 * @with_c: samples in which it, or a C function that it called, was the innermost, likewise
 * @seen: the last sample counted in @total
 * @seen_c: the last one counted in @with_c
 */
struct function {
	uint32_t	word;
	struct xsp_key	thread;
	uint64_t	self[FUNCTION_HOWS];
	uint64_t	total[FUNCTION_HOWS];
	uint64_t	with_c[FUNCTION_HOWS];
	uint64_t	seen;
	uint64_t	seen_c;
};

/**
 * struct functions - the result
 * @report: the report that it is part of
 * @rows: functions
 * @nr: number of @rows
 * @room: capacity of @rows
 * @by_word: index in @rows, by number of the thread and word
 * @threads: numbers of threads, by producer and tid
 * @nr_threads: number of @threads
 * @full: samples with a function for which there was no row
 * @full_at: the number of the last of them
 * @samples: by enum xsprof_sample_how; those that could not be taken count as the first
 * @ticks: of the latter, ticks at which no thread was sampled
 * @no_stack: samples whose stack did not fit
 * @cut: samples with an incomplete stack
 * @frames: names of code, NULL before the first sample that has frames
 * @hz: sampling rate, 0: unknown, or not the same for all threads
 */
struct functions {
	struct report	*report;
	struct function	*rows;
	size_t		nr;
	size_t		room;
	struct xsp_map	by_word;
	struct xsp_map	threads;
	uint64_t	nr_threads;
	uint64_t	full;
	uint64_t	full_at;
	uint64_t	samples[FUNCTION_HOWS];
	uint64_t	ticks;
	uint64_t	no_stack;
	uint64_t	cut;
	uint64_t	hz;
	struct xsr_frames *frames;
};

/* Samples in which a thread was on a CPU. */
static inline uint64_t functions_on_cpu(const uint64_t *by_how)
{
	return by_how[XSPROF_SAMPLE_RUNS] + by_how[XSPROF_SAMPLE_NATIVE];
}

static inline uint64_t functions_all(const uint64_t *by_how)
{
	return functions_on_cpu(by_how) + by_how[XSPROF_SAMPLE_LOCK] +
	       by_how[XSPROF_SAMPLE_OFF];
}

/* Reads the trace, and prints. Return: the exit status. */
int functions_run(struct report *report);
void functions_print(const struct functions *f);
void functions_print_json(const struct functions *f);

#endif /* XSPROF_REPORT_FUNCTIONS_H */
