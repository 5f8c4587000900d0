// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Converts rocprofiler-sdk's records. Called by one thread at a time.
 */
#include "gpu/rocm/local.h"

#define ARGS		4u

enum key {
	KEY_GRID, KEY_BLOCK, KEY_SHARED, KEY_LOCAL, KEY_FROM, KEY_TO, KEY_ADDRESS, NR_KEYS,
};

static const char *const key_texts[NR_KEYS] = {
	[KEY_GRID] = "grid", [KEY_BLOCK] = "block", [KEY_SHARED] = "shared memory",
	[KEY_LOCAL] = "local memory per thread", [KEY_FROM] = "fromDevice", [KEY_TO] = "toDevice",
	[KEY_ADDRESS] = "address",
};

static xsprof_name_t keys[NR_KEYS];

void rocm_record_init(void)
{
	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(key_texts[i]);
}

/* ---- work ------------------------------------------------------------------------------------ */

static void put_kernel(const struct rocp_kernel *k)
{
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	int32_t grid[3], block[3];
	size_t n = 0;

	if (!rocm_work(&a, XSPROF_GPU_KERNEL, rocm_kernel_name(k->kernel), k->start, k->end,
		       k->record.call))
		return;
	(void)rocm_device(k->agent, &a.device);
	a.stream = rocm_queue(a.device, k->queue);
	/* The record has the grid in work items; activities have it in blocks. */
	for (int i = 0; i < 3; i++) {
		uint32_t items = k->workgroup[i] ? k->workgroup[i] : 1;

		block[i] = (int32_t)items;
		grid[i] = (int32_t)(k->grid[i] / items + (k->grid[i] % items != 0));
	}
	kv[n++] = xsprof_i32s(keys[KEY_GRID], grid, 3);
	kv[n++] = xsprof_i32s(keys[KEY_BLOCK], block, 3);
	kv[n++] = xsprof_i64(keys[KEY_SHARED], k->group_bytes);
	if (k->private_bytes)
		kv[n++] = xsprof_i64(keys[KEY_LOCAL], k->private_bytes);
	rocm_put(&a, kv, n);
}

/* The direction follows from the agents, devices or the host, not from the record. */
static void put_copy(const struct rocp_copy *c)
{
	static const char *const texts[] = {
		[ROCM_TO_DEVICE] = "Memcpy HtoD (Host -> Device)",
		[ROCM_TO_HOST] = "Memcpy DtoH (Device -> Host)",
		[ROCM_IN_DEVICES] = "Memcpy DtoD (Device -> Device)",
		[ROCM_IN_HOST] = "Memcpy HtoH (Host -> Host)",
	};
	static xsprof_name_t names[ARRAY_SIZE(texts)];
	uint32_t from = rocm_first_device(), to = from;
	bool from_device = rocm_device(c->from, &from), to_device = rocm_device(c->to, &to);
	enum rocm_way way = from_device ? to_device ? ROCM_IN_DEVICES : ROCM_TO_HOST :
					  to_device ? ROCM_TO_DEVICE : ROCM_IN_HOST;
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	size_t n = 0;

	if (!names[way])
		names[way] = xsprof_name_in(rocm_category(), texts[way]);
	if (!rocm_work(&a, XSPROF_GPU_MEMCPY, names[way], c->start, c->end, c->record.call))
		return;
	a.device = from_device ? from : to;
	a.stream = rocm_copies(a.device, way);
	a.bytes = c->bytes;
	if (way == ROCM_IN_DEVICES && from != to) {
		kv[n++] = xsprof_u64(keys[KEY_FROM], from);
		kv[n++] = xsprof_u64(keys[KEY_TO], to);
	}
	rocm_put(&a, kv, n);
}

/* Reads both versions of the record. */
static void put_memory(const struct rocp_record *r)
{
	static const char *const texts[2][2] = {
		{ "Alloc (Host)", "Alloc (Device)" }, { "Free (Host)", "Free (Device)" },
	};
	const bool newer = rocm_version >= ROCP_ANCESTORS, frees = rocm_frees(r->operation);
	struct rocp_memory_old m;
	struct xsprof_device_activity a;
	uint32_t device = rocm_first_device();
	struct xsprof_kv kv;
	bool on_device;

	memcpy(&m, r, sizeof(m));
	if (newer)
		memcpy(&m.thread, &((const struct rocp_memory *)r)->thread,
		       sizeof(m) - offsetof(struct rocp_memory_old, thread));
	on_device = rocm_device(m.agent, &device);
	if (!rocm_work(&a, frees ? XSPROF_GPU_FREE : XSPROF_GPU_ALLOC,
		       xsprof_name_in(rocm_category(), texts[frees][on_device]), m.start, m.start,
		       r->call))
		return;
	a.device = device;
	a.stream = XSPROF_NO_STREAM;
	a.bytes = m.bytes;
	kv = xsprof_ptr(keys[KEY_ADDRESS], (const void *)(uintptr_t)m.address);
	rocm_put(&a, &kv, 1);
}

static void put_call(const struct rocp_record *r)
{
	const bool newer = rocm_version >= ROCP_ANCESTORS;
	const struct rocp_call_old *old = (const struct rocp_call_old *)r;
	const struct rocp_call *c = (const struct rocp_call *)r;
	struct xsprof_device_activity a;

	if (!rocm_work(&a, XSPROF_GPU_RUNTIME, rocm_call_name(r->operation),
		       newer ? c->start : old->start, newer ? c->end : old->end, r->call))
		return;
	a.device = XSPROF_NO_DEVICE;
	a.stream = XSPROF_NO_STREAM;
	a.thread = newer ? c->thread : old->thread;
	rocm_put(&a, NULL, 0);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Is the record long enough for what is read of it? */
static bool is_whole(const struct rocp_record *r, size_t old, size_t newer)
{
	return r->size >= (rocm_version >= ROCP_ANCESTORS ? newer : old);
}

static void take(const struct rocp_record *r)
{
	if (r->kind == rocm_kind(ROCM_KERNEL) &&
	    is_whole(r, sizeof(struct rocp_kernel), sizeof(struct rocp_kernel)))
		put_kernel((const struct rocp_kernel *)r);
	else if (r->kind == rocm_kind(ROCM_COPY) &&
		 is_whole(r, sizeof(struct rocp_copy), sizeof(struct rocp_copy)))
		put_copy((const struct rocp_copy *)r);
	else if (r->kind == rocm_kind(ROCM_CALL) &&
		 is_whole(r, sizeof(struct rocp_call_old), sizeof(struct rocp_call)))
		put_call(r);
	else if (r->kind && r->kind == rocm_kind(ROCM_MEMORY) &&
		 is_whole(r, sizeof(struct rocp_memory_old), sizeof(struct rocp_memory)))
		put_memory(r);
	else
		rocm_miss(ROCM_MISS_UNKNOWN, 1);
}

void rocm_drain(void)
{
	const struct rocp_record *r;
	struct gpu_buffer buffer;

	while (rocm_pool_take(&buffer)) {
		for (size_t at = 0; (r = rocm_pool_next(&buffer, &at));)
			take(r);
		rocm_pool_give(&buffer);
	}
}
