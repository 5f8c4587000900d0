// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metadata of a Perfetto trace: clocks, the system, clock errors and losses.
 */
#include "format/perfetto/meta.h"
#include "format/perfetto/names.h"
#include "format/perfetto/packet.h"

/* A larger jump between the clocks is a suspend, not a reading error. */
#define SUSPEND_NS	1000000

/* ---- clocks -------------------------------------------------------------------------------- */

/* Fields of ClockSnapshot and of its Clock. */
enum { CLOCK = 1, PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };

static char *put_clock(char *p, uint32_t id, uint64_t ns)
{
	char *start;

	/* No clock has a later time. */
	if (!ns || ns > INT64_MAX)
		return p;
	start = wire_open(p, CLOCK);
	return wire_close(start, wire_u64(wire_u64(start, CLOCK_ID, id), CLOCK_TIME, ns));
}

/* All clocks at a sync point. The first packet sets the trace's clock. */
static void put_snapshot(struct xsp_out *out, const struct xsprof_sync *sync)
{
	struct perfetto *pf = pf_of(out);
	char *p, *snapshot;

	p = snapshot = wire_open(pf_packet_open(out, 0, PF_MARKERS, 0), PF_CLOCKS);
	p = put_clock(p, PF_MONOTONIC, sync->mono);
	p = put_clock(p, PF_BOOTTIME, sync->mono + pf->boot_off);
	p = put_clock(p, PF_MONOTONIC_RAW, sync->mono_raw);
	p = put_clock(p, PF_REALTIME, sync->real);
	p = wire_u64(p, PRIMARY, PF_MONOTONIC);
	pf_packet_close(out, wire_close(snapshot, p));
	pf->last_ns = sync->mono;
}

/* Finds the next point later than the latest. Return: false: there is none. */
static bool next_point(struct xsp_out *out, struct xsprof_sync *sync)
{
	struct perfetto *pf = pf_of(out);

	while (xsprof_trace_get_sync(out->trace, pf->next_sync, sync) == 0) {
		if (sync->mono > pf->last_ns && sync->mono <= INT64_MAX)
			return true;
		pf->next_sync++;
	}
	return false;
}

/*
 * The clocks of a point are read one after the other, so that the difference of two clocks varies
 * slightly between points. Kernel events are written with CLOCK_BOOTTIME and converted back by the
 * reader, so this difference is kept constant, except across a suspend, which only increases it.
 */
static void take_boot(struct perfetto *pf, const struct xsprof_sync *sync, bool first)
{
	uint64_t off = sync->boot - sync->mono;
	int64_t change = (int64_t)(off - pf->boot_off);

	if (sync->boot < sync->mono || sync->boot > INT64_MAX)
		return;
	if (first || change > SUSPEND_NS)
		pf->boot_off = off;
}

void pf_clocks(struct xsp_out *out, uint64_t ns)
{
	struct perfetto *pf = pf_of(out);
	struct xsprof_sync sync;

	while (next_point(out, &sync) && sync.mono <= ns) {
		take_boot(pf, &sync, false);
		put_snapshot(out, &sync);
	}
	pf->next_ns = next_point(out, &sync) ? sync.mono : ns + SUSPEND_NS;
}

static void first_clocks(struct xsp_out *out)
{
	struct xsprof_sync sync;

	if (next_point(out, &sync))
		take_boot(pf_of(out), &sync, true);
	else
		sync = (struct xsprof_sync){ .mono = out->base_ns ? out->base_ns : 1 };
	put_snapshot(out, &sync);
}

/* ---- the system, the whole ----------------------------------------------------------------- */

/* Fields of SystemInfo and of its Utsname. */
enum { UTSNAME = 1, SERVICE = 4, SYSNAME = 1, RELEASE = 3, MACHINE = 4 };

static void put_system(struct xsp_out *out)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	const char *release = xsprof_trace_host_fact(out->trace, "kernel");
	char *p, *system, *name;

	/* The meaning of task states depends on it. */
	if (xsprof_trace_get_kernel(out->trace, &kernel) == 0 && *kernel.release)
		release = kernel.release;
	system = wire_open(pf_packet_open(out, 0, PF_MARKERS, 0), PF_SYSTEM);
	name = wire_open(system, UTSNAME);
	p = pf_put_string(name, SYSNAME, "Linux");
	p = pf_put_string(p, RELEASE, release);
	p = pf_put_string(p, MACHINE, xsprof_trace_host_fact(out->trace, "machine"));
	p = pf_put_string(wire_close(name, p), SERVICE, "xsprof " XSPROF_VERSION);
	pf_packet_close(out, wire_close(system, p));
}

/* Begins a writer: its first packet says that nothing is interned. */
static void first_packet(struct xsp_out *out, uint32_t sequence)
{
	pf_packet_close(out, wire_u64(pf_packet_open(out, 0, sequence, PF_CLEARED), PF_FIRST, 1));
}

void pf_begin(struct xsp_out *out, uint64_t ns)
{
	struct perfetto *pf = pf_of(out);

	pf_names_forget(out);
	pf->begun = true;
	pf->begin_ns = ns;
	first_packet(out, PF_KERNEL);
	first_packet(out, PF_LOSSES);
	first_clocks(out);
	put_system(out);
	pf_trace_tracks(out);
}

/* Fields of TraceAttributes and of its Attribute. */
enum { ATTRIBUTE = 1, KEY = 1, LONG = 2, STRING = 3 };

static char *put_number(char *p, const char *key, uint64_t v)
{
	char *start = wire_open(p, ATTRIBUTE);

	p = pf_put_string(start, KEY, key);
	return wire_close(start, wire_i64(p, LONG, v <= INT64_MAX ? (int64_t)v : INT64_MAX));
}

static char *put_word(char *p, const char *key, const char *word)
{
	char *start = wire_open(p, ATTRIBUTE);

	return wire_close(start, pf_put_string(pf_put_string(start, KEY, key), STRING, word));
}

/* Like otherData of Chrome's JSON. */
void pf_end(struct xsp_out *out)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const struct xsp_tracks_stats *stats = xsp_tracks_stats(out->tracks);
	const struct perfetto *pf = pf_of(out);
	char *p, *start;

	if (xsprof_trace_get_info(out->trace, &info) < 0)
		memset(&info, 0, sizeof(info));
	p = start = wire_open(pf_packet_open(out, 0, PF_MARKERS, 0), PF_ATTRIBUTES);
	p = put_word(p, "xsprof.version", XSPROF_VERSION);
	p = put_word(p, "xsprof.clock", xsp_word_clock(info.clock_kind));
	p = put_number(p, "xsprof.clock_error_ns", info.clock_error_ns);
	p = put_number(p, "xsprof.events", out->events);
	p = put_number(p, "xsprof.entries", out->shown);
	p = put_number(p, "xsprof.events_merged", out->merged);
	p = put_number(p, "xsprof.events_kernel", pf_kernel_written(pf));
	p = put_number(p, "xsprof.events_left_out", pf->left_out);
	p = put_number(p, "xsprof.ranges_in_one_event", pf->pairs);
	p = put_number(p, "xsprof.ranges_closed", pf->closed);
	p = put_number(p, "xsprof.ranges_cut", stats->cut);
	p = put_number(p, "xsprof.ranges_unfinished", stats->open);
	p = put_number(p, "xsprof.ends_unmatched", stats->unmatched);
	p = put_number(p, "xsprof.ranges_too_deep", stats->deep);
	p = put_number(p, "xsprof.ranges_on_tracks_of_their_own", pf->alone);
	p = put_number(p, "xsprof.lost_records", info.lost_records);
	p = put_number(p, "xsprof.lost_slots", info.lost_slots);
	p = put_number(p, "xsprof.bad_slots", info.bad_slots);
	p = put_number(p, "xsprof.damaged_chunks", info.bad_chunks);
	p = put_number(p, "xsprof.truncated", info.truncated);
	if (xsprof_trace_get_kernel(out->trace, &kernel) == 0) {
		p = put_number(p, "xsprof.kernel_clock_error_ns", kernel.error_ns);
		p = put_number(p, "xsprof.kernel_lost_events", kernel.lost);
	}
	pf_packet_close(out, wire_close(start, p));
}

/*
 * Losses have their own writer: the flag for dropped packets makes readers forget what that writer
 * interned, which is nothing here.
 */
void pf_lost(struct xsp_out *out, const struct xsprof_event *ev)
{
	char *p = xsp_buf_room(&out->buf, XSP_BUF_ROOM), *packet, *event;

	xsp_keys_clear(&pf_of(out)->keys);
	packet = p = wire_open(p, PF_TRACE_PACKET);
	p = wire_u64(p, PF_TIMESTAMP, ev->ns);
	p = wire_u64(p, PF_CLOCK, PF_MONOTONIC);
	p = wire_u64(p, PF_SEQUENCE, PF_LOSSES);
	p = wire_u64(p, PF_FLAGS, PF_CLEARED);
	p = wire_u64(p, PF_DROPPED, 1);
	event = p = wire_open(p, PF_TRACK_EVENT);
	p = wire_u64(p, PF_TYPE, PF_INSTANT);
	p = wire_u64(p, PF_TRACK, PF_TRACK_LOST);
	p = wire_text(p, PF_NAME, "lost", 4);
	p = wire_text(p, PF_CATEGORY, "xsprof", 6);
	if (ev->producer != XSPROF_NO_PRODUCER) {
		p = pf_put_fields(out, ev, p);
	} else {
		p = pf_arg_u64(out, p, "cpu", (uint64_t)ev->cpu);
		if (ev->flags & XSPROF_EVF_UNKNOWN)
			p = pf_arg_true(out, p, "of the kernel, number not known");
		else
			p = pf_arg_u64(out, p, ev->flags & XSPROF_EVF_SLOTS ?
				       "times 32 bytes of the kernel's events" :
				       "kernel events", ev->value);
	}
	out->buf.p = wire_close(packet, wire_close(event, p));
}
