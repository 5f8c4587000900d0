// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Frame of a Kineto trace: the top-level keys, and the marks at its end. distributedInfo comes
 * first: HolisticTraceAnalysis takes the rank from the first line with that word.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/clocks.h"
#include "decode/losses.h"
#include "decode/rank.h"
#include "export/kineto/local.h"
#include "text/json-valid.h"
#include "text/json.h"


static void key(struct xsr_kineto *k, const char *name)
{
	xsp_buf_puts(k->w.buf, "\"");
	xsp_buf_puts(k->w.buf, name);
	xsp_buf_puts(k->w.buf, "\": ");
}

static void put_number(struct xsr_kineto *k, const char *name, uint64_t value)
{
	char *p;

	key(k, name);
	p = put_u64(xsp_buf_room(k->w.buf, XSP_BUF_ROOM), value);
	k->w.buf->p = put_lit(p, ",\n");
}

/* Writes a string with quotes, of any length. */
static void put_string(struct xsr_kineto *k, const char *s)
{
	k->w.buf->p = xsr_writer_text(&k->w, xsp_buf_room(k->w.buf, XSP_BUF_ROOM), s, strlen(s));
}

static void put_text(struct xsr_kineto *k, const char *name, const char *s)
{
	key(k, name);
	put_string(k, s);
	xsp_buf_puts(k->w.buf, ",\n");
}

static const char *fact(const struct xsr_kineto *k, const char *name)
{
	return k->main == XSPROF_NO_PRODUCER ? NULL : xsprof_trace_fact(k->w.trace, k->main, name);
}

/* The program's metadata, as JSON, for a key that is always present. */
static const char *given(const struct xsr_kineto *k, const char *name)
{
	size_t i;

	for (i = 0; i < k->opts.nr_metadata; i++)
		if (k->opts.keys[i] && !strcmp(k->opts.keys[i], name) && k->opts.values[i] &&
		    xsp_json_valid(k->opts.values[i]))
			return k->opts.values[i];
	return NULL;
}

/* Writes JSON with a blank after each colon: HolisticTraceAnalysis requires it to find the rank. */
static void put_spaced(struct xsr_kineto *k, const char *json)
{
	bool text = false;
	const char *from = json;

	for (const char *p = json; *p; p++) {
		if (text && *p == '\\' && p[1])
			p++;
		else if (*p == '"')
			text = !text;
		if (text || *p != ':' || strchr(" \t\r\n", p[1]))
			continue;
		xsp_buf_put(k->w.buf, from, (size_t)(p + 1 - from));
		xsp_buf_puts(k->w.buf, " ");
		from = p + 1;
	}
	xsp_buf_puts(k->w.buf, from);
}

/* From the program's metadata, else from its processes or their environment. */
static void put_distributed(struct xsr_kineto *k)
{
	const char *own = given(k, "distributedInfo");
	struct xsp_rank rank;
	char text[128];

	if (own) {
		key(k, "distributedInfo");
		put_spaced(k, own);
		xsp_buf_puts(k->w.buf, ",\n");
		return;
	}
	xsp_rank_find(k->w.trace, k->opts.pid, &rank);
	if (!rank.known)
		return;
	xsp_buf_puts(k->w.buf, "\"distributedInfo\": {");
	if (rank.backend) {
		xsp_buf_puts(k->w.buf, "\"backend\": ");
		put_string(k, rank.backend);
		xsp_buf_puts(k->w.buf, ", ");
	}
	snprintf(text, sizeof(text), "\"rank\": %" PRIu32, rank.rank);
	xsp_buf_puts(k->w.buf, text);
	if (rank.world_size) {
		snprintf(text, sizeof(text), ",\n\"world_size\": %" PRIu32, rank.world_size);
		xsp_buf_puts(k->w.buf, text);
	}
	xsp_buf_puts(k->w.buf, "},\n");
}

/* On one line: HolisticTraceAnalysis looks for words in lines. */
static void put_line(struct xsr_kineto *k, const char *json)
{
	for (const char *p = json; *p;) {
		size_t n = strcspn(p, "\r\n");

		xsp_json_put_valid(k->w.buf, p, n);
		p += n;
		if (*p) {
			xsp_buf_puts(k->w.buf, " ");
			p++;
		}
	}
}

/* With the number that it has in the trace; what is not the library's own text may say another. */
static void put_device(struct xsr_kineto *k, uint32_t number, const struct xsr_numbered *device)
{
	struct xsprof_trace_producer producer = { 0 };
	char own[32], text[96];
	size_t len;
	bool is_own;

	len = (size_t)snprintf(own, sizeof(own), "{\"id\": %" PRIu32 ",", device->number);
	is_own = !strncmp(device->facts, own, len) && !strstr(device->facts + len, "\"id\"");
	if (is_own && number == device->number) {
		put_line(k, device->facts);
		return;
	}
	(void)xsprof_trace_get_producer(k->w.trace, device->producer, &producer);
	snprintf(text, sizeof(text), "{\"id\": %" PRIu32 ", \"process\": %" PRIu32
		 ", \"id in process\": %" PRIu32 ",", number, producer.pid, device->number);
	xsp_buf_puts(k->w.buf, text);
	xsp_buf_puts(k->w.buf, is_own ? "" : " \"stated\": ");
	put_line(k, device->facts + (is_own ? len : 0));
	xsp_buf_puts(k->w.buf, is_own ? "" : "}");
}

/* From the program's metadata, else from the collectors: each device once. */
static void put_devices(struct xsr_kineto *k)
{
	const char *own = given(k, "deviceProperties");
	const struct xsr_numbered *device;
	const char *sep = "";

	key(k, "deviceProperties");
	xsp_buf_puts(k->w.buf, own ? own : "[");
	for (uint32_t i = 0; !own && i < XSP_DEVICE_NUMBERS; i++) {
		device = xsr_numbered_at(k, i);
		if (!device || !device->facts)
			continue;
		xsp_buf_puts(k->w.buf, sep);
		put_device(k, i, device);
		sep = ", ";
	}
	xsp_buf_puts(k->w.buf, own ? ",\n" : "],\n");
}

/* The id is the same each time the same trace is written. */
static void put_trace_id(struct xsr_kineto *k)
{
	const struct xsprof_profiler_config *config = k->opts.config;
	const char *host = xsprof_trace_host_fact(k->w.trace, "hostname");
	uint64_t h = k->first + k->base, g = 0xcbf29ce484222325u;
	char text[40];

	if (config && config->trace_id) {
		put_text(k, "trace_id", config->trace_id);
		return;
	}
	for (; host && *host; host++)
		g = (g ^ (unsigned char)*host) * 0x100000001b3u;
	g = (g ^ h) * 0x9e3779b97f4a7c15u;
	h = (h ^ g >> 29) * 0xd6e8feb86659fd93u;
	snprintf(text, sizeof(text), "%016" PRIX64 "%016" PRIX64, g ^ g >> 32, h ^ h >> 32);
	put_text(k, "trace_id", text);
}

/* Of at most nine digits: JSON has no leading zeros, and readers have no long integers. */
static bool is_number(const char *s, uint64_t *value)
{
	size_t n = strspn(s, "0123456789");

	*value = strtoull(s, NULL, 10);
	return n && n < 10 && !s[n];
}

/* Of the first process that states it: the main one need not be the one that uses the device. */
static const char *fact_of_any(const struct xsr_kineto *k, const char *name)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace_producer producer;
	const char *value = fact(k, name);

	if (xsprof_trace_get_info(k->w.trace, &info) < 0)
		return value;
	for (uint32_t i = 0; !value && i < info.producers; i++)
		if (!xsprof_trace_get_producer(k->w.trace, i, &producer) &&
		    (!k->opts.pid || producer.pid == k->opts.pid))
			value = xsprof_trace_fact(k->w.trace, i, name);
	return value;
}

/* Of CUDA, as the collector found them. */
static void put_versions(struct xsr_kineto *k)
{
	static const char *const names[] = {
		"cupti_version", "cuda_runtime_version", "cuda_driver_version",
	};
	uint64_t version;
	const char *said;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		said = fact_of_any(k, names[i]);
		if (said && is_number(said, &version) && !given(k, names[i]))
			put_number(k, names[i], version);
	}
}

static void put_environment(struct xsr_kineto *k)
{
	static const char *const names[] = {
		"PT_PROFILER_JOB_NAME", "PT_PROFILER_JOB_VERSION",
		"PT_PROFILER_JOB_ATTEMPT_INDEX",
	};
	const char *host = xsprof_trace_host_fact(k->w.trace, "hostname"), *value;
	char name[64];
	size_t i;

	if (!given(k, "host_name"))
		put_text(k, "host_name", host ? host : fact(k, "host") ? fact(k, "host") : "");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(name, sizeof(name), "env.%s", names[i]);
		value = fact(k, name);
		if (value && !given(k, names[i]))
			put_text(k, names[i], value);
	}
}

/* Writes a value verbatim if it is JSON, else as a string. */
static void put_json(struct xsr_kineto *k, const char *s)
{
	if (!s)
		xsp_buf_puts(k->w.buf, "null");
	else if (xsp_json_valid(s))
		xsp_json_put_valid(k->w.buf, s, strlen(s));
	else
		put_string(k, s);
}

/* Is it a key that the trace writes itself? The first two have used the program's value already. */
static bool is_own(const char *name)
{
	static const char *const own[] = {
		"distributedInfo", "deviceProperties", "schemaVersion", "record_shapes",
		"with_stack", "with_flops", "with_modules", "profile_memory", "trace_id",
		"displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName",
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(name, own[i]))
			return true;
	return !strncmp(name, "xsprof_", 7);
}

static void put_metadata(struct xsr_kineto *k)
{
	size_t i;

	for (i = 0; i < k->opts.nr_metadata; i++) {
		const char *name = k->opts.keys[i];

		if (!name || is_own(name))
			continue;
		put_string(k, name);
		xsp_buf_puts(k->w.buf, ": ");
		put_json(k, k->opts.values[i]);
		xsp_buf_puts(k->w.buf, ",\n");
	}
}

/* The options of a session; for a recording, what the trace contains. */
static void put_wants(struct xsr_kineto *k)
{
	const struct xsprof_profiler_config *config = k->opts.config;

	put_number(k, "record_shapes", config ? k->shapes : k->saw_shapes);
	put_number(k, "with_stack", config ? k->stacks : k->saw_stacks);
	put_number(k, "with_flops", config && config->with_flops);
	put_number(k, "with_modules", config ? k->modules : k->saw_modules);
	put_number(k, "profile_memory", config ? k->memory : k->saw_memory);
}

void xsr_kineto_head(struct xsr_kineto *k)
{
	xsp_buf_puts(k->w.buf, "{\n\"schemaVersion\": 1,\n");
	put_distributed(k);
	put_devices(k);
	if (k->opts.config)
		put_wants(k);
	put_trace_id(k);
	put_environment(k);
	put_versions(k);
	put_metadata(k);
	/* Catapult takes it for the precision of times: with "ms" ranges would seem nested. */
	put_text(k, "displayTimeUnit", "ns");
	put_number(k, "baseTimeNanoseconds", k->base);
	xsp_buf_puts(k->w.buf, "\"traceEvents\": [");
}

static void put_span(struct xsr_kineto *k)
{
	uint64_t begin = xsr_kineto_ns(k, k->first), end = xsr_kineto_ns(k, k->last);
	char *p = xsr_writer_open(&k->w);

	p = put_lit(p, "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"xsprof (0)\",\"pid\":\"Spans\","
		    "\"tid\":\"xsprof\",");
	p = xsr_kineto_ts(k, p, k->first);
	p = put_micros_between(put_lit(p, ",\"dur\":"), begin, end > begin ? end : begin);
	p = put_u64(put_lit(p, ",\"args\":{\"Op count\":"), k->ops);
	k->w.buf->p = put_lit(p, "}}");
	p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"M\",\"name\":\"process_sort_index\",");
	p = xsr_kineto_ts(k, p, k->first);
	p = put_lit(p, ",\"pid\":\"Spans\",\"tid\":0,");
	k->w.buf->p = put_lit(p, "\"args\":{\"sort_index\":536870912}}");
	p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"i\",\"s\":\"g\","
		    "\"name\":\"Iteration Start: xsprof\",\"pid\":\"Traces\","
		    "\"tid\":\"Trace xsprof\",");
	k->w.buf->p = put_lit(xsr_kineto_ts(k, p, k->first), "}");
}

uint64_t xsr_kineto_left_out(const struct xsr_kineto *k)
{
	return xsp_tracks_stats(k->tracks)->deep + k->left_out;
}

static void put_lost(struct xsr_kineto *k)
{
	struct xsp_losses losses;

	xsp_losses_of(k->w.trace, &losses);
	put_number(k, "xsprof_lost_records", losses.records);
	put_number(k, "xsprof_lost_slots", losses.slots);
	put_number(k, "xsprof_bad_slots", losses.bad_slots);
}

void xsr_kineto_tail(struct xsr_kineto *k, const char *name)
{
	const struct xsp_tracks_stats *stats = xsp_tracks_stats(k->tracks);
	uint64_t error;
	char *p;

	put_span(k);
	xsr_kineto_names(k);
	p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"i\",\"s\":\"g\","
		    "\"name\":\"Record Window End\",\"pid\":\"\",\"tid\":\"\",");
	k->w.buf->p = put_lit(xsr_kineto_ts(k, p, k->last), "}");
	xsp_buf_puts(k->w.buf, "\n],\n");
	if (!k->opts.config)
		put_wants(k);
	/* The rest is not in other traces. */
	put_lost(k);
	put_number(k, "xsprof_lost_arguments", k->lost);
	if (k->stacks)
		put_number(k, "xsprof_stacks_missed", k->no_stack);
	put_number(k, "xsprof_ranges_unfinished", stats->open);
	put_number(k, "xsprof_ranges_left_out", xsr_kineto_left_out(k));
	if (xsr_numbers_merged(k))
		put_number(k, "xsprof_devices_merged", xsr_numbers_merged(k));
	error = xst_clocks_error(k->w.trace, k->first, k->last);
	if (error != UINT64_MAX)
		put_number(k, "xsprof_clock_error_ns", error);
	key(k, "traceName");
	put_string(k, name);
	xsp_buf_puts(k->w.buf, "\n}\n");
}
