// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's tracer in a capture: builds sub-buffers of random events by the kernel's rules. Each
 * event must be decoded unchanged, with its time and in order, and no others.
 */
#include <stdlib.h>
#include <string.h>

#include <xsprof/trace.h>

#include "decoder/builder.h"
#include "common/tap.h"

#define CPUS	3
#define HEAD	16		/* bytes before a sub-buffer's data */
#define EVENTS	6000		/* per CPU */

/* An event or a loss that must be decoded. */
struct expected {
	uint64_t	ts;
	uint64_t	lost;		/* 0: an event */
	bool		unknown;
	uint16_t	id;
	uint32_t	pid;
	uint32_t	len;
	uint32_t	sum;
};

struct stream {
	uint8_t		*page;
	uint32_t	size;
	uint32_t	used;
	uint64_t	ts;		/* time of the latest event */
	uint64_t	missed;		/* lost before this sub-buffer */
	bool		unknown;
	uint32_t	told;		/* its index in the list + 1 */
	struct expected	*list;
	uint32_t	nr;
	uint32_t	next;
	uint8_t		*chunk;
	size_t		chunk_len;
	uint64_t	pos;
};

static uint64_t state = 88172645463325252ull;

static uint32_t random32(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state >> 16;
}

static uint32_t sum_of(const uint8_t *p, uint32_t len)
{
	uint32_t sum = 2166136261u;

	for (uint32_t i = 0; i < len; i++)
		sum = (sum ^ p[i]) * 16777619u;
	return sum;
}

static void expect(struct stream *s, struct expected e)
{
	s->list[s->nr++] = e;
}

static void begin_page(struct stream *s)
{
	memset(s->page, 0xa5, s->size);
	memcpy(s->page, &s->ts, 8);
	s->used = 0;
	s->missed = random32() % 4 ? 0 : 1 + random32() % 1000;
	s->unknown = !s->missed && random32() % 16 == 0;
	s->told = 0;
}

/* The kernel writes the number of lost events after the data if there is room. */
static void end_page(struct stream *s)
{
	uint64_t commit = s->used;

	if (s->missed || s->unknown)
		commit |= 1ull << 31;
	if (s->missed && s->size - HEAD - s->used >= 8) {
		memcpy(s->page + HEAD + s->used, &s->missed, 8);
		commit |= 1ull << 30;
	} else if (s->missed && s->told) {
		s->list[s->told - 1].lost = 0;
		s->list[s->told - 1].unknown = true;
	}
	memcpy(s->page + 8, &commit, 8);
	memcpy(s->chunk + s->chunk_len, s->page, s->size);
	s->chunk_len += s->size;
}

static void put32(struct stream *s, uint32_t v)
{
	memcpy(s->page + HEAD + s->used, &v, 4);
	s->used += 4;
}

/* Adds a time that does not fit into an event's own bits. */
static void put_time(struct stream *s, uint64_t ts)
{
	uint64_t delta = ts - s->ts;

	if (random32() & 1) {
		put32(s, 30 | (uint32_t)(delta & ((1u << 27) - 1)) << 5);
		put32(s, (uint32_t)(delta >> 27));
	} else {
		put32(s, 31 | (uint32_t)(ts & ((1u << 27) - 1)) << 5);
		put32(s, (uint32_t)((ts & ((1ull << 59) - 1)) >> 27));
	}
	s->ts = ts;
}

static void put_event(struct stream *s, uint32_t delta, uint32_t len, bool discarded)
{
	uint8_t data[512];
	uint32_t type = 0;

	for (uint32_t i = 0; i < len; i++)
		data[i] = random32();
	/* An id with a description, or one without. */
	memcpy(data, (uint16_t[]){ random32() % 3 ? 77 : 78 }, 2);
	if (discarded)
		type = 29;
	else if (len % 4 == 0 && len <= 112 && random32() % 4)
		type = len / 4;
	put32(s, type | delta << 5);
	if (type == 0 || type == 29)
		put32(s, (type == 29 ? (len + 3) / 4 * 4 : len) + 4);
	memcpy(s->page + HEAD + s->used, data, len);
	s->used += (len + 3) / 4 * 4;
	s->ts += delta;
	if (discarded)
		return;
	/* Losses before a sub-buffer are reported with its first event. */
	if ((s->missed || s->unknown) && !s->told) {
		expect(s, (struct expected){ .ts = s->ts, .lost = s->missed,
					     .unknown = s->unknown });
		s->told = s->nr;
	}
	expect(s, (struct expected){ .ts = s->ts, .len = len, .sum = sum_of(data, len) });
	memcpy(&s->list[s->nr - 1].id, data, 2);
	memcpy(&s->list[s->nr - 1].pid, data + 4, 4);
}

/* Fills a sub-buffer until it is full, or ends it at random. */
static void fill_page(struct stream *s)
{
	begin_page(s);
	for (;;) {
		uint32_t len = random32() % 8 ? 8 + random32() % 60 : 8 + random32() % 400;
		uint32_t delta = random32() % 16 ? random32() % 100 : 0;

		/* Losses are reported with the first event, so there must be one. */
		if (s->size - HEAD - s->used < len + 24 ||
		    (random32() % 300 == 0 && (s->told || !(s->missed || s->unknown))))
			break;
		if (random32() % 50 == 0)
			put_time(s, s->ts + random32());
		/* Padding without a time would end the sub-buffer. */
		put_event(s, random32() % 40 ? delta : delta + 1, len, random32() % 40 == 0 &&
			  delta);
		if (s->nr >= EVENTS)
			break;
	}
	end_page(s);
}

static void flush(struct cap *cap, struct stream *s, uint32_t cpu, unsigned int flags)
{
	struct xsprof_chunk chunk = {
		.type = XSPROF_CHUNK_FTRACE, .producer = XSPROF_NO_PRODUCER, .ring = cpu,
		.pos = s->pos,
	};

	if (!s->chunk_len)
		return;
	memcpy(&chunk.first, s->chunk, 8);
	memcpy(&chunk.last, s->chunk + s->chunk_len - s->size, 8);
	cap_chunk(cap, chunk, flags, s->chunk, s->chunk_len);
	s->pos += s->chunk_len / XSPROF_SLOT_SIZE;
	s->chunk_len = 0;
}

static void put_section(struct cap *raw, uint32_t kind, const char *text)
{
	struct xsprof_cap_section section = { .kind = kind, .len = strlen(text) };
	size_t whole = sizeof(section) + ((section.len + 7) & ~7u);

	raw->data = realloc(raw->data, raw->len + whole);
	if (!raw->data)
		tap_bail("no memory");
	memset(raw->data + raw->len, 0, whole);
	memcpy(raw->data + raw->len, &section, sizeof(section));
	memcpy(raw->data + raw->len + sizeof(section), text, section.len);
	raw->len += whole;
}

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void put_meta(struct cap *cap, const char *clock, uint32_t size)
{
	struct cap raw = { 0 };
	char info[200];

	snprintf(info, sizeof(info), "clock=%s\nsubbuf_size=%u\ndata_offset=%d\ncommit_offset=8\n"
		 "long_size=8\nrelease=1.2.3\n", clock, size, HEAD);
	put_section(&raw, XSPROF_SECTION_INFO, info);
	put_section(&raw, XSPROF_SECTION_FORMAT, "things\nname: thing_done\nID: 77\nformat:\n"
		    COMMON "\tfield:char what[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		    "\tfield:__data_loc char[] text;\toffset:24;\tsize:4;\tsigned:0;\n"
		    "\tfield:s32 number;\toffset:28;\tsize:4;\tsigned:1;\n\n"
		    "print fmt: \"%s\", REC->what\n");
	put_section(&raw, 99, "of a later version");
	/* No sub-buffer can have this layout: it must be rejected. */
	put_section(&raw, XSPROF_SECTION_INFO, "subbuf_size=8192\ndata_offset=0\n");
	put_section(&raw, XSPROF_SECTION_TASKS, "5 4 five\n6 4 six seven\n5 4 FIVE\n");
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_KERNEL,
					      .producer = XSPROF_NO_PRODUCER }, 0, raw.data,
		  raw.len);
	free(raw.data);
}

static void check_event(struct stream *s, const struct xsprof_event *ev, uint64_t offset)
{
	const struct expected *e = &s[ev->cpu].list[s[ev->cpu].next];

	if (ev->cpu < 0 || ev->cpu >= CPUS || s[ev->cpu].next >= s[ev->cpu].nr) {
		tap_wrong("an event of CPU %d too many", ev->cpu);
		return;
	}
	s[ev->cpu].next++;
	if (e->lost || e->unknown) {
		if (ev->type != XSPROF_EV_LOST || ev->value != e->lost ||
		    !(ev->flags & XSPROF_EVF_UNKNOWN) != !e->unknown)
			tap_wrong("CPU %d: a loss of %llu is event type %u of %llu", ev->cpu,
				  (unsigned long long)e->lost, ev->type,
				  (unsigned long long)ev->value);
		return;
	}
	if (ev->type != XSPROF_EV_KERNEL || ev->ticks != e->ts || ev->ns != e->ts - offset ||
	    ev->name != e->id || ev->tid != e->pid || ev->rec_size < e->len ||
	    ev->rec_size > e->len + 3 || sum_of((const void *)ev->rec, e->len) != e->sum)
		tap_wrong("CPU %d event %u: type %u id %u at %llu ns, %zu bytes; not id %u at "
			  "%llu, %u bytes", ev->cpu, s[ev->cpu].next - 1, ev->type, ev->name,
			  (unsigned long long)ev->ns, ev->rec_size, e->id,
			  (unsigned long long)(e->ts - offset), e->len);
}

static void read_back(struct cap *cap, struct stream *s, uint64_t offset, uint64_t markers)
{
	struct xsprof_trace_options opts = { .size = sizeof(opts), .memory = 1 };
	const struct xsprof_event *ev;
	struct xsprof_trace *t;
	uint64_t last = 0, n = 0;
	int r;

	if (xsprof_trace_open(cap_path(cap->data, cap->len), &opts, &t)) {
		tap_wrong("%s", xsprof_trace_error(NULL));
		return;
	}
	while ((r = xsprof_trace_next(t, &ev)) == 1) {
		if (ev->ns < last)
			tap_wrong("time goes back");
		last = ev->ns;
		if (ev->producer == XSPROF_NO_PRODUCER)
			check_event(s, ev, offset);
		else
			n += ev->type == XSPROF_REC_INSTANT;
	}
	CHECK_EQ(r, 0);
	CHECK_EQ(n, markers);
	for (int i = 0; i < CPUS; i++)
		CHECK_EQ(s[i].next, s[i].nr);
	CHECK(!strcmp(xsprof_trace_comm(t, 5), "FIVE"));
	CHECK(!strcmp(xsprof_trace_comm(t, 6), "six seven"));
	CHECK(!strcmp(xsprof_trace_comm(t, 7), ""));
	CHECK_EQ(xsprof_trace_tgid(t, 6), 4);
	xsprof_trace_close(t);
}

/* @offset: of the tracer's clock from CLOCK_MONOTONIC. */
static void test_stream(const char *clock, uint32_t size, unsigned int flags, uint64_t offset)
{
	struct xsprof_sync syncs[] = { sync_at(1000, 0), sync_at(1ull << 40, 0),
				       sync_at(1ull << 41, 0) };
	struct xsprof_ctl ctl = ctl_make(2, 1, 1 << 20, XSPROF_MODE_DISCARD);
	struct stream s[CPUS] = { 0 };
	struct ring r = { 0 };
	struct cap cap;

	cap_begin(&cap);
	for (int i = 0; i < 3; i++)
		syncs[i].boot = syncs[i].mono_raw = syncs[i].mono + offset;
	cap_clock(&cap, syncs, 3);
	put_meta(&cap, clock, size);
	cap_producer(&cap, 0, 9, &ctl);
	for (uint64_t i = 0; i < 100; i++)
		ring_rec(&r, XSPROF_REC_INSTANT, 9, 2000 + i * 1000, 1, i);
	cap_ring(&cap, 0, 0, 0, &r);
	ring_free(&r);
	for (int i = 0; i < CPUS; i++) {
		s[i].size = size;
		s[i].page = malloc(size);
		s[i].chunk = malloc(1 << 20);
		/* At most two losses per event. */
		s[i].list = calloc(3 * EVENTS, sizeof(*s[i].list));
		s[i].ts = offset + 1500 + i;
		if (!s[i].page || !s[i].chunk || !s[i].list)
			tap_bail("no memory");
	}
	for (bool more = true; more; ) {
		more = false;
		for (uint32_t i = 0; i < CPUS; i++) {
			uint32_t pages = 1 + random32() % (65536 / size);

			for (; pages-- && s[i].nr < EVENTS; )
				fill_page(&s[i]);
			flush(&cap, &s[i], i, flags);
			more |= s[i].nr < EVENTS;
		}
	}
	cap_end(&cap, 1ull << 41);
	read_back(&cap, s, offset, 100);
	tap_result("%s, sub-buffers of %u bytes%s: every event as it went in", clock, size,
		   flags ? ", compressed" : "");
	for (int i = 0; i < CPUS; i++) {
		free(s[i].page);
		free(s[i].chunk);
		free(s[i].list);
	}
	cap_free(&cap);
}

/* ---- descriptions of kinds ----------------------------------------------------------------- */

static void test_fields(void)
{
	struct { uint16_t type; uint8_t flags[2]; int32_t pid; char what[16]; uint32_t text;
		 int32_t number; char tail[8]; } data = {
		.type = 77, .pid = 3, .what = "exactly sixteen!", .text = 8 << 16 | 32,
		.number = -5, .tail = "the end",
	};
	struct xsprof_event ev = { .type = XSPROF_EV_KERNEL, .name = 77, .rec = (void *)&data,
				   .rec_size = sizeof(data) };
	const struct xsprof_kernel_event *kind;
	struct xsprof_trace *t;
	struct cap cap;
	uint64_t v;
	size_t len;
	const char *s;

	cap_begin(&cap);
	put_meta(&cap, "mono", 4096);
	cap_end(&cap, 1);
	if (xsprof_trace_open(cap_path(cap.data, cap.len), NULL, &t))
		tap_bail("%s", xsprof_trace_error(NULL));
	kind = xsprof_trace_kernel_find(t, "things", "thing_done");
	CHECK(kind && kind == xsprof_trace_kernel_event(t, 77));
	CHECK(!xsprof_trace_kernel_event(t, 78) && !xsprof_trace_kernel_event(t, UINT32_MAX));
	CHECK(!xsprof_trace_kernel_find(t, "things", "thing"));
	CHECK(xsprof_trace_kernel_next(t, UINT32_MAX) == kind && !xsprof_trace_kernel_next(t, 77));
	CHECK(kind && kind->nr_fields == 7);
	CHECK(!xsprof_kernel_field(kind, "nothing") && !xsprof_kernel_field(NULL, "what"));
	CHECK(xsprof_kernel_value(&ev, xsprof_kernel_field(kind, "number"), &v) &&
	      (int64_t)v == -5);
	CHECK(xsprof_kernel_value(&ev, xsprof_kernel_field(kind, "common_type"), &v) && v == 77);
	CHECK(!xsprof_kernel_value(&ev, xsprof_kernel_field(kind, "what"), &v));
	CHECK(!xsprof_kernel_value(&ev, NULL, &v));
	s = xsprof_kernel_bytes(&ev, xsprof_kernel_field(kind, "what"), &len);
	CHECK(s && len == 16 && !memcmp(s, "exactly sixteen!", 16));
	s = xsprof_kernel_bytes(&ev, xsprof_kernel_field(kind, "text"), &len);
	CHECK(s && len == 7 && !memcmp(s, "the end", 7));
	/* A truncated event, and offsets that point out of it. */
	ev.rec_size = 39;
	CHECK(!xsprof_kernel_bytes(&ev, xsprof_kernel_field(kind, "text"), &len) && !len);
	ev.rec_size = 31;
	CHECK(!xsprof_kernel_value(&ev, xsprof_kernel_field(kind, "number"), &v));
	ev.rec_size = sizeof(data);
	data.text = 0xffffffff;
	CHECK(!xsprof_kernel_bytes(&ev, xsprof_kernel_field(kind, "text"), &len));
	xsprof_trace_close(t);
	cap_free(&cap);
	tap_result("kinds and fields");
}

/* ---- clocks that cannot be compared -------------------------------------------------------- */

static void warn(void *data, const char *text)
{
	if (strstr(text, "'local'"))
		++*(int *)data;
}

static void test_refused(void)
{
	int warned = 0;
	struct xsprof_trace_options opts = { .size = sizeof(opts), .warn = warn,
					     .warn_data = &warned };
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	struct xsprof_sync sync = sync_at(1000, 0);
	const struct xsprof_event *ev;
	struct stream s = { .size = 4096, .page = malloc(4096), .chunk = malloc(4096),
			    .list = calloc(EVENTS, sizeof(*s.list)) };
	struct xsprof_trace *t;
	struct cap cap;

	cap_begin(&cap);
	cap_clock(&cap, &sync, 1);
	put_meta(&cap, "local", 4096);
	fill_page(&s);
	flush(&cap, &s, 0, 0);
	cap_end(&cap, 1);
	if (xsprof_trace_open(cap_path(cap.data, cap.len), &opts, &t))
		tap_bail("%s", xsprof_trace_error(NULL));
	CHECK_EQ(xsprof_trace_next(t, &ev), 0);
	CHECK_EQ(warned, 1);
	CHECK_EQ(xsprof_trace_get_kernel(t, &kernel), 0);
	CHECK(kernel.refused && !strcmp(kernel.clock, "local"));
	xsprof_trace_close(t);
	cap_free(&cap);
	free(s.page);
	free(s.chunk);
	free(s.list);
	tap_result("a clock that cannot be compared is named, and its events left out");
}

int main(void)
{
	test_stream("mono", 4096, 0, 0);
	test_stream("mono", 4096, CAP_ZSTD, 0);
	test_stream("mono", 16384, 0, 0);
	test_stream("mono", 65536, CAP_ZSTD, 0);
	test_stream("x86-tsc", 4096, 0, 0);
	test_stream("mono_raw", 4096, 0, 0);
	test_stream("boot", 4096, 0, 1ull << 35);
	test_fields();
	test_refused();
	return tap_done();
}
