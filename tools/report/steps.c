// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps of a training. A step ends with its optimizer, or where the program marks it, or is a
 * requested range; the time between two ends is one step. If optimizers run only in the backward
 * pass, one per parameter, that pass ends the step: at the next range of the thread whose ops it
 * belongs to, which waits for it.
 *
 * The time of a step is that of the thread that ends it, by its innermost range with a phase: the
 * names of PyTorch's ranges show their purpose. A thread in no op counts as waiting while another
 * thread runs the backward pass of its ops, or communicates and this is the only training thread;
 * if scheduler events were recorded, only while it sleeps.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/profiler.h>

#include "report/steps.h"
#include "report/why-local.h"

#define STEPS_MAX	(1u << 17)
#define INHERIT		STEP_PHASES

static uint64_t key_of(struct report_steps *steps, const struct step_thread *th)
{
	return cause_reader_key(steps->report->reader, th->producer, th->tid);
}

static void begin_step(struct report_steps *steps, struct step_thread *th, uint64_t number)
{
	steps_forget(steps, th);
	steps_count(steps, th);
	memcpy(th->mark, th->ns, sizeof(th->mark));
	th->in_step = true;
	th->begin = steps->now;
	th->number = number;
	th->uncertain = false;
	th->first = false;
	th->ranges = th->depth;
	th->controls = steps->processes[th->producer].controls;
	steps_memory_begin(steps, th);
	cause_begin(steps->report->cause, steps->now, key_of(steps, th));
}

static struct report_step *add_step(struct report_steps *steps)
{
	size_t room = steps->room ? steps->room * 2 : 64;
	struct report_step *list;

	if (steps->nr == STEPS_MAX)
		return NULL;
	if (steps->nr == steps->room) {
		list = realloc(steps->list, room * sizeof(*list));
		if (!list)
			return NULL;
		steps->list = list;
		steps->room = room;
	}
	return &steps->list[steps->nr++];
}

/* @how: enum step_end. */
static void end_step(struct report_steps *steps, struct step_thread *th, uint32_t how)
{
	struct report *report = steps->report;
	struct report_step step = {
		.begin = th->begin, .end = steps->now, .number = th->number,
		.producer = th->producer, .pid = th->pid, .tid = th->tid,
		.how = how, .first = th->first, .counted = th->told, .uncertain = th->uncertain,
		.switched = th->controls != steps->processes[th->producer].controls,
		.ranges = th->ranges,
		.told = cause_get_stats(report->cause)->switches,
	}, *place;

	steps_count(steps, th);
	for (int i = 0; i < STEP_PHASES; i++)
		step.ns[i] = th->ns[i] - th->mark[i];
	if (step.told)
		cause_range(report->cause, key_of(steps, th), step.begin, step.end, true,
			    &step.cause);
	steps_memory_end(steps, th, &step);
	th->in_step = false;
	if (!xsp_filter_time(&report->filter, step.end) ||
	    !xsp_filter_thread(&report->filter, step.pid, step.tid)) {
		steps->filtered++;
		return;
	}
	place = add_step(steps);
	if (place)
		*place = step;
	else
		steps->dropped++;
}

static bool starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool is_step_of_optimizer(const char *name)
{
	return starts(name, "Optimizer.step#");
}

static uint32_t phase_of(const char *name)
{
	static const struct {
		const char	*name;
		uint32_t	phase;
	} phases[] = {
		{ "autograd::engine::evaluate_function", STEP_BACKWARD },
		{ "Optimizer.", STEP_OPTIMIZER },
		{ "enumerate(DataLoader)#", STEP_DATA },
		{ "record_param_comms", STEP_COMM },
		{ "c10d::", STEP_COMM },
		{ "gloo:", STEP_COMM },
		{ "nccl:", STEP_COMM },
		{ "mpi:", STEP_COMM },
		{ "ucc:", STEP_COMM },
	};

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		if (starts(name, phases[i].name))
			return phases[i].phase;
	return INHERIT;
}

static bool is_op(const struct report_steps *steps, const struct xsprof_event *ev)
{
	struct xsprof_trace_op op;

	if (xsprof_trace_op(ev, &op))
		return op.scope != XSPROF_OP_USER_SCOPE;
	return !strcmp(xsprof_trace_category(steps->report->source.trace, ev->producer, ev->name),
		       "PyTorch");
}

static bool is_asked_for(const struct report_steps *steps, const char *name)
{
	return !strcmp(name, steps->range) || !fnmatch(steps->range, name, 0);
}

/* A pause that the runtime of Python makes anywhere says nothing of the training's steps. */
static bool is_pause(const struct report_steps *steps, const struct xsprof_event *ev,
		     const char *name)
{
	return (!strcmp(name, "GIL wait") || !strcmp(name, "garbage collection")) &&
	       !strcmp(xsprof_trace_category(steps->report->source.trace, ev->producer, ev->name),
		       "python");
}

/* The thread that ran the forward ops of a node; 0: not known. */
static uint64_t forward_thread(const struct xsprof_event *ev)
{
	struct xsprof_trace_op op;

	return xsprof_trace_op(ev, &op) ? op.forward_thread : 0;
}

/* A range begins that is of no pass: one in which optimizers stepped is over. */
static void pass_over(struct report_steps *steps, struct step_thread *th, const char *name)
{
	th->stepped = false;
	/* If another follows, that one ends the step. */
	if (!th->passes || th->told || !th->in_step || is_step_of_optimizer(name))
		return;
	steps_trains(steps, th);
	end_step(steps, th, STEP_ENDED);
	begin_step(steps, th, th->number + 1);
}

/* A range that may begin the first step of a thread, or ends one.  Return: it will. */
static bool look_at(struct report_steps *steps, struct step_thread *th, const char *name,
		    uint32_t phase, bool rest)
{
	bool firm = phase == STEP_DATA || starts(name, "Optimizer.zero_grad#");

	if (steps->range) {
		if (!is_asked_for(steps, name))
			return false;
		if (th->outer || rest) {
			steps->beside += !rest;
			return false;
		}
		begin_step(steps, th, th->number + 1);
		return true;
	}
	if (th->stepped && !th->nodes && phase != STEP_BACKWARD)
		pass_over(steps, th, name);
	if (th->nodes && is_step_of_optimizer(name)) {
		steps_in_pass(steps, th, name);
		return false;
	}
	if (!th->told && (!th->in_step || (firm && !th->firm && !*th->by))) {
		begin_step(steps, th, 1);
		/* A batch is the first of a step; anything else may stand anywhere in it. */
		th->first = phase != STEP_DATA;
		th->firm = firm;
	}
	return !th->outer && is_step_of_optimizer(name);
}

static void range_begins(struct report_steps *steps, const struct xsprof_event *ev, bool rest)
{
	struct step_thread *th = steps_thread(steps, ev);
	uint64_t forward;
	const char *name;
	uint32_t phase;
	bool ends;

	if (!th) {
		steps->refused++;
		return;
	}
	/* The end of a deeper range finds nothing, as after a loss. */
	if (th->depth == STEP_DEPTH) {
		steps->refused++;
		return;
	}
	name = xsprof_trace_name(steps->report->source.trace, ev->producer, ev->name);
	phase = phase_of(name);
	ends = (steps->range || !is_pause(steps, ev, name)) &&
	       look_at(steps, th, name, phase, rest);
	th->open[th->depth++] = (struct step_open){
		.begin = ev->ns, .name = ev->name, .before = (uint16_t)th->in,
		.node = phase == STEP_BACKWARD,
	};
	th->nodes += phase == STEP_BACKWARD;
	if (ends)
		th->outer = th->depth;
	th->ranges = true;
	if (phase == INHERIT && th->in == STEP_UNKNOWN && is_op(steps, ev))
		phase = STEP_FORWARD;
	forward = phase != INHERIT || th->in == STEP_BACKWARD ? forward_thread(ev) : 0;
	if (phase != INHERIT)
		steps_enter(steps, th, phase, forward);
	else if (forward)
		steps_serves(steps, th, forward);
}

/* The program marks the begin of a step. */
static void program_says(struct report_steps *steps, const struct xsprof_event *ev)
{
	struct step_thread *th = steps_thread(steps, ev);

	if (!th) {
		steps->refused++;
		return;
	}
	if (th->told)
		end_step(steps, th, STEP_ENDED);
	th->told = true;
	*th->by = '\0';
	*th->other = '\0';
	th->passes = false;
	steps_trains(steps, th);
	begin_step(steps, th, ev->value);
}

static void advance(struct report_steps *steps, uint64_t ns)
{
	if (ns > steps->now)
		steps->now = ns;
}

/* The time after the last step, or the unfinished step. */
static void cut_step(struct report_steps *steps, struct step_thread *th, uint32_t how)
{
	if (th->in_step && !steps->range && (th->told || *th->by))
		end_step(steps, th, how);
	steps_forget(steps, th);
}

static void process_ended(struct report_steps *steps, const struct xsprof_event *ev)
{
	uint32_t at;

	if (ev->producer >= steps->nr_processes)
		return;
	for (at = steps->processes[ev->producer].threads; at; at = steps->threads[at - 1].next)
		cut_step(steps, steps_find_thread(steps, ev->producer,
						  steps->threads[at - 1].tid),
			 STEP_PROCESS + (uint32_t)(ev->value >> 32));
	/* After an exec it has other threads. */
	steps->processes[ev->producer].threads = 0;
	steps_memory_free(&steps->processes[ev->producer]);
}

/* The end of a step may have been disabled meanwhile: a step with this in it may be several. */
static void markers_switched(struct report_steps *steps, const struct xsprof_event *ev)
{
	if (ev->producer < steps->nr_processes)
		steps->processes[ev->producer].controls++;
}

void report_steps_event(struct report_steps *steps, const struct xsprof_event *ev, bool rest)
{
	advance(steps, ev->ns);
	xst_losses_event(&steps->losses, ev);
	if (ev->type == XSPROF_REC_BEGIN)
		range_begins(steps, ev, rest);
	else if (ev->type == XSPROF_REC_STEP && !steps->range)
		program_says(steps, ev);
	else if (ev->type == XSPROF_REC_ALLOC || ev->type == XSPROF_REC_FREE)
		steps_memory_event(steps, ev);
	else if (ev->type == XSPROF_REC_CONTROL)
		markers_switched(steps, ev);
	else if (ev->type == XSPROF_EV_EXIT)
		process_ended(steps, ev);
}

static void optimizer_ended(struct report_steps *steps, struct step_thread *th, const char *name)
{
	if (th->told || !th->in_step)
		return;
	steps_trains(steps, th);
	if (!*th->by || th->passes)
		steps_ended_by(th, name, false);
	/* Of several the first ends the step. */
	if (strncmp(th->by, name, sizeof(th->by) - 1)) {
		strncpy(th->other, name, sizeof(th->other) - 1);
		return;
	}
	end_step(steps, th, STEP_ENDED);
	begin_step(steps, th, th->number + 1);
}

/* The range that ends a step is over, by whatever. */
static void outer_ended(struct report_steps *steps, struct step_thread *th,
			const struct xsprof_range *range)
{
	th->outer = 0;
	if (steps->range && range->flags & XSPROF_RANGEF_CONTINUED) {
		/* A range around it has ended: its own end does not end a step. */
		steps->beside += th->in_step;
		steps_forget(steps, th);
	} else if (!steps->range && range->how == XSPROF_RANGE_ENDED) {
		optimizer_ended(steps, th, xsprof_trace_name(steps->report->source.trace,
							     range->producer, range->name));
	} else if (steps->range && range->how == XSPROF_RANGE_CUT) {
		steps_forget(steps, th);
	} else if (steps->range && th->in_step) {
		end_step(steps, th, range->how == XSPROF_RANGE_OPEN ? STEP_RECORDING : STEP_ENDED);
	}
}

/* Takes the range at @at out of those that are open: of a pause it may be in the middle. */
static bool close_range(struct report_steps *steps, struct step_thread *th, uint32_t at)
{
	uint32_t before = th->open[at].before;
	bool outer = th->outer == at + 1;

	th->nodes -= th->open[at].node;
	th->depth--;
	if (at == th->depth) {
		steps_enter(steps, th, before, 0);
	} else {
		memmove(&th->open[at], &th->open[at + 1],
			(th->depth - at) * sizeof(th->open[0]));
		th->open[at].before = before;
		th->outer -= th->outer > at + 1;
	}
	return outer;
}

void report_steps_range(struct report_steps *steps, const struct xsprof_range *range)
{
	struct step_thread *th = steps_find_thread(steps, range->producer, range->tid);
	uint32_t at;

	if (!th || range->kind != XSPROF_REC_BEGIN)
		return;
	advance(steps, range->end_ns);
	for (at = th->depth; at && th->open[at - 1].begin > range->begin_ns; at--)
		;
	for (; at && th->open[at - 1].begin == range->begin_ns; at--) {
		if (th->open[at - 1].name != range->name)
			continue;
		if (close_range(steps, th, at - 1))
			outer_ended(steps, th, range);
		return;
	}
}

static int compare(const void *pa, const void *pb)
{
	const struct report_step *a = pa, *b = pb;

	if (a->producer != b->producer)
		return a->producer < b->producer ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

void report_steps_finish(struct report_steps *steps)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < steps->nr_threads; i++) {
		struct step_thread *th = &steps->threads[i];

		cut_step(steps, steps_find_thread(steps, th->producer, th->tid), STEP_RECORDING);
	}
	/* One that the program counts has no others. */
	for (size_t i = 0; i < steps->nr; i++)
		if (steps->list[i].counted ||
		    !report_steps_thread(steps, &steps->list[i])->told)
			steps->list[nr++] = steps->list[i];
	steps->nr = nr;
	if (steps->nr)
		qsort(steps->list, steps->nr, sizeof(*steps->list), compare);
}

bool report_steps_any(const struct report_steps *steps)
{
	return steps->nr > 0;
}

int report_steps_new(struct report *report, const char *range, struct report_steps **steps)
{
	*steps = calloc(1, sizeof(**steps));
	if (!*steps)
		return -ENOMEM;
	(*steps)->report = report;
	(*steps)->range = range;
	return 0;
}

void report_steps_free(struct report_steps *steps)
{
	if (!steps)
		return;
	free(steps->list);
	free(steps->threads);
	for (uint32_t i = 0; i < steps->nr_processes; i++)
		steps_memory_free(&steps->processes[i]);
	free(steps->processes);
	xsp_map_free(&steps->by_thread);
	free(steps);
}
