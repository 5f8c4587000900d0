// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of Chrome's JSON before and after the events: rank, clock, losses, and the lines of the
 * kernel's tracer.
 */
#include "decode/rank.h"
#include "format/chrome/local.h"

/* HolisticTraceAnalysis expects the rank on its own line, before any similar text. */
static void put_rank(struct xsp_out *out)
{
	struct xsp_rank rank;
	char *p;

	xsp_rank_find(out->trace, out->pid, &rank);
	if (!rank.known)
		return;
	p = put_lit(xsp_buf_room(&out->buf, CHROME_ROOM), "\"distributedInfo\": {\"rank\": ");
	out->buf.p = put_lit(put_u32(p, rank.rank), "},\n");
}

void chrome_start(struct xsp_out *out)
{
	struct chrome *chrome = out->priv;

	chrome_tracks_start(chrome);
	chrome->sep = ' ';
	xsp_buf_puts(&out->buf, "{\"displayTimeUnit\":\"ns\",\n");
	put_rank(out);
	xsp_buf_puts(&out->buf, "\"traceEvents\":[");
}

#define NUMBER(key, value)	(p = xsp_json_safe_u64(put_lit(p, ",\n\"" key "\":"), value))

void chrome_end(struct xsp_out *out)
{
	const struct xsp_tracks_stats *stats = xsp_tracks_stats(out->tracks);
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const struct chrome *chrome = out->priv;
	const char *clock;
	char *p;

	xsp_buf_puts(&out->buf, "\n],\n\"otherData\":{\"producer\":\"xsprof " XSPROF_VERSION "\"");
	p = xsp_buf_room(&out->buf, CHROME_ROOM);
	if (xsprof_trace_get_info(out->trace, &info) < 0)
		memset(&info, 0, sizeof(info));
	clock = xsp_word_clock(info.clock_kind);
	p = put_lit(p, ",\n\"clock\":");
	p = json_string(p, clock, strlen(clock), NULL);
	p = xsp_json_double(put_lit(p, ",\n\"clock_frequency_hz\":"), info.clock_freq);
	NUMBER("clock_error_ns", info.clock_error_ns);
	NUMBER("base_monotonic_ns", out->base_ns);
	p = xsp_json_safe_i64(put_lit(p, ",\n\"base_realtime_ns\":"),
			  (int64_t)(out->base_ns + (uint64_t)info.real_offset_ns));
	NUMBER("events", out->events);
	NUMBER("entries", out->shown);
	NUMBER("events_merged", out->merged);
	NUMBER("events_kernel", chrome->kernel_lines);
	NUMBER("ranges_cut", stats->cut);
	NUMBER("ranges_unfinished", stats->open);
	NUMBER("ends_unmatched", stats->unmatched);
	NUMBER("ranges_too_deep", stats->deep);
	NUMBER("ranges_drawn_async", chrome->to_async);
	NUMBER("ranges_drawn_as_pairs", chrome->pairs);
	NUMBER("lost_records", info.lost_records);
	NUMBER("lost_slots", info.lost_slots);
	NUMBER("bad_slots", info.bad_slots);
	NUMBER("damaged_chunks", info.bad_chunks);
	p = put_lit(p, ",\n\"truncated\":");
	p = info.truncated ? put_lit(p, "true") : put_lit(p, "false");
	out->buf.p = put_lit(p, "\n}");
	chrome_kernel_end(out);
	xsp_buf_puts(&out->buf, "}\n");
}
