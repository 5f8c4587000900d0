/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of a training: where each ends, and what its time was for.  steps.c counts them while
 * the trace is read, steps-print.c prints them.
 */
#ifndef XSPROF_REPORT_STEPS_H
#define XSPROF_REPORT_STEPS_H

#include "report/local.h"

/* The first that holds, from the innermost range out. */
enum step_phase {
	STEP_FORWARD,		/* in an op, and none of the following */
	STEP_BACKWARD,
	STEP_OPTIMIZER,
	STEP_DATA,
	STEP_COMM,
	STEP_UNKNOWN,		/* in no op */
	STEP_PHASES
};

/**
 * struct report_step - a step
 * @begin: where the one before ended
 * @end: where it ended
 * @ns: its time by enum step_phase
 * @cause: and by what the kernel saw of its thread
 * @number: as the program counts, else as the trace does, from 1
 * @producer: of its thread
 * @pid: likewise
 * @tid: likewise
 * @told: @cause is known
 * @uncertain: records of the program were lost in it
 */
struct report_step {
	uint64_t		begin;
	uint64_t		end;
	uint64_t		ns[STEP_PHASES];
	struct cause_sum	cause;
	uint64_t		number;
	uint32_t		producer;
	uint32_t		pid;
	uint32_t		tid;
	bool			told;
	bool			uncertain;
};

#define STEP_DEPTH	128u

/* A range that is open: what its thread was in before. */
struct step_open {
	uint64_t	begin;
	uint32_t	before;
};

/**
 * struct step_thread - a thread with ranges
 * @open: those that are open
 * @depth: how many
 * @in: the phase it is in
 * @since: from when on that is not in @ns yet
 * @backward: of its process, then
 * @comm: likewise
 * @ns: its time by phase, from its first range on
 * @begin: of its step, 0 for none
 * @mark: @ns then
 * @number: of its step
 * @optimizer: begin of the outermost step of an optimizer that it is in, 0 for none
 * @firm: its first step did not begin with just any range
 * @told: the program says where steps begin
 * @uncertain: records were lost in its step
 * @by: the optimizer whose steps end those of the thread
 */
struct step_thread {
	struct step_open	open[STEP_DEPTH];
	uint32_t		depth;
	uint32_t		in;
	uint32_t		producer;
	uint32_t		pid;
	uint32_t		tid;
	uint64_t		since;
	uint64_t		backward;
	uint64_t		comm;
	uint64_t		ns[STEP_PHASES];
	uint64_t		begin;
	uint64_t		mark[STEP_PHASES];
	uint64_t		number;
	uint64_t		optimizer;
	bool			firm;
	bool			told;
	bool			uncertain;
	char			by[64];
};

/**
 * struct step_process - what the threads of a process do
 * @nr: how many of them are in a phase
 * @since: from when on that is not in the sums yet
 * @backward: how long one of them was in the backward pass
 * @comm: how long one communicated, and none was
 */
struct step_process {
	uint32_t	nr[STEP_PHASES];
	uint64_t	since;
	uint64_t	backward;
	uint64_t	comm;
};

/**
 * struct report_steps - all of them
 * @report: whose they are
 * @range: the ranges that are steps; NULL: what ends there
 * @list: by thread, and then by time, once reading is over
 * @nr: how many
 * @room: room in @list
 * @dropped: more that were not kept
 * @refused: events of threads that found no room
 * @now: time of the last event
 * @threads: with ranges
 * @by_thread: their places
 * @processes: by number of the producer
 */
struct report_steps {
	struct report		*report;
	const char		*range;
	struct report_step	*list;
	size_t			nr;
	size_t			room;
	uint64_t		dropped;
	uint64_t		refused;
	uint64_t		now;
	struct step_thread	*threads;
	uint32_t		nr_threads;
	uint32_t		room_threads;
	struct xsp_map		by_thread;
	struct step_process	*processes;
	uint32_t		nr_processes;
};

/* ---- steps-thread.c ------------------------------------------------------------------------- */

/* The thread of an event, made when it is new.  NULL: there is no room for it. */
struct step_thread *steps_thread(struct report_steps *steps, const struct xsprof_event *ev);
/* NULL: it has had no range. */
struct step_thread *steps_find_thread(struct report_steps *steps, uint32_t producer,
				      uint32_t tid);
/* What is before @steps->now is in the sums of the thread. */
void steps_count(struct report_steps *steps, struct step_thread *th);
/* It is in @phase from now on. */
void steps_enter(struct report_steps *steps, struct step_thread *th, uint32_t phase);

/* ---- steps.c -------------------------------------------------------------------------------- */

/* What ended the steps of @step's thread: a name, or "" for the program's own word. */
const char *report_steps_ended_by(const struct report_steps *steps,
				  const struct report_step *step);

#endif /* XSPROF_REPORT_STEPS_H */
