// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The execution trace of ops in Chakra's JSON, as written by PyTorch's observer: a node per op with
 * its inputs, its parent, and the number that links it to a Kineto trace. A node is written when
 * its op ends, but numbered when it begins, so parents have smaller numbers. Outputs of ops are not
 * recorded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/execution.h"
#include "export/save.h"
#include "export/scan.h"
#include "result/handle.h"

#define ROOT		1u
#define FIRST		2u

struct et {
	struct xsr_writer	w;
	struct xsr_scan		scan;
	uint64_t		next;	/* number of the next node */
	const struct xsprof_result_options *opts;
};

/* ---- nodes ---------------------------------------------------------------------------------- */

#define NO_OUTPUTS \
	"\"outputs\":{\"values\":[],\"shapes\":[],\"types\":[],\"strides\":[]},"
#define NO_INPUTS \
	"\"inputs\":{\"values\":[],\"shapes\":[],\"types\":[],\"strides\":[]},"

struct attrs {
	uint64_t	rf_id;
	uint64_t	fw_parent;
	int64_t		sequence;
	uint64_t	scope;
	uint64_t	tid;
	uint64_t	fw_tid;
};

static char *put_u64_attr(char *p, const char *name, uint64_t value)
{
	p = stpcpy(put_lit(p, "{\"name\":\""), name);
	p = put_u64(put_lit(p, "\",\"type\":\"uint64\",\"value\":"), value);
	return put_lit(p, "},");
}

static char *put_attrs(const struct attrs *a, char *p)
{
	p = put_lit(p, "\"attrs\":[");
	p = put_u64_attr(p, "rf_id", a->rf_id);
	p = put_u64_attr(p, "fw_parent", a->fw_parent);
	p = put_i64(put_lit(p, "{\"name\":\"seq_id\",\"type\":\"int64\",\"value\":"),
		    a->sequence);
	p = put_u64_attr(put_lit(p, "},"), "scope", a->scope);
	p = put_u64_attr(p, "tid", a->tid);
	return put_u64_attr(p, "fw_tid", a->fw_tid);
}

/* Metadata of collectives has other keys than in Kineto's JSON, and numbers have another type. */
static const char *comms_name(const char *key)
{
	static const char *const names[][2] = {
		{ "Collective name", "collective_name" },
		{ "dtype", "dtype" },
		{ "In msg nelems", "in_msg_nelems" },
		{ "Out msg nelems", "out_msg_nelems" },
		{ "In split size", "in_split_size" },
		{ "Out split size", "out_split_size" },
		{ "Global rank start", "global_rank_start" },
		{ "Global rank stride", "global_rank_stride" },
		{ "Process Group Name", "pg_name" },
		{ "Process Group Description", "pg_desc" },
		{ "Group size", "pg_size" },
		{ "Is asynchronized op", "is_asynchronized_op" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i][0]))
			return names[i][1];
	return NULL;
}

static char *put_attr_type(struct et *et, struct xsr_walk *walk,
			   const struct xsprof_trace_arg *arg, const char *comms, char *p)
{
	/* The number with that key is written as a string. */
	if (arg->type == XSPROF_ARG_STR || arg->type == XSPROF_ARG_NAME ||
	    (comms && !strcmp(comms, "is_asynchronized_op")))
		return put_lit(p, "string");
	return comms ? put_lit(p, "uint64") : xsr_et_type(&et->w, walk, arg, p);
}

/* Three attributes that are always present, possibly empty, then the others. */
static char *put_text_attrs(struct et *et, const struct xsr_walk *from, char *p)
{
	static const char *const always[] = { "op_schema", "kernel_backend", "kernel_file" };
	struct xsprof_trace_arg arg;
	bool there[3] = { false };
	struct xsr_walk walk = *from;
	bool any = false;
	size_t i;

	while (xsr_walk_next(&walk, &arg)) {
		const char *key = xsprof_trace_name(et->w.trace, walk.ev.producer, arg.key);
		const char *comms = comms_name(key);

		if (xsr_key_is_input(arg.key) || xsr_key_is_item(arg.key) ||
		    arg.key == XSPROF_KEY_MODULE || arg.flags & XSPROF_ARGF_CONT)
			continue;
		for (i = 0; i < 3; i++)
			there[i] |= !strcmp(key, always[i]);
		p = json_comma(xsr_writer_room(&et->w, p), &any);
		p = put_lit(p, "{\"name\":");
		p = comms ? put_lit(stpcpy(put_lit(p, "\""), comms), "\"") :
			    xsr_writer_name(&et->w, walk.ev.producer, arg.key, p);
		p = put_lit(p, ",\"type\":\"");
		p = put_attr_type(et, &walk, &arg, comms, p);
		p = xsr_et_value(&et->w, &walk, &arg, put_lit(p, "\",\"value\":"));
		*p++ = '}';
	}
	p = xsr_writer_room(&et->w, p);
	for (i = 0; i < 3; i++) {
		if (there[i])
			continue;
		p = stpcpy(put_lit(json_comma(p, &any), "{\"name\":\""), always[i]);
		p = put_lit(p, "\",\"type\":\"string\",\"value\":\"\"}");
	}
	return p;
}

static char *put_start(struct et *et, uint64_t id, char *p)
{
	(void)et;
	p = put_u64(put_lit(p, "{\"id\":"), id);
	return put_lit(p, ",\"name\":");
}

/* Writes the node of a process or thread, the parent of its ops. */
static void put_frame(struct et *et, const char *what, uint64_t id, uint64_t tid)
{
	struct attrs a = { .sequence = -1, .scope = XSPROF_OP_USER_SCOPE, .tid = tid };
	struct xsr_walk none = { 0 };
	char *p = put_start(et, id, xsr_writer_open(&et->w));

	p = stpcpy(put_lit(p, "\"[pytorch|profiler|execution_trace|"), what);
	p = put_lit(p, "]\",\"ctrl_deps\":1," NO_INPUTS NO_OUTPUTS);
	p = put_text_attrs(et, &none, put_attrs(&a, p));
	et->w.buf->p = put_lit(p, "]}");
}

/* The number of a thread's node, which is written when first needed. */
static uint64_t thread_node(struct et *et, struct xsp_track *thread)
{
	if (!thread->shown) {
		thread->shown = et->next++;
		put_frame(et, "thread", thread->shown, thread->tid);
	}
	return thread->shown;
}

/* The innermost node among the thread's first @n open ranges; @none if there is none. */
static uint64_t innermost(const struct xsp_track *thread, uint32_t n, uint64_t none)
{
	const struct xsp_stack *stack = &thread->opens.stack;

	for (uint32_t i = n; i; i--) {
		const struct xsp_range *range = &stack->v[i - 1];

		if (range->end == XSP_OPEN && range->index >= UINT64_MAX / 2)
			return range->index - UINT64_MAX / 2;
	}
	return none;
}

/*
 * The parent that PyTorch's observer gives to a backward op: the op open at that moment in the
 * thread of its forward op; in that thread itself the op around it. The forward op is found by the
 * thread and the sequence number.
 */
static uint64_t forward_parent(struct et *et, const struct xsprof_event *ev, uint64_t forward,
			       uint64_t parent)
{
	const struct xsp_track *thread;

	if (!forward || forward == ev->tid)
		return forward ? parent : 0;
	thread = xsp_tracks_get(et->scan.tracks, ev->producer, ev->pid, 0, forward, ev->ns);
	return thread ? innermost(thread, thread->opens.stack.n, thread->shown) : 0;
}

/* Numbers nodes in the order of begins: the thread's, then the op's. */
static void begin(void *data, const struct xsprof_event *ev, const struct xsp_view *view)
{
	struct xsprof_trace_op op;
	struct et *et = data;
	uint64_t parent;

	if (ev->type != XSPROF_REC_BEGIN || !view->range || !xsprof_trace_op(ev, &op))
		return;
	if (op.scope >= 32 || (et->opts->scopes && !(et->opts->scopes >> op.scope & 1)))
		return;
	parent = innermost(view->thread, view->thread->opens.stack.n - 1,
			   thread_node(et, view->thread));
	/* The upper half of the numbers marks nodes; a node also keeps its parents. */
	view->range->index = et->next++ + UINT64_MAX / 2;
	view->range->tag = parent;
	view->range->link = forward_parent(et, ev, op.forward_thread, parent);
}

static void closed(void *data, struct xsp_track *thread, struct xsp_range *range, uint64_t ns)
{
	struct xsprof_trace_op op;
	struct et *et = data;
	struct xsr_walk walk;
	struct attrs a;
	uint64_t id;
	char *p;

	(void)ns;
	if (range->index < UINT64_MAX / 2 || !range->note)
		return;
	xsr_walk_note(&walk, range->note, range->note_len);
	if (!walk.ev.rec || !xsprof_trace_op(&walk.ev, &op))
		return;
	id = range->index - UINT64_MAX / 2;
	a = (struct attrs){
		.rf_id = op.record_function_id, .sequence = op.sequence, .scope = op.scope,
		.tid = thread->tid, .fw_tid = op.forward_thread,
		.fw_parent = range->link,
	};
	p = put_start(et, id, xsr_writer_open(&et->w));
	p = xsr_writer_name(&et->w, thread->producer, range->name, p);
	p = put_u64(put_lit(p, ",\"ctrl_deps\":"), range->tag);
	*p++ = ',';
	p = xsr_et_inputs(&et->w, &walk, p);
	p = put_attrs(&a, put_lit(p, NO_OUTPUTS));
	p = put_text_attrs(et, &walk, p);
	et->w.buf->p = put_lit(p, "]}");
}

static void put_head(struct et *et, uint64_t start)
{
	struct xsprof_trace_producer producer;
	time_t seconds = (time_t)(start / 1000000000u);
	uint32_t pid = et->opts->pid;
	char when[64] = "";
	struct tm tm;
	char *p;

	if (!pid && !xsprof_trace_get_producer(et->w.trace, 0, &producer))
		pid = producer.pid;
	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	p = put_lit(xsp_buf_room(et->w.buf, XSP_BUF_ROOM),
		    "{\n\"schema\": \"1.1.1-chakra.0.0.4\",\n\"pid\": ");
	p = stpcpy(put_lit(put_u32(p, pid), ",\n\"time\": \""), when);
	p = put_u64(put_lit(p, "\",\n\"start_ts\": "), start / 1000);
	et->w.buf->p = put_lit(p, ",\n\"nodes\": [");
}

static int write_nodes(struct et *et)
{
	const struct xsprof_result_options *opts = et->opts;
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	uint64_t start, real;
	char *p;
	int ret;

	ret = xsprof_trace_get_info(et->w.trace, &info);
	if (ret)
		return ret;
	real = (uint64_t)info.real_offset_ns;
	start = (opts->from_ns > info.first_ns ? opts->from_ns : info.first_ns) + real;
	put_head(et, start);
	et->next = FIRST;
	put_frame(et, "process", ROOT, 0);
	et->scan = (struct xsr_scan){
		.event = begin, .closed = closed, .data = et, .keep = true,
	};
	ret = xsr_scan(et->w.trace, opts, et->w.buf, &et->scan);
	p = put_lit(xsp_buf_room(et->w.buf, XSP_BUF_ROOM), "\n],\n\"finish_ts\": ");
	p = put_u64(p, (et->scan.last + real) / 1000);
	et->w.buf->p = put_lit(p, "\n}\n");
	return ret;
}

static int write_trace(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
		       struct xsp_buf *buf, const void *arg)
{
	struct et *et = calloc(1, sizeof(*et));
	int ret;

	(void)arg;
	if (!et)
		return -ENOMEM;
	et->opts = opts;
	ret = xsr_writer_init(&et->w, trace, buf);
	if (!ret)
		ret = write_nodes(et);
	xsr_writer_done(&et->w);
	free(et);
	return ret;
}

int xsprof_result_save_execution_trace(struct xsprof_result *result, const char *path)
{
	int before = errno, ret;

	result->error[0] = '\0';
	ret = xsr_save(result, path, write_trace, NULL);
	errno = before;
	return ret;
}
