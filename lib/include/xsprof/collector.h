/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * For collectors: libraries that record what devices do (kernels, copies), and the calls of their
 * runtimes, for programs that know nothing of it.  The rules for threads, signals and errno are
 * those of <xsprof/xsprof.h>.
 */
#ifndef XSPROF_COLLECTOR_H
#define XSPROF_COLLECTOR_H

#include <xsprof/xsprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct xsprof_device_activity - something a device or its runtime did
 * @size: sizeof(struct xsprof_device_activity) of the caller
 * @name: what: the kernel, "Memcpy HtoD (Pageable -> Device)", the function called
 * @kind: enum xsprof_gpu_kind
 * @begin: ticks of xsprof_now()
 * @end: ticks of xsprof_now()
 * @correlation: the same number for a call and what the device did for it; 0 for none
 * @device: index of the device
 * @context: context on the device
 * @stream: stream or queue of the context
 * @reserved: 0
 * @bytes: bytes moved, for copies and sets
 * @graph: graph that it is part of, 0 for none
 * @graph_node: node of that graph, 0 for none
 * @thread: for calls: the thread that called, as gettid() gives it; else 0
 */
struct xsprof_device_activity {
	size_t		size;
	xsprof_name_t	name;
	uint32_t	kind;
	uint64_t	begin;
	uint64_t	end;
	uint64_t	correlation;
	uint32_t	device;
	uint32_t	context;
	uint32_t	stream;
	uint32_t	reserved;
	uint64_t	bytes;
	uint64_t	graph;
	uint64_t	graph_node;
	uint64_t	thread;
};

/**
 * xsprof_device_activity() - record what a device or its runtime did
 * @activity: what; not kept
 * @kv: arguments; strings and lists are copied before it returns
 * @n: how many; 0 for none
 *
 * From any thread and in any order: readers put activities where their times say.  A collector that
 * writes many at once waits for the recorder with xsprof_flush() before it has written more than
 * a ring holds (xsprof_ctl_page.ctl.ring_size bytes), else the ring drops them, and counts that.
 * Signal-safe.
 */
XSPROF_API void xsprof_device_activity(const struct xsprof_device_activity *activity,
				       const struct xsprof_kv *kv, size_t n);

/**
 * xsprof_i32s() - a list of numbers as an argument, of this and all other functions with arguments
 * @key: its key
 * @v: the numbers; not copied here
 * @n: how many, at most XSPROF_TEXT_MAX / 4
 *
 * Return: the argument.
 */
static inline struct xsprof_kv xsprof_i32s(xsprof_name_t key, const int32_t *v, size_t n)
{
	struct xsprof_kv kv = { key, XSPROF_ARG_I32S, 0, { 0 } };

	kv.u.ptr = v;
	kv.len = n * sizeof(*v);
	return kv;
}

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_COLLECTOR_H */
