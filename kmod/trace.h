/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints xsprof:xsp_*: a name makes symbols of the kernel, hence the prefix.  A marker's
 * event comes from its own thread, by XSPROF_IOC_EMIT, and carries the time of its record in the
 * ring; xsp_clock_sync is the module's own.
 *
 * emit.c handles the first and the last user of a marker's event, be it ftrace, perf or BPF.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM xsprof

#if !defined(XSP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define XSP_TRACE_H

#include <linux/tracepoint.h>

#include <xsprof/ioctl.h>

#include "compat.h"

#ifndef XSP_TRACE_ONCE
#define XSP_TRACE_ONCE

/**
 * struct xsp_marker - a marker passed to its tracepoint
 * @arg: the program's argument
 * @name: text of the name
 * @category: text of its category
 * @ns: a complete range's duration
 */
struct xsp_marker {
	const struct xsprof_emit	*arg;
	const char			*name;
	const char			*category;
	u64				ns;
};

int xsp_emit_begin_on(void);
int xsp_emit_end_on(void);
int xsp_emit_instant_on(void);
int xsp_emit_counter_on(void);
int xsp_emit_complete_on(void);
int xsp_emit_gpu_on(void);
void xsp_emit_begin_off(void);
void xsp_emit_end_off(void);
void xsp_emit_instant_off(void);
void xsp_emit_counter_off(void);
void xsp_emit_complete_off(void);
void xsp_emit_gpu_off(void);

/* One format, of two lines. */
#define XSP_GPU_WHAT	"%s category=%s kind=%s device=%u stream=%u correlation=%llu"
#define XSP_GPU_WHEN	" begin=%llu end=%llu clock=%u ticks=%llu"

#endif /* XSP_TRACE_ONCE */

/* The name of an end is empty if the program does not name the range: the innermost. */
DECLARE_EVENT_CLASS(xsp_range,
		    TP_PROTO(const struct xsp_marker *m),
		    TP_ARGS(m),
		    TP_STRUCT__entry(__string(name, m->name)
				     __string(category, m->category)
				     __field(u64, ticks)
		    ),
		    TP_fast_assign(xsp_assign_str(name, m->name);
				   xsp_assign_str(category, m->category);
				   __entry->ticks = m->arg->ticks;
		    ),
		    TP_printk("%s category=%s ticks=%llu",
			      __get_str(name), __get_str(category), __entry->ticks));

DEFINE_EVENT_FN(xsp_range, xsp_begin,
		TP_PROTO(const struct xsp_marker *m),
		TP_ARGS(m),
		xsp_emit_begin_on, xsp_emit_begin_off);

DEFINE_EVENT_FN(xsp_range, xsp_end,
		TP_PROTO(const struct xsp_marker *m),
		TP_ARGS(m),
		xsp_emit_end_on, xsp_emit_end_off);

/* value: a step's number, else 0 */
TRACE_EVENT_FN(xsp_instant,
	       TP_PROTO(const struct xsp_marker *m),
	       TP_ARGS(m),
	       TP_STRUCT__entry(__string(name, m->name)
				__string(category, m->category)
				__field(u64, ticks)
				__field(u64, value)
				__field(u32, scope)
	       ),
	       TP_fast_assign(xsp_assign_str(name, m->name);
			      xsp_assign_str(category, m->category);
			      __entry->ticks = m->arg->ticks;
			      __entry->value = m->arg->value;
			      __entry->scope = m->arg->aux;
	       ),
	       TP_printk("%s category=%s scope=%s value=%llu ticks=%llu",
			 __get_str(name), __get_str(category),
			 __print_symbolic(__entry->scope, { 0, "thread" }, { 1, "process" },
					  { 2, "global" }),
			 __entry->value, __entry->ticks),
	       xsp_emit_instant_on, xsp_emit_instant_off);

/* value: the number, or the bits of a double: the kernel has no floating point */
TRACE_EVENT_FN(xsp_counter,
	       TP_PROTO(const struct xsp_marker *m),
	       TP_ARGS(m),
	       TP_STRUCT__entry(__string(name, m->name)
				__string(category, m->category)
				__field(u64, ticks)
				__field(s64, value)
				__field(u8, is_double)
	       ),
	       TP_fast_assign(xsp_assign_str(name, m->name);
			      xsp_assign_str(category, m->category);
			      __entry->ticks = m->arg->ticks;
			      __entry->value = (s64)m->arg->value;
			      __entry->is_double = !!(m->arg->flags & XSPROF_EMIT_DOUBLE);
	       ),
	       TP_printk("%s=%lld double=%u category=%s ticks=%llu",
			 __get_str(name), __entry->value, __entry->is_double,
			 __get_str(category), __entry->ticks),
	       xsp_emit_counter_on, xsp_emit_counter_off);

/* It ended at ticks. */
TRACE_EVENT_FN(xsp_complete,
	       TP_PROTO(const struct xsp_marker *m),
	       TP_ARGS(m),
	       TP_STRUCT__entry(__string(name, m->name)
				__string(category, m->category)
				__field(u64, ticks)
				__field(u64, duration_ns)
	       ),
	       TP_fast_assign(xsp_assign_str(name, m->name);
			      xsp_assign_str(category, m->category);
			      __entry->ticks = m->arg->ticks;
			      __entry->duration_ns = m->ns;
	       ),
	       TP_printk("%s category=%s duration_ns=%llu ticks=%llu",
			 __get_str(name), __get_str(category), __entry->duration_ns,
			 __entry->ticks),
	       xsp_emit_complete_on, xsp_emit_complete_off);

/* begin and end: ticks if clock is 0, else times of that clock */
TRACE_EVENT_FN(xsp_gpu_activity,
	       TP_PROTO(const struct xsp_marker *m),
	       TP_ARGS(m),
	       TP_STRUCT__entry(__string(name, m->name)
				__string(category, m->category)
				__field(u64, ticks)
				__field(u64, correlation)
				__field(u64, begin)
				__field(u64, end)
				__field(u32, clock)
				__field(u32, kind)
				__field(u32, device)
				__field(u32, stream)
	       ),
	       TP_fast_assign(xsp_assign_str(name, m->name);
			      xsp_assign_str(category, m->category);
			      __entry->ticks = m->arg->ticks;
			      __entry->correlation = m->arg->value;
			      __entry->begin = m->arg->begin;
			      __entry->end = m->arg->end;
			      __entry->clock = m->arg->clock;
			      __entry->kind = m->arg->aux;
			      __entry->device = m->arg->device;
			      __entry->stream = m->arg->stream;
	       ),
	       TP_printk(XSP_GPU_WHAT XSP_GPU_WHEN,
			 __get_str(name), __get_str(category),
			 __print_symbolic(__entry->kind, { 1, "kernel" }, { 2, "memcpy" },
					  { 3, "memset" }, { 4, "sync" }, { 5, "runtime" },
					  { 6, "driver" }, { 7, "overhead" },
					  { 8, "graph" }, { 9, "unrecorded" },
					  { 10, "alloc" }, { 11, "free" }),
			 __entry->device, __entry->stream, __entry->correlation, __entry->begin,
			 __entry->end, __entry->clock, __entry->ticks),
	       xsp_emit_gpu_on, xsp_emit_gpu_off);

/* All clocks at one instant, at each attach and every second while a producer lives. */
TRACE_EVENT(xsp_clock_sync,
	    TP_PROTO(const struct xsprof_sync *s),
	    TP_ARGS(s),
	    TP_STRUCT__entry(__field(u64, ticks)
			     __field(u64, mono)
			     __field(u64, raw)
			     __field(u64, boot)
			     __field(u64, real)
			     __field(u32, window)
			     __field(u32, kind)
	    ),
	    TP_fast_assign(__entry->ticks = s->ticks;
			   __entry->mono = s->mono;
			   __entry->raw = s->mono_raw;
			   __entry->boot = s->boot;
			   __entry->real = s->real;
			   __entry->window = s->window;
			   __entry->kind = s->kind;
	    ),
	    TP_printk("kind=%s ticks=%llu mono=%llu raw=%llu boot=%llu real=%llu window=%u",
		      __print_symbolic(__entry->kind, { 1, "tsc" }, { 2, "cntvct" },
				       { 3, "mono_raw" }),
		      __entry->ticks, __entry->mono, __entry->raw, __entry->boot, __entry->real,
		      __entry->window));

#endif /* XSP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
