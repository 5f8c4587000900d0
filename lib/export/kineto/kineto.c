// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A Kineto trace: takes events in order, cuts them to the requested window, and passes each to the
 * file that writes it.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/control.h"
#include "export/kineto/local.h"
#include "result/absence.h"
#include "result/activity.h"

#define BATCH		256u

/* The process of the trace: the requested one, or one with a rank. */
static uint32_t main_producer(struct xsr_kineto *k)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace_producer producer;
	uint32_t i, found = XSPROF_NO_PRODUCER;

	if (xsprof_trace_get_info(k->w.trace, &info) < 0)
		return found;
	for (i = 0; i < info.producers; i++) {
		if (xsprof_trace_get_producer(k->w.trace, i, &producer) < 0 ||
		    (k->opts.pid && producer.pid != k->opts.pid))
			continue;
		if (xsprof_trace_fact(k->w.trace, i, "env.RANK"))
			return i;
		if (found == XSPROF_NO_PRODUCER)
			found = i;
	}
	return found;
}

/*
 * Traces of all ranks of a run count from the same time, the begin of an interval of 1e6 s (11
 * days). Kineto uses three months, in which doubles of microseconds cannot represent a ns.
 */
#define INTERVAL	1000000000000000u

static void set_times(struct xsr_kineto *k)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	uint64_t real;

	k->from = k->opts.from_ns;
	k->to = k->opts.to_ns ? k->opts.to_ns : UINT64_MAX;
	if (xsprof_trace_get_info(k->w.trace, &info) < 0)
		memset(&info, 0, sizeof(info));
	k->first = info.first_ns > k->from ? info.first_ns : k->from;
	real = k->first + (uint64_t)info.real_offset_ns;
	/* A clock that was never set starts in 1970, or is before it. */
	k->base = (int64_t)real < 0 ? 0 : real / INTERVAL * INTERVAL;
	k->shift = (int64_t)((uint64_t)info.real_offset_ns - k->base);
}

static void set_wants(struct xsr_kineto *k)
{
	const struct xsprof_profiler_config *config = k->opts.config;
	uint32_t cpu = XSPROF_ACTIVITY(CPU);

	k->host = !k->opts.activities || k->opts.activities & cpu;
	k->gpu = !k->opts.activities || k->opts.activities & ~cpu;
	k->shapes = !config || config->report_input_shapes;
	k->stacks = !config || config->with_stack;
	k->modules = !config || config->with_modules;
	k->memory = !config || config->profile_memory;
	if (!k->opts.scopes)
		k->opts.scopes = XSPROF_OP_ALL;
}

static void gone(void *data, struct xsp_track *thread)
{
	struct xsr_kineto *k = data;

	bool device = thread->kind >= XSR_STREAM;

	if (!device && !k->freed)
		xsr_kineto_flush(k, thread);
	if (!k->freed)
		xsr_kineto_name_track(k, thread);
	if (device)
		xsr_recent_free(k, thread);
	else
		xsr_host_free(k, thread);
}

int xsr_kineto_new(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
		   struct xsp_buf *buf, struct xsr_kineto **out)
{
	static const struct xsp_tracks_ops ops = {
		.closed = xsr_kineto_closed, .async_closed = xsr_kineto_async_closed,
		.gone = gone,
	};
	struct xsr_kineto *k = calloc(1, sizeof(*k));
	int ret = k ? 0 : -ENOMEM;

	if (!ret) {
		if (opts)
			k->opts = *opts;
		ret = xsr_writer_init(&k->w, trace, buf);
	}
	if (!ret)
		ret = xsp_tracks_new(&ops, k, &k->tracks);
	if (!ret)
		ret = xsr_link_new(&k->link);
	if (!ret)
		ret = xsr_stacks_new(trace, &k->stack);
	if (!ret)
		ret = xsr_users_new(&k->users);
	if (!ret)
		ret = xsr_waits_new(&k->waits);
	if (!ret) {
		set_times(k);
		set_wants(k);
		k->main = main_producer(k);
		k->w.convert = xsr_number_arg;
		k->w.data = k;
		ret = xsr_numbers_new(k);
	}
	if (ret) {
		xsr_kineto_free(k);
		return ret;
	}
	xsr_kineto_head(k);
	*out = k;
	return 0;
}

void xsr_kineto_free(struct xsr_kineto *k)
{
	if (!k)
		return;
	k->freed = true;
	xsp_tracks_free(k->tracks);
	xsp_captured_free(&k->captured);
	xsp_early_free(&k->early);
	xsr_writer_done(&k->w);
	xsr_link_free(k->link);
	xsr_stacks_free(k->stack);
	xsr_users_free(k->users);
	xsr_numbers_free(k->numbers);
	xsr_waits_free(k->waits);
	xsp_map_free(&k->said);
	xsp_map_free(&k->limit_of);
	free(k->limits);
	xsr_lanes_free(k);
	xsr_recents_free(k);
	free(k);
}

/*
 * At the end of the window, open ranges end there, not at their own end. @ns: the time after it, if
 * more was seen: ranges that began exactly at the end have no length.
 */
static void end_window(struct xsr_kineto *k, uint64_t ns)
{
	xsr_kineto_end_steps(k, ns);
	/* Calls made by threads inside the window may be recorded later. */
	xsp_tracks_close(k->tracks, ns);
}

static bool reaches_back(const struct xsprof_event *ev, uint64_t to)
{
	return (ev->type == XSPROF_REC_COMPLETE || ev->type == XSPROF_REC_SPAN) &&
	       ev->begin_ns < to;
}

void xsr_kineto_event(struct xsr_kineto *k, const struct xsprof_event *ev)
{
	bool late = ev->type == XSPROF_REC_GPU || ev->type == XSPROF_REC_ARGS;
	struct xsp_view view;

	/* The same numbering as in build.c, which made the result's events. */
	k->at++;
	if (ev->producer == XSPROF_NO_PRODUCER || (k->opts.pid && ev->pid != k->opts.pid))
		return;
	if (ev->ns > k->to && !k->over) {
		end_window(k, k->to + 1);
		k->over = true;
	}
	/*
	 * GPU collectors write late, in their own threads; records written at the end of an
	 * activity may have begun before the window's end.
	 */
	if (k->over && !late && !reaches_back(ev, k->to))
		return;
	if (!k->over && ev->ns > k->last)
		k->last = ev->ns;
	if (!late && ev->tid && !xsr_tid_wanted(&k->opts, ev->tid) && !xsr_is_activity(ev))
		return;
	if (xsp_tracks_exit(k->tracks, ev))
		return;
	if (!k->first)
		k->first = ev->ns;
	if (ev->type == XSPROF_EV_EXIT || xsp_control_all_off(ev))
		xsr_kineto_cut_steps(k, ev->producer, ev->ns);
	xsp_tracks_event(k->tracks, ev, &view);
	xsr_kineto_host(k, ev, &view);
}

void xsr_kineto_finish(struct xsr_kineto *k, const char *name)
{
	bool known = k->over || (k->opts.steps_to && k->opts.to_ns);
	uint64_t end = known || k->to < k->last ? k->to : k->last;

	if (!k->over)
		end_window(k, end);
	k->last = end > k->first ? end : k->first;
	xsr_kineto_gpu_finish(k);
	xsr_link_finish(k);
	xsp_tracks_finish(k->tracks, end);
	xsr_kineto_tail(k, name);
}

int xsr_write_kineto(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
		     const struct xsp_map *posts, struct xsp_buf *buf, const char *name,
		     uint64_t *events)
{
	struct xsprof_event *evs = malloc(BATCH * sizeof(*evs));
	struct xsr_kineto *k = NULL;
	int n = 0, i, ret = evs ? 0 : -ENOMEM;

	if (!ret)
		ret = xsr_kineto_new(trace, opts, buf, &k);
	if (!ret)
		k->posts = posts;
	while (!ret && !buf->err) {
		n = xsprof_trace_next_batch(trace, evs, BATCH);
		if (n <= 0)
			break;
		for (i = 0; i < n; i++)
			xsr_kineto_event(k, &evs[i]);
	}
	if (!ret && n < 0)
		ret = n;
	if (!ret)
		xsr_kineto_finish(k, name);
	if (!ret && events)
		*events = k->events;
	xsr_kineto_free(k);
	free(evs);
	return ret;
}
