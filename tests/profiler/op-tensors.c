// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tensors as inputs of ops: every number of dimensions, with and without sizes, strides and
 * storage, and numbers of four bytes, of eight bytes and negative ones at every place. What is read
 * equals what was given, or is marked as cut.
 */
#include <xsprof/profiler.h>
#include <xsprof/result.h>
#include <xsprof/trace.h>

#include "common/tap.h"

#define DIMS	27u
#define ROOM	192u	/* bytes that a record has for a tensor's numbers */

/* The tensor given. */
struct given {
	struct xsprof_tensor	t;
	int64_t			sizes[DIMS];
	int64_t			strides[DIMS];
};

struct xsprof_result {
	unsigned int	n;
};

static unsigned int expected;

static const int64_t odd[] = { 0, UINT32_MAX, UINT32_MAX + 1ll, INT64_MAX, -1 };
#define ODDS	(sizeof(odd) / sizeof(*odd))

/*
 * Makes the @i-th tensor: 8 kinds for each number of dimensions; then tensors with an odd number at
 * each place. Return: false if there are no more.
 */
static bool make(unsigned int i, struct given *g)
{
	uint32_t kind, ndim, place, places;

	for (ndim = 0; ndim < DIMS; ndim++) {
		places = 2 * ndim * (uint32_t)ODDS + 1;
		if (i < 8 * places)
			break;
		i -= 8 * places;
	}
	if (ndim == DIMS)
		return false;
	kind = i % 8;
	place = i / 8;
	*g = (struct given){ .t = {
		.sizes = kind & 1 ? g->sizes : NULL, .strides = kind & 2 ? g->strides : NULL,
		.ndim = ndim, .dtype = xsprof_name("float"), .device = 1u << 16 | 3, .itemsize = 4,
		.id = i + 1, .storage_id = kind & 4 ? i + 77 : 0, .offset = 5, .numel = ndim,
	} };
	for (uint32_t k = 0; k < ndim; k++) {
		g->sizes[k] = k + 2;
		g->strides[k] = 1000 + k;
	}
	if (place--)
		(place / ODDS < ndim ? g->sizes : g->strides)[place / ODDS % ndim] =
			odd[place % ODDS];
	return true;
}

static bool is_wide(const int64_t *v, uint32_t n)
{
	for (uint32_t k = 0; v && k < n; k++)
		if (v[k] < 0 || v[k] > UINT32_MAX)
			return true;
	return false;
}

/* Return: whether it fits into a record. */
static bool fits(const struct xsprof_tensor *t)
{
	uint32_t width = is_wide(t->sizes, t->ndim) || is_wide(t->strides, t->ndim) ? 8 : 4;

	return t->ndim <= 24 && (t->storage_id ? 24 : 0) +
	       (!!t->sizes + !!t->strides) * t->ndim * width <= ROOM;
}

static bool equal(const int64_t *given, uint32_t ndim, const int64_t *got, uint32_t n, bool cut)
{
	if (!given || (cut && n < ndim))
		return given ? !memcmp(given, got, n * sizeof(*got)) : n == 0;
	return n == ndim && !memcmp(given, got, n * sizeof(*got));
}

static void check(unsigned int i, const struct xsprof_tensor *t,
		  const struct xsprof_trace_arg *arg)
{
	struct xsprof_trace_tensor got;

	if (!xsprof_trace_tensor(arg, &got)) {
		tap_wrong("%u: no tensor", i);
		return;
	}
	if (got.id != t->id || got.dtype != t->dtype || got.device != t->device ||
	    got.ndim != t->ndim || got.itemsize != t->itemsize ||
	    got.storage_id != t->storage_id || (t->storage_id && (got.offset != t->offset ||
								   got.numel != t->numel)))
		tap_wrong("%u: of %u dimensions, something about it", i, t->ndim);
	if (got.cut == fits(t))
		tap_wrong("%u: of %u dimensions, cut %d", i, t->ndim, got.cut);
	if (!equal(t->sizes, t->ndim, got.sizes, got.nr_sizes, got.cut) ||
	    (t->sizes && t->ndim && !got.nr_sizes))
		tap_wrong("%u: of %u dimensions, sizes", i, t->ndim);
	if (!equal(t->strides, t->ndim, got.strides, got.nr_strides, got.cut))
		tap_wrong("%u: of %u dimensions, strides", i, t->ndim);
}

/* Checks the records of one op, whose arguments form one list. */
static unsigned int check_op(unsigned int i, unsigned int place, const struct xsprof_event *ev)
{
	struct xsprof_trace_arg arg;
	struct given g;
	size_t pos = 0;

	make(i, &g);
	for (; xsprof_trace_args(ev, &pos, &arg); place++) {
		if (place > 2)
			tap_wrong("%u: argument %u", i, place);
		else if (place == 1 ? arg.type != XSPROF_ARG_I64 || arg.u.i64 != -5 :
				      arg.type != XSPROF_ARG_TENSOR)
			tap_wrong("%u: argument %u has type %u", i, place, arg.type);
		else if (place != 1)
			check(i, &g.t, &arg);
	}
	return place;
}

/* The library finds this in the program. */
int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result)
{
	struct xsprof_result *r = calloc(1, sizeof(*r));
	const struct xsprof_event *ev;
	struct xsprof_trace_op op;
	struct xsprof_trace *trace;
	unsigned int place = 3;
	int err = xsprof_trace_open(path, NULL, &trace);

	(void)opts;
	if (err || !r)
		tap_bail("%s: %s", path, xsprof_trace_error(NULL));
	while ((err = xsprof_trace_next(trace, &ev)) > 0) {
		bool begins = xsprof_trace_op(ev, &op);

		if (ev->type == XSPROF_EV_LOST)
			tap_wrong("%llu records lost", (unsigned long long)ev->value);
		if (begins) {
			if (place != 3)
				tap_wrong("%u: %u arguments", r->n - 1, place);
			r->n++;
			place = 0;
		}
		if (r->n && (begins || ev->type == XSPROF_REC_ARGS))
			place = check_op(r->n - 1, place, ev);
	}
	if (err)
		tap_bail("%s: %s", path, xsprof_trace_error(trace));
	xsprof_trace_close(trace);
	*result = r;
	return 0;
}

int main(void)
{
	static const struct xsprof_profiler_config config = {
		.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
		.report_input_shapes = true, .buffer_size = 64 << 20,
	};
	struct xsprof_result *result = NULL;
	struct given g;
	int err = xsprof_enable_profiler(&config, XSPROF_ACTIVITY(CPU), 0);

	if (err)
		tap_bail("a session: %s", strerror(-err));
	for (; make(expected, &g); expected++) {
		struct xsprof_input in[] = {
			{ .kind = XSPROF_INPUT_TENSOR, .u.tensor = &g.t },
			{ .kind = XSPROF_INPUT_I64, .u.i64 = -5 },
			{ .kind = XSPROF_INPUT_TENSOR, .u.tensor = &g.t },
		};
		struct xsprof_op op = {
			.name = xsprof_name("op"), .sequence = XSPROF_NO_SEQUENCE,
			.nr_inputs = 3, .inputs = in,
		};

		xsprof_op_begin(&op);
		xsprof_op_end();
	}
	err = xsprof_disable_profiler(&result);
	if (err || !result)
		tap_bail("no result: %s", strerror(-err));
	if (result->n != expected)
		tap_wrong("%u ops of %u", result->n, expected);
	tap_result("%u ops, each with a tensor before a number and behind it", expected);
	free(result);
	return tap_done();
}
