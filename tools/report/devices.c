// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices and streams of a GPU report. Processes may know one device by different numbers: it
 * is found by its UUID, or without one by its kind, name and number.
 */
#include <string.h>

#include "report/gpu.h"

/* What a collector's description has for @key; "" if it is too long. */
static void fact_text(const char *facts, const char *key, char *text, size_t size)
{
	size_t len;
	const char *value = xsp_device_fact(facts, key, &len);

	len = len < size ? len : 0;
	if (value)
		memcpy(text, value, len);
	text[len] = '\0';
}

/* The device that @like describes, if it is known from another process. */
static struct gpu_device *find_device(struct gpu_report *gpu, const struct gpu_device *like)
{
	for (uint32_t i = 0; i < gpu->nr_devices; i++) {
		struct gpu_device *d = &gpu->devices[i];

		if (*like->uuid || *d->uuid ? !strcmp(like->uuid, d->uuid) :
		    like->number == d->number && !strcmp(like->kind, d->kind) &&
		    !strcmp(like->name, d->name))
			return d;
	}
	return NULL;
}

static void describe(struct gpu_device *d, const char *facts, uint32_t number)
{
	const char *word = xsp_device_word(facts, number, d->kind);

	d->number = number;
	if (word != d->kind)
		strcpy(d->kind, word);
	fact_text(facts, "uuid", d->uuid, sizeof(d->uuid));
	fact_text(facts, "name", d->name, sizeof(d->name));
}

static struct gpu_device *new_device(struct gpu_report *gpu, const char *facts, uint32_t number)
{
	struct gpu_device *d;

	if (gpu->nr_devices == GPU_DEVICES)
		return NULL;
	d = &gpu->devices[gpu->nr_devices];
	for (int i = 0; i < GPU_BUSY_KINDS; i++) {
		if (!d->busy[i])
			d->busy[i] = gpu_busy_new();
		if (!d->busy[i])
			return NULL;
	}
	d->first = UINT64_MAX;
	describe(d, facts, number);
	gpu->nr_devices++;
	return d;
}

static const char *facts_of(const struct gpu_report *gpu, uint32_t producer, uint32_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "device.%u", number);
	return xsprof_trace_fact(gpu->report->source.trace, producer, text);
}

struct gpu_device *gpu_device_of(struct gpu_report *gpu, uint32_t producer, uint32_t number)
{
	uint64_t key = ((uint64_t)producer + 1) << 32 | number;
	const uint64_t *known = xsp_map_get(&gpu->numbers, key);
	struct gpu_device *d, like = { 0 };
	const char *facts;

	if (known)
		return *known ? &gpu->devices[*known - 1] : NULL;
	facts = facts_of(gpu, producer, number);
	describe(&like, facts, number);
	d = find_device(gpu, &like);
	if (!d)
		d = new_device(gpu, facts, number);
	/* One that finds no place will not find one later. */
	(void)xsp_map_set(&gpu->numbers, key, d ? (uint64_t)(d - gpu->devices) + 1 : 0);
	return d;
}

struct gpu_stream *gpu_stream_of(struct gpu_report *gpu, const struct xsprof_event *ev,
				 const struct xsprof_rec_gpu *rec, uint32_t device)
{
	struct gpu_stream *s;

	for (uint32_t i = gpu->nr_streams; i; i--) {
		s = &gpu->streams[i - 1];
		if (s->stream == rec->stream && s->context == rec->context &&
		    s->device == device && s->number == rec->device &&
		    s->producer == ev->producer)
			return s;
	}
	if (gpu->nr_streams == GPU_STREAMS)
		return NULL;
	s = &gpu->streams[gpu->nr_streams];
	*s = (struct gpu_stream){
		.producer = ev->producer, .pid = ev->pid, .device = device,
		.number = rec->device, .context = rec->context,
		.stream = rec->stream, .busy = gpu_busy_new(),
	};
	s->known = xsr_limits_read(facts_of(gpu, ev->producer, rec->device), &s->limits);
	gpu->nr_streams += s->busy != NULL;
	return s->busy ? s : NULL;
}

static const struct device_clock *clock_of(const struct gpu_report *gpu, uint32_t producer,
					   uint32_t number)
{
	for (uint32_t i = 0; i < gpu->clocks.nr; i++)
		if (gpu->clocks.v[i].producer == producer && gpu->clocks.v[i].device == number)
			return &gpu->clocks.v[i];
	return NULL;
}

bool gpu_clock(const struct gpu_report *gpu, uint32_t device, int64_t *worst, int64_t *best)
{
	const struct device_clock *clock = NULL;
	const struct clock_bound *within;
	int64_t most;

	*worst = 0;
	*best = INT64_MAX;
	for (uint32_t i = 0; i < gpu->nr_streams; i++) {
		const struct gpu_stream *s = &gpu->streams[i];

		if (s->device != device)
			continue;
		clock = clock_of(gpu, s->producer, s->number);
		within = clock ? &clock->bounds[CLOCK_WITHIN] : NULL;
		if (!within || !within->known)
			return false;
		most = device_clock_most(clock);
		*worst = most > *worst ? most : *worst;
		*best = within->least < *best ? within->least : *best;
	}
	*best = *best > 0 ? *best : 0;
	return clock;
}

/* Time in which @a overlapped @b, ns; @either: the union of both. */
static uint64_t overlap(const struct gpu_device *d, enum gpu_busy_of a, enum gpu_busy_of b,
			enum gpu_busy_of either)
{
	uint64_t both = gpu_busy_ns(d->busy[a]) + gpu_busy_ns(d->busy[b]);
	uint64_t all = gpu_busy_ns(d->busy[either]);

	return both > all ? both - all : 0;
}

uint64_t gpu_copies_beside(const struct gpu_device *d)
{
	return overlap(d, GPU_BUSY_KERNELS, GPU_BUSY_COPIES, GPU_BUSY_MOST);
}

uint64_t gpu_collectives_beside(const struct gpu_device *d)
{
	return overlap(d, GPU_BUSY_COLLECTIVES, GPU_BUSY_COMPUTING, GPU_BUSY_KERNELS);
}
