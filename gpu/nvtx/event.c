// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Decodes event attributes into a name and arguments; records marks, and ranges that any thread may
 * end.
 *
 * The id of a started range contains its name and a number, so that its end needs no table.
 */
#include <stdio.h>

#define XSPROF_INLINE
#include "gpu/nvtx/local.h"

/* ---- attributes ------------------------------------------------------------------------------ */

xsprof_name_t nvtx_message(struct nvtx_thread *t, uint32_t category, int32_t type,
			   const void *message)
{
	switch (type) {
	case NVTX_MSG_NONE:
		return nvtx_text(t, category, NULL);
	case NVTX_MSG_ASCII:
		return nvtx_text(t, category, message);
	case NVTX_MSG_WIDE:
		return nvtx_wide(category, message);
	case NVTX_MSG_REGISTERED:
		if (nvtx_is(message, NVTX_TAG_STRING))
			return (xsprof_name_t)(uintptr_t)message;
		nvtx_miss(NVTX_MISS_STRING);
		return nvtx_text(t, category, NULL);
	default:
		nvtx_miss(NVTX_MISS_TYPE);
		return nvtx_text(t, category, NULL);
	}
}

/* The name table is full: the text becomes an argument, limited only by the record's size. */
static void add_text(struct nvtx_said *said, int32_t type, const void *message)
{
	const char *text = message;

	if (!message || (type != NVTX_MSG_ASCII && type != NVTX_MSG_WIDE))
		return;		/* a registered string was counted by the library */
	if (type == NVTX_MSG_WIDE) {
		nvtx_wide_text(said->text, sizeof(said->text), message);
		text = said->text;
	}
	said->kv[said->n++] = xsprof_str(XSPROF_NAME("name"), text);
}

static void add_category(struct nvtx_said *said, uint32_t domain, uint32_t id)
{
	xsprof_name_t name;

	if (!id)
		return;
	name = nvtx_category_name(domain, id);
	said->kv[said->n++] = name ? xsprof_namev(XSPROF_NAME("category"), name) :
				     xsprof_u64(XSPROF_NAME("category"), id);
}

static void add_color(struct nvtx_said *said, int32_t type, uint32_t color)
{
	if (!type)
		return;
	if (type != NVTX_COLOR_TYPE_ARGB) {
		nvtx_miss(NVTX_MISS_TYPE);
		return;
	}
	snprintf(said->color, sizeof(said->color), "#%08x", color);
	said->kv[said->n++] = xsprof_str(XSPROF_NAME("color"), said->color);
}

static void add_payload(struct nvtx_said *said, struct nvtx_domain domain,
			const struct nvtx_event *event)
{
	struct xsprof_kv *kv = &said->kv[said->n];
	xsprof_name_t key = XSPROF_NAME("payload");

	switch (event->payload_type) {
	case NVTX_PAYLOAD_NONE:
		return;
	case NVTX_PAYLOAD_U64:
		*kv = xsprof_u64(key, event->payload.u64);
		break;
	case NVTX_PAYLOAD_I64:
		*kv = xsprof_i64(key, event->payload.i64);
		break;
	case NVTX_PAYLOAD_F64:
		*kv = xsprof_f64(key, event->payload.f64);
		break;
	case NVTX_PAYLOAD_U32:
		*kv = xsprof_u64(key, event->payload.u32);
		break;
	case NVTX_PAYLOAD_I32:
		*kv = xsprof_i64(key, event->payload.i32);
		break;
	case NVTX_PAYLOAD_F32:
		*kv = xsprof_f64(key, (double)event->payload.f32);
		break;
	case NVTX_PAYLOAD_EXT:
		nvtx_read_payloads(said, domain,
				   (const struct nvtx_payload *)(uintptr_t)event->payload.u64,
				   (uint32_t)event->reserved);
		return;
	default:
		nvtx_miss(NVTX_MISS_TYPE);
		return;
	}
	said->n++;
}

void nvtx_read_event(struct nvtx_thread *t, struct nvtx_domain domain,
		     const struct nvtx_event *event, struct nvtx_said *said)
{
	struct nvtx_event whole = { .size = 0 };

	said->n = 0;
	/* Nothing beyond @event->size is read: a field that it cuts counts as absent. */
	if (unlikely(event && event->size < sizeof(*event))) {
		nvtx_miss(NVTX_MISS_SIZE);
		memcpy(&whole, event, event->size);
		if (whole.size < offsetof(struct nvtx_event, message_type)) {
			whole.payload_type = NVTX_PAYLOAD_NONE;
			if (whole.size < offsetof(struct nvtx_event, payload_type))
				whole.color_type = 0;
			if (whole.size < offsetof(struct nvtx_event, color_type))
				whole.category = 0;
		}
		whole.message_type = NVTX_MSG_NONE;
		event = &whole;
	}
	if (!event)
		event = &whole;
	/* 0: nvtx_read_payloads() may take the name from a payload. */
	said->name = 0;
	if (event->message_type != NVTX_MSG_NONE)
		said->name = nvtx_message(t, domain.category, event->message_type, event->message);
	if (unlikely(nvtx_no_room(said->name)))
		add_text(said, event->message_type, event->message);
	add_category(said, domain.index, event->category);
	add_color(said, event->color_type, event->color);
	add_payload(said, domain, event);
	if (!said->name)
		said->name = nvtx_text(t, domain.category, NULL);
}

/* ---- marks ----------------------------------------------------------------------------------- */

void nvtx_mark_said(const struct nvtx_said *said)
{
	if (!xsprof_wants(said->name))
		return;
	if (said->n)
		xsprof_instant_args(said->name, said->kv, said->n);
	else
		xsprof_instant(said->name);
}

static void domain_mark_ex(const void *domain, const struct nvtx_event *event)
{
	struct nvtx_domain d = nvtx_domain_of(domain);
	struct nvtx_thread *t = nvtx_thread_get();
	struct nvtx_said said;
	xsprof_name_t name;

	if (unlikely(!t))
		return;
	if (likely(nvtx_is_plain(event))) {
		name = nvtx_plain_name(t, d.category, event);
		if (likely(!nvtx_no_room(name))) {
			xsprof_instant(name);
			return;
		}
	}
	nvtx_read_event(t, d, event, &said);
	nvtx_mark_said(&said);
}

static void mark_ex(const struct nvtx_event *event)
{
	domain_mark_ex(NULL, event);
}

static void mark(const char *text)
{
	struct nvtx_event event = nvtx_text_event(NVTX_MSG_ASCII, text);

	domain_mark_ex(NULL, &event);
}

static void mark_wide(const void *text)
{
	struct nvtx_event event = nvtx_text_event(NVTX_MSG_WIDE, text);

	domain_mark_ex(NULL, &event);
}

/* ---- ranges of the process ------------------------------------------------------------------- */

static uint32_t last;	/* number of the last started range */

/* Never 0, which NVTX returns to programs without a tool. */
static uint64_t new_id(xsprof_name_t name)
{
	return (uint64_t)name << 32 | __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* The begin record of an asynchronous range holds no arguments: they get a record of their own. */
void nvtx_note_attributes(struct nvtx_domain domain, uint64_t id, const struct nvtx_said *said)
{
	struct xsprof_kv kv[1 + NVTX_ARGS];

	if (!said->n || !xsprof_wants(said->name))
		return;
	kv[0] = xsprof_u64(XSPROF_NAME("id"), id);
	memcpy(&kv[1], said->kv, said->n * sizeof(kv[0]));
	xsprof_instant_args(xsprof_name_in((int)domain.category, "attributes"), kv, 1 + said->n);
}

uint64_t nvtx_start_said(struct nvtx_domain domain, const struct nvtx_said *said)
{
	uint64_t id = new_id(said->name);

	xsprof_async_begin(said->name, id);
	nvtx_note_attributes(domain, id, said);
	return id;
}

static uint64_t domain_start_ex(const void *domain, const struct nvtx_event *event)
{
	struct nvtx_domain d = nvtx_domain_of(domain);
	struct nvtx_thread *t = nvtx_thread_get();
	struct nvtx_said said;

	if (unlikely(!t))
		return 0;
	nvtx_read_event(t, d, event, &said);
	return nvtx_start_said(d, &said);
}

static uint64_t start_ex(const struct nvtx_event *event)
{
	return domain_start_ex(NULL, event);
}

static uint64_t start(const char *text)
{
	struct nvtx_event event = nvtx_text_event(NVTX_MSG_ASCII, text);

	return domain_start_ex(NULL, &event);
}

static uint64_t start_wide(const void *text)
{
	struct nvtx_event event = nvtx_text_event(NVTX_MSG_WIDE, text);

	return domain_start_ex(NULL, &event);
}

void nvtx_end(uint64_t id)
{
	xsprof_name_t name = (xsprof_name_t)(id >> 32);

	/* Relaxed: the thread that ends a range has its id.  Readers report a second end. */
	if (unlikely(!name || !(uint32_t)id ||
		     (uint32_t)id > __atomic_load_n(&last, __ATOMIC_RELAXED)))
		nvtx_miss(NVTX_MISS_END);
	else
		xsprof_async_end(name, id);
}

static void domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	nvtx_end(id);
}

const struct nvtx_entry nvtx_event_entries[] = {
	NVTX_ENTRY(NVTX_CORE, NVTX_MARK_EX, mark_ex),
	NVTX_ENTRY(NVTX_CORE, NVTX_MARK_A, mark),
	NVTX_ENTRY(NVTX_CORE, NVTX_MARK_W, mark_wide),
	NVTX_ENTRY(NVTX_CORE, NVTX_START_EX, start_ex),
	NVTX_ENTRY(NVTX_CORE, NVTX_START_A, start),
	NVTX_ENTRY(NVTX_CORE, NVTX_START_W, start_wide),
	NVTX_ENTRY(NVTX_CORE, NVTX_END, nvtx_end),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_MARK_EX, domain_mark_ex),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_START_EX, domain_start_ex),
	NVTX_ENTRY(NVTX_CORE2, NVTX_DOMAIN_END, domain_end),
	{ 0, 0, NULL }
};
