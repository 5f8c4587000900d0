// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Accessors of an event. Texts derived from arguments are made on demand and cached, one copy for
 * all events with the same text.
 */
#include <errno.h>
#include <string.h>

#include "result/derived.h"
#include "result/frames.h"
#include "result/post.h"

/* ---- numbers -------------------------------------------------------------------------------- */

const char *xsprof_event_name(const struct xsprof_profiler_event *ev)
{
	return ev->name;
}

enum xsprof_event_kind xsprof_event_kind(const struct xsprof_profiler_event *ev)
{
	return ev->kind;
}

uint64_t xsprof_event_start_ns(const struct xsprof_profiler_event *ev)
{
	return xsr_real(ev->result, ev->begin);
}

uint64_t xsprof_event_end_ns(const struct xsprof_profiler_event *ev)
{
	return xsr_real(ev->result, ev->end);
}

uint64_t xsprof_event_duration_ns(const struct xsprof_profiler_event *ev)
{
	return ev->end - ev->begin;
}

uint64_t xsprof_event_self_ns(const struct xsprof_profiler_event *ev)
{
	return ev->self;
}

bool xsprof_event_unfinished(const struct xsprof_profiler_event *ev)
{
	return ev->flags & XSR_EVF_UNFINISHED;
}

bool xsprof_event_uncertain(const struct xsprof_profiler_event *ev)
{
	return ev->flags & XSR_EVF_UNCERTAIN;
}

uint32_t xsprof_event_device_type(const struct xsprof_profiler_event *ev)
{
	return ev->device >> 16;
}

int32_t xsprof_event_device_index(const struct xsprof_profiler_event *ev)
{
	return ev->device & 0xffff;
}

uint64_t xsprof_event_device_resource_id(const struct xsprof_profiler_event *ev)
{
	return ev->flags & XSR_EVF_DEVICE ? ev->u.gpu.stream : ev->tid;
}

uint32_t xsprof_event_process_id(const struct xsprof_profiler_event *ev)
{
	return ev->pid;
}

/* Activities on a device belong to no thread, whichever thread wrote the record. */
uint64_t xsprof_event_start_thread_id(const struct xsprof_profiler_event *ev)
{
	return ev->flags & XSR_EVF_DEVICE ? 0 : ev->tid;
}

uint64_t xsprof_event_end_thread_id(const struct xsprof_profiler_event *ev)
{
	return ev->flags & XSR_EVF_DEVICE ? 0 : ev->end_tid;
}

uint64_t xsprof_event_forward_thread_id(const struct xsprof_profiler_event *ev)
{
	return ev->kind == XSPROF_EVENT_OP ? ev->u.op.forward_thread : 0;
}

int64_t xsprof_event_sequence_number(const struct xsprof_profiler_event *ev)
{
	return ev->kind == XSPROF_EVENT_OP ? ev->u.op.sequence : -1;
}

uint64_t xsprof_event_record_function_id(const struct xsprof_profiler_event *ev)
{
	return ev->kind == XSPROF_EVENT_OP ? ev->u.op.record_function_id : 0;
}

uint64_t xsprof_event_correlation_id(const struct xsprof_profiler_event *ev)
{
	return ev->correlation;
}

uint64_t xsprof_event_linked_correlation_id(const struct xsprof_profiler_event *ev)
{
	return ev->linked;
}

/* A range that is not an op has the scope that frameworks call user scope. */
uint32_t xsprof_event_scope(const struct xsprof_profiler_event *ev)
{
	if (ev->kind == XSPROF_EVENT_OP)
		return ev->u.op.scope;
	return ev->kind == XSPROF_EVENT_ANNOTATION ? XSPROF_OP_USER_SCOPE : 0;
}

bool xsprof_event_is_async(const struct xsprof_profiler_event *ev)
{
	return ev->flags & XSR_EVF_ASYNC;
}

bool xsprof_event_is_user_annotation(const struct xsprof_profiler_event *ev)
{
	return xsprof_event_scope(ev) == XSPROF_OP_USER_SCOPE;
}

int64_t xsprof_event_device_elapsed_ns(const struct xsprof_profiler_event *ev)
{
	return ev->kind == XSPROF_EVENT_OP ? (int64_t)ev->u.op.elapsed - 1 : -1;
}

static int64_t elapsed_us(const struct xsprof_profiler_event *ev, bool own)
{
	int64_t ns = xsprof_event_device_elapsed_ns(ev);

	return ns < 0 || (ev->u.op.on >> 16 == XSPROF_DEVICE_PRIVATEUSE1) != own ? -1 : ns / 1000;
}

int64_t xsprof_event_cuda_elapsed_us(const struct xsprof_profiler_event *ev)
{
	return elapsed_us(ev, false);
}

int64_t xsprof_event_privateuse1_elapsed_us(const struct xsprof_profiler_event *ev)
{
	return elapsed_us(ev, true);
}

/* ---- memory --------------------------------------------------------------------------------- */

static bool is_memory(const struct xsprof_profiler_event *ev)
{
	return ev->kind == XSPROF_EVENT_MEMORY || ev->kind == XSPROF_EVENT_OUT_OF_MEMORY;
}

int64_t xsprof_event_nbytes(const struct xsprof_profiler_event *ev)
{
	if (is_memory(ev))
		return ev->u.mem.bytes;
	if (ev->kind != XSPROF_EVENT_MEMCPY && ev->kind != XSPROF_EVENT_MEMSET)
		return 0;
	return ev->u.gpu.bytes > INT64_MAX ? INT64_MAX : (int64_t)ev->u.gpu.bytes;
}

uint64_t xsprof_event_address(const struct xsprof_profiler_event *ev)
{
	return is_memory(ev) ? ev->u.mem.address : 0;
}

uint64_t xsprof_event_total_allocated(const struct xsprof_profiler_event *ev)
{
	return is_memory(ev) ? ev->u.mem.allocated : 0;
}

uint64_t xsprof_event_total_reserved(const struct xsprof_profiler_event *ev)
{
	return is_memory(ev) ? ev->u.mem.reserved : 0;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static const char *make(const struct xsprof_profiler_event *ev, enum xsr_derived what)
{
	struct xsprof_result *r = ev->result;
	uint64_t key = xsr_derived_key(ev, what);
	const uint64_t *made = xsp_map_get(&r->made, key);
	const char *text;

	if (!ev->args)
		return "";
	if (made)
		return (const char *)(uintptr_t)*made;
	text = xsr_derive(ev, what);
	if (!text || xsp_map_set(&r->made, key, (uintptr_t)text)) {
		xsr_fail(r, -ENOMEM, "no memory for the text of an event");
		return "";
	}
	return text;
}

static const char *make_input(const struct xsprof_profiler_event *ev, enum xsr_derived what)
{
	if (ev->kind != XSPROF_EVENT_OP || !xsr_wants(ev->result, report_input_shapes))
		return "";
	return make(ev, what);
}

const char *xsprof_event_module(const struct xsprof_profiler_event *ev)
{
	const struct xsr_post *post = xsr_post_of(ev);

	if (post && post->has_module)
		return post->module;
	return xsr_wants(ev->result, with_modules) ? make(ev, XSR_MODULE) : "";
}

const char *xsprof_event_shapes(const struct xsprof_profiler_event *ev)
{
	return make_input(ev, XSR_SHAPES);
}

const char *xsprof_event_strides(const struct xsprof_profiler_event *ev)
{
	return make_input(ev, XSR_STRIDES);
}

const char *xsprof_event_dtypes(const struct xsprof_profiler_event *ev)
{
	return make_input(ev, XSR_DTYPES);
}

const char *xsprof_event_concrete_inputs(const struct xsprof_profiler_event *ev)
{
	return make_input(ev, XSR_CONCRETE);
}

const char *xsprof_event_kwargs(const struct xsprof_profiler_event *ev)
{
	return make(ev, XSR_KWARGS);
}

uint64_t xsprof_event_flops(const struct xsprof_profiler_event *ev)
{
	if (ev->kind != XSPROF_EVENT_OP || !xsr_wants(ev->result, with_flops))
		return 0;
	return xsr_flops(ev);
}

const struct xsr_stack *xsr_event_stack(const struct xsprof_profiler_event *ev)
{
	const struct xsr_post *post = xsr_post_of(ev);
	struct xsprof_result *r = ev->result;
	const struct xsr_stack *stack;

	if (post && post->has_stack)
		return post->stack;
	if (!ev->stack || ev->kind != XSPROF_EVENT_OP || !xsr_wants(r, with_stack))
		return NULL;
	if (!r->frames)
		r->frames = xsr_frames_new(r->trace, XSR_FRAME_AT, 0);
	stack = r->frames ? xsr_frames_get(r->frames, ev->producer, ev->stack) : NULL;
	if (!stack)
		xsr_fail(r, -ENOMEM, "no memory for the stack of an event");
	return stack;
}

size_t xsprof_event_nr_frames(const struct xsprof_profiler_event *ev)
{
	const struct xsr_stack *stack = xsr_event_stack(ev);

	return stack ? stack->nr : 0;
}

const char *xsprof_event_frame(const struct xsprof_profiler_event *ev, size_t index)
{
	const struct xsr_stack *stack = xsr_event_stack(ev);

	return stack && index < stack->nr ? stack->frames[index] : "";
}

/* ---- the tree, and all ---------------------------------------------------------------------- */

static bool in_tree(const struct xsprof_profiler_event *ev)
{
	return !(ev->flags & (XSR_EVF_ASYNC | XSR_EVF_DEVICE));
}

const struct xsprof_profiler_event *xsprof_event_parent(const struct xsprof_profiler_event *ev)
{
	return in_tree(ev) ? xsr_event(ev->result, ev->parent) : NULL;
}

const struct xsprof_profiler_event *xsprof_event_child(const struct xsprof_profiler_event *ev)
{
	return xsr_event(ev->result, ev->child);
}

const struct xsprof_profiler_event *xsprof_event_next(const struct xsprof_profiler_event *ev)
{
	return xsr_event(ev->result, ev->next);
}

int64_t xsprof_result_nr_events(struct xsprof_result *r)
{
	int err = xsr_build(r);

	return err ? err : (int64_t)r->nr;
}

const struct xsprof_profiler_event *xsprof_result_event(struct xsprof_result *r, uint64_t index)
{
	return xsr_build(r) || index >= r->nr ? NULL : &r->events[index];
}

const struct xsprof_profiler_event *xsprof_result_tree(struct xsprof_result *r)
{
	return xsr_build(r) ? NULL : xsr_event(r, r->root);
}
