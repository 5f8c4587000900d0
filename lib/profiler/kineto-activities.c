// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Activities timed by the program: each is written as one SPAN with its stated times, in the order
 * of addition. Owns those not written yet; takes no lock, as only one thread at a time uses them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/kineto.h>

#include "base/clock.h"
#include "profiler/own-producer.h"
#include "profiler/session.h"
#include "ring/pack.h"
#include "text/json-valid.h"

/* Bytes of arguments that 64 records hold, however they are split. */
#define METADATA_MAX	8000u
/* overhead of a piece: header and padding */
#define PIECE		32u
#define SIZE_SANE	4096u

struct metadata {
	struct metadata	*next;
	xsprof_name_t	key;
	uint8_t		flags;
	uint32_t	len;
	char		text[];
};

struct activity {
	uint64_t	start;
	uint64_t	end;
	uint64_t	correlation;
	struct metadata	*first;
	struct metadata	*last;
	xsprof_name_t	name;
	uint32_t	type;
	int32_t		device;
	int32_t		resource;
	uint32_t	metadata;	/* bytes */
};

struct xsprof_kineto_cpu_trace {
	struct activity	*list;
	size_t		nr;
	size_t		room;
	xsprof_name_t	name;		/* name of its span, 0 for none */
	uint64_t	start;
};

static xsprof_name_t name_of(const char *text)
{
	return xsprof_name_in(xsprof_category("profiler"), text);
}

/* ---- collected ------------------------------------------------------------------------------ */

struct xsprof_kineto_cpu_trace *xsprof_kineto_cpu_trace_new(const char *name, uint64_t start_ns)
{
	int saved = errno;
	struct xsprof_kineto_cpu_trace *trace = calloc(1, sizeof(*trace));

	if (trace) {
		trace->name = name && *name ? name_of(name) : 0;
		trace->start = start_ns;
	}
	errno = saved;
	return trace;
}

static void empty(struct xsprof_kineto_cpu_trace *trace)
{
	for (size_t i = 0; i < trace->nr; i++) {
		struct metadata *m = trace->list[i].first, *next;

		for (; m; m = next) {
			next = m->next;
			free(m);
		}
	}
	free(trace->list);
	trace->list = NULL;
	trace->nr = trace->room = 0;
}

void xsprof_kineto_cpu_trace_free(struct xsprof_kineto_cpu_trace *trace)
{
	if (trace)
		empty(trace);
	free(trace);
}

size_t xsprof_kineto_cpu_trace_size(const struct xsprof_kineto_cpu_trace *trace)
{
	return trace ? trace->nr : 0;
}

/* Return: 0; -EINVAL; -E2BIG: a field is set that this library does not know. */
static int check(const struct xsprof_kineto_activity *a)
{
	if (!a || a->size < sizeof(*a))
		return -EINVAL;
	if (a->size > SIZE_SANE)
		return -E2BIG;
	for (size_t i = sizeof(*a); i < a->size; i++)
		if (((const char *)a)[i])
			return -E2BIG;
	if (!a->name || a->type >= XSPROF_ACTIVITY_TYPES)
		return -EINVAL;
	if (a->type != XSPROF_ACTIVITY_TYPE_CPU_INSTANT_EVENT && a->end_ns < a->start_ns)
		return -EINVAL;
	return 0;
}

static bool grow(struct xsprof_kineto_cpu_trace *trace)
{
	size_t room = trace->room ? 2 * trace->room : 64;
	void *list = reallocarray(trace->list, room, sizeof(*trace->list));

	if (!list)
		return false;
	trace->list = list;
	trace->room = room;
	return true;
}

int64_t xsprof_kineto_add_cpu_activity(struct xsprof_kineto_cpu_trace *trace,
				       const struct xsprof_kineto_activity *activity)
{
	int saved = errno, err = trace ? check(activity) : -EINVAL;
	bool instant;

	if (err)
		return err;
	if (trace->nr == trace->room && !grow(trace)) {
		errno = saved;
		return -ENOMEM;
	}
	instant = activity->type == XSPROF_ACTIVITY_TYPE_CPU_INSTANT_EVENT;
	trace->list[trace->nr] = (struct activity){
		.start = activity->start_ns,
		.end = instant ? activity->start_ns : activity->end_ns,
		.correlation = activity->correlation_id, .name = name_of(activity->name),
		.type = activity->type, .device = activity->device,
		.resource = activity->resource,
	};
	errno = saved;
	return (int64_t)trace->nr++;
}

static int add_metadata(struct xsprof_kineto_cpu_trace *trace, int64_t number, const char *key,
			const char *text, uint8_t flags)
{
	size_t len = strlen(text), cost = len + PIECE + len / 128 * PIECE;
	struct activity *a = &trace->list[number];
	struct metadata *m;

	if (len > METADATA_MAX || a->metadata + cost > METADATA_MAX + METADATA_MAX / 4)
		return -E2BIG;
	m = malloc(sizeof(*m) + len);
	if (!m)
		return -ENOMEM;
	*m = (struct metadata){ .key = name_of(key), .flags = flags, .len = (uint32_t)len };
	memcpy(m->text, text, len);
	*(a->last ? &a->last->next : &a->first) = m;
	a->last = m;
	a->metadata += (uint32_t)cost;
	return 0;
}

static int metadata(struct xsprof_kineto_cpu_trace *trace, int64_t number, const char *key,
		    const char *text, uint8_t flags)
{
	int saved = errno, err = -EINVAL;

	if (trace && number >= 0 && (uint64_t)number < trace->nr && key && *key && text)
		err = flags && !xsp_json_valid(text) ? -EINVAL :
		      add_metadata(trace, number, key, text, flags);
	errno = saved;
	return err;
}

int xsprof_kineto_add_activity_metadata(struct xsprof_kineto_cpu_trace *trace, int64_t number,
					const char *key, const char *value)
{
	return metadata(trace, number, key, value, 0);
}

int xsprof_kineto_add_activity_metadata_json(struct xsprof_kineto_cpu_trace *trace,
					     int64_t number, const char *key, const char *json)
{
	return metadata(trace, number, key, json, XSPROF_ARGF_JSON);
}

/* ---- transferred ---------------------------------------------------------------------------- */

/* Two sync points, at the begin and the end of the trace. */
struct scale {
	struct xsprof_sync	from;
	struct xsprof_sync	to;
};

/* Converts CLOCK_REALTIME to ticks; earlier times become 0. */
static uint64_t ticks_of(const struct scale *s, uint64_t real)
{
	__int128 ns = (__int128)real - s->to.real + s->to.mono - s->from.mono, ticks;
	uint64_t mono = s->to.mono - s->from.mono;

	/* If the points coincide there is no slope: 1 ns per tick. */
	ticks = mono ? ns * (__int128)(s->to.ticks - s->from.ticks) / mono : ns;
	ticks += s->from.ticks;
	if (ticks < 0)
		return 0;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static void start_span(struct xsp_pack *p, const struct scale *s, xsprof_name_t name,
		       uint64_t id, uint64_t start, uint64_t end)
{
	p->records = 0;
	xsp_pack_start(p, xsp_hdr(xsp_this_tid(), XSPROF_REC_SPAN, 0), name, id);
	p->word[2] = ticks_of(s, start);
	p->word[3] = ticks_of(s, end);
	p->word[4] = p->word[5] = 0;
	p->used = 48;
}

static void put_value(struct xsp_pack *p, xsprof_name_t key, uint8_t type, uint64_t value)
{
	struct xsprof_arg arg = { .key = key, .type = type, .value = value };

	xsp_pack_whole(p, &arg, "");
}

static void put_place(struct xsp_pack *p, const char *type, int64_t device, int64_t resource)
{
	put_value(p, XSPROF_KEY_ACTIVITY, XSPROF_ARG_NAME, name_of(type));
	put_value(p, XSPROF_KEY_DEVICE, XSPROF_ARG_I64, (uint64_t)device);
	put_value(p, XSPROF_KEY_RESOURCE, XSPROF_ARG_I64, (uint64_t)resource);
}

/* Return: number of records written. */
static unsigned int put_activity(const struct scale *s, const struct activity *a)
{
	struct xsp_pack p;

	start_span(&p, s, a->name, a->correlation, a->start, a->end);
	put_place(&p, xsprof_kineto_activity_name(a->type), a->device, a->resource);
	for (const struct metadata *m = a->first; m; m = m->next)
		if (!xsp_pack_long(&p, m->key, XSPROF_ARG_STR, m->flags, m->text, m->len))
			break;
	xsp_pack_write(&p, false);
	return p.records;
}

static void put_span(const struct scale *s, const struct xsprof_kineto_cpu_trace *trace,
		     uint64_t end)
{
	struct xsprof_kineto_place ids = xsprof_kineto_ids();
	struct xsp_pack p;

	start_span(&p, s, trace->name, 0, trace->start, end > trace->start ? end : trace->start);
	put_place(&p, "Trace", ids.device, ids.resource);
	put_value(&p, name_of("Op count"), XSPROF_ARG_U64, trace->nr);
	xsp_pack_write(&p, false);
}

/*
 * Many records at once would overwrite each other before they are read: wait for the readers after
 * a quarter of a ring.
 */
static void wait_for_readers(void)
{
	xsp_session_catch_up();
	if (!xsp_own_producer_exists())
		(void)xsprof_flush(1000);
}

int xsprof_kineto_transfer_cpu_trace(struct xsprof_kineto_cpu_trace *trace, uint64_t end_ns)
{
	int saved = errno, err;
	uint64_t most, written = 0;
	struct scale s;

	if (!trace)
		return -EINVAL;
	err = xsp_session_begun(&s.from);
	if (err)
		return err;
	xsp_sync_read(&s.to, xsp_kept.clock);
	most = xsp_set.size / 4;
	/* First, as in Kineto's own files. */
	if (trace->name)
		put_span(&s, trace, end_ns);
	for (size_t i = 0; i < trace->nr; i++) {
		written += put_activity(&s, &trace->list[i]) * XSPROF_RECORD_SLOTS;
		if (written < most)
			continue;
		wait_for_readers();
		written = 0;
	}
	empty(trace);
	errno = saved;
	return 0;
}
