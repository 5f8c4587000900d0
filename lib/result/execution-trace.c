// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The execution trace of ops in Chakra's JSON, as PyTorch's observer writes it: a node for each
 * op with its inputs, the op around it, and the number that joins it with a Kineto trace.  A node
 * is written when its op ends; its number was given when that began, so parents have the smaller
 * one.  What ops return is in no record.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "result/file.h"
#include "result/kineto.h"
#include "result/local.h"
#include "result/scan.h"

#define ROOT		1u
#define FIRST		2u
#define FORWARD_BITS	16u

/* The node of a forward op, by thread and sequence number. */
struct forward {
	uint64_t	key;
	uint64_t	node;
};

struct et {
	struct xsr_kineto	k;	/* names, text and buffer: what formats JSON takes */
	struct xsr_scan		scan;
	uint64_t		next;	/* node */
	struct forward		forwards[1u << FORWARD_BITS];
};

static char *comma(char *p, bool *any)
{
	if (*any)
		*p++ = ',';
	*any = true;
	return p;
}

/* ---- inputs --------------------------------------------------------------------------------- */

static char *put_device(uint32_t device, char *p)
{
	static const char *const types[] = {
		"cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia",
		"xla", "vulkan", "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu",
		"mtia", "privateuseone",
	};
	uint32_t type = device >> 16;

	*p++ = '"';
	p = type < sizeof(types) / sizeof(types[0]) ? stpcpy(p, types[type]) :
						      put_u32(put_lit(p, "device"), type);
	if (type) {
		*p++ = ':';
		p = put_i64(p, (int16_t)device);
	}
	*p++ = '"';
	return p;
}

/* [tensor, storage, offset, elements, bytes of one, device] */
static char *put_tensor(const struct xsprof_trace_arg *arg, char *p)
{
	struct xsprof_trace_tensor t = { 0 };

	xsprof_trace_tensor(arg, &t);
	*p++ = '[';
	p = put_u64(p, t.id);
	p = put_u64(put_lit(p, ","), t.storage_id);
	p = put_u64(put_lit(p, ","), t.offset);
	p = put_u64(put_lit(p, ","), t.numel);
	p = put_u32(put_lit(p, ","), t.itemsize);
	p = put_device(t.device, put_lit(p, ","));
	*p++ = ']';
	return p;
}

static char *put_dims(const struct xsprof_trace_arg *arg, bool strides, char *p)
{
	struct xsprof_trace_tensor t = { 0 };
	uint32_t i, n = 0;

	if (xsprof_trace_tensor(arg, &t))
		n = strides ? t.nr_strides : t.nr_sizes;
	*p++ = '[';
	for (i = 0; i < n; i++) {
		if (i)
			*p++ = ',';
		p = put_i64(p, strides ? t.strides[i] : t.sizes[i]);
	}
	*p++ = ']';
	return p;
}

static char *put_numbers(const struct xsprof_trace_arg *arg, char *p)
{
	bool any = false;
	int64_t i64;
	double f64;

	*p++ = '[';
	for (size_t at = 0; at + 8 <= arg->len; at += 8) {
		memcpy(&i64, arg->str + at, 8);
		memcpy(&f64, arg->str + at, 8);
		p = comma(p, &any);
		p = arg->type == XSPROF_ARG_F64S ? xsp_json_double(p, f64) : put_i64(p, i64);
	}
	*p++ = ']';
	return p;
}

static char *put_value(struct et *et, struct xsr_walk *walk, const struct xsprof_trace_arg *arg,
		       char *p)
{
	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		return put_tensor(arg, p);
	case XSPROF_ARG_I64:
		return put_i64(p, arg->u.i64);
	case XSPROF_ARG_U64:
	case XSPROF_ARG_PTR:
		return put_u64(p, arg->u.u64);
	case XSPROF_ARG_F64:
		return xsp_json_double(p, arg->u.f64);
	case XSPROF_ARG_BOOL:
		return arg->u.u64 ? put_lit(p, "true") : put_lit(p, "false");
	case XSPROF_ARG_NAME:
		return xsr_kineto_name(&et->k, walk->ev.producer, (uint32_t)arg->u.u64, p);
	case XSPROF_ARG_STR:
		return xsr_kineto_text(&et->k, p, et->k.text,
				       xsr_walk_text(walk, arg, et->k.text));
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		return put_numbers(arg, p);
	default:
		return put_lit(p, "\"<None>\"");
	}
}

/* What stands inside the quotes of a type. */
static char *put_type(struct et *et, uint32_t producer, const struct xsprof_trace_arg *arg,
		      char *p)
{
	const char *of = arg->type == XSPROF_ARG_F64S ? "Double" : "Int";
	struct xsprof_trace_tensor t;
	const char *dtype = "";
	bool any = false;

	switch (arg->type) {
	case XSPROF_ARG_TENSOR:
		if (xsprof_trace_tensor(arg, &t) && t.dtype)
			dtype = xsprof_trace_name(et->k.trace, producer, t.dtype);
		p = put_lit(p, "Tensor(");
		p = xsp_escape_json(p, dtype, strnlen(dtype, 128), NULL);
		return put_lit(p, ")");
	case XSPROF_ARG_I64S:
	case XSPROF_ARG_F64S:
		p = put_lit(p, "GenericList[");
		for (size_t at = 0; at + 8 <= arg->len; at += 8)
			p = stpcpy(comma(p, &any), of);
		return put_lit(p, "]");
	case XSPROF_ARG_I64:
	case XSPROF_ARG_U64:
	case XSPROF_ARG_PTR:
		return put_lit(p, "Int");
	case XSPROF_ARG_F64:
		return put_lit(p, "Double");
	case XSPROF_ARG_BOOL:
		return put_lit(p, "Bool");
	case XSPROF_ARG_STR:
	case XSPROF_ARG_NAME:
		return put_lit(p, "String");
	default:
		if (arg->u.u64 && arg->u.u64 <= UINT32_MAX && arg->type == XSPROF_ARG_NONE)
			dtype = xsprof_trace_name(et->k.trace, producer, (uint32_t)arg->u.u64);
		return *dtype ? xsp_escape_json(p, dtype, strnlen(dtype, 128), NULL) :
				put_lit(p, "None");
	}
}

enum facet { VALUES, SHAPES, TYPES, STRIDES };

static char *put_facet(struct et *et, struct xsr_walk *walk, const struct xsprof_trace_arg *arg,
		       enum facet facet, char *p)
{
	switch (facet) {
	case VALUES:
		return put_value(et, walk, arg, p);
	case SHAPES:
	case STRIDES:
		return put_dims(arg, facet == STRIDES, p);
	default:
		return put_type(et, walk->ev.producer, arg, p);
	}
}

/* The elements of a list stand behind it. */
static char *put_list(struct et *et, const struct xsprof_trace_arg *list, struct xsr_walk *walk,
		      enum facet facet, char *p)
{
	struct xsr_walk before = *walk;
	struct xsprof_trace_arg arg;
	uint64_t left = list->u.u64;
	bool any = false;

	p = facet == TYPES ? put_lit(p, "GenericList[") : put_lit(p, "[");
	for (; left && xsr_walk_next(walk, &arg) && xsr_key_is_item(arg.key); left--) {
		p = comma(xsr_kineto_room(&et->k, p), &any);
		p = put_facet(et, walk, &arg, facet, p);
		before = *walk;
	}
	*walk = before;
	return put_lit(p, "]");
}

static char *put_inputs(struct et *et, const struct xsr_walk *from, enum facet facet, char *p)
{
	struct xsr_walk walk = *from;
	struct xsprof_trace_arg arg;
	bool any = false;

	*p++ = '[';
	while (xsr_walk_next(&walk, &arg)) {
		if (!xsr_key_is_input(arg.key) || arg.flags & XSPROF_ARGF_CONT)
			continue;
		p = comma(xsr_kineto_room(&et->k, p), &any);
		if (facet == TYPES)
			*p++ = '"';
		p = arg.type == XSPROF_ARG_LIST ? put_list(et, &arg, &walk, facet, p) :
						  put_facet(et, &walk, &arg, facet, p);
		if (facet == TYPES)
			*p++ = '"';
	}
	*p++ = ']';
	return p;
}

static char *put_all_inputs(struct et *et, const struct xsr_walk *walk, char *p)
{
	p = put_inputs(et, walk, VALUES, put_lit(p, "\"inputs\":{\"values\":"));
	p = put_inputs(et, walk, SHAPES, put_lit(p, ",\"shapes\":"));
	p = put_inputs(et, walk, TYPES, put_lit(p, ",\"types\":"));
	p = put_inputs(et, walk, STRIDES, put_lit(p, ",\"strides\":"));
	return put_lit(p, "},");
}

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

/* The three that are always there, from what the program said or empty, then the others. */
static char *put_text_attrs(struct et *et, const struct xsr_walk *from, char *p)
{
	static const char *const always[] = { "op_schema", "kernel_backend", "kernel_file" };
	struct xsprof_trace_arg arg;
	bool there[3] = { false };
	struct xsr_walk walk = *from;
	bool any = false;
	size_t i;

	while (xsr_walk_next(&walk, &arg)) {
		const char *key = xsprof_trace_name(et->k.trace, walk.ev.producer, arg.key);

		if (xsr_key_is_input(arg.key) || xsr_key_is_item(arg.key) ||
		    arg.key == XSPROF_KEY_MODULE || arg.flags & XSPROF_ARGF_CONT)
			continue;
		for (i = 0; i < 3; i++)
			there[i] |= !strcmp(key, always[i]);
		p = comma(xsr_kineto_room(&et->k, p), &any);
		p = xsr_kineto_name(&et->k, walk.ev.producer, arg.key, put_lit(p, "{\"name\":"));
		p = put_lit(p, ",\"type\":\"");
		p = arg.type == XSPROF_ARG_STR || arg.type == XSPROF_ARG_NAME ?
		    put_lit(p, "string") : put_type(et, walk.ev.producer, &arg, p);
		p = put_value(et, &walk, &arg, put_lit(p, "\",\"value\":"));
		*p++ = '}';
	}
	p = xsr_kineto_room(&et->k, p);
	for (i = 0; i < 3; i++) {
		if (there[i])
			continue;
		p = stpcpy(put_lit(comma(p, &any), "{\"name\":\""), always[i]);
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

/* A process or a thread: nodes of their own, which ops hang on. */
static void put_frame(struct et *et, const char *what, uint64_t id, uint64_t tid)
{
	struct attrs a = { .sequence = -1, .scope = XSPROF_OP_USER_SCOPE, .tid = tid };
	struct xsr_walk none = { 0 };
	char *p = put_start(et, id, xsr_kineto_open(&et->k));

	p = stpcpy(put_lit(p, "\"[pytorch|profiler|execution_trace|"), what);
	p = put_lit(p, "]\",\"ctrl_deps\":1," NO_INPUTS NO_OUTPUTS);
	p = put_text_attrs(et, &none, put_attrs(&a, p));
	et->k.buf->p = put_lit(p, "]}");
}

/* The number of a node that is a thread: it is made when it is needed first. */
static uint64_t thread_node(struct et *et, struct xsp_thread *thread)
{
	if (!thread->shown) {
		thread->shown = et->next++;
		put_frame(et, "thread", thread->shown, thread->tid);
	}
	return thread->shown;
}

static struct forward *forward_of(struct et *et, const struct xsp_thread *thread, uint64_t tid,
				  int64_t sequence, uint64_t *key)
{
	uint64_t h = (tid ^ (uint64_t)thread->producer << 40) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 31 ^ (uint64_t)sequence) * 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	*key = h | 1;
	return &et->forwards[h >> (64 - FORWARD_BITS)];
}

static uint64_t link_forward(struct et *et, const struct xsp_thread *thread,
			     const struct xsprof_trace_op *op, uint64_t node)
{
	struct forward *f;
	uint64_t key;

	if (op->sequence < 0)
		return 0;
	f = forward_of(et, thread, op->forward_thread ? op->forward_thread : thread->tid,
		       op->sequence, &key);
	if (op->forward_thread)
		return f->key == key ? f->node : 0;
	*f = (struct forward){ key, node };
	return 0;
}

/* Nodes are numbered in the order of begins: the thread's, then the op's. */
static void begin(void *data, const struct xsprof_event *ev, const struct xsp_view *view)
{
	struct xsp_stack *stack = &view->thread->stack;
	struct xsprof_trace_op op;
	struct et *et = data;
	uint64_t parent;
	uint32_t i;

	if (ev->type != XSPROF_REC_BEGIN || !view->range || !xsprof_trace_op(ev, &op))
		return;
	if (op.scope >= 32 || (et->k.opts.scopes && !(et->k.opts.scopes >> op.scope & 1)))
		return;
	parent = thread_node(et, view->thread);
	for (i = stack->n - 1; i; i--) {
		const struct xsp_range *range = &stack->v[i - 1];

		if (range->end == XSP_OPEN && range->index >= UINT64_MAX / 2) {
			parent = range->index - UINT64_MAX / 2;
			break;
		}
	}
	/* The upper half of the numbers is for nodes; of a node the parent is kept as well. */
	view->range->index = et->next++ + UINT64_MAX / 2;
	view->range->tag = parent;
	link_forward(et, view->thread, &op, op.forward_thread ? 0 :
		     view->range->index - UINT64_MAX / 2);
}

static void closed(void *data, struct xsp_thread *thread, struct xsp_range *range, uint64_t ns)
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
		.fw_parent = op.forward_thread ? link_forward(et, thread, &op, 0) : 0,
	};
	p = put_start(et, id, xsr_kineto_open(&et->k));
	p = xsr_kineto_name(&et->k, thread->producer, range->name, p);
	p = put_u64(put_lit(p, ",\"ctrl_deps\":"), range->tag);
	*p++ = ',';
	p = put_all_inputs(et, &walk, p);
	p = put_attrs(&a, put_lit(p, NO_OUTPUTS));
	p = put_text_attrs(et, &walk, p);
	et->k.buf->p = put_lit(p, "]}");
}

static char *name_text(const struct xsprof_trace *trace, uint32_t producer, uint32_t name, char *p)
{
	size_t len;
	const char *s = xsprof_trace_name_len(trace, producer, name, &len);

	return json_string(p, s, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES, NULL);
}

static void put_head(struct et *et, uint64_t start)
{
	struct xsprof_trace_producer producer;
	time_t seconds = (time_t)(start / 1000000000u);
	uint32_t pid = et->k.opts.pid;
	char when[64] = "";
	struct tm tm;
	char *p;

	if (!pid && !xsprof_trace_get_producer(et->k.trace, 0, &producer))
		pid = producer.pid;
	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	p = put_lit(xsp_buf_room(et->k.buf, XSP_BUF_ROOM),
		    "{\n\"schema\": \"1.1.1-chakra.0.0.4\",\n\"pid\": ");
	p = stpcpy(put_lit(put_u32(p, pid), ",\n\"time\": \""), when);
	p = put_u64(put_lit(p, "\",\n\"start_ts\": "), start / 1000);
	et->k.buf->p = put_lit(p, ",\n\"nodes\": [");
}

static int write_nodes(struct et *et, const struct xsprof_result_options *opts)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	uint64_t start, real;
	char *p;
	int ret;

	ret = xsprof_trace_get_info(et->k.trace, &info);
	if (ret)
		return ret;
	real = (uint64_t)info.real_offset_ns;
	start = (opts->from_ns > info.first_ns ? opts->from_ns : info.first_ns) + real;
	put_head(et, start);
	et->k.sep = ' ';
	et->next = FIRST;
	put_frame(et, "process", ROOT, 0);
	et->scan = (struct xsr_scan){
		.event = begin, .closed = closed, .data = et, .keep = true,
	};
	ret = xsr_scan(et->k.trace, opts, et->k.buf, &et->scan);
	p = put_lit(xsp_buf_room(et->k.buf, XSP_BUF_ROOM), "\n],\n\"finish_ts\": ");
	p = put_u64(p, (et->scan.last + real) / 1000);
	et->k.buf->p = put_lit(p, "\n}\n");
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
	et->k.trace = trace;
	et->k.buf = buf;
	et->k.opts = *opts;
	ret = xsp_names_new(trace, name_text, 4u << 20, &et->k.names);
	if (!ret)
		ret = write_nodes(et, opts);
	xsp_names_free(et->k.names);
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
