// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fields of records, see fields.h.
 */
#include "format/common/fields.h"

struct list {
	struct fmt_field	*fields;
	size_t			nr;
};

static struct fmt_field *add(struct list *l, const char *json, const char *text, uint32_t kind,
			     uint64_t value)
{
	struct fmt_field *f = &l->fields[l->nr++];

	*f = (struct fmt_field){ .json = json, .text = text, .kind = kind, .value = value };
	return f;
}

/* A number that is left out if it is 0. */
static void add_some(struct list *l, const char *json, const char *text, uint64_t value)
{
	add(l, json, text, FMT_U64, value)->unset = !value;
}

static void add_word(struct list *l, const char *key, const char *word)
{
	add(l, key, key, FMT_WORD, 0)->word = word;
}

/* A number that NDJSON has elsewhere. */
static struct fmt_field *add_text(struct list *l, const char *text, uint32_t kind, uint64_t value)
{
	return add(l, NULL, text, kind, value);
}

static void add_range(struct list *l, const struct xsprof_event *ev)
{
	add(l, "", "", FMT_RANGE, ev->begin_ns)->end = ev->end_ns;
}

static void add_gpu(struct list *l, struct xsp_out *out, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);
	uint32_t in = xsp_captured_in(&out->captured, ev);
	uint64_t early = xsp_early_ns(&out->early, ev);
	struct fmt_field *f;
	const char *key;
	size_t len;

	add_word(l, "kind", xsp_word_gpu(ev->aux));
	add_range(l, ev);
	add_text(l, "corr", FMT_U64, ev->value);
	if (early) {
		key = xsp_device_is_call(ev->aux) ? "after_launched_ns" : "before_launch_ns";
		add(l, key, key, FMT_U64, early);
	}
	if (!gpu)
		return;
	add(l, "start", NULL, FMT_U64, gpu->start);
	add(l, "end", NULL, FMT_U64, gpu->end);
	add(l, "clock", NULL, FMT_U64, gpu->clock);
	if (gpu->device != XSPROF_NO_DEVICE) {
		add(l, "device", "device", FMT_U64, gpu->device);
		add(l, "context", "context", FMT_U64, gpu->context);
	}
	if (gpu->stream != XSPROF_NO_STREAM)
		add(l, "stream", "stream", FMT_U64, gpu->stream);
	add_some(l, "bytes", "bytes", gpu->bytes);
	add_some(l, "graph", "graph", gpu->graph);
	add_some(l, "graph_node", "node", gpu->graph_node);
	add_some(l, "thread_id", "thread", gpu->thread);
	if (!in)
		return;
	f = add(l, "captured_in", "captured_in", FMT_NAME, 0);
	f->word = xsprof_trace_name_len(out->trace, ev->producer, in, &len);
	f->value = len;
}

static void add_sample(struct list *l, const struct xsprof_event *ev)
{
	struct xsprof_trace_sample sample;

	if (!xsprof_trace_sample(ev, &sample))
		return;
	add(l, "of", "of", FMT_U64, sample.thread);
	add_word(l, "how", xsp_word_sample(sample.how));
	if (sample.how == XSPROF_SAMPLE_MISSED) {
		add(l, "missed", "missed", FMT_U64, sample.missed);
		return;
	}
	if (sample.line)
		add(l, "line", "line", FMT_U64, sample.line);
	add(l, "stack", "stack", FMT_U64, sample.stack);
}

static void add_op(struct list *l, const struct xsprof_event *ev)
{
	struct xsprof_trace_op op;

	if (!xsprof_trace_op(ev, &op))
		return;
	add_word(l, "op", xsp_word_op(op.scope));
	add_some(l, "record_function_id", "function", op.record_function_id);
	add(l, "sequence", "sequence", FMT_I64, (uint64_t)op.sequence)->unset = op.sequence < 0;
	add_some(l, "forward_thread", "forward_thread", op.forward_thread);
	add_some(l, "correlation", "correlation", op.correlation);
	add_some(l, "stack", "stack", op.stack);
}

static void add_mem(struct list *l, const struct xsprof_event *ev)
{
	const struct xsprof_rec_mem *mem = xsp_record(ev, struct xsprof_rec_mem);

	add_text(l, "addr", FMT_HEX, ev->value);
	if (mem) {
		add(l, "bytes", "bytes", FMT_U64, mem->bytes);
		add_some(l, "total_allocated", "allocated", mem->total_allocated);
		add_some(l, "total_reserved", "reserved", mem->total_reserved);
	}
	add(l, "device", "device", FMT_DEVICE, ev->aux);
}

static void add_exit(struct list *l, const struct xsp_out *out, const struct xsprof_event *ev)
{
	uint64_t after = fmt_exit_after(out, ev);
	uint32_t how = (uint32_t)(ev->value >> 32);

	add_text(l, "producer", FMT_U64, ev->producer);
	add_text(l, "pid", FMT_U64, ev->pid);
	add_word(l, "how", xsp_word_how(how));
	if (how == XSPROF_HOW_KILLED)
		add(l, "signal", "signal", FMT_U64, (uint32_t)ev->value);
	else
		add(l, "status", "status", FMT_I64, (uint64_t)(int64_t)(int32_t)ev->value);
	if (after)
		add(l, "ended_after_ns", "ended_after", FMT_TIME, after);
}

static void add_span(struct list *l, const struct xsprof_event *ev)
{
	const struct xsprof_rec_span *span = xsp_record(ev, struct xsprof_rec_span);

	add_range(l, ev);
	add_text(l, "id", FMT_HEX, ev->value)->unset = !ev->value;
	if (span) {
		add(l, "begin_ticks", NULL, FMT_U64, span->begin);
		add(l, "end_ticks", NULL, FMT_U64, span->end);
		add(l, "parent", "parent", FMT_HEX, span->parent)->unset = !span->parent;
	}
	add_word(l, "scope", xsp_word_scope(ev->aux));
}

static void add_clock(struct list *l, const struct xsprof_event *ev)
{
	const struct xsprof_rec_clock *clock = xsp_record(ev, struct xsprof_rec_clock);

	add_text(l, "clock", FMT_U64, ev->aux);
	add_text(l, "value", FMT_U64, ev->value);
	if (!clock)
		return;
	add(l, "clock_ticks", "ticks", FMT_U64, clock->ticks);
	add(l, "window", "window", FMT_U64, clock->window);
}

static void add_relation(struct list *l, const struct xsprof_event *ev)
{
	const struct xsprof_rec_relation *relation = xsp_record(ev, struct xsprof_rec_relation);

	add_text(l, "kind", FMT_U64, ev->aux);
	add_text(l, "head", FMT_HEX, ev->value);
	if (relation)
		add(l, "tail", "tail", FMT_HEX, relation->tail);
}

static void add_lost(struct list *l, const struct xsprof_event *ev)
{
	const char *unit = ev->flags & XSPROF_EVF_SLOTS ? "slots" : "records";

	add(l, "unit", NULL, FMT_WORD, 0)->word = unit;
	add_text(l, unit, FMT_U64, ev->value);
}

size_t fmt_fields(struct xsp_out *out, const struct xsprof_event *ev,
		  struct fmt_field fields[FMT_FIELDS])
{
	struct list l = { .fields = fields };

	switch (ev->type) {
	case XSPROF_REC_BEGIN:
		add_op(&l, ev);
		break;
	case XSPROF_REC_ALLOC:
	case XSPROF_REC_FREE:
		add_mem(&l, ev);
		break;
	case XSPROF_REC_GPU:
		add_gpu(&l, out, ev);
		break;
	case XSPROF_REC_SAMPLE:
		add_sample(&l, ev);
		break;
	case XSPROF_REC_ASYNC_BEGIN ... XSPROF_REC_FLOW_END:
		add_text(&l, "id", FMT_HEX, ev->value);
		break;
	case XSPROF_REC_CORR_PUSH:
		add_text(&l, "kind", FMT_U64, ev->aux);
		add_text(&l, "id", FMT_U64, ev->value);
		break;
	case XSPROF_REC_CORR_POP:
		add_text(&l, "kind", FMT_U64, ev->aux);
		break;
	case XSPROF_REC_STEP:
		add_text(&l, "step", FMT_U64, ev->value);
		break;
	case XSPROF_REC_SPAN:
		add_span(&l, ev);
		break;
	case XSPROF_REC_SYNC:
		add_word(&l, "op", xsp_word_sync(ev->aux));
		add_text(&l, "object", FMT_HEX, ev->value);
		break;
	case XSPROF_REC_CLOCK:
		add_clock(&l, ev);
		break;
	case XSPROF_REC_RELATION:
		add_relation(&l, ev);
		break;
	case XSPROF_REC_SCHED_MIGRATE:
		add(&l, "from", "from", FMT_U64, (uint32_t)ev->value);
		add(&l, "to", "to", FMT_U64, ev->value >> 32);
		break;
	case XSPROF_EV_LOST:
		add_lost(&l, ev);
		break;
	case XSPROF_EV_EXIT:
		add_exit(&l, out, ev);
		break;
	case XSPROF_REC_ARGS:
	case XSPROF_REC_SCHED_IN:
		break;
	default:
		add_text(&l, "type", FMT_HEX, ev->type);
		add_text(&l, "aux", FMT_U64, ev->aux);
		add_text(&l, "value", FMT_HEX, ev->value);
	}
	return l.nr;
}
