// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Converts CUPTI's records. Called by one thread at a time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/cupti/managed.h"

#define ARGS		9u
#define METRICS		10u	/* arguments of a record of metrics */
#define EXTERNALS	8u
#define NAMED		2048u	/* graphs with a name of their own, by their ids */
#define USERS		4u	/* external ids of this kind are of ranges, not of ops */

/* Types of overheads, in their upper halves. */
#define OF_MODULES	4u	/* loading modules */
#define OF_FUNCTIONS	5u	/* loading functions when they are first launched */
#define OF_COMMANDS	6u	/* the device's queue is full */

enum key {
	KEY_GRID, KEY_BLOCK, KEY_CLUSTER, KEY_REGISTERS, KEY_SHARED, KEY_CHANNEL,
	KEY_LOCAL, KEY_RESULT, KEY_EXTERNAL, KEY_FROM, KEY_TO, KEY_VALUE, KEY_QUEUED, KEY_SUBMITTED,
	KEY_PASSES, NR_KEYS,
};

static const char *const key_texts[NR_KEYS] = {
	[KEY_GRID] = "grid", [KEY_BLOCK] = "block", [KEY_CLUSTER] = "cluster",
	[KEY_REGISTERS] = "registers per thread", [KEY_SHARED] = "shared memory",
	[KEY_CHANNEL] = "channel",
	[KEY_LOCAL] = "local memory per thread", [KEY_RESULT] = "result",
	[KEY_EXTERNAL] = "External id",
	[KEY_FROM] = "fromDevice", [KEY_TO] = "toDevice", [KEY_VALUE] = "value",
	[KEY_QUEUED] = "queued before start (ns)", [KEY_SUBMITTED] = "submitted before start (ns)",
	[KEY_PASSES] = "measured in passes",
};

static xsprof_name_t keys[NR_KEYS];

/* Records of external IDs come just before the call that they belong to. */
static struct {
	uint64_t	id;
	uint32_t	correlation;
} externals[EXTERNALS];
static uint32_t next_external;

void cupti_record_init(void)
{
	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(key_texts[i]);
}

/* Where the work ran: kinds of records have these members at different offsets. */
#define set_place(a, r) do {				\
	(a)->device = (r)->device;			\
	(a)->context = (r)->context;			\
	(a)->stream = (r)->stream;			\
	(a)->graph = (r)->graph;			\
	(a)->graph_node = (r)->graph_node;		\
} while (0)

/* What copies and sets have in common with each other. */
#define set_copy(a, r) do {				\
	set_place(a, r);				\
	(a)->bytes = (r)->bytes;			\
	cupti_bounds_work(a, (r)->start, (r)->end);	\
	cupti_context_is((r)->context, (r)->device);	\
	cupti_load_launch((r)->graph, (r)->correlation);	\
} while (0)

/* The node that the node of a launched graph was copied from. */
static void take_source(const void *record, uint64_t node, size_t at)
{
	uint64_t source;

	if (!node || cupti_version < CUPTI_GRAPH_SOURCES)
		return;
	memcpy(&source, (const uint8_t *)record + at, sizeof(source));
	cupti_nodes_source(node, source);
}

/* ---- work ------------------------------------------------------------------------------------ */

/*
 * Metrics of a measured kernel that have a finite value: as many records as are needed, with the
 * kernel's time; the first one has the number of passes.
 */
static void put_metrics(const struct xsprof_device_activity *kernel, const struct cupti_kernel *k)
{
	struct xsprof_device_activity a = *kernel;
	struct xsprof_kv kv[METRICS];
	struct cupti_values values;
	size_t n = 0;

	if (!cupti_metrics_by_kernel())
		return;
	/* All kernels of a graph have the correlation of its launch. */
	if (k->graph || !cupti_values_take(k->correlation, &values)) {
		cupti_miss(k->graph ? CUPTI_MISS_OF_GRAPHS :
			   cupti_values_none(k->name) ? CUPTI_MISS_OF_OTHERS :
			   CUPTI_MISS_OF_KERNELS, 1);
		return;
	}
	a.kind = XSPROF_GPU_METRICS;
	kv[n++] = xsprof_i64(keys[KEY_PASSES], values.passes);
	for (uint32_t i = 0; i < values.nr; i++) {
		if (isfinite(values.v[i].value))
			kv[n++] = xsprof_f64(values.v[i].metric->key, values.v[i].value);
		if (n == METRICS) {
			cupti_put(&a, kv, n);
			n = 0;
		}
	}
	if (n)
		cupti_put(&a, kv, n);
}

static void put_kernel(const struct cupti_kernel *k)
{
	const int32_t cluster[3] = {
		(int32_t)k->cluster[0], (int32_t)k->cluster[1], (int32_t)k->cluster[2],
	};
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	size_t n = 0;

	if (!cupti_work(&a, XSPROF_GPU_KERNEL, cupti_kernel_name(k->name), k->start, k->end,
			k->correlation)) {
		if (cupti_metrics_by_kernel())
			cupti_values_drop(k->correlation);
		return;
	}
	set_place(&a, k);
	cupti_bounds_work(&a, k->start, k->end);
	/* All fits into one record, except for the times on request. */
	kv[n++] = xsprof_i32s(keys[KEY_GRID], k->grid, 3);
	kv[n++] = xsprof_i32s(keys[KEY_BLOCK], k->block, 3);
	kv[n++] = xsprof_i64(keys[KEY_REGISTERS], k->registers);
	kv[n++] = xsprof_i64(keys[KEY_SHARED], (int64_t)k->static_shared + k->dynamic_shared);
	kv[n++] = xsprof_i64(keys[KEY_CHANNEL], k->channel);
	if (k->local_per_thread)
		kv[n++] = xsprof_i64(keys[KEY_LOCAL], k->local_per_thread);
	if (k->cluster[0] > 1 || k->cluster[1] > 1 || k->cluster[2] > 1)
		kv[n++] = xsprof_i32s(keys[KEY_CLUSTER], cluster, 3);
	/* Times on request; 0: CUPTI does not know them. */
	if (k->queued && k->queued <= k->start)
		kv[n++] = xsprof_i64(keys[KEY_QUEUED], (int64_t)(k->start - k->queued));
	if (k->submitted && k->submitted <= k->start)
		kv[n++] = xsprof_i64(keys[KEY_SUBMITTED], (int64_t)(k->start - k->submitted));
	cupti_context_is(k->context, k->device);
	cupti_load_launch(k->graph, k->correlation);
	take_source(k, k->graph_node, CUPTI_KERNEL_SOURCE);
	cupti_put(&a, kv, n);
	put_metrics(&a, k);
}

static xsprof_name_t copy_name(uint8_t kind, uint8_t from, uint8_t to)
{
	static const char *const ways[] = {
		"?", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP",
	};
	static const char *const memories[] = {
		"Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static",
		"Managed Static",
	};
	static xsprof_name_t names[ARRAY_SIZE(ways)][ARRAY_SIZE(memories)][ARRAY_SIZE(memories)];
	char text[80], *p;

	if (kind >= ARRAY_SIZE(ways))
		kind = 0;
	if (from >= ARRAY_SIZE(memories))
		from = 0;
	if (to >= ARRAY_SIZE(memories))
		to = 0;
	if (names[kind][from][to])
		return names[kind][from][to];
	p = stpcpy(stpcpy(stpcpy(text, "Memcpy "), ways[kind]), " (");
	p = stpcpy(stpcpy(stpcpy(p, memories[from]), " -> "), memories[to]);
	strcpy(p, ")");
	names[kind][from][to] = xsprof_name_in(cupti_category(), text);
	return names[kind][from][to];
}

static void put_memcpy(const struct cupti_memcpy *m)
{
	struct xsprof_device_activity a;
	struct xsprof_kv kv;

	if (!cupti_work(&a, XSPROF_GPU_MEMCPY, copy_name(m->copy_kind, m->from, m->to), m->start,
			m->end, m->correlation))
		return;
	set_copy(&a, m);
	kv = xsprof_i64(keys[KEY_CHANNEL], m->channel);
	take_source(m, m->graph_node, CUPTI_MEMCPY_SOURCE);
	cupti_put(&a, &kv, 1);
}

/* No version tells which node its node was copied from. */
static void put_memcpy_peer(const struct cupti_memcpy_peer *m)
{
	struct xsprof_device_activity a;
	struct xsprof_kv kv[3];

	if (!cupti_work(&a, XSPROF_GPU_MEMCPY, copy_name(m->copy_kind, m->from, m->to), m->start,
			m->end, m->correlation))
		return;
	set_copy(&a, m);
	kv[0] = xsprof_i64(keys[KEY_FROM], m->from_device);
	kv[1] = xsprof_i64(keys[KEY_TO], m->to_device);
	kv[2] = xsprof_i64(keys[KEY_CHANNEL], m->channel);
	cupti_put(&a, kv, 3);
}

static void put_memset(const struct cupti_memset *m)
{
	static xsprof_name_t names[8];
	static const char *const texts[8] = {
		"Memset (Unknown)", "Memset (Pageable)", "Memset (Pinned)", "Memset (Device)",
		"Memset (Array)", "Memset (Managed)", "Memset (Device Static)",
		"Memset (Managed Static)",
	};
	uint32_t memory = m->memory < 8 ? m->memory : 0;
	struct xsprof_device_activity a;
	struct xsprof_kv kv;

	if (!names[memory])
		names[memory] = xsprof_name_in(cupti_category(), texts[memory]);
	if (!cupti_work(&a, XSPROF_GPU_MEMSET, names[memory], m->start, m->end, m->correlation))
		return;
	set_copy(&a, m);
	kv = xsprof_i64(keys[KEY_VALUE], m->value);
	take_source(m, m->graph_node, CUPTI_MEMSET_SOURCE);
	cupti_put(&a, &kv, 1);
}

static void put_graph(const struct cupti_graph *g)
{
	struct xsprof_device_activity a;
	char text[32] = "CUDA graph";

	/* Names stay, and a program may make a graph for each step. */
	if (g->graph < NAMED)
		snprintf(text, sizeof(text), "CUDA graph %u", g->graph);
	if (!cupti_work(&a, XSPROF_GPU_GRAPH, xsprof_name_in(cupti_category(), text), g->start,
			g->end, g->correlation))
		return;
	a.device = g->device;
	a.context = g->context;
	a.stream = g->stream;
	a.graph = g->graph;
	cupti_bounds_work(&a, g->start, g->end);
	cupti_load_launch(g->graph, g->correlation);
	cupti_context_is(g->context, g->device);
	cupti_put(&a, NULL, 0);
}

static void keep_external(const struct cupti_external *e)
{
	if (e->external_kind == USERS)
		return;
	externals[next_external % EXTERNALS].id = e->id;
	externals[next_external++ % EXTERNALS].correlation = e->correlation;
}

static bool find_external(uint32_t correlation, uint64_t *id)
{
	for (uint32_t i = 1; i <= EXTERNALS && i <= next_external; i++) {
		if (externals[(next_external - i) % EXTERNALS].correlation == correlation) {
			*id = externals[(next_external - i) % EXTERNALS].id;
			return true;
		}
	}
	return false;
}

static void put_call(const struct cupti_call *c)
{
	bool driver = c->kind == CUPTI_DRIVER;
	xsprof_name_t name = cupti_call_name(driver ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME,
					     c->function);
	struct xsprof_device_activity a;
	struct xsprof_kv kv[2];
	uint64_t id;
	size_t n = 0;

	if (!name || !cupti_work(&a, driver ? XSPROF_GPU_DRIVER : XSPROF_GPU_RUNTIME, name,
				 c->start, c->end, c->correlation))
		return;
	a.thread = c->thread;
	cupti_bounds_call(c);
	if (find_external(c->correlation, &id))
		kv[n++] = xsprof_u64(keys[KEY_EXTERNAL], id);
	if (c->result)
		kv[n++] = xsprof_i64(keys[KEY_RESULT], c->result);
	cupti_put(&a, kv, n);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* The rest is the driver's own: it would be there without us. */
static bool is_of_cupti(uint32_t type)
{
	return type && type != OF_MODULES && type != OF_FUNCTIONS && type != OF_COMMANDS;
}

static void put_overhead(const struct cupti_overhead *o)
{
	static const char *const texts[] = {
		NULL, "Buffer Flush", "Instrumentation", "Resource",
		"Runtime Triggered Module Loading", "Lazy Function Loading", "Command Buffer Full",
		"Activity Buffer Request", "UVM Activity Init",
	};
	uint32_t type = o->type >> 16;
	const char *text = type && type < ARRAY_SIZE(texts) ? texts[type] :
			   o->type == 1 ? "Driver Compiler" : "Overhead";
	struct xsprof_device_activity a;

	if (cupti_version >= CUPTI_OVERHEAD_DATA)
		free(((const struct cupti_overhead_data *)o)->data);
	if (!cupti_work(&a, XSPROF_GPU_OVERHEAD, xsprof_name_in(cupti_category(), text), o->start,
			o->end, 0))
		return;
	if (is_of_cupti(type))
		cupti_load_overhead(o->end - o->start);
	cupti_put(&a, NULL, 0);
}

static void take(const void *record)
{
	uint32_t kind = *(const uint32_t *)record;

	switch (kind) {
	case CUPTI_KERNEL:
		put_kernel(record);
		break;
	case CUPTI_MEMCPY:
		put_memcpy(record);
		break;
	case CUPTI_MEMCPY_PEER:
		put_memcpy_peer(record);
		break;
	case CUPTI_MEMSET:
		put_memset(record);
		break;
	case CUPTI_DRIVER:
	case CUPTI_RUNTIME:
		put_call(record);
		break;
	case CUPTI_GRAPH:
		put_graph(record);
		break;
	case CUPTI_MEMORY:
		cupti_memory(record);
		break;
	case CUPTI_POOL:
		cupti_pools(record);
		break;
	case CUPTI_JIT:
		cupti_jit(record);
		break;
	case CUPTI_NVLINK:
		cupti_nvlink(record);
		break;
	case CUPTI_PCIE:
		cupti_pcie(record);
		break;
	case CUPTI_MANAGED:
		cupti_managed(record);
		break;
	case CUPTI_EVENT:
		cupti_event(record);
		break;
	case CUPTI_SYNC:
		cupti_wait(record);
		cupti_bounds_wait(record);
		break;
	case CUPTI_OVERHEAD:
		put_overhead(record);
		break;
	case CUPTI_EXTERNAL:
		keep_external(record);
		break;
	case CUPTI_DEVICE:
		cupti_device(record);
		break;
	case CUPTI_CONTEXT:
		cupti_context_is(((const struct cupti_context *)record)->context,
			     ((const struct cupti_context *)record)->device);
		break;
	default:
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
	}
}

/* Only CUPTI's own function knows the length of a record. */
void cupti_record_buffer(const struct gpu_buffer *buffer)
{
	void *record = NULL;
	uint32_t n = 0;
	int err;

	do {
		err = cupti.get_next(buffer->data, buffer->valid, &record);
		/* Texts of the rest were not kept: CUPTI was just given back. */
		if (!err && n++ == buffer->records)
			break;
		if (!err)
			take(record);
	} while (!err);
	if (err != CUPTI_MAX_LIMIT)
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
}
