/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Async ranges, flows, correlation, memory and locks.  Part of <xsprof/xsprof.h>, which includes
 * it; the rules for threads, signals and errno are there.
 */
#ifndef XSPROF_FLOW_H
#define XSPROF_FLOW_H

#include <xsprof/xsprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- async ranges, flows, correlation ------------------------------------------------------- */

/**
 * xsprof_async_begin() - a range begins that is independent of the nesting of threads
 * @name: what begins
 * @id: identifies it among those of the same name; its instants and its end use the same id, from
 *	any thread of the process
 *
 * Signal-safe, as are the other two.
 */
static inline void xsprof_async_begin(xsprof_name_t name, uint64_t id)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_(XSPROF_REC_ASYNC_BEGIN, name, 0, id);
}

static inline void xsprof_async_instant(xsprof_name_t name, uint64_t id)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_(XSPROF_REC_ASYNC_INSTANT, name, 0, id);
}

static inline void xsprof_async_end(xsprof_name_t name, uint64_t id)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_(XSPROF_REC_ASYNC_END, name, 0, id);
}

/**
 * xsprof_flow_start() - a flow (arrow) starts in the innermost open range
 * @name: what flows
 * @id: the same for the start, the steps and the end
 *
 * Signal-safe, as are the other two.
 */
static inline void xsprof_flow_start(xsprof_name_t name, uint64_t id)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_(XSPROF_REC_FLOW_START, name, 0, id);
}

static inline void xsprof_flow_step(xsprof_name_t name, uint64_t id)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_(XSPROF_REC_FLOW_STEP, name, 0, id);
}

static inline void xsprof_flow_end(xsprof_name_t name, uint64_t id)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_(XSPROF_REC_FLOW_END, name, 0, id);
}

/**
 * xsprof_correlation_push() - later GPU launches of this thread have this correlation id
 * @kind: which stack of ids, for instance 0 for ops and 1 for user ranges
 * @id: correlation id
 *
 * Belongs to category 0.  Signal-safe, as is the pop.
 */
static inline void xsprof_correlation_push(uint32_t kind, uint64_t id)
{
	if (__builtin_expect(xsprof_wants(0), 0))
		xsprof_put_(XSPROF_REC_CORR_PUSH, 0, kind, id);
}

static inline void xsprof_correlation_pop(uint32_t kind)
{
	if (__builtin_expect(xsprof_wants(0), 0))
		xsprof_put_(XSPROF_REC_CORR_POP, 0, kind, 0);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Devices of allocations: type in the high half, index in the low. */
#define XSPROF_DEVICE(type, index) ((uint32_t)(type) << 16 | (uint16_t)(index))
#define XSPROF_DEVICE_CPU	0u
#define XSPROF_DEVICE_CUDA	1u
#define XSPROF_DEVICE_PRIVATEUSE1 20u

/**
 * xsprof_alloc() - memory was allocated
 * @name: the allocator, or 0
 * @ptr: its address on its device
 * @bytes: its size
 * @device: XSPROF_DEVICE(type, index)
 * @total_allocated: bytes in use after it, 0 when not known
 * @total_reserved: bytes the allocator holds after it, 0 when not known
 *
 * Signal-safe, as is xsprof_free().
 */
XSPROF_API void xsprof_alloc(xsprof_name_t name, const void *ptr, uint64_t bytes, uint32_t device,
			     uint64_t total_allocated, uint64_t total_reserved);
XSPROF_API void xsprof_free(xsprof_name_t name, const void *ptr, uint64_t bytes, uint32_t device,
			    uint64_t total_allocated, uint64_t total_reserved);

/* ---- sync objects and relations ------------------------------------------------------------- */

/**
 * xsprof_sync_op() - an operation of a thread on a lock, a barrier or a condition
 * @name: the object's name
 * @op: enum xsprof_sync_op
 * @object: its address
 *
 * Signal-safe.
 */
static inline void xsprof_sync_op(xsprof_name_t name, uint32_t op, const void *object)
{
	if (__builtin_expect(xsprof_wants(name), 0))
		xsprof_put_(XSPROF_REC_SYNC, name, op, (uint64_t)(uintptr_t)object);
}

/**
 * xsprof_relation() - two ids are related
 * @kind: how, as ITT numbers relations (1 dependent on, 2 sibling of, 3 parent of, ...)
 * @head: an id of an async range or span
 * @tail: another
 *
 * Belongs to category 0.  Signal-safe.
 */
XSPROF_API void xsprof_relation(uint32_t kind, uint64_t head, uint64_t tail);

#ifdef __cplusplus
}
#endif

#endif /* XSPROF_FLOW_H */
