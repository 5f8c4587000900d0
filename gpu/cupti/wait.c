// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Waits, and which recording of an event they are for: its call, and the stream that it was
 * recorded in.
 *
 * CUPTI gives buffers back in no order, so a wait may come before the recording that it is for, or
 * before its context is told of.  Both are kept until all buffers of a flush are read, and then
 * taken in the order of their calls, which is that of correlation ids. These have 32 bits and wrap:
 * after 12 hours of 100,000 calls a second.
 */
#include <stdlib.h>

#include "gpu/cupti/local.h"

#define KEPT		4096u
#define SETS		4096u	/* a power of two */
#define WAYS		4u	/* the latest recordings of events of one set */
#define LATE		(1u << 28)	/* no record comes later by as many calls */
#define OF_EVENT(type)	((type) == 1 || (type) == 2)

enum key { KEY_EVENT, KEY_STREAM, KEY_CALL, NR_KEYS };

static xsprof_name_t keys[NR_KEYS];

static struct cupti_sync_id kept[KEPT];
static uint32_t nr_kept;

struct recording {
	uint32_t	context;
	uint32_t	event;
	uint32_t	correlation;
	uint32_t	stream;
	bool		used;
	uint64_t	id;		/* of CUPTI, 0 where it gives none */
};

static struct recording recordings[SETS][WAYS];
static bool entered;		/* any of them is used */
static struct recording told[KEPT];	/* since all was last taken */
static uint32_t nr_told;
static uint32_t latest;		/* the call of the last recording or wait that was told of */

void cupti_wait_init(void)
{
	static const char *const texts[NR_KEYS] = {
		[KEY_EVENT] = "wait_on_cuda_event_id", [KEY_STREAM] = "wait_on_stream",
		[KEY_CALL] = "wait_on_cuda_event_record_corr_id",
	};

	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = xsprof_name(texts[i]);
}

static struct recording *set_of(uint32_t context, uint32_t event)
{
	uint64_t hash = ((uint64_t)context << 32 | event) * 0x9e3779b97f4a7c15ull;

	return recordings[(hash >> 40) & (SETS - 1)];
}

/*
 * How many calls before @b call @a was made; negative: after it.  Only few numbers count as
 * negative, not half of them: a recording that was kept for long must not look like a later one,
 * which would keep new ones out.
 */
static int64_t calls_between(uint32_t a, uint32_t b)
{
	uint32_t n = b - a;

	return n <= UINT32_MAX - LATE ? n : n - (1ll << 32);
}

/* The oldest of the set makes room, unless @r is older still. */
static void enter(const struct recording *r)
{
	struct recording *set = set_of(r->context, r->event), *to = NULL;
	int64_t most = 0, n;

	for (uint32_t i = 0; i < WAYS; i++) {
		n = set[i].used ? calls_between(set[i].correlation, r->correlation) : INT64_MAX;
		if (n > most) {
			most = n;
			to = &set[i];
		}
	}
	if (to)
		*to = *r;
	entered = true;
}

void cupti_event(const struct cupti_event *e)
{
	if (nr_told == KEPT)
		cupti_wait_settle();
	latest = e->correlation;
	told[nr_told++] = (struct recording){
		.context = e->context, .event = e->event, .correlation = e->correlation,
		.stream = e->stream, .used = true,
		.id = cupti_version >= CUPTI_SYNC_IDS ? e->id : 0,
	};
}

/* By CUPTI's number of the recording; without one the last before the wait, as CUDA has it. */
static const struct recording *find(const struct cupti_sync_id *s)
{
	const struct recording *set = set_of(s->sync.context, s->sync.event), *last = NULL;
	int64_t least = INT64_MAX, n;

	for (uint32_t i = 0; i < WAYS; i++) {
		const struct recording *r = &set[i];

		if (!r->used || r->context != s->sync.context || r->event != s->sync.event)
			continue;
		if (s->id && r->id == s->id)
			return r;
		n = calls_between(r->correlation, s->sync.correlation);
		if (!s->id && n > 0 && n < least) {
			least = n;
			last = r;
		}
	}
	return last;
}

static void put(const struct cupti_sync_id *s, uint32_t device)
{
	static const char *const texts[] = {
		"Synchronization", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync",
	};
	static xsprof_name_t names[ARRAY_SIZE(texts)];
	uint32_t type = s->sync.type < ARRAY_SIZE(texts) ? s->sync.type : 0;
	const struct recording *r;
	struct xsprof_device_activity a;
	struct xsprof_kv kv[NR_KEYS];
	size_t n = 0;

	if (!names[type])
		names[type] = xsprof_name_in(cupti_category(), texts[type]);
	if (!cupti_work(&a, XSPROF_GPU_SYNC, names[type], s->sync.start, s->sync.end,
			s->sync.correlation))
		return;
	a.device = device;
	a.context = s->sync.context;
	a.stream = s->sync.stream;
	if (s->sync.event && s->sync.event != UINT32_MAX)
		kv[n++] = xsprof_i64(keys[KEY_EVENT], s->sync.event);
	r = OF_EVENT(s->sync.type) ? find(s) : NULL;
	if (r) {
		kv[n++] = xsprof_i64(keys[KEY_STREAM], r->stream);
		kv[n++] = xsprof_i64(keys[KEY_CALL], r->correlation);
	}
	cupti_put(&a, kv, n);
}

/* Calls of one flush are near each other: their distances to the latest one give the order. */
static int by_call(uint32_t a, uint32_t b)
{
	int32_t da = (int32_t)(a - latest), db = (int32_t)(b - latest);

	return (da > db) - (da < db);
}

static int recordings_by_call(const void *a, const void *b)
{
	return by_call(((const struct recording *)a)->correlation,
		       ((const struct recording *)b)->correlation);
}

static int waits_by_call(const void *a, const void *b)
{
	return by_call(((const struct cupti_sync_id *)a)->sync.correlation,
		       ((const struct cupti_sync_id *)b)->sync.correlation);
}

void cupti_wait_settle(void)
{
	uint32_t device, left = 0, next = 0;

	qsort(told, nr_told, sizeof(told[0]), recordings_by_call);
	qsort(kept, nr_kept, sizeof(kept[0]), waits_by_call);
	for (uint32_t i = 0; i < nr_kept; i++) {
		while (next < nr_told &&
		       by_call(told[next].correlation, kept[i].sync.correlation) < 0)
			enter(&told[next++]);
		if (cupti_device_of(kept[i].sync.context, &device))
			put(&kept[i], device);
		else
			kept[left++] = kept[i];
	}
	while (next < nr_told)
		enter(&told[next++]);
	nr_told = 0;
	/* Of so many nothing comes any more: to go through them again and again would take long. */
	if (left > KEPT / 2) {
		cupti_miss(CUPTI_MISS_CONTEXT, left);
		left = 0;
	}
	nr_kept = left;
}

void cupti_wait(const struct cupti_sync *sync)
{
	struct cupti_sync_id s = { .sync = *sync };
	uint32_t device;

	if (cupti_version >= CUPTI_SYNC_IDS)
		s = *(const struct cupti_sync_id *)sync;
	/* A query is not a wait. */
	if (s.result == CUPTI_NOT_READY)
		return;
	latest = sync->correlation;
	if (!OF_EVENT(sync->type) && cupti_device_of(sync->context, &device)) {
		put(&s, device);
		return;
	}
	if (nr_kept == KEPT)
		cupti_wait_settle();
	if (nr_kept < KEPT)
		kept[nr_kept++] = s;
	else
		cupti_miss(CUPTI_MISS_CONTEXT, 1);
}

void cupti_wait_anew(void)
{
	/* Not untouched pages: they would take memory of a program that has no events. */
	if (entered)
		memset(recordings, 0, sizeof(recordings));
	entered = false;
}

void cupti_wait_end(void)
{
	cupti_wait_settle();
	cupti_miss(CUPTI_MISS_CONTEXT, nr_kept);
	nr_kept = 0;
}
