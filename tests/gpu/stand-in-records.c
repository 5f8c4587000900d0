// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of the stand-in for libcupti. They have the sizes of the version that it plays, which
 * the collector does not know: it walks a buffer by cuptiActivityGetNextRecord().
 */
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/replay.h"

/* Sets a device's times: after the call, and missing for some. */
static void set_times(uint64_t *start, uint64_t *end)
{
	bool none = stand_in.no_time && !(stand_in_records() & 7);

	*start = none ? 0 : stand_in_now();
	*end = none ? 0 : stand_in_now() + 1000;
}

static void put_kernel(struct cupti_kernel *k, size_t len)
{
	set_times(&k->start, &k->end);
	if (stand_in.early)
		k->start = stand_in_called_at - stand_in.early_ns;
	if (stand_in_latency && k->start) {
		k->queued = k->start - 500;
		k->submitted = k->start - 200;
	}
	(void)stand_in_put(k, len);
}

EXPORT void stand_in_kernel(uint32_t corr, uint32_t stream, const char *name, uint32_t graph)
{
	struct cupti_kernel k = {
		.kind = CUPTI_KERNEL, .registers = 40, .device = 1,
		.context = stand_in.context ? stand_in.context : 3, .stream = stream,
		.grid = { 4, 5, 6 }, .block = { 128, 2, 1 }, .static_shared = 1024,
		.dynamic_shared = 2048, .correlation = corr, .name = name, .graph = graph,
		.graph_node = graph ? 17 : 0, .channel = 8, .channel_type = 1,
		.cluster = { 2, 1, 1 },
	};

	put_kernel(&k, sizeof(k));
}

EXPORT void stand_in_node_kernel(uint32_t corr, uint32_t stream, const char *name, uint64_t node,
				 uint64_t source)
{
	uint64_t longest[32] = { 0 };
	struct cupti_kernel *k = (struct cupti_kernel *)longest;

	*k = (struct cupti_kernel){
		.kind = CUPTI_KERNEL, .device = 1, .context = 3, .stream = stream,
		.grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .correlation = corr, .name = name,
		.graph = 5, .graph_node = node,
	};
	longest[CUPTI_KERNEL_SOURCE / 8] = source;
	put_kernel(k, sizeof(longest));
}

EXPORT void stand_in_memcpy(uint32_t corr, uint32_t stream, uint64_t bytes)
{
	struct cupti_memcpy m = {
		.kind = CUPTI_MEMCPY, .copy_kind = 1, .from = 1, .to = 3, .bytes = bytes,
		.device = 1, .context = 3, .stream = stream, .correlation = corr,
	};

	set_times(&m.start, &m.end);
	(void)stand_in_put(&m, sizeof(m));
}

EXPORT void stand_in_peer(uint32_t corr, uint32_t stream, uint64_t bytes)
{
	struct cupti_memcpy_peer m = {
		.kind = CUPTI_MEMCPY_PEER, .copy_kind = 10, .from = 3, .to = 3, .bytes = bytes,
		.device = 1, .context = 3, .stream = stream, .from_device = 1, .to_device = 2,
		.correlation = corr, .channel = 4,
	};

	set_times(&m.start, &m.end);
	(void)stand_in_put(&m, sizeof(m));
}

EXPORT void stand_in_memset(uint32_t corr, uint32_t stream, uint64_t bytes)
{
	struct cupti_memset m = {
		.kind = CUPTI_MEMSET, .value = 255, .bytes = bytes, .device = 1, .context = 3,
		.stream = stream, .correlation = corr, .memory = 3,
	};

	set_times(&m.start, &m.end);
	(void)stand_in_put(&m, sizeof(m));
}

EXPORT void stand_in_sync(uint32_t corr, uint32_t stream, uint32_t type)
{
	struct cupti_sync s = {
		.kind = CUPTI_SYNC, .type = type, .correlation = corr, .context = 3,
		.stream = stream, .event = UINT32_MAX,
	};

	set_times(&s.start, &s.end);
	(void)stand_in_put(&s, sizeof(s));
}

EXPORT void stand_in_sync_in(uint32_t corr, uint32_t context)
{
	struct cupti_sync s = {
		.kind = CUPTI_SYNC, .type = 4, .correlation = corr, .context = context,
		.stream = UINT32_MAX, .event = UINT32_MAX,
	};

	set_times(&s.start, &s.end);
	(void)stand_in_put(&s, sizeof(s));
}

EXPORT void stand_in_context(uint32_t context)
{
	const struct cupti_context c = {
		.kind = CUPTI_CONTEXT, .context = context, .device = 2,
	};

	(void)stand_in_put(&c, sizeof(c));
}

EXPORT void stand_in_event(uint32_t corr, uint32_t stream, uint32_t event, uint64_t id)
{
	const struct cupti_event e = {
		.kind = CUPTI_EVENT, .correlation = corr, .context = 3, .stream = stream,
		.event = event, .device = 1, .id = id,
	};

	(void)stand_in_put(&e, sizeof(e));
}

EXPORT void stand_in_sync_event(uint32_t corr, uint32_t stream, uint32_t event, uint64_t id)
{
	struct cupti_sync_id s = {
		.sync = {
			.kind = CUPTI_SYNC, .type = 2, .correlation = corr, .context = 3,
			.stream = stream, .event = event,
		},
		.id = id,
	};

	set_times(&s.sync.start, &s.sync.end);
	(void)stand_in_put(&s, sizeof(s));
}

EXPORT void stand_in_graph(uint32_t corr, uint32_t stream, uint32_t graph)
{
	struct cupti_graph g = {
		.kind = CUPTI_GRAPH, .correlation = corr, .device = 1, .graph = graph, .context = 3,
		.stream = stream,
	};

	set_times(&g.start, &g.end);
	(void)stand_in_put(&g, sizeof(g));
}

EXPORT void stand_in_memory(uint32_t corr, bool allocated, uint64_t bytes, uint64_t ago)
{
	stand_in_memory_at(corr, allocated, 0x7f0000000000 + bytes, bytes, stand_in_now() - ago);
}

EXPORT void stand_in_memory_at(uint32_t corr, bool allocated, uint64_t address, uint64_t bytes,
			       uint64_t when)
{
	const struct cupti_memory m = {
		.kind = CUPTI_MEMORY, .operation = allocated ? 1 : 2, .memory = 3,
		.correlation = corr, .address = address, .bytes = bytes,
		.timestamp = when, .device = 1, .context = 3,
		.stream = UINT32_MAX,
	};

	(void)stand_in_put(&m, sizeof(m));
}

EXPORT void stand_in_pool(uint32_t corr, uint32_t operation, uint32_t pool)
{
	const struct cupti_pool_change c = {
		.kind = CUPTI_POOL, .operation = operation, .pool = pool, .correlation = corr,
		.device = 1, .keep = 4096, .address = 0x7f10, .size = 1 << 20, .threshold = 65536,
		.timestamp = stand_in_now(), .used = 8192,
	};

	(void)stand_in_put(&c, sizeof(c));
}

EXPORT void stand_in_jit(uint32_t corr, uint32_t entry, uint32_t operation)
{
	struct cupti_jit j = {
		.kind = CUPTI_JIT, .entry = entry, .operation = operation, .device = 1,
		.correlation = corr, .cache_size = 512, .cache_path = (const char *)8,
	};

	set_times(&j.start, &j.end);
	(void)stand_in_put(&j, sizeof(j));
}

EXPORT void stand_in_links(void)
{
	struct cupti_nvlink n = {
		.kind = CUPTI_NVLINK, .version = 4, .from_type = 1, .to_type = 1,
		.from = { 0xaa }, .to = { 0xbb }, .flags = CUPTI_LINK_PEER | CUPTI_LINK_ATOMICS,
		.links = 18,
	};
	struct cupti_pcie p = {
		.kind = CUPTI_PCIE, .id = 1, .domain = 2, .generation = 5, .rate = 32, .width = 16,
		.upstream_bus = 7, .of_type.uuid = { 0xaa },
	};

	/* The reader must free what CUPTI allocated. */
	if (stand_in_api() >= CUPTI_LINK_PORTS) {
		n.of_version.newer.ports[0] = calloc(18, sizeof(uint32_t));
		n.of_version.newer.ports[1] = calloc(18, sizeof(uint32_t));
		n.of_version.newer.bandwidth = 478000000;
	} else {
		n.of_version.older.bandwidth = 478000000;
	}
	(void)stand_in_put(&n, sizeof(n));
	n.to_type = 2;
	memcpy(n.to, &(uint32_t[2]){ 3, 4 }, 8);
	if (stand_in_api() >= CUPTI_LINK_PORTS)
		n.of_version.newer.ports[0] = n.of_version.newer.ports[1] = NULL;
	(void)stand_in_put(&n, sizeof(n));
	(void)stand_in_put(&p, sizeof(p));
	p.type = 1;
	p.of_type.secondary_bus = 9;
	(void)stand_in_put(&p, sizeof(p));
	p.type = 2;
	(void)stand_in_put(&p, sizeof(p));
}

EXPORT void stand_in_managed(uint32_t counter, uint64_t bytes)
{
	stand_in_managed_with(counter, bytes, counter == 1 ? 0 : 1, counter == 1 ? 1 : 0, 2);
}

static void put_managed(struct cupti_managed *m, size_t size)
{
	if (!stand_in_counts(m->counter))
		return;
	set_times(&m->start, &m->end);
	/* However slow the program, what comes next begins before its end. */
	m->end += 10000000;
	/* Undefined, so it is not to be read. */
	if (m->counter == 3 || m->counter == 5 || m->counter == 7)
		m->end = 1;
	(void)stand_in_put(m, size);
}

EXPORT void stand_in_managed_with(uint32_t counter, uint64_t value, uint32_t from, uint32_t to,
				  uint32_t flags)
{
	struct cupti_managed_masks m = {
		.managed = {
			.kind = CUPTI_MANAGED, .counter = counter, .value = value,
			.address = 0x7000, .from = from, .to = to, .flags = flags,
		},
	};

	put_managed(&m.managed, sizeof(m));
}

EXPORT void stand_in_thrashing(uint32_t first, uint32_t mask, uint32_t flags)
{
	struct cupti_managed_masks m = {
		.managed = {
			.kind = CUPTI_MANAGED, .counter = CUPTI_THRASHING, .value = 8192,
			.address = 0x7000, .from = first ? 0 : mask, .flags = flags,
		},
	};

	m.processors[first / 64] = (uint64_t)mask << first % 64;
	/* In newer versions the mask alone counts. */
	if (stand_in_api() >= CUPTI_PROCESSORS)
		m.managed.from = 1;
	put_managed(&m.managed, sizeof(m));
}

EXPORT void stand_in_overhead(uint32_t type)
{
	stand_in_overhead_with(type, 1000, NULL);
}

EXPORT void stand_in_overhead_with(uint32_t type, uint64_t ns, void *details)
{
	struct cupti_overhead_data o = {
		.overhead = { .kind = CUPTI_OVERHEAD, .type = type },
		.data = stand_in_api() >= CUPTI_OVERHEAD_DATA ? details : NULL,
	};

	set_times(&o.overhead.start, &o.overhead.end);
	if (o.overhead.start)
		o.overhead.end = o.overhead.start + ns;
	(void)stand_in_put(&o, sizeof(o));
}

EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t on);

EXPORT uint8_t stand_in_all_waits = 1;

int cuptiActivityEnableAllSyncRecords(uint8_t on)
{
	stand_in_all_waits = on;
	return 0;
}

EXPORT void stand_in_query(uint32_t corr, uint32_t stream)
{
	struct cupti_sync_id s = {
		.sync = {
			.kind = CUPTI_SYNC, .type = 1, .correlation = corr, .context = 3,
			.stream = stream, .event = 11,
		},
		.id = 1, .result = CUPTI_NOT_READY,
	};

	if (stand_in_api() < CUPTI_SYNC_IDS || (!stand_in_all_waits && !stand_in.queries))
		return;
	set_times(&s.sync.start, &s.sync.end);
	(void)stand_in_put(&s, sizeof(s));
}

EXPORT void stand_in_external(uint32_t corr, uint32_t kind, uint64_t id)
{
	const struct cupti_external e = {
		.kind = CUPTI_EXTERNAL, .external_kind = kind, .id = id, .correlation = corr,
	};

	(void)stand_in_put(&e, sizeof(e));
}

EXPORT void stand_in_device(uint32_t context)
{
	static const char name[] = "Stand-in \"1\"";
	const char *text = getenv("STAND_IN_SLICE");
	uint32_t slice = text ? (uint32_t)atol(text) : 0;
	const struct cupti_device d = {
		.kind = CUPTI_DEVICE, .bandwidth = 3352320000, .memory = 85000000000,
		.warp = 32, .clock = 1980000, .multiprocessors = 132, .warps_per_sm = 64,
		.blocks_per_sm = 32, .shared_per_sm = 233472, .registers_per_sm = 65536,
		.registers_per_block = 65536, .shared_per_block = 49152, .threads_per_block = 1024,
		.major = 9, .id = 1, .uuid = { 0xaa }, .mig = slice > 0,
		.name = stand_in_api() >= CUPTI_DEVICE_NAMES ? strdup(name) : name,
		.gpu_instance = slice ? slice + 6 : UINT32_MAX,
		.compute_instance = slice ? 0 : UINT32_MAX, .mig_uuid = { (uint8_t)slice },
	};
	const struct cupti_context c = { .kind = CUPTI_CONTEXT, .context = context, .device = 1 };

	(void)stand_in_put(&d, sizeof(d));
	(void)stand_in_put(&c, sizeof(c));
}
