// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a Perfetto trace says of itself: clocks, the system, how exact it is and what is missing.
 * All of it is rare, and but for losses written by protobuf-c.
 */
#include "format/perfetto/meta.h"
#include "format/perfetto/names.h"
#include "format/perfetto/packet.h"

/* A later jump of the clocks against each other is a suspend, no error of reading them. */
#define SUSPEND_NS	1000000

/* ---- clocks -------------------------------------------------------------------------------- */

static uint32_t add_clock(Pf__ClockSnapshot__Clock *clock, Pf__ClockSnapshot__Clock **list,
			  uint32_t n, uint32_t id, uint64_t ns)
{
	/* Beyond it is no time that a clock of ours tells. */
	if (!ns || ns > INT64_MAX)
		return n;
	pf__clock_snapshot__clock__init(clock + n);
	clock[n].has_clock_id = true;
	clock[n].clock_id = id;
	clock[n].has_timestamp = true;
	clock[n].timestamp = ns;
	list[n] = clock + n;
	return n + 1;
}

/* All clocks at a point.  The first says by which of them the trace is. */
static void put_snapshot(struct xsp_out *out, const struct xsprof_sync *sync)
{
	struct perfetto *pf = pf_of(out);
	Pf__ClockSnapshot__Clock clock[4], *list[4];
	Pf__ClockSnapshot snapshot = PF__CLOCK_SNAPSHOT__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	uint32_t n = 0;

	n = add_clock(clock, list, n, PF_MONOTONIC, sync->mono);
	n = add_clock(clock, list, n, PF_BOOTTIME, sync->mono + pf->boot_off);
	n = add_clock(clock, list, n, PF_MONOTONIC_RAW, sync->mono_raw);
	n = add_clock(clock, list, n, PF_REALTIME, sync->real);
	snapshot.n_clocks = n;
	snapshot.clocks = list;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = PF_MONOTONIC;
	packet.clock_snapshot = &snapshot;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = PF_MARKERS;
	pf_put(out, &packet);
	pf->last_ns = sync->mono;
}

/* The next point later than the latest.  Return: false when there is none. */
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
 * Clocks of a point are read one after the other: what is between two of them jumps by a little
 * from point to point.  The kernel's events are written by CLOCK_BOOTTIME and turned back by the
 * reader, so this one is kept, but for a suspend, by which it only gains.
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

static void put_system(struct xsp_out *out)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	const char *release = xsprof_trace_host_fact(out->trace, "kernel");
	const char *machine = xsprof_trace_host_fact(out->trace, "machine");
	Pf__SystemInfo system = PF__SYSTEM_INFO__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	Pf__Utsname name = PF__UTSNAME__INIT;
	char *at = out->scratch;

	if (xsprof_trace_get_kernel(out->trace, &kernel) == 0 && *kernel.release)
		release = kernel.release;
	/* What states of tasks mean depends on it. */
	if (release)
		name.release = pf_text(&at, release, strnlen(release, XSPROF_TEXT_MAX));
	if (machine)
		name.machine = pf_text(&at, machine, strnlen(machine, XSPROF_TEXT_MAX));
	name.sysname = (char *)"Linux";
	system.utsname = &name;
	system.tracing_service_version = (char *)"xsprof " XSPROF_VERSION;
	packet.system_info = &system;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = PF_MARKERS;
	pf_put(out, &packet);
}

/* A writer whose first packet says that it interned nothing. */
static void first_packet(struct xsp_out *out, uint32_t sequence)
{
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;

	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = sequence;
	packet.has_sequence_flags = true;
	packet.sequence_flags = PF_CLEARED;
	packet.has_first_packet_on_sequence = true;
	packet.first_packet_on_sequence = true;
	pf_put(out, &packet);
}

void pf_begin(struct xsp_out *out)
{
	struct perfetto *pf = pf_of(out);

	pf_names_forget(out);
	pf->begun = true;
	first_packet(out, PF_KERNEL);
	first_packet(out, PF_LOSSES);
	first_clocks(out);
	put_system(out);
	pf_trace_tracks(out);
}

struct attributes {
	Pf__TraceAttributes__Attribute	attribute[24];
	Pf__TraceAttributes__Attribute	*list[24];
	uint32_t			n;
};

static Pf__TraceAttributes__Attribute *attribute(struct attributes *a, const char *key)
{
	Pf__TraceAttributes__Attribute *attribute = &a->attribute[a->n];

	pf__trace_attributes__attribute__init(attribute);
	attribute->key = (char *)key;
	a->list[a->n++] = attribute;
	return attribute;
}

static void number(struct attributes *a, const char *key, uint64_t v)
{
	Pf__TraceAttributes__Attribute *at = attribute(a, key);

	at->has_long_value = true;
	at->long_value = v <= INT64_MAX ? (int64_t)v : INT64_MAX;
}

/* As otherData of Chrome's JSON. */
void pf_end(struct xsp_out *out)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	const struct xsp_tracks_stats *stats = xsp_tracks_stats(out->tracks);
	Pf__TraceAttributes attributes = PF__TRACE_ATTRIBUTES__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	const struct perfetto *pf = pf_of(out);
	struct attributes a = { .n = 0 };

	if (xsprof_trace_get_info(out->trace, &info) < 0)
		memset(&info, 0, sizeof(info));
	attribute(&a, "xsprof.version")->string_value = (char *)XSPROF_VERSION;
	attribute(&a, "xsprof.clock")->string_value = (char *)xsp_word_clock(info.clock_kind);
	number(&a, "xsprof.clock_error_ns", info.clock_error_ns);
	number(&a, "xsprof.events", out->events);
	number(&a, "xsprof.entries", out->shown);
	number(&a, "xsprof.events_merged", out->merged);
	number(&a, "xsprof.events_kernel", pf_kernel_written(pf));
	number(&a, "xsprof.events_left_out", pf->left_out);
	number(&a, "xsprof.ranges_in_one_event", pf->pairs);
	number(&a, "xsprof.ranges_closed", pf->closed);
	number(&a, "xsprof.ranges_cut", stats->cut);
	number(&a, "xsprof.ranges_unfinished", stats->open);
	number(&a, "xsprof.ends_unmatched", stats->unmatched);
	number(&a, "xsprof.ranges_too_deep", stats->deep);
	number(&a, "xsprof.ranges_on_tracks_of_their_own", pf->alone);
	number(&a, "xsprof.lost_records", info.lost_records);
	number(&a, "xsprof.lost_slots", info.lost_slots);
	number(&a, "xsprof.bad_slots", info.bad_slots);
	number(&a, "xsprof.damaged_chunks", info.bad_chunks);
	number(&a, "xsprof.truncated", info.truncated);
	if (xsprof_trace_get_kernel(out->trace, &kernel) == 0) {
		number(&a, "xsprof.kernel_clock_error_ns", kernel.error_ns);
		number(&a, "xsprof.kernel_lost_events", kernel.lost);
	}
	attributes.n_attribute = a.n;
	attributes.attribute = a.list;
	packet.trace_attributes = &attributes;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = PF_MARKERS;
	pf_put(out, &packet);
}

/*
 * A loss is told by a writer of its own: what it says of the packet before makes readers forget
 * what that writer interned, which here is nothing.
 */
void pf_lost(struct xsp_out *out, const struct xsprof_event *ev)
{
	char *p = xsp_buf_room(&out->buf, XSP_BUF_ROOM), *packet, *event;

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
		p = pf_arg_u64(p, "cpu", (uint64_t)ev->cpu);
		if (ev->flags & XSPROF_EVF_UNKNOWN)
			p = pf_arg_true(p, "of the kernel, number not known");
		else
			p = pf_arg_u64(p, ev->flags & XSPROF_EVF_SLOTS ?
				       "times 32 bytes of the kernel's events" :
				       "events of the kernel", ev->value);
	}
	out->buf.p = wire_close(packet, wire_close(event, p));
}
