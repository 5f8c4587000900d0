// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fields of activities, samples, ops, memory events and ends of processes: see fields.h.
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

static void add_gpu(struct list *l, struct xsp_out *out, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *gpu = xsp_record(ev, struct xsprof_rec_gpu);
	uint32_t in = xsp_captured_in(&out->captured, ev);
	struct fmt_field *f;
	size_t len;

	add_word(l, "kind", xsp_word_gpu(ev->aux));
	add(l, "", "", FMT_RANGE, ev->begin_ns)->end = ev->end_ns;
	/* NDJSON has it as the record's value. */
	add(l, NULL, "corr", FMT_U64, ev->value);
	if (!gpu)
		return;
	add(l, "start", NULL, FMT_U64, gpu->start);
	add(l, "end", NULL, FMT_U64, gpu->end);
	add(l, "clock", NULL, FMT_U64, gpu->clock);
	add(l, "device", "device", FMT_U64, gpu->device);
	add(l, "context", "context", FMT_U64, gpu->context);
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

	/* NDJSON has it as the record's value. */
	add(l, NULL, "addr", FMT_HEX, ev->value);
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

	add_word(l, "how", xsp_word_how(how));
	if (how == XSPROF_HOW_KILLED)
		add(l, "signal", "signal", FMT_U64, (uint32_t)ev->value);
	else
		add(l, "status", "status", FMT_I64, (uint64_t)(int64_t)(int32_t)ev->value);
	if (after)
		add(l, "ended_after_ns", "ended_after", FMT_TIME, after);
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
	case XSPROF_EV_EXIT:
		add_exit(&l, out, ev);
		break;
	}
	return l.nr;
}
