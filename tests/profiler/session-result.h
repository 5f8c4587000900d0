/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sessions whose result the test makes from the capture that the library hands over: all events, in
 * the order of time.
 */
#ifndef XSP_TEST_SESSION_RESULT_H
#define XSP_TEST_SESSION_RESULT_H

#include <errno.h>
#include <unistd.h>

#include <xsprof/result.h>
#include <xsprof/trace.h>

#include "common/tap.h"

#define EVENTS	4096u

/* The events of a session, in the order of time. */
struct xsprof_result {
	struct xsprof_result_options opts;
	uint32_t	tids[64];
	char		key[32];
	char		value[64];
	struct {
		uint16_t	type;
		bool		is_op;
		uint32_t	tid;
		char		name[40];
		char		args[400];
		struct xsprof_trace_op op;
		size_t		frames;
		uint64_t	value;
	} ev[EVENTS];
	unsigned int	n;
	unsigned int	maps;
	unsigned int	left_out;
	unsigned int	lost;
};

static void take_args(struct xsprof_trace *t, const struct xsprof_event *ev, char *to, size_t size,
		      unsigned int *left_out)
{
	struct xsprof_trace_arg arg;
	size_t pos = 0, at = strlen(to);
	char text[200];

	while (xsprof_trace_args(ev, &pos, &arg)) {
		const char *key = xsprof_trace_name(t, ev->producer, arg.key);

		if (!strcmp(key, "left out"))
			*left_out += arg.u.u64;
		if (arg.type == XSPROF_ARG_I64)
			snprintf(text, sizeof(text), "%lld", (long long)arg.u.i64);
		else if (arg.type == XSPROF_ARG_BOOL)
			snprintf(text, sizeof(text), "%s", arg.u.u64 ? "true" : "false");
		else if (arg.type == XSPROF_ARG_F64)
			snprintf(text, sizeof(text), "%g", arg.u.f64);
		else if (arg.type == XSPROF_ARG_STR)
			snprintf(text, sizeof(text), "'%.*s'", (int)arg.len, arg.str);
		else
			xsprof_trace_arg_text(t, ev->producer, &arg, text, sizeof(text));
		at += snprintf(to + at, size - at, "%s%s=%s", at ? " " : "", key, text);
		/* Only counts the rest. */
		if (at >= size)
			at = size - 1;
	}
}

/* The library finds this in the program. */
int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result)
{
	struct xsprof_result *r = calloc(1, sizeof(*r));
	struct xsprof_trace *trace;
	const struct xsprof_event *ev;
	int err = xsprof_trace_open(path, NULL, &trace);

	if (err || !r)
		tap_bail("%s: %s", path, xsprof_trace_error(NULL));
	r->opts = *opts;
	memcpy(r->tids, opts->tids, opts->nr_tids * sizeof(r->tids[0]));
	if (opts->nr_metadata) {
		snprintf(r->key, sizeof(r->key), "%s", opts->keys[0]);
		snprintf(r->value, sizeof(r->value), "%s", opts->values[0]);
	}
	while ((err = xsprof_trace_next(trace, &ev)) > 0) {
		if (ev->type == XSPROF_EV_LOST)
			r->lost++;
		if (ev->type >= 0x80 || ev->ticks < opts->from_ticks || r->n == EVENTS)
			continue;
		/* Comes at the end, for ranges open then. */
		if (ev->type == XSPROF_REC_CONTROL)
			continue;
		if (ev->type == XSPROF_REC_ARGS && r->n) {
			take_args(trace, ev, r->ev[r->n - 1].args, sizeof(r->ev[0].args),
				  &r->left_out);
			continue;
		}
		r->ev[r->n].type = ev->type;
		r->ev[r->n].tid = ev->tid;
		r->ev[r->n].value = ev->value;
		snprintf(r->ev[r->n].name, sizeof(r->ev[0].name), "%s",
			 ev->name ? xsprof_trace_name(trace, ev->producer, ev->name) : "");
		r->ev[r->n].is_op = xsprof_trace_op(ev, &r->ev[r->n].op);
		if (r->ev[r->n].is_op && r->ev[r->n].op.stack)
			CHECK(xsprof_trace_stack(trace, ev->producer, r->ev[r->n].op.stack,
						 &r->ev[r->n].frames, NULL));
		take_args(trace, ev, r->ev[r->n].args, sizeof(r->ev[0].args), &r->left_out);
		r->n++;
	}
	CHECK_EQ(err, 0);
	while (xsprof_trace_map(trace, 0, r->maps))
		r->maps++;
	xsprof_trace_close(trace);
	*result = r;
	return 0;
}

static const struct xsprof_profiler_config config = {
	.size = sizeof(config), .state = XSPROF_PROFILER_KINETO,
};

__attribute__((unused)) static void op(const char *name, uint32_t scope, uint64_t id)
{
	struct xsprof_op o = {
		.name = xsprof_name(name), .scope = scope, .sequence = XSPROF_NO_SEQUENCE,
		.record_function_id = id,
	};

	xsprof_op_begin(&o);
	xsprof_op_end();
}

static int begin(const struct xsprof_profiler_config *c)
{
	return xsprof_enable_profiler(c, XSPROF_ACTIVITY(CPU), 0);
}

static struct xsprof_result *end(void)
{
	struct xsprof_result *result = NULL;

	CHECK_EQ(xsprof_disable_profiler(&result), 0);
	if (!result)
		tap_bail("no result");
	return result;
}

#endif /* XSP_TEST_SESSION_RESULT_H */
