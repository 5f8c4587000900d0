// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps of a training.  A step ends where its optimizer does, or where the program says so, or
 * is a range that was asked for; what is between two ends is one step.
 *
 * The time of a step is that of the thread that ends it, by the innermost of its ranges that has a
 * phase: PyTorch names its ranges by what they are for.  A thread that is in no op while another
 * one of its process runs the backward pass, or communicates, is taken to wait for it.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/profiler.h>

#include "report/steps.h"
#include "report/why-local.h"

#define STEPS_MAX	(1u << 18)
#define INHERIT		STEP_PHASES

static uint64_t key_of(struct report_steps *steps, const struct step_thread *th)
{
	return cause_reader_key(steps->report->reader, th->producer, th->tid);
}

static void begin_step(struct report_steps *steps, struct step_thread *th, uint64_t number)
{
	steps_count(steps, th);
	memcpy(th->mark, th->ns, sizeof(th->mark));
	th->begin = steps->now;
	th->number = number;
	th->uncertain = false;
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

static void end_step(struct report_steps *steps, struct step_thread *th)
{
	struct report *report = steps->report;
	struct report_step step = {
		.begin = th->begin, .end = steps->now, .number = th->number,
		.producer = th->producer, .pid = th->pid, .tid = th->tid,
		.uncertain = th->uncertain, .told = cause_get_stats(report->cause)->switches,
	}, *place;

	steps_count(steps, th);
	for (int i = 0; i < STEP_PHASES; i++)
		step.ns[i] = th->ns[i] - th->mark[i];
	if (step.told)
		cause_range(report->cause, key_of(steps, th), step.begin, step.end, true,
			    &step.cause);
	if (!xsp_filter_time(&report->filter, step.end) ||
	    !xsp_filter_thread(&report->filter, step.pid, step.tid))
		return;
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

/* A range that may begin the first step of a thread, or is one that was asked for. */
static void look_for_begin(struct report_steps *steps, struct step_thread *th, const char *name,
			   uint32_t phase)
{
	bool firm = phase == STEP_DATA || starts(name, "Optimizer.zero_grad#");

	if (steps->range) {
		if (!th->begin && is_asked_for(steps, name))
			begin_step(steps, th, th->number + 1);
	} else if (!th->told && (!th->begin || (firm && !th->firm && !*th->by))) {
		begin_step(steps, th, 1);
		th->firm = firm;
	}
	if (!th->optimizer && is_step_of_optimizer(name))
		th->optimizer = steps->now;
}

static void range_begins(struct report_steps *steps, const struct xsprof_event *ev)
{
	struct step_thread *th = steps_thread(steps, ev);
	uint32_t phase;
	const char *name;

	if (!th) {
		steps->refused++;
		return;
	}
	name = xsprof_trace_name(steps->report->source.trace, ev->producer, ev->name);
	phase = phase_of(name);
	look_for_begin(steps, th, name, phase);
	/* Ends of deeper ones find nothing here, as those of ranges that a loss made forget. */
	if (th->depth == STEP_DEPTH)
		return;
	th->open[th->depth].begin = ev->ns;
	th->open[th->depth++].before = th->in;
	if (phase == INHERIT && th->in == STEP_UNKNOWN && is_op(steps, ev))
		phase = STEP_FORWARD;
	if (phase != INHERIT)
		steps_enter(steps, th, phase);
}

/* The program says that a step begins. */
static void program_says(struct report_steps *steps, const struct xsprof_event *ev)
{
	struct step_thread *th = steps_thread(steps, ev);

	if (!th) {
		steps->refused++;
		return;
	}
	if (th->told)
		end_step(steps, th);
	th->told = true;
	begin_step(steps, th, ev->value);
}

/* What was open has no end, maybe. */
static void lost(struct report_steps *steps, const struct xsprof_event *ev)
{
	for (uint32_t i = 0; i < steps->nr_threads; i++) {
		struct step_thread *th = &steps->threads[i];

		if (th->producer != ev->producer)
			continue;
		steps_enter(steps, th, STEP_UNKNOWN);
		th->depth = 0;
		th->uncertain = true;
	}
}

static void advance(struct report_steps *steps, uint64_t ns)
{
	if (ns > steps->now)
		steps->now = ns;
}

void report_steps_event(struct report_steps *steps, const struct xsprof_event *ev)
{
	advance(steps, ev->ns);
	if (ev->type == XSPROF_REC_BEGIN)
		range_begins(steps, ev);
	else if (ev->type == XSPROF_REC_STEP && !steps->range)
		program_says(steps, ev);
	else if (ev->type == XSPROF_EV_LOST)
		lost(steps, ev);
}

static void optimizer_ended(struct report_steps *steps, struct step_thread *th, const char *name)
{
	th->optimizer = 0;
	if (th->told || steps->range || !th->begin)
		return;
	if (!*th->by)
		strncpy(th->by, name, sizeof(th->by) - 1);
	/* Of several the first ends the step. */
	if (strncmp(th->by, name, sizeof(th->by) - 1))
		return;
	end_step(steps, th);
	begin_step(steps, th, th->number + 1);
}

void report_steps_range(struct report_steps *steps, const struct xsprof_range *range)
{
	struct step_thread *th = steps_find_thread(steps, range->producer, range->tid);
	const char *name;
	uint32_t at;

	if (!th || range->kind != XSPROF_REC_BEGIN)
		return;
	advance(steps, range->end_ns);
	for (at = th->depth; at && th->open[at - 1].begin > range->begin_ns; at--)
		;
	if (at && th->open[at - 1].begin == range->begin_ns) {
		steps_enter(steps, th, th->open[at - 1].before);
		th->depth = at - 1;
	}
	if (range->begin_ns != (steps->range ? th->begin : th->optimizer))
		return;
	name = xsprof_trace_name(steps->report->source.trace, range->producer, range->name);
	if (!steps->range && is_step_of_optimizer(name)) {
		optimizer_ended(steps, th, name);
	} else if (steps->range && is_asked_for(steps, name)) {
		if (range->how == XSPROF_RANGE_ENDED)
			end_step(steps, th);
		th->begin = 0;
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
	if (steps->nr)
		qsort(steps->list, steps->nr, sizeof(*steps->list), compare);
}

const char *report_steps_ended_by(const struct report_steps *steps,
				  const struct report_step *step)
{
	const uint64_t *at = xsp_map_get(&steps->by_thread,
					 ((uint64_t)step->producer + 1) << 32 | step->tid);

	return at ? steps->threads[*at].by : "";
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
	free(steps->processes);
	xsp_map_free(&steps->by_thread);
	free(steps);
}
