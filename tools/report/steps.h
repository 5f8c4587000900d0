/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of a training: their ends, and their time by phase. steps.c finds them while the trace
 * is read, steps-memory.c counts memory allocated in each; steps-median.c finds slow ones;
 * steps-print.c, steps-usage.c and steps-json.c print them.
 */
#ifndef XSPROF_REPORT_STEPS_H
#define XSPROF_REPORT_STEPS_H

#include "ranges/losses.h"
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
 * struct step_bytes - memory allocated in a step, as counted by the process's allocators
 * @known: the allocators reported it
 * @peak: the most at one time
 * @end: at the end
 */
struct step_bytes {
	bool		known;
	uint64_t	peak;
	uint64_t	end;
};

/* How a step ended. */
enum step_end {
	STEP_ENDED,
	STEP_RECORDING,		/* unfinished: the recording ended */
	STEP_PROCESS,		/* unfinished: its process ended; + enum xsprof_how */
};

/**
 * struct report_step - a step
 * @begin: end of the previous one
 * @end: its end
 * @ns: its time by enum step_phase
 * @cause: and by scheduler state of its thread
 * @bytes: of the host and of all devices
 * @number: as counted by the program, else in the trace, from 1
 * @producer: of its thread
 * @pid: likewise
 * @tid: likewise
 * @how: enum step_end
 * @told: @cause is known
 * @uncertain: records of the program were lost in it
 * @switched: markers were disabled or enabled in it
 * @ranges: its thread had any in it
 * @counted: the program counts them
 * @first: its begin is unknown: the begin of the thread's first range is used
 */
struct report_step {
	uint64_t		begin;
	uint64_t		end;
	uint64_t		ns[STEP_PHASES];
	struct cause_sum	cause;
	struct step_bytes	bytes[XSP_USED_KINDS];
	uint64_t		number;
	uint32_t		producer;
	uint32_t		pid;
	uint32_t		tid;
	uint32_t		how;
	bool			told;
	bool			uncertain;
	bool			switched;
	bool			ranges;
	bool			counted;
	bool			first;
};

#define STEP_DEPTH	128u

/* A range that is open: what its thread was in before, and whether autograd runs a node in it. */
struct step_open {
	uint64_t	begin;
	uint32_t	name;
	uint16_t	before;
	bool		node;
};

/**
 * struct step_thread - a thread with ranges
 * @open: the open ones
 * @depth: their number
 * @in: the phase it is in
 * @next: index + 1 of the next thread of the process
 * @losses: losses of records up to its latest event
 * @since: time from this on is not yet in @ns
 * @ns: its time by phase, from its first range on
 * @serves: index + 1 of the thread whose backward pass it runs; 0: none
 * @servers: number of threads that run one for it now
 * @served_since: time from this on is not yet in @served
 * @served: time in which any of them did
 * @served_mark: @served, at @since
 * @comm_mark: of its process, at @since
 * @begin: begin of its step
 * @mark: @ns at that time
 * @bytes_mark: number of the step's begin among those of its process
 * @number: of its step
 * @outer: index + 1 in @open of the range that ends its step; 0: none
 * @nodes: number of ranges in @open in which autograd runs a node
 * @in_step: it is in one
 * @firm: its first step began with the first batch
 * @told: the program marks the begins of steps
 * @trains: it has had a step of an optimizer, or marks steps
 * @first: its step is the first
 * @uncertain: records were lost in its step
 * @controls: enables and disables of its process before its step
 * @ranges: its step has any
 * @stepped: an optimizer stepped in the backward pass of its ops, and is not yet counted
 * @passes: @by steps only in backward passes: these end the steps
 * @by: the optimizer that ends the steps of the thread
 * @other: another one
 */
struct step_thread {
	struct step_open	open[STEP_DEPTH];
	uint32_t		depth;
	uint32_t		in;
	uint32_t		producer;
	uint32_t		pid;
	uint32_t		tid;
	uint32_t		next;
	uint64_t		losses;
	uint64_t		since;
	uint64_t		ns[STEP_PHASES];
	uint32_t		serves;
	uint32_t		servers;
	uint64_t		served_since;
	uint64_t		served;
	uint64_t		served_mark;
	uint64_t		comm_mark;
	uint64_t		begin;
	uint64_t		mark[STEP_PHASES];
	uint64_t		bytes_mark;
	uint64_t		number;
	uint32_t		outer;
	uint32_t		nodes;
	uint32_t		controls;
	bool			in_step;
	bool			ranges;
	bool			firm;
	bool			told;
	bool			trains;
	bool			stepped;
	bool			passes;
	bool			first;
	bool			uncertain;
	char			by[64];
	char			other[64];
};

/**
 * struct step_process - state of the threads of a process
 * @threads: index + 1 of the first
 * @trainers: number of them that train
 * @in_comm: number of them that communicate
 * @controls: events that disabled or enabled its markers
 * @since: time from this on is not yet in @comm
 * @comm: time in which any of them did
 * @memory: its allocated memory; NULL: unknown
 */
struct step_process {
	uint32_t	threads;
	uint32_t	trainers;
	uint32_t	in_comm;
	uint32_t	controls;
	uint64_t	since;
	uint64_t	comm;
	struct step_memory	*memory;
};

/**
 * struct report_steps - all steps
 * @report: the report
 * @range: name of the ranges that are steps; NULL: ends of steps are found
 * @list: sorted by thread, then by time, after reading
 * @nr: their number
 * @room: capacity of @list
 * @dropped: further ones that were not kept
 * @refused: events of threads that did not fit
 * @filtered: steps that do not match the filters
 * @doubtful: ranges that would be steps, but had lost records inside
 * @beside: ranges that would be steps, but began or ended while another was open
 * @now: time of the last event
 * @threads: threads with ranges
 * @by_thread: their indices
 * @processes: by number of the producer
 * @losses: losses of records
 */
struct report_steps {
	struct report		*report;
	const char		*range;
	struct report_step	*list;
	size_t			nr;
	size_t			room;
	uint64_t		dropped;
	uint64_t		refused;
	uint64_t		filtered;
	uint64_t		doubtful;
	uint64_t		beside;
	uint64_t		now;
	struct step_thread	*threads;
	uint32_t		nr_threads;
	uint32_t		room_threads;
	struct xsp_map		by_thread;
	struct step_process	*processes;
	uint32_t		nr_processes;
	struct xst_losses	losses;
};

/* ---- steps-thread.c ------------------------------------------------------------------------- */

/* Finds or adds a process. Return: NULL: it does not fit. */
struct step_process *steps_process(struct report_steps *steps, uint32_t producer);
/* Finds or adds the thread of an event. Return: NULL: it does not fit. */
struct step_thread *steps_thread(struct report_steps *steps, const struct xsprof_event *ev);
/* NULL: it has had no range. */
struct step_thread *steps_find_thread(struct report_steps *steps, uint32_t producer,
				      uint32_t tid);
/* The thread of @step: what ended its steps is there. */
const struct step_thread *report_steps_thread(const struct report_steps *steps,
					      const struct report_step *step);
/* Accounts for the thread's time up to @steps->now. */
void steps_count(struct report_steps *steps, struct step_thread *th);
/* An op in a node of the backward pass shows the thread whose ops the pass belongs to. */
void steps_serves(struct report_steps *steps, struct step_thread *th, uint64_t forward);
/* It is in @phase from now on; @forward: the thread that ran the forward ops, 0 not known. */
void steps_enter(struct report_steps *steps, struct step_thread *th, uint32_t phase,
		 uint64_t forward);
/* The optimizer @name ends its steps, or (@passes) the backward passes do that have it. */
void steps_ended_by(struct step_thread *th, const char *name, bool passes);
/* An optimizer steps in a node of autograd, for the thread that ran the node's forward op. */
void steps_in_pass(struct report_steps *steps, struct step_thread *th, const char *name);
/* It trains, and waits for communication of its process. */
void steps_trains(struct report_steps *steps, struct step_thread *th);
/* Its step does not count. */
void steps_forget(struct report_steps *steps, struct step_thread *th);

/* ---- steps-memory.c ------------------------------------------------------------------------- */

/* An allocation or a free. */
void steps_memory_event(struct report_steps *steps, const struct xsprof_event *ev);
/* A step of the thread begins, ends. */
void steps_memory_begin(struct report_steps *steps, struct step_thread *th);
void steps_memory_end(const struct report_steps *steps, const struct step_thread *th,
		      struct report_step *step);
void steps_memory_free(struct step_process *process);

/* ---- steps-median.c ------------------------------------------------------------------------- */

#define STEP_COLUMNS	(STEP_PHASES + 1)	/* wall, and the phases */

/**
 * struct step_medians - of the steps of a thread that are certain and whole, each for itself
 * @columns: the wall time's, and those of the phases where any step has one that is known
 * @wall: of the whole step, ns
 * @ns: by phase
 * @cause: by what the kernel saw
 * @nr: steps that they are of
 */
struct step_medians {
	int		columns;
	uint64_t	wall;
	uint64_t	ns[STEP_PHASES];
	uint64_t	cause[CAUSE_CLASSES];
	size_t		nr;
};

static inline uint64_t steps_wall(const struct report_step *step)
{
	return step->end - step->begin;
}

/* Of the @n steps of a thread.  Return: false without memory for it. */
bool steps_find_medians(const struct report_step *steps, size_t n, struct step_medians *m);
/* More than 1.25 times the median, also if it is unfinished. */
bool steps_is_slow(const struct report_step *step, const struct step_medians *m);
/* How many from @at on are of one thread. */
size_t steps_same_thread(const struct report_steps *steps, size_t at);

/* ---- steps-usage.c -------------------------------------------------------------------------- */

/* Of the first @shown of @n steps of a thread, where any is known. */
void steps_print_usage(const struct report_steps *steps, const struct report_step *list, size_t n,
		       size_t shown);
void steps_json_usage(const struct report_step *step);
/* "   12.345678901" */
void steps_print_begin(const struct report_steps *steps, const struct report_step *step);

#endif /* XSPROF_REPORT_STEPS_H */
