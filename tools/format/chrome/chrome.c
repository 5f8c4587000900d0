// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON of Chrome's trace viewer, in a form that Perfetto, catapult and speedscope all read.
 *
 * Requirements of all of them: a numeric pid and tid on every event, strictly nested ranges on each
 * tid, and times as microseconds since the start of the trace that fit a double. It keeps no
 * events: memory is only needed for open ranges; events of the kernel tracer, which come after all
 * others, are kept in a file.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "format/chrome/local.h"
#include "format/common/sched.h"

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	const char *s, *category;
	size_t len;

	s = xsprof_trace_name_len(trace, producer, name, &len);
	category = xsprof_trace_category(trace, producer, name);
	p = put_lit(p, "\"name\":");
	p = json_string(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES, NULL);
	p = put_lit(p, ",\"cat\":");
	return json_string(p, category, strnlen(category, XSP_NAME_BYTES), NULL);
}

static char *key_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	const char *s;
	size_t len;

	s = xsprof_trace_name_len(trace, producer, name, &len);
	p = json_string(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES, NULL);
	*p++ = ':';
	return p;
}

static int chrome_begin(struct xsp_out *out)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome)
		return -ENOMEM;
	chrome->used = calloc(1, CHROME_PIDS / 8);
	chrome->others = calloc(1, CHROME_PIDS / 8);
	if (!chrome->used || !chrome->others) {
		free(chrome->used);
		free(chrome->others);
		free(chrome);
		return -ENOMEM;
	}
	out->priv = chrome;
	chrome_start(out);
	return 0;
}

/* Viewers accept only finite numbers as counters: NaN and infinity are shown as an instant. */
static void put_counter(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	bool f64 = ev->type == XSPROF_REC_COUNTER_F64;
	double value = f64 ? xsp_bits_double(ev->value) : 0;
	char *p;

	p = chrome_open(out, view->thread, isfinite(value) ? 'C' : 'i', ev->ns);
	if (!isfinite(value))
		p = put_lit(p, "\"s\":\"t\",");
	p = chrome_put_name(out, ev, view->name, p);
	p = put_lit(p, ",\"args\":{\"value\":");
	p = f64 ? xsp_json_double(p, value) : put_i64(p, (int64_t)ev->value);
	out->buf.p = put_lit(p, "}}");
}

/* The memory of a device in use: a counter in addition to the allocation itself. */
static void put_in_use(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(view->ev, struct xsprof_rec_gpu);
	uint64_t bytes;
	char *p;

	if (!gpu || !fmt_gpu_in_use(out->trace, view->ev, &bytes))
		return;
	p = chrome_open(out, view->thread, 'C', view->ev->begin_ns);
	p = put_u32(put_lit(p, "\"name\":\"memory in use on GPU "), gpu->device);
	out->buf.p = put_lit(put_u64(put_lit(p, "\",\"args\":{\"value\":"), bytes), "}}");
}

static void put_metric(struct xsp_out *out, const struct xsp_view *view, uint32_t key, uint64_t ns,
		       double value)
{
	char text[FMT_METRIC_BYTES];
	size_t len = fmt_gpu_metric_name(out->trace, view->ev, key, text);
	char *p = chrome_open(out, view->thread, 'C', ns);

	p = json_string(put_lit(p, "\"name\":"), text, len, NULL);
	p = xsp_json_double(put_lit(p, ",\"args\":{\"value\":"), value);
	out->buf.p = put_lit(p, "}}");
}

static void instant(struct xsp_out *out, const struct xsp_view *view, uint32_t scope,
		    const struct xsp_range *noted)
{
	static const char scopes[] = { 't', 'p', 'g' };

	chrome_instant(out, view, scope < 3 ? scopes[scope] : 't', NULL, noted);
}

static const struct fmt_drawing drawing = {
	.range = chrome_put_range, .instant = instant, .metric = put_metric,
	.in_use = put_in_use, .note = chrome_note_args,
};

static void put_mem(struct xsp_out *out, const struct xsp_view *view)
{
	char *p = chrome_open(out, view->thread, 'i', view->ev->ns);
	const char *name = xsprof_trace_name(out->trace, view->ev->producer, view->name);

	p = put_lit(p, "\"s\":\"t\",\"name\":\"[memory]\",\"cat\":\"memory\"");
	if (!view->name) {
		chrome_close(out, view->ev, NULL, NULL, p);
		return;
	}
	name = xsp_escape_json(put_lit(out->scratch, "\"allocator\":\""), name,
			       strnlen(name, XSPROF_TEXT_MAX), NULL);
	memcpy((char *)name, "\"", 2);
	chrome_close(out, view->ev, NULL, out->scratch, p);
}

/* On a separate track: an instant among the thread's ranges would hide them. */
static void put_sched(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	struct xsp_view on = *view;

	if (chrome_sched_event(out, ev))
		return;
	on.thread = chrome_lane(out, ev, CHROME_SCHED, ev->tid, ev->ns, ev->ns);
	if (!on.thread)
		on.thread = view->thread;
	chrome_instant(out, &on, 't', NULL, NULL);
}

static void chrome_event(struct xsp_out *out, const struct xsp_view *view)
{
	chrome_kernel_marker(out, view->ev);
	chrome_flow_done(out, view->thread, view->ev->ns);
	if (fmt_draw(out, &drawing, view))
		return;
	switch (view->ev->type) {
	case XSPROF_REC_BEGIN:
		chrome_put_begin(out, view);
		break;
	case XSPROF_REC_END:
		chrome_put_end(out, view);
		break;
	case XSPROF_REC_COUNTER_I64:
	case XSPROF_REC_COUNTER_F64:
		put_counter(out, view);
		break;
	case XSPROF_REC_ASYNC_BEGIN ... XSPROF_REC_ASYNC_END:
		chrome_put_async(out, view);
		break;
	case XSPROF_REC_FLOW_START ... XSPROF_REC_FLOW_END:
		chrome_put_flow(out, view);
		break;
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		put_mem(out, view);
		break;
	case XSPROF_REC_SCHED_IN ... XSPROF_REC_SCHED_MIGRATE:
		put_sched(out, view);
		break;
	case XSPROF_EV_LOST:
		if (((struct chrome *)out->priv)->sched)
			fmt_sched_lost(((struct chrome *)out->priv)->sched, view->ev->cpu);
		chrome_instant(out, view, 'g', NULL, NULL);
		break;
	case XSPROF_REC_STEP:
	case XSPROF_REC_CONTROL:
	case XSPROF_EV_PRODUCER:
	case XSPROF_EV_EXIT:
		chrome_instant(out, view, 'p', NULL, NULL);
		break;
	default:
		chrome_instant(out, view, 't', NULL, NULL);
	}
}

static void chrome_gone(void *data, struct xsp_track *thread)
{
	chrome_flow_done(data, thread, UINT64_MAX);
	fmt_draw_held(data, &drawing, thread);
	fmt_held_free(thread);
	chrome_empty_forget(data, thread);
	chrome_thread_name(data, thread);
	chrome_kernel_thread(data, thread);
}

static void chrome_finish(struct xsp_out *out)
{
	struct chrome *chrome = out->priv;

	chrome_process_names(out);
	chrome_end(out);
	xsp_spool_free(chrome->spool);
	fmt_sched_free(chrome->sched);
	fmt_running_free(chrome->running);
	free(chrome->processes);
	free(chrome->used);
	free(chrome->others);
	xsp_keys_free(&chrome->keys);
	free(chrome->arrows);
	free(chrome);
	out->priv = NULL;
}

const struct xsp_format xsp_format_chrome = {
	.name		= "chrome",
	.name_text	= name_text,
	.key_text	= key_text,
	.start		= chrome_begin,
	.event		= chrome_event,
	.kernel_event	= chrome_kernel_event,
	.kernel_info	= true,
	.before		= chrome_kernel_before,
	.begin		= chrome_kernel_begin,
	.nested		= FMT_NESTED,
	.ops		= {
		.closed		= chrome_closed,
		.async_closed	= chrome_async_closed,
		.gone		= chrome_gone,
	},
	.finish		= chrome_finish,
};
