// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Records activities of devices, with arguments. Records are built on the stack, so everything is
 * signal-safe.
 */
#include "ring/activity.h"
#include "ring/pack.h"

/* The part of a GPU record after its first slot. */
#define GPU_BYTES	(sizeof(struct xsprof_rec_gpu) - sizeof(struct xsprof_rec))

static bool is_known(const struct xsprof_device_activity *a)
{
	return a->size >= sizeof(*a) && a->kind >= XSPROF_GPU_KERNEL &&
	       a->kind <= XSPROF_GPU_FAULT;
}

uint32_t xsprof_thread_id(void)
{
	/* A child that has not settled yet has its parent's word. */
	if (unlikely(xsp_fork_check() < 0))
		return (uint32_t)syscall(SYS_gettid);
	if (likely(xsp_thread.tid))
		return xsp_thread.tid;
	/* A child that shares the memory has its creator's thread id. */
	if (xsp_shares_memory())
		return (uint32_t)syscall(SYS_gettid);
	xsp_thread.tid = (uint32_t)syscall(SYS_gettid);
	return xsp_thread.tid;
}

void xsp_device_activity(const struct xsprof_device_activity *a, const struct xsprof_kv *kv,
			 size_t n)
{
	struct xsp_pack p;

	if (!is_known(a))
		return;
	p.records = 0;
	xsp_pack_start(&p, xsp_hdr(xsp_this_tid(), XSPROF_REC_GPU, 0),
		       (uint64_t)a->name | (uint64_t)a->kind << 32, a->correlation);
	p.word[2] = a->begin;
	p.word[3] = a->end;
	p.word[4] = (uint64_t)a->device << 32;
	p.word[5] = (uint64_t)a->context | (uint64_t)a->stream << 32;
	p.word[6] = a->bytes;
	p.word[7] = a->graph;
	p.word[8] = a->graph_node;
	p.word[9] = a->thread;
	p.used += GPU_BYTES;
	for (size_t i = 0; i < n; i++)
		if (!xsp_pack_kv(&p, &kv[i]))
			break;
	xsp_pack_write(&p, false);
}

void xsprof_device_activity(const struct xsprof_device_activity *a, const struct xsprof_kv *kv,
			    size_t n)
{
	if (xsprof_wants(a->name))
		xsp_device_activity(a, kv, n);
}
