// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto traces: protocol buffers, for ui.perfetto.dev and trace_processor. A file is a list of
 * packets; readers sort them by time, so a range that becomes known at its end is written then,
 * with a begin in the past. It keeps no events: memory is needed for open ranges, one table of
 * names and a few sub-buffers.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "format/common/sched.h"
#include "format/perfetto/meta.h"
#include "format/perfetto/names.h"
#include "format/perfetto/sample.h"
#include "text/put.h"

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	(void)trace;
	(void)producer;
	(void)name;
	return p;
}

static int perfetto_start(struct xsp_out *out)
{
	struct perfetto *pf = calloc(1, sizeof(*pf));

	if (!pf)
		return -ENOMEM;
	out->priv = pf;
	return 0;
}

/* Arrows connect events: each end is an instant inside its range. */
static void put_flow(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	const struct pf_name *name = pf_event_name(out, ev, view->name);
	uint64_t id = pf_hash_uuid(ev->producer, PF_ALONE, ~ev->value);
	struct pf_packet pkt;
	char *p;

	p = pf_put_name(pf_open_thread(out, &pkt, ev->ns, PF_INSTANT, view->thread), name, ev);
	p = wire_fixed64(p, ev->type == XSPROF_REC_FLOW_END ? PF_FLOW_END : PF_FLOW, id);
	pf_close(out, &pkt, pf_put_all(out, ev, p));
}

/* NaN and infinity are shown as an instant. */
static void put_counter(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	bool f64 = ev->type == XSPROF_REC_COUNTER_F64;
	double value = f64 ? xsp_bits_double(ev->value) : 0;
	char note[16 + XSP_PUT_MAX];
	struct pf_packet pkt;
	uint64_t uuid;
	char *p;

	if (!isfinite(value)) {
		*xsp_put_double(put_lit(note, PF_NOTE("value", "")), value) = '\0';
		pf_instant(out, view, 0, note);
		return;
	}
	uuid = pf_counter_track(out, ev, view->name);
	p = pf_open_uuid(out, &pkt, ev->ns, PF_COUNTER, uuid);
	pf_close(out, &pkt, f64 ? wire_double(p, PF_COUNTER_F64, value) :
				  wire_i64(p, PF_COUNTER_I64, (int64_t)ev->value));
}

/* The memory of a device in use: a counter in addition to the allocation itself. */
static void put_in_use(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct pf_packet pkt;
	uint64_t bytes, uuid;
	char *p;

	if (!fmt_gpu_in_use(out->trace, ev, &bytes))
		return;
	uuid = pf_memory_track(out, ev);
	p = pf_open_uuid(out, &pkt, ev->begin_ns, PF_COUNTER, uuid);
	pf_close(out, &pkt, wire_i64(p, PF_COUNTER_I64, (int64_t)bytes));
}

static void put_metric(struct xsp_out *out, const struct xsp_view *view, uint32_t key, uint64_t ns,
		       double value)
{
	uint64_t track = pf_metric_track(out, view->ev, key);
	struct pf_packet pkt;
	char *p = pf_open_uuid(out, &pkt, ns, PF_COUNTER, track);

	pf_close(out, &pkt, wire_double(p, PF_COUNTER_F64, value));
}

/* The track of an instant, if it is not its thread's; 0: it is. */
static uint64_t scope_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t scope)
{
	if (scope == XSPROF_SCOPE_GLOBAL)
		return PF_TRACK_GLOBAL;
	if (scope == XSPROF_SCOPE_PROCESS)
		return pf_process_track(out, ev->producer, ev->pid, ev->ns);
	return 0;
}

static void instant(struct xsp_out *out, const struct xsp_view *view, uint32_t scope,
		    const struct xsp_range *noted)
{
	pf_instant(out, view, scope_track(out, view->ev, scope), noted ? noted->note : NULL);
}

static const struct fmt_drawing drawing = {
	.range = pf_put_range, .instant = instant, .metric = put_metric, .in_use = put_in_use,
	.note = pf_note_args,
};

static void perfetto_event(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;

	pf_event_at(out, ev->ns);
	pf_running_marker(out, ev);
	if (fmt_draw(out, &drawing, view))
		return;
	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		pf_put_begin(out, view);
		break;
	case XSPROF_REC_END:
		pf_put_end(out, view);
		break;
	case XSPROF_REC_COUNTER_I64:
	case XSPROF_REC_COUNTER_F64:
		put_counter(out, view);
		break;
	case XSPROF_REC_ASYNC_BEGIN ... XSPROF_REC_ASYNC_END:
		pf_put_async(out, view);
		break;
	case XSPROF_REC_FLOW_START ... XSPROF_REC_FLOW_END:
		put_flow(out, view);
		break;
	case XSPROF_REC_SCHED_IN ... XSPROF_REC_SCHED_MIGRATE:
		if (!pf_sched_event(out, ev))
			pf_instant(out, view, 0, NULL);
		break;
	case XSPROF_REC_SAMPLE:
		if (!pf_sample(out, view))
			pf_instant(out, view, 0, NULL);
		break;
	case XSPROF_EV_LOST:
		if (pf_of(out)->sched)
			fmt_sched_lost(pf_of(out)->sched, ev->cpu);
		pf_lost(out, ev);
		break;
	case XSPROF_EV_EXIT:
		instant(out, view, XSPROF_SCOPE_PROCESS, NULL);
		pf_end_program(out, ev);
		break;
	case XSPROF_REC_STEP:
	case XSPROF_REC_CONTROL:
	case XSPROF_EV_PRODUCER:
		instant(out, view, XSPROF_SCOPE_PROCESS, NULL);
		break;
	default:
		pf_instant(out, view, 0, NULL);
	}
}

static void perfetto_kernel_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	pf_event_at(out, ev->ns);
	if (ev->type == XSPROF_EV_LOST)
		pf_lost(out, ev);
	pf_kernel_event(out, ev);
}

static void perfetto_before(struct xsp_out *out, const struct xsprof_event *ev)
{
	if (ev->producer == XSPROF_NO_PRODUCER)
		pf_running_before(out, ev);
	else
		pf_sched_before(out, ev);
}

static void perfetto_window(struct xsp_out *out, uint64_t ns)
{
	pf_event_at(out, ns);
	pf_running_begin(out, ns);
	pf_sched_begin(out, ns);
}

static void perfetto_gone(void *data, struct xsp_track *thread)
{
	fmt_draw_held(data, &drawing, thread);
	fmt_held_free(thread);
	pf_thread_gone(data, thread);
}

static void perfetto_finish(struct xsp_out *out)
{
	struct perfetto *pf = out->priv;

	if (!pf->begun)
		pf_begin(out, 0);
	pf_bundles_finish(out);
	pf_process_names(out);
	pf_end(out);
	pf_kernel_free(pf->kernel);
	pf_ends_free(pf->ends);
	fmt_sched_free(pf->sched);
	fmt_running_free(pf->running);
	pf_bundles_free(pf->bundles);
	pf_samples_free(pf->samples);
	xsp_keys_free(&pf->keys);
	free(pf);
	out->priv = NULL;
}

const struct xsp_format xsp_format_perfetto = {
	.name		= "perfetto",
	.name_text	= name_text,
	.key_text	= name_text,
	.start		= perfetto_start,
	.event		= perfetto_event,
	.kernel_event	= perfetto_kernel_event,
	.before		= perfetto_before,
	.begin		= perfetto_window,
	.nested		= FMT_NESTED,
	.ops		= {
		.closed		= pf_closed,
		.async_closed	= pf_async_closed,
		.gone		= perfetto_gone,
	},
	.finish		= perfetto_finish,
};
