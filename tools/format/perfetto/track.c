// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks of a Perfetto trace: processes, threads, counters, and those that are none of these.
 *
 * The number of a track follows from what it is, so that a description may come twice and
 * nothing has to be remembered but what saves output.  Processes keep their pid, also one that
 * another program had before: the kernel's events are told by it.
 */
#include <stdlib.h>

#include "format/perfetto/names.h"
#include "format/perfetto/packet.h"
#include "text/put.h"

/* A tick of /proc/PID/stat. */
#define TICK_NS		10000000u

/* ---- numbers ------------------------------------------------------------------------------- */

static uint64_t thread_uuid(uint32_t producer, uint64_t tid)
{
	return ((uint64_t)producer + 1) << 33 | (tid & UINT32_MAX) << 1;
}

static uint64_t process_uuid(uint32_t producer)
{
	return ((uint64_t)producer + 1) << 33 | 1;
}

static uint64_t mix(uint64_t h)
{
	h ^= h >> 31;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 29;
}

uint64_t pf_hash_uuid(uint32_t producer, uint32_t kind, uint64_t key)
{
	uint64_t h = mix(key + 0x9e3779b97f4a7c15u * (kind + 1));

	return mix(h ^ (uint64_t)producer << 17) | 1ull << 63;
}

/* ---- descriptions -------------------------------------------------------------------------- */

/* A description at @ns under way: the parts that all have. */
struct descriptor {
	Pf__TracePacket		packet;
	Pf__TrackDescriptor	track;
};

static void describe(struct descriptor *d, uint64_t ns, uint64_t uuid, uint64_t parent)
{
	pf__trace_packet__init(&d->packet);
	pf__track_descriptor__init(&d->track);
	d->packet.has_timestamp = true;
	d->packet.timestamp = ns;
	d->packet.has_trusted_packet_sequence_id = true;
	d->packet.trusted_packet_sequence_id = PF_MARKERS;
	d->packet.has_sequence_flags = true;
	d->packet.sequence_flags = PF_NEEDED;
	d->packet.track_descriptor = &d->track;
	d->track.has_uuid = true;
	d->track.uuid = uuid;
	d->track.has_parent_uuid = parent != 0;
	d->track.parent_uuid = parent;
}

static void named_track(struct xsp_out *out, uint64_t ns, uint64_t uuid, uint64_t parent,
			const char *name, size_t len, bool counter)
{
	Pf__CounterDescriptor values = PF__COUNTER_DESCRIPTOR__INIT;
	struct descriptor d;
	char *at = out->scratch;

	describe(&d, ns, uuid, parent);
	d.track.name = pf_text(&at, name, len);
	if (counter)
		d.track.counter = &values;
	pf_put(out, &d.packet);
}

void pf_trace_tracks(struct xsp_out *out)
{
	named_track(out, out->base_ns, PF_TRACK_GLOBAL, 0, "global", 6, false);
	named_track(out, out->base_ns, PF_TRACK_LOST, 0, "lost", 4, false);
}

/* What readers take from nowhere else: the command line, the parent and the start. */
static void put_tree(struct xsp_out *out, uint32_t producer, uint32_t pid, uint64_t ns)
{
	const char *cmdline = xsprof_trace_fact(out->trace, producer, "cmdline");
	Pf__ProcessTree__Process process = PF__PROCESS_TREE__PROCESS__INIT, *processes = &process;
	Pf__ProcessTree tree = PF__PROCESS_TREE__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	struct xsprof_trace_producer program;
	char *at = out->scratch, *command;
	uint64_t start;

	if (!cmdline || xsprof_trace_get_producer(out->trace, producer, &program) < 0)
		return;
	process.has_pid = true;
	process.pid = (int32_t)pid;
	/* In a pid namespace of its own it has numbers that are others' here. */
	process.has_ppid = program.ctl && program.ctl->pid == pid && program.ctl->ppid;
	process.ppid = process.has_ppid ? (int32_t)program.ctl->ppid : 0;
	start = program.ctl ? program.ctl->start_time : 0;
	process.has_process_start_from_boot = start && start <= INT64_MAX / TICK_NS;
	process.process_start_from_boot = start * TICK_NS;
	command = pf_text(&at, cmdline, strnlen(cmdline, XSPROF_TEXT_MAX));
	process.n_cmdline = 1;
	process.cmdline = &command;
	tree.n_processes = 1;
	tree.processes = &processes;
	packet.has_timestamp = true;
	packet.timestamp = ns;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = PF_MARKERS;
	packet.has_sequence_flags = true;
	packet.sequence_flags = PF_NEEDED;
	packet.process_tree = &tree;
	pf_put(out, &packet);
}

static void put_process(struct xsp_out *out, uint32_t producer, uint32_t pid, uint64_t ns)
{
	const char *exe = xsprof_trace_fact(out->trace, producer, "exe");
	const char *cmdline = xsprof_trace_fact(out->trace, producer, "cmdline");
	const char *base = exe ? strrchr(exe, '/') : NULL;
	Pf__ProcessDescriptor process = PF__PROCESS_DESCRIPTOR__INIT;
	struct perfetto *pf = pf_of(out);
	char *at = out->scratch, *command;
	struct descriptor d;

	describe(&d, ns, process_uuid(producer), 0);
	d.track.process = &process;
	process.has_pid = true;
	process.pid = (int32_t)pid;
	base = base ? base + 1 : exe;
	if (base)
		process.process_name = pf_text(&at, base, strnlen(base, XSPROF_TEXT_MAX));
	if (cmdline) {
		command = pf_text(&at, cmdline, strnlen(cmdline, XSPROF_TEXT_MAX));
		process.n_cmdline = 1;
		process.cmdline = &command;
	}
	pf_put(out, &d.packet);
	put_tree(out, producer, pid, ns);
	if (producer < XSPROF_CAP_MAX_PRODUCERS && exe)
		pf->named[producer / 8] |= (uint8_t)(1u << producer % 8);
}

uint64_t pf_process_track(struct xsp_out *out, uint32_t producer, uint32_t pid, uint64_t ns)
{
	struct perfetto *pf = pf_of(out);

	if (producer >= XSPROF_CAP_MAX_PRODUCERS ||
	    !(pf->described[producer / 8] & 1u << producer % 8)) {
		put_process(out, producer, pid, ns);
		if (producer < XSPROF_CAP_MAX_PRODUCERS)
			pf->described[producer / 8] |= (uint8_t)(1u << producer % 8);
	}
	return process_uuid(producer);
}

void pf_program_track(struct xsp_out *out, uint32_t pid, uint64_t ns)
{
	struct xsprof_trace_producer program;

	for (uint32_t i = 0; i < XSPROF_CAP_MAX_PRODUCERS; i++) {
		if (xsprof_trace_get_producer(out->trace, i, &program) < 0 || program.pid != pid)
			continue;
		pf_process_track(out, i, pid, ns);
		return;
	}
}

/* Those whose program was not known when they came. */
void pf_process_names(struct xsp_out *out)
{
	const struct perfetto *pf = pf_of(out);
	struct xsprof_trace_producer producer;
	uint32_t i;

	for (i = 0; i < XSPROF_CAP_MAX_PRODUCERS; i++) {
		if (!(pf->described[i / 8] & ~pf->named[i / 8] & 1u << i % 8) ||
		    xsprof_trace_get_producer(out->trace, i, &producer) < 0)
			continue;
		put_process(out, i, producer.pid, out->last_ns);
	}
}

static void put_thread(struct xsp_out *out, struct xsp_track *of, const char *name, uint64_t ns)
{
	uint64_t parent = pf_process_track(out, of->producer, of->pid, ns);
	Pf__ThreadDescriptor thread = PF__THREAD_DESCRIPTOR__INIT;
	char *at = out->scratch;
	struct descriptor d;

	describe(&d, ns, thread_uuid(of->producer, of->tid), parent);
	d.track.thread = &thread;
	thread.has_pid = true;
	thread.pid = (int32_t)of->pid;
	thread.has_tid = true;
	thread.tid = xsp_track_tid(out->trace, of);
	if (*name)
		thread.thread_name = pf_text(&at, name, strnlen(name, XSPROF_TEXT_MAX));
	pf_put(out, &d.packet);
}

static bool same_name(const struct xsp_track *thread, const char *name)
{
	return thread->comm && (thread->comm == name || !strcmp(thread->comm, name));
}

static const char *describe_thread(struct xsp_out *out, struct xsp_track *thread, uint32_t *len)
{
	const char *name = xsprof_trace_thread(out->trace, thread->producer,
					       (uint32_t)thread->tid);
	struct perfetto *pf = pf_of(out);

	if (!thread->prefix || !same_name(thread, name))
		put_thread(out, thread, name, out->last_ns);
	thread->comm = name;
	*len = (uint32_t)(wire_u64(pf->track, PF_TRACK,
				   thread_uuid(thread->producer, thread->tid)) - pf->track);
	if (!thread->prefix)
		xsp_tracks_prefix(out->tracks, thread, pf->track, *len);
	return pf->track;
}

const char *pf_thread_track(struct xsp_out *out, struct xsp_track *thread, uint32_t *len)
{
	/* The name may come later than the thread. */
	if (__builtin_expect(!thread->prefix || (!thread->kind && xsp_track_stale(thread)), 0))
		return describe_thread(out, thread, len);
	*len = thread->prefix_len;
	return thread->prefix;
}

void pf_thread_gone(struct xsp_out *out, struct xsp_track *thread)
{
	const char *name;

	if (thread->kind != XSP_LANE_THREAD || !thread->prefix)
		return;
	name = xsprof_trace_thread(out->trace, thread->producer, (uint32_t)thread->tid);
	if (!same_name(thread, name))
		put_thread(out, thread, name, out->last_ns);
}

/* ---- tracks that are no threads ------------------------------------------------------------ */

static bool make_lane(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_track *lane)
{
	uint64_t uuid = pf_hash_uuid(lane->producer, lane->kind, lane->tid);
	char track[2 + WIRE_MAX], text[160], *end;

	end = wire_u64(track, PF_TRACK, uuid);
	if (!xsp_tracks_prefix(out->tracks, lane, track, (size_t)(end - track)))
		return false;
	end = xsp_lane_name(ev, lane, text);
	named_track(out, ev->ns, uuid, pf_process_track(out, ev->producer, ev->pid, ev->ns), text,
		    (size_t)(end - text), false);
	return true;
}

/*
 * Readers sort by time, and what has the same time stays in the order of the file: a range that
 * begins with one inside it that is in the file already would begin after that.
 */
static bool begins_with_another(const struct xsp_stack *stack, uint64_t begin)
{
	for (uint32_t i = stack->n; i && stack->v[i - 1].end != XSP_OPEN; i--) {
		const struct xsp_range *range = &stack->v[i - 1];

		if (range->begin < begin)
			break;
		if (range->begin == begin && range->end > begin)
			return true;
	}
	return false;
}

bool pf_nests(struct xsp_out *out, struct xsp_track *thread, uint64_t begin, uint64_t end)
{
	return !begins_with_another(&thread->stack, begin) &&
	       xsp_tracks_complete(out->tracks, thread, begin, end);
}

struct xsp_track *pf_lane(struct xsp_out *out, const struct xsprof_event *ev, enum xsp_lane kind,
			  uint64_t key, uint64_t begin, uint64_t end)
{
	struct xsp_track *lane;
	uint32_t i;

	for (i = 0; i < XSP_LANES; i++) {
		lane = xsp_tracks_get(out->tracks, ev->producer, ev->pid, kind, key * XSP_LANES + i,
				      ev->ns);
		if (!lane)
			return NULL;
		if (!pf_nests(out, lane, begin, end))
			continue;
		return lane->prefix || make_lane(out, ev, lane) ? lane : NULL;
	}
	return NULL;
}

static void track_by_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name,
			  uint64_t uuid, bool counter)
{
	uint64_t parent = pf_process_track(out, ev->producer, ev->pid, ev->ns);
	const char *text = xsp_word_type(ev->type);
	size_t len = strlen(text);

	if (name)
		text = xsprof_trace_name_len(out->trace, ev->producer, name, &len);
	named_track(out, ev->ns, uuid, parent, text, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES,
		    counter);
}

uint64_t pf_alone(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name)
{
	uint64_t uuid = pf_hash_uuid(ev->producer, PF_ALONE, pf_of(out)->alone++);

	track_by_name(out, ev, name, uuid, false);
	return uuid;
}

uint64_t pf_counter_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name)
{
	uint64_t uuid = pf_hash_uuid(ev->producer, PF_COUNTERS, name);

	if (pf_names_counter(out, ev->producer, name))
		track_by_name(out, ev, name, uuid, true);
	return uuid;
}

/* ---- async events -------------------------------------------------------------------------- */

uint64_t pf_async_uuid(uint32_t producer, uint32_t name, uint64_t id)
{
	return pf_hash_uuid(producer, PF_ASYNC, mix(id) + name);
}

uint64_t pf_async_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name,
			bool known)
{
	uint64_t uuid = pf_async_uuid(ev->producer, name, ev->value);

	if (!known)
		track_by_name(out, ev, name, uuid, false);
	return uuid;
}
