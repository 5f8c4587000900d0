// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The inputs of ops for programs: a list in order, with the numbers and the texts that inputs.c
 * writes as JSON. Made on demand and cached in the result; memory depends only on what a record
 * contains, not on numbers that it states.
 */
#include <errno.h>
#include <string.h>

#include "result/derived.h"
#include "result/inputs.h"
#include "result/numbers.h"

/**
 * struct xsr_input - an input with data
 * @dims: sizes of a tensor, NULL for none
 * @strides: its strides, NULL for none
 * @nr_dims: number of sizes
 * @nr_strides: number of strides
 * @dtype: its type, as in the list of types
 * @concrete: its value, as in the list of values
 * @place: its index
 */
struct xsr_input {
	const int64_t	*dims;
	const int64_t	*strides;
	size_t		nr_dims;
	size_t		nr_strides;
	const char	*dtype;
	const char	*concrete;
	uint32_t	place;
};

/**
 * struct xsr_inputs - the inputs of an op
 * @nr: number of inputs
 * @given: number of entries in @list; nothing is known of other inputs
 * @list: inputs with data, in order
 */
struct xsr_inputs {
	size_t			nr;
	size_t			given;
	struct xsr_input	list[];
};

static const struct xsr_inputs none;

static const int64_t *keep_numbers(struct xsprof_result *r, const struct xsprof_trace_tensor *t,
				   bool strides, size_t *nr)
{
	uint32_t n = xsr_nr_dims(t, strides), has = strides ? t->nr_strides : t->nr_sizes;
	const int64_t *from = strides ? t->strides : t->sizes;
	int64_t *to;

	*nr = 0;
	to = n ? xsp_pool_get(&r->pool, n * sizeof(*to)) : NULL;
	if (!to)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		to[i] = i < has ? from[i] : -1;
	*nr = n;
	return to;
}

static const char *keep_type(const struct xsprof_profiler_event *ev, const struct xsr_walk *walk,
			     const struct xsprof_trace_arg *arg)
{
	const char *type;
	uint32_t name = xsr_input_type(walk, arg, &type);
	size_t len = strlen(type);

	if (name)
		type = xsprof_trace_name_len(ev->result->trace, ev->producer, name, &len);
	return xsr_text(&ev->result->texts, type, len);
}

static const char *keep_value(const struct xsprof_profiler_event *ev, struct xsr_writer *w,
			      struct xsr_walk *walk, const struct xsprof_trace_arg *arg)
{
	struct xsr_texts *texts = &ev->result->texts;
	char *end;

	if (arg->type == XSPROF_ARG_STR)
		return xsr_text(texts, w->text, xsr_walk_bytes(walk, arg, w->text, w->room));
	w->buf->p = w->buf->base;
	end = xsr_put_input_value(w, walk, arg, w->buf->base);
	return w->buf->err ? NULL : xsr_text(texts, w->buf->base, (size_t)(end - w->buf->base));
}

static bool fill(struct xsr_input *in, const struct xsprof_profiler_event *ev,
		 struct xsr_writer *w, struct xsr_walk *walk, const struct xsprof_trace_arg *arg)
{
	struct xsprof_result *r = ev->result;
	struct xsprof_trace_tensor t;

	if (xsr_input_known(arg)) {
		in->dtype = keep_type(ev, walk, arg);
		in->concrete = keep_value(ev, w, walk, arg);
	} else {
		in->dtype = in->concrete = xsr_text(&r->texts, "", 0);
	}
	if (!in->dtype || !in->concrete)
		return false;
	if (!xsprof_trace_tensor(arg, &t))
		return true;
	in->dims = keep_numbers(r, &t, false, &in->nr_dims);
	in->strides = keep_numbers(r, &t, true, &in->nr_strides);
	return in->nr_dims == xsr_nr_dims(&t, false) && in->nr_strides == xsr_nr_dims(&t, true);
}

/* Counts the inputs; if @list, fills them in. Return: 0, -ENOMEM. */
static int walk_inputs(const struct xsprof_profiler_event *ev, struct xsr_inputs *inputs,
		       struct xsr_input *list)
{
	struct xsr_walk walk;
	struct xsr_writer *w = xsr_event_writer(ev, &walk);
	struct xsprof_trace_arg arg;
	uint32_t place;

	if (!w)
		return -ENOMEM;
	inputs->nr = inputs->given = 0;
	while (xsr_walk_next(&walk, &arg)) {
		if (!xsr_key_is_input(arg.key) || arg.flags & XSPROF_ARGF_CONT ||
		    !xsr_input_place(arg.key, (uint32_t)inputs->nr, &place))
			continue;
		if (list) {
			list[inputs->given] = (struct xsr_input){ .place = place };
			if (!fill(&list[inputs->given], ev, w, &walk, &arg))
				return -ENOMEM;
		}
		inputs->given++;
		inputs->nr = place + 1;
	}
	return 0;
}

static const struct xsr_inputs *make(const struct xsprof_profiler_event *ev)
{
	struct xsr_inputs count, *inputs;

	if (walk_inputs(ev, &count, NULL))
		return NULL;
	if (!count.given)
		return &none;
	inputs = xsp_pool_get(&ev->result->pool,
			      sizeof(*inputs) + count.given * sizeof(inputs->list[0]));
	return inputs && !walk_inputs(ev, inputs, inputs->list) ? inputs : NULL;
}

static const struct xsr_inputs *inputs_of(const struct xsprof_profiler_event *ev)
{
	struct xsprof_result *r = ev->result;
	uint64_t key = xsr_derived_key(ev, XSR_INPUTS);
	const uint64_t *made = xsp_map_get(&r->made, key);
	const struct xsr_inputs *inputs;

	if (made)
		return (const struct xsr_inputs *)(uintptr_t)*made;
	if (ev->kind != XSPROF_EVENT_OP || !ev->args || !xsr_wants(r, report_input_shapes))
		return &none;
	inputs = make(ev);
	if (!inputs || xsp_map_set(&r->made, key, (uintptr_t)inputs)) {
		xsr_fail(r, -ENOMEM, "no memory for the inputs of an op");
		return &none;
	}
	return inputs;
}

/* NULL: nothing is known of it. */
static const struct xsr_input *find(const struct xsprof_profiler_event *ev, size_t index)
{
	const struct xsr_inputs *in = inputs_of(ev);
	size_t from = 0, to = in->given;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (in->list[mid].place == index)
			return &in->list[mid];
		if (in->list[mid].place < index)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

size_t xsprof_event_nr_inputs(const struct xsprof_profiler_event *ev)
{
	return inputs_of(ev)->nr;
}

const int64_t *xsprof_event_input_dims(const struct xsprof_profiler_event *ev, size_t index,
				       size_t *nr)
{
	const struct xsr_input *in = find(ev, index);

	*nr = in ? in->nr_dims : 0;
	return in ? in->dims : NULL;
}

const int64_t *xsprof_event_input_strides(const struct xsprof_profiler_event *ev, size_t index,
					  size_t *nr)
{
	const struct xsr_input *in = find(ev, index);

	*nr = in ? in->nr_strides : 0;
	return in ? in->strides : NULL;
}

const char *xsprof_event_input_dtype(const struct xsprof_profiler_event *ev, size_t index)
{
	const struct xsr_input *in = find(ev, index);

	return in ? in->dtype : "";
}

const char *xsprof_event_input_concrete(const struct xsprof_profiler_event *ev, size_t index)
{
	const struct xsr_input *in = find(ev, index);

	return in ? in->concrete : "";
}
