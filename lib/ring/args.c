// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Markers of more than one slot: arguments, spans, memory, relations. They are written by the slow
 * path, which takes any size.
 *
 * Records are built on the stack, so all of it is signal-safe.
 */
#include "ring/pack.h"

static void put_args(uint64_t tid, uint32_t type, uint64_t a, uint64_t b,
		     const struct xsprof_kv *kv, size_t n)
{
	struct xsp_pack p;

	p.records = 0;
	xsp_pack_start(&p, xsp_hdr(tid, type, 0), a, b);
	for (size_t i = 0; i < n; i++)
		if (!xsp_pack_kv(&p, &kv[i]))
			break;
	xsp_pack_write(&p, false);
}

void xsprof_begin_args(xsprof_name_t name, const struct xsprof_kv *kv, size_t n)
{
	uint64_t on = xsprof_enabled();

	if (!on)
		return;
	if (!(on >> (name >> XSPROF_NAME_SHIFT) & 1)) {
		xsprof_emit_skip();
		return;
	}
	if (!n) {
		xsprof_emit_begin(name);
		return;
	}
	/* Inside a left-out range the begin updates the suppression state itself. */
	if (unlikely(xsp_thread.skips)) {
		xsprof_emit_begin(name);
		put_args(xsp_this_tid(), XSPROF_REC_ARGS, 0, 0, kv, n);
		return;
	}
	put_args(xsp_this_tid(), XSPROF_REC_BEGIN, name, 0, kv, n);
}

void xsprof_end_args(const struct xsprof_kv *kv, size_t n)
{
	if (!xsprof_enabled())
		return;
	if (!n || unlikely(xsp_thread.skips)) {
		if (n && !(xsp_thread.skips & 1))
			put_args(xsp_this_tid(), XSPROF_REC_ARGS, 0, 0, kv, n);
		xsprof_emit_end();
		return;
	}
	put_args(xsp_this_tid(), XSPROF_REC_END, 0, 0, kv, n);
}

void xsprof_instant_args(xsprof_name_t name, const struct xsprof_kv *kv, size_t n)
{
	if (xsprof_wants(name))
		put_args(xsp_this_tid(), XSPROF_REC_INSTANT, name, 0, kv, n);
}

void xsprof_args(const struct xsprof_kv *kv, size_t n)
{
	if (!n || !xsprof_enabled() || xsp_thread.skips & 1)
		return;
	put_args(xsp_this_tid(), XSPROF_REC_ARGS, 0, 0, kv, n);
}

void xsprof_span(xsprof_name_t name, uint64_t begin, uint64_t end, uint64_t id, uint64_t parent)
{
	const uint64_t payload[6] = { name, id, begin, end, parent, 0 };

	if (xsprof_wants(name))
		xsp_put_slow(xsp_hdr(xsp_this_tid(), XSPROF_REC_SPAN, 2), payload, 2, 0);
}

static void put_mem(uint32_t type, xsprof_name_t name, const void *ptr, uint64_t bytes,
		    uint32_t device, uint64_t allocated, uint64_t reserved)
{
	const uint64_t payload[6] = {
		(uint64_t)name | (uint64_t)device << 32, (uint64_t)(uintptr_t)ptr,
		bytes, allocated, reserved, 0,
	};

	if (xsprof_wants(name))
		xsp_put_slow(xsp_hdr(xsp_this_tid(), type, 2), payload, 2, 0);
}

void xsprof_alloc(xsprof_name_t name, const void *ptr, uint64_t bytes, uint32_t device,
		  uint64_t total_allocated, uint64_t total_reserved)
{
	put_mem(XSPROF_REC_ALLOC, name, ptr, bytes, device, total_allocated, total_reserved);
}

void xsprof_free(xsprof_name_t name, const void *ptr, uint64_t bytes, uint32_t device,
		 uint64_t total_allocated, uint64_t total_reserved)
{
	put_mem(XSPROF_REC_FREE, name, ptr, bytes, device, total_allocated, total_reserved);
}

void xsprof_relation(uint32_t kind, uint64_t head, uint64_t tail)
{
	const uint64_t payload[6] = { (uint64_t)kind << 32, head, tail, 0, 0, 0 };

	if (xsprof_wants(0))
		xsp_put_slow(xsp_hdr(xsp_this_tid(), XSPROF_REC_RELATION, 2), payload, 2, 0);
}
