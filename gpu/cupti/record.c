// SPDX-License-Identifier: LGPL-2.1-only
/*
 * CUPTI's records into ours.  Called by one thread at a time.
 */
#include "gpu/cupti/local.h"

#define ARGS		8u
#define EXTERNALS	8u
#define USERS		4u	/* external ids of this kind are of ranges, not of ops */

enum key {
	KEY_GRID, KEY_BLOCK, KEY_CLUSTER, KEY_REGISTERS, KEY_SHARED, KEY_CHANNEL,
	KEY_LOCAL, KEY_RESULT, KEY_EXTERNAL, KEY_EVENT, KEY_FROM, KEY_TO, KEY_VALUE, NR_KEYS,
};

static const char *const key_texts[NR_KEYS] = {
	[KEY_GRID] = "grid", [KEY_BLOCK] = "block", [KEY_CLUSTER] = "cluster",
	[KEY_REGISTERS] = "registers per thread", [KEY_SHARED] = "shared memory",
	[KEY_CHANNEL] = "channel",
	[KEY_LOCAL] = "local memory per thread", [KEY_RESULT] = "result",
	[KEY_EXTERNAL] = "External id", [KEY_EVENT] = "wait_on_cuda_event_id",
	[KEY_FROM] = "fromDevice", [KEY_TO] = "toDevice", [KEY_VALUE] = "value",
};

static xsprof_name_t keys[NR_KEYS];

/* The program's own ids come just before the call that they belong to. */
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

static void put(const struct xsprof_device_activity *a, const struct xsprof_kv *kv, size_t n)
{
	if (!collect_put(a, kv, n))
		cupti_miss(CUPTI_MISS_OFF, 1);
}

static struct xsprof_device_activity work(uint32_t kind, xsprof_name_t name, uint64_t start,
					  uint64_t end, uint32_t correlation)
{
	return (struct xsprof_device_activity){
		.size = sizeof(struct xsprof_device_activity), .kind = kind, .name = name,
		.begin = collect_clock_ticks(start), .end = collect_clock_ticks(end),
		.correlation = correlation,
	};
}

void cupti_record_start(uint64_t begin)
{
	const struct xsprof_device_activity a = {
		.size = sizeof(a), .kind = XSPROF_GPU_OVERHEAD, .begin = begin, .end = xsprof_now(),
		.name = xsprof_name_in(cupti_category(), "Start of CUPTI"),
	};

	put(&a, NULL, 0);
}

/* CUPTI has none for what it had no room for on the device. */
static bool has_times(uint64_t start, uint64_t end)
{
	if (start && end >= start)
		return true;
	cupti_miss(CUPTI_MISS_NO_TIME, 1);
	return false;
}

/* Where the work ran: the records have the same members, each kind at its own offsets. */
#define set_place(a, r) do {				\
	(a)->device = (r)->device;			\
	(a)->context = (r)->context;			\
	(a)->stream = (r)->stream;			\
	(a)->graph = (r)->graph;			\
	(a)->graph_node = (r)->graph_node;		\
} while (0)

/* ---- waits ----------------------------------------------------------------------------------- */

#define HELD		256u

/* Those in contexts that are not known yet: their device is not. */
static struct cupti_sync held[HELD];
static uint32_t nr_held;

static void put_sync(const struct cupti_sync *s, uint32_t device)
{
	static const char *const texts[] = {
		"Synchronization", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync",
	};
	static xsprof_name_t names[ARRAY_SIZE(texts)];
	uint32_t type = s->type < ARRAY_SIZE(texts) ? s->type : 0;
	struct xsprof_device_activity a;
	struct xsprof_kv kv;

	if (!has_times(s->start, s->end))
		return;
	if (!names[type])
		names[type] = xsprof_name_in(cupti_category(), texts[type]);
	a = work(XSPROF_GPU_SYNC, names[type], s->start, s->end, s->correlation);
	a.device = device;
	a.context = s->context;
	a.stream = s->stream;
	kv = xsprof_i64(keys[KEY_EVENT], s->event);
	put(&a, &kv, s->event && s->event != UINT32_MAX);
}

static void take_sync(const struct cupti_sync *s)
{
	uint32_t device;

	if (cupti_device_of(s->context, &device))
		put_sync(s, device);
	else if (nr_held < HELD)
		held[nr_held++] = *s;
	else
		cupti_miss(CUPTI_MISS_CONTEXT, 1);
}

/* Where it was not known, waits may have been held for it. */
static void know_context(uint32_t context, uint32_t device)
{
	uint32_t kept = 0;

	if (!cupti_context_is(context, device))
		return;
	for (uint32_t i = 0; i < nr_held; i++)
		if (held[i].context == context)
			put_sync(&held[i], device);
		else
			held[kept++] = held[i];
	nr_held = kept;
}

void cupti_record_end(void)
{
	cupti_miss(CUPTI_MISS_CONTEXT, nr_held);
	nr_held = 0;
}

/* ---- work ------------------------------------------------------------------------------------ */

static void put_kernel(const struct cupti_kernel *k)
{
	const int32_t cluster[3] = {
		(int32_t)k->cluster[0], (int32_t)k->cluster[1], (int32_t)k->cluster[2],
	};
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	size_t n = 0;

	if (!has_times(k->start, k->end))
		return;
	a = work(XSPROF_GPU_KERNEL, cupti_kernel_name(k->name), k->start, k->end, k->correlation);
	set_place(&a, k);
	/* All of it fits into one record. */
	kv[n++] = xsprof_i32s(keys[KEY_GRID], k->grid, 3);
	kv[n++] = xsprof_i32s(keys[KEY_BLOCK], k->block, 3);
	kv[n++] = xsprof_i64(keys[KEY_REGISTERS], k->registers);
	kv[n++] = xsprof_i64(keys[KEY_SHARED], (int64_t)k->static_shared + k->dynamic_shared);
	kv[n++] = xsprof_i64(keys[KEY_CHANNEL], k->channel);
	if (k->local_per_thread)
		kv[n++] = xsprof_i64(keys[KEY_LOCAL], k->local_per_thread);
	if (k->cluster[0] > 1 || k->cluster[1] > 1 || k->cluster[2] > 1)
		kv[n++] = xsprof_i32s(keys[KEY_CLUSTER], cluster, 3);
	know_context(k->context, k->device);
	put(&a, kv, n);
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

	if (!has_times(m->start, m->end))
		return;
	a = work(XSPROF_GPU_MEMCPY, copy_name(m->copy_kind, m->from, m->to), m->start, m->end,
		 m->correlation);
	set_place(&a, m);
	a.bytes = m->bytes;
	kv = xsprof_i64(keys[KEY_CHANNEL], m->channel);
	know_context(m->context, m->device);
	put(&a, &kv, 1);
}

static void put_memcpy_peer(const struct cupti_memcpy_peer *m)
{
	struct xsprof_device_activity a;
	struct xsprof_kv kv[2];

	if (!has_times(m->start, m->end))
		return;
	a = work(XSPROF_GPU_MEMCPY, copy_name(m->copy_kind, m->from, m->to), m->start, m->end,
		 m->correlation);
	set_place(&a, m);
	a.bytes = m->bytes;
	kv[0] = xsprof_i64(keys[KEY_FROM], m->from_device);
	kv[1] = xsprof_i64(keys[KEY_TO], m->to_device);
	put(&a, kv, 2);
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

	if (!has_times(m->start, m->end))
		return;
	if (!names[memory])
		names[memory] = xsprof_name_in(cupti_category(), texts[memory]);
	a = work(XSPROF_GPU_MEMSET, names[memory], m->start, m->end, m->correlation);
	set_place(&a, m);
	a.bytes = m->bytes;
	kv = xsprof_i64(keys[KEY_VALUE], m->value);
	know_context(m->context, m->device);
	put(&a, &kv, 1);
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

	if (!name || !has_times(c->start, c->end))
		return;
	a = work(driver ? XSPROF_GPU_DRIVER : XSPROF_GPU_RUNTIME, name, c->start, c->end,
		 c->correlation);
	a.thread = c->thread;
	if (find_external(c->correlation, &id))
		kv[n++] = xsprof_u64(keys[KEY_EXTERNAL], id);
	if (c->result)
		kv[n++] = xsprof_i64(keys[KEY_RESULT], c->result);
	put(&a, kv, n);
}

/* ---- what a buffer holds --------------------------------------------------------------------- */

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

	if (!has_times(o->start, o->end))
		return;
	a = work(XSPROF_GPU_OVERHEAD, xsprof_name_in(cupti_category(), text), o->start, o->end, 0);
	put(&a, NULL, 0);
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
	case CUPTI_SYNC:
		take_sync(record);
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
		know_context(((const struct cupti_context *)record)->context,
			     ((const struct cupti_context *)record)->device);
		break;
	default:
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
	}
}

/* Only CUPTI's own function knows how long a record is. */
void cupti_record_buffer(const struct cupti_buffer *buffer)
{
	void *record = NULL;
	int err;

	do {
		err = cupti.get_next(buffer->data, buffer->valid, &record);
		if (!err)
			take(record);
	} while (!err);
	if (err != CUPTI_MAX_LIMIT)
		cupti_miss(CUPTI_MISS_UNKNOWN, 1);
}
