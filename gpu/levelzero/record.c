// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Converts PTI's records into ours. Called by one thread at a time.
 */
#include "gpu/levelzero/local.h"

#define ARGS		4u

enum key {
	KEY_SOURCE, KEY_LINE, KEY_QUEUED, KEY_SUBMITTED, KEY_RESULT, KEY_TO, KEY_VALUE, NR_KEYS,
};

static const char *const key_texts[NR_KEYS] = {
	[KEY_SOURCE] = "source", [KEY_LINE] = "line", [KEY_QUEUED] = "queued before start (ns)",
	[KEY_SUBMITTED] = "submitted before start (ns)", [KEY_RESULT] = "result",
	[KEY_TO] = "toDevice", [KEY_VALUE] = "value",
};

static xsprof_name_t keys[NR_KEYS];

void levelzero_record_init(void)
{
	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(key_texts[i]);
}

/* ---- work ------------------------------------------------------------------------------------ */

/*
 * Sets device, context and stream. A macro, as each kind of record has these members at its own
 * offsets.
 */
#define set_place(a, r) do {								\
	struct levelzero_place place_ = levelzero_place((r)->uuid, (r)->address,	\
							(r)->context, (r)->queue,	\
							(r)->sycl_queue);		\
											\
	(a)->device = place_.device;							\
	(a)->context = place_.context;							\
	(a)->stream = place_.stream;							\
} while (0)

/* Times unknown to PTI are 0. */
static size_t put_times(struct xsprof_kv *kv, uint64_t start, uint64_t appended, uint64_t submitted)
{
	size_t n = 0;

	if (appended && appended <= start)
		kv[n++] = xsprof_i64(keys[KEY_QUEUED], (int64_t)(start - appended));
	if (submitted && submitted <= start)
		kv[n++] = xsprof_i64(keys[KEY_SUBMITTED], (int64_t)(start - submitted));
	return n;
}

static void put_kernel(const struct pti_kernel *k)
{
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	size_t n;

	if (!levelzero_work(&a, XSPROF_GPU_KERNEL,
			    xsprof_name_in(levelzero_category(), k->name ? k->name : "(no name)"),
			    k->start, k->end, k->correlation))
		return;
	set_place(&a, k);
	n = put_times(kv, k->start, k->appended, k->submitted);
	if (k->file && *k->file) {
		kv[n++] = xsprof_str(keys[KEY_SOURCE], k->file);
		kv[n++] = xsprof_u64(keys[KEY_LINE], k->line);
	}
	levelzero_put(&a, kv, n);
}

/* M: pageable host memory (malloc()); H: host memory of the driver; D: device memory; S: shared. */
static xsprof_name_t copy_name(uint32_t from, uint32_t to, bool peer)
{
	static const char letters[] = "MHDS?";
	static const char *const memories[] = { "Memory", "Host", "Device", "Shared", "Unknown" };
	static xsprof_name_t names[ARRAY_SIZE(memories)][ARRAY_SIZE(memories)][2];
	char text[80] = "Memcpy PtoP (", *p = text + strlen(text);

	from = from < ARRAY_SIZE(memories) ? from : ARRAY_SIZE(memories) - 1;
	to = to < ARRAY_SIZE(memories) ? to : ARRAY_SIZE(memories) - 1;
	if (names[from][to][peer])
		return names[from][to][peer];
	if (!peer) {
		text[strlen("Memcpy ")] = letters[from];
		text[strlen("Memcpy Pto")] = letters[to];
	}
	p = stpcpy(stpcpy(stpcpy(p, memories[from]), " -> "), memories[to]);
	strcpy(p, ")");
	names[from][to][peer] = xsprof_name_in(levelzero_category(), text);
	return names[from][to][peer];
}

static void put_copy(const struct pti_copy *c)
{
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];

	if (!levelzero_work(&a, XSPROF_GPU_MEMCPY, copy_name(c->from, c->to, false), c->start,
			    c->end, c->correlation))
		return;
	set_place(&a, c);
	a.bytes = c->bytes;
	levelzero_put(&a, kv, put_times(kv, c->start, c->appended, c->submitted));
}

static void put_copy_peer(const struct pti_copy_peer *c)
{
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	size_t n;

	if (!levelzero_work(&a, XSPROF_GPU_MEMCPY, copy_name(c->from, c->to, true), c->start,
			    c->end, c->correlation))
		return;
	set_place(&a, c);
	a.bytes = c->bytes;
	n = put_times(kv, c->start, c->appended, c->submitted);
	kv[n++] = xsprof_u64(keys[KEY_TO], levelzero_device(c->to_uuid, c->to_address));
	levelzero_put(&a, kv, n);
}

static void put_fill(const struct pti_fill *f)
{
	static const char *const texts[] = {
		"Memset (Memory)", "Memset (Host)", "Memset (Device)", "Memset (Shared)",
		"Memset (Unknown)",
	};
	static xsprof_name_t names[ARRAY_SIZE(texts)];
	uint32_t memory = f->memory < ARRAY_SIZE(texts) ? f->memory : ARRAY_SIZE(texts) - 1;
	struct xsprof_device_activity a;
	struct xsprof_kv kv[ARGS];
	size_t n;

	if (!names[memory])
		names[memory] = xsprof_name_in(levelzero_category(), texts[memory]);
	if (!levelzero_work(&a, XSPROF_GPU_MEMSET, names[memory], f->start, f->end, f->correlation))
		return;
	set_place(&a, f);
	a.bytes = f->bytes;
	n = put_times(kv, f->start, f->appended, f->submitted);
	kv[n++] = xsprof_u64(keys[KEY_VALUE], f->value);
	levelzero_put(&a, kv, n);
}

static void put_call(const struct pti_call *c)
{
	bool driver = c->kind == PTI_DRIVER_CALL;
	struct xsprof_device_activity a;
	struct xsprof_kv kv;

	if (!levelzero_work(&a, driver ? XSPROF_GPU_DRIVER : XSPROF_GPU_RUNTIME,
			    levelzero_call_name(c->group, c->function), c->start, c->end,
			    c->correlation))
		return;
	a.thread = c->thread;
	kv = xsprof_u64(keys[KEY_RESULT], c->result);
	levelzero_put(&a, &kv, driver && c->result);
}

/* ---- what a buffer holds --------------------------------------------------------------------- */

static void take(const void *record)
{
	switch (*(const uint32_t *)record) {
	case PTI_KERNEL:
		put_kernel(record);
		break;
	case PTI_COPY:
		put_copy(record);
		break;
	case PTI_COPY_PEER:
		put_copy_peer(record);
		break;
	case PTI_FILL:
		put_fill(record);
		break;
	case PTI_DRIVER_CALL:
	case PTI_RUNTIME_CALL:
		put_call(record);
		break;
	case PTI_SYNC:
		levelzero_wait(record);
		break;
	default:
		levelzero_miss(LEVELZERO_MISS_UNKNOWN, 1);
	}
}

/* Only PTI knows the length of a record, and it does not check the end of the buffer. */
static void take_buffer(const struct gpu_buffer *buffer)
{
	void *record = NULL;
	int err;

	do {
		err = pti.get_next(buffer->data, buffer->valid, &record);
		if (!err && (uint8_t *)record - buffer->data >= (ptrdiff_t)buffer->valid)
			err = PTI_NOT_IMPLEMENTED;
		if (!err)
			take(record);
	} while (!err);
	if (err != PTI_END_OF_BUFFER)
		levelzero_miss(LEVELZERO_MISS_REST, 1);
}

void levelzero_drain(void)
{
	struct gpu_buffer buffer;

	while (levelzero_pool_take(&buffer)) {
		take_buffer(&buffer);
		levelzero_pool_give(&buffer);
	}
	levelzero_wait_settle();
}
