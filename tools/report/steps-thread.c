// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time of threads by phase, for steps.c.
 */
#include <stdlib.h>
#include <string.h>

#include "report/steps.h"

#define THREADS_MAX	4096u

/* ---- threads -------------------------------------------------------------------------------- */

struct step_process *steps_process(struct report_steps *steps, uint32_t producer)
{
	struct step_process *v;
	uint32_t n;

	if (producer >= XSPROF_CAP_MAX_PRODUCERS)
		return NULL;
	n = (producer / 64 + 1) * 64;
	if (producer >= steps->nr_processes) {
		v = realloc(steps->processes, n * sizeof(*v));
		if (!v)
			return NULL;
		memset(v + steps->nr_processes, 0, (n - steps->nr_processes) * sizeof(*v));
		steps->processes = v;
		steps->nr_processes = n;
	}
	return &steps->processes[producer];
}

static uint64_t key_of(uint32_t producer, uint32_t tid)
{
	return ((uint64_t)producer + 1) << 32 | tid;
}

static struct step_thread *find(const struct report_steps *steps, uint32_t producer, uint32_t tid)
{
	const uint64_t *at = xsp_map_get(&steps->by_thread, key_of(producer, tid));

	return at ? &steps->threads[*at] : NULL;
}

const struct step_thread *report_steps_thread(const struct report_steps *steps,
					      const struct report_step *step)
{
	return find(steps, step->producer, step->tid);
}

static void count_comm(struct step_process *process, uint64_t now)
{
	if (process->in_comm)
		process->comm += now - process->since;
	process->since = now;
}

static void count_served(struct step_thread *th, uint64_t now)
{
	if (th->servers)
		th->served += now - th->served_since;
	th->served_since = now;
}

static void serve_no_more(struct report_steps *steps, struct step_thread *th)
{
	struct step_thread *other;

	if (!th->serves)
		return;
	other = &steps->threads[th->serves - 1];
	if (other == th || !other->servers)
		return;
	count_served(other, steps->now);
	other->servers--;
}

void steps_forget(struct report_steps *steps, struct step_thread *th)
{
	struct report *report = steps->report;
	struct cause_sum sum;

	/* Drops data kept for its end. */
	if (th->in_step)
		cause_range(report->cause, cause_reader_key(report->reader, th->producer, th->tid),
			    th->begin, steps->now, true, &sum);
	th->in_step = false;
}

/* After a possible loss of the thread's records its state is unknown: start again. */
static struct step_thread *sync(struct report_steps *steps, struct step_thread *th)
{
	struct step_process *process;

	if (!th || !xst_losses_pass(&steps->losses, th->producer, &th->losses))
		return th;
	process = &steps->processes[th->producer];
	count_comm(process, steps->now);
	process->in_comm -= th->in == STEP_COMM;
	if (th->in == STEP_BACKWARD)
		serve_no_more(steps, th);
	th->ns[STEP_UNKNOWN] += steps->now - th->since;
	th->since = steps->now;
	th->comm_mark = process->comm;
	th->served_mark = th->served;
	th->serves = 0;
	th->in = STEP_UNKNOWN;
	th->depth = 0;
	th->outer = 0;
	th->nodes = 0;
	th->uncertain = true;
	if (!steps->range)
		return th;
	steps->doubtful += th->in_step && xsp_filter_time(&steps->report->filter, steps->now) &&
			   xsp_filter_thread(&steps->report->filter, th->pid, th->tid);
	steps_forget(steps, th);
	return th;
}

struct step_thread *steps_find_thread(struct report_steps *steps, uint32_t producer, uint32_t tid)
{
	return sync(steps, find(steps, producer, tid));
}

struct step_thread *steps_thread(struct report_steps *steps, const struct xsprof_event *ev)
{
	struct step_thread *th = steps_find_thread(steps, ev->producer, ev->tid);
	uint32_t room = steps->room_threads ? steps->room_threads * 2 : 8;
	struct step_process *process;

	if (th)
		return th;
	process = steps_process(steps, ev->producer);
	if (steps->nr_threads == THREADS_MAX || !process)
		return NULL;
	if (steps->nr_threads == steps->room_threads) {
		th = realloc(steps->threads, room * sizeof(*th));
		if (!th)
			return NULL;
		steps->threads = th;
		steps->room_threads = room;
	}
	if (xsp_map_set(&steps->by_thread, key_of(ev->producer, ev->tid), steps->nr_threads))
		return NULL;
	th = &steps->threads[steps->nr_threads++];
	memset(th, 0, sizeof(*th));
	th->producer = ev->producer;
	th->pid = ev->pid;
	th->tid = ev->tid;
	th->in = STEP_UNKNOWN;
	th->since = steps->now;
	th->losses = xst_losses_now(&steps->losses);
	th->next = process->threads;
	process->threads = steps->nr_threads;
	return th;
}

/* ---- time ----------------------------------------------------------------------------------- */

/* Of the last @ns of the thread, the most that it can have waited for others. */
static uint64_t asleep(struct report_steps *steps, const struct step_thread *th, uint64_t ns)
{
	struct report *report = steps->report;
	struct cause_sum sum;

	/* Without scheduler events, all of it. */
	if (!cause_get_stats(report->cause)->switches)
		return ns;
	cause_range(report->cause, cause_reader_key(report->reader, th->producer, th->tid),
		    th->since, steps->now, false, &sum);
	return sum.v[CAUSE_BLOCKED] + sum.v[CAUSE_IO] + sum.v[CAUSE_GIL] +
	       sum.v[CAUSE_UNKNOWN];
}

/* The thread was in no op: how much of this time did other threads work for it? */
static uint64_t count_waits(struct report_steps *steps, struct step_thread *th, uint64_t ns)
{
	const struct step_process *process = &steps->processes[th->producer];
	uint64_t backward = th->served - th->served_mark, comm = 0, most;

	/* With several training threads it is unknown which one waits. */
	if (process->trainers == th->trains)
		comm = process->comm - th->comm_mark;
	if (!backward && !comm)
		return 0;
	most = asleep(steps, th, ns);
	if (backward > most)
		backward = most;
	if (comm > most - backward)
		comm = most - backward;
	th->ns[STEP_BACKWARD] += backward;
	th->ns[STEP_COMM] += comm;
	return backward + comm;
}

void steps_count(struct report_steps *steps, struct step_thread *th)
{
	struct step_process *process = &steps->processes[th->producer];
	uint64_t ns = steps->now - th->since;

	count_comm(process, steps->now);
	count_served(th, steps->now);
	if (th->in == STEP_UNKNOWN && ns)
		ns -= count_waits(steps, th, ns);
	th->ns[th->in] += ns;
	th->since = steps->now;
	th->served_mark = th->served;
	th->comm_mark = process->comm;
}

static void serve(struct report_steps *steps, struct step_thread *th, uint64_t forward)
{
	struct step_thread *other = forward ? find(steps, th->producer, (uint32_t)forward) : NULL;

	/* Nodes without that belong to the pass of the previous ones. */
	if (other)
		th->serves = (uint32_t)(other - steps->threads) + 1;
	if (!th->serves)
		return;
	other = &steps->threads[th->serves - 1];
	if (other == th)
		return;
	count_served(other, steps->now);
	other->servers++;
}

void steps_serves(struct report_steps *steps, struct step_thread *th, uint64_t forward)
{
	struct step_thread *other = find(steps, th->producer, (uint32_t)forward);

	if (!other || th->serves == (uint32_t)(other - steps->threads) + 1)
		return;
	serve_no_more(steps, th);
	serve(steps, th, forward);
}

void steps_enter(struct report_steps *steps, struct step_thread *th, uint32_t phase,
		 uint64_t forward)
{
	struct step_process *process = &steps->processes[th->producer];

	if (th->in == phase)
		return;
	steps_count(steps, th);
	if (th->in == STEP_BACKWARD)
		serve_no_more(steps, th);
	if (phase == STEP_BACKWARD)
		serve(steps, th, forward);
	process->in_comm -= th->in == STEP_COMM;
	process->in_comm += phase == STEP_COMM;
	th->in = phase;
}

void steps_ended_by(struct step_thread *th, const char *name, bool passes)
{
	memset(th->by, 0, sizeof(th->by));
	strncpy(th->by, name, sizeof(th->by) - 1);
	th->passes = passes;
}

void steps_in_pass(struct report_steps *steps, struct step_thread *th, const char *name)
{
	if (th->serves)
		th = &steps->threads[th->serves - 1];
	th->stepped = true;
	if (!*th->by)
		steps_ended_by(th, name, true);
}

void steps_trains(struct report_steps *steps, struct step_thread *th)
{
	steps->processes[th->producer].trainers += !th->trains;
	th->trains = true;
}
