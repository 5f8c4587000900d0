// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks of a Perfetto trace: processes, threads, counters, and others.
 *
 * The number of a track is derived from its identity, so that a description may be repeated and
 * state is kept only to save output. Processes keep their pid, even if another program had it
 * before: kernel events refer to it.
 */
#include <stdlib.h>

#include "decode/rank.h"
#include "format/perfetto/names.h"
#include "format/perfetto/packet.h"
#include "ranges/program.h"
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

/* Fields of TrackDescriptor, and of the messages in it. */
enum {
	UUID = 1, NAME = 2, PROCESS = 3, THREAD = 4, PARENT = 5, COUNTER = 8,

	PROCESS_PID = 1, PROCESS_CMDLINE = 2, PROCESS_SORT = 3, PROCESS_NAME = 6,
	PROCESS_LABELS = 8,

	THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
};

/*
 * Begins a description at @ns with the common parts; @track is its begin. A reader takes the latest
 * thread described by a writer as the writer's own, even if its process has ended, and creates a
 * new one at the writer's next event: so writers of events describe no threads.
 */
static char *describe(struct xsp_out *out, uint64_t ns, uint64_t uuid, uint64_t parent,
		      char **track)
{
	char *p = wire_u64(pf_packet_open(out, ns, PF_KERNEL, 0), PF_CLOCK, PF_MONOTONIC);

	*track = wire_open(p, PF_DESCRIPTOR);
	p = wire_u64(*track, UUID, uuid);
	return parent ? wire_u64(p, PARENT, parent) : p;
}

static void named_track(struct xsp_out *out, uint64_t ns, uint64_t uuid, uint64_t parent,
			const char *name, size_t len, bool counter)
{
	char *track, *p = describe(out, ns, uuid, parent, &track), *values;

	p = wire_text(p, NAME, name, len);
	if (counter) {
		values = wire_open(p, COUNTER);
		p = wire_close(values, values);
	}
	pf_packet_close(out, wire_close(track, p));
}

void pf_trace_tracks(struct xsp_out *out)
{
	named_track(out, out->base_ns, PF_TRACK_GLOBAL, 0, "global", 6, false);
	named_track(out, out->base_ns, PF_TRACK_LOST, 0, "lost", 4, false);
}

/* Data that readers take only from here: the command line, the parent and the start time. */
static void put_tree(struct xsp_out *out, uint32_t producer, uint32_t pid, uint64_t ns)
{
	const char *cmdline = xsprof_trace_fact(out->trace, producer, "cmdline");
	struct xsprof_trace_producer program;
	char *p, *tree, *process;
	uint64_t start;

	if (!cmdline || xsprof_trace_get_producer(out->trace, producer, &program) < 0)
		return;
	tree = wire_open(pf_packet_open(out, ns, PF_MARKERS, PF_NEEDED), PF_TREE);
	process = wire_open(tree, PF_TREE_PROCESS);
	p = wire_i64(process, PF_PROCESS_PID, (int32_t)pid);
	/* In another pid namespace its ids belong to other tasks here. */
	if (program.ctl && program.ctl->pid == pid && program.ctl->ppid)
		p = wire_i64(p, PF_PROCESS_PPID, (int32_t)program.ctl->ppid);
	p = pf_put_string(p, PF_PROCESS_CMDLINE, cmdline);
	start = program.ctl ? program.ctl->start_time : 0;
	if (start && start <= INT64_MAX / TICK_NS)
		p = wire_u64(p, PF_PROCESS_START, start * TICK_NS);
	pf_packet_close(out, wire_close(tree, wire_close(process, p)));
}

static void put_process(struct xsp_out *out, uint32_t producer, uint32_t pid, uint64_t ns)
{
	char name[XSP_PROGRAM_MAX], *p, *track, *process;
	bool known = xsp_program(out->trace, producer, name) != NULL;
	struct perfetto *pf = pf_of(out);
	char label[XSP_PUT_MAX];
	struct xsp_rank rank;

	p = describe(out, ns, process_uuid(producer), 0, &track);
	process = wire_open(p, PROCESS);
	p = wire_i64(process, PROCESS_PID, (int32_t)pid);
	p = pf_put_string(p, PROCESS_CMDLINE, xsprof_trace_fact(out->trace, producer, "cmdline"));
	/* Before all others, which have no rank: 0. */
	p = wire_i64(p, PROCESS_SORT, (int64_t)producer - XSPROF_CAP_MAX_PRODUCERS);
	p = pf_put_string(p, PROCESS_NAME, known ? name : NULL);
	if (xsp_rank_of(out->trace, producer, &rank)) {
		*put_u32(put_lit(label, "rank "), rank.rank) = '\0';
		p = pf_put_string(p, PROCESS_LABELS, label);
	}
	pf_packet_close(out, wire_close(track, wire_close(process, p)));
	put_tree(out, producer, pid, ns);
	pf_end_is_program(out, pid);
	if (producer < XSPROF_CAP_MAX_PRODUCERS && known)
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
	uint32_t producer;

	if (pf_program_of(out, pid, &producer))
		pf_process_track(out, producer, pid, ns);
}

/*
 * Describes processes whose program was unknown at first. Like late thread names, this is written
 * with the start time of the trace: at its end another process may have the id.
 */
void pf_process_names(struct xsp_out *out)
{
	const struct perfetto *pf = pf_of(out);
	struct xsprof_trace_producer producer;
	uint32_t i;

	for (i = 0; i < XSPROF_CAP_MAX_PRODUCERS; i++) {
		if (!(pf->described[i / 8] & ~pf->named[i / 8] & 1u << i % 8) ||
		    xsprof_trace_get_producer(out->trace, i, &producer) < 0)
			continue;
		put_process(out, i, producer.pid, out->base_ns);
	}
}

static void put_thread(struct xsp_out *out, struct xsp_track *of, const char *name, uint64_t ns)
{
	uint64_t parent = pf_process_track(out, of->producer, of->pid, ns);
	char *track, *thread, *p;

	p = describe(out, ns, thread_uuid(of->producer, of->tid), parent, &track);
	thread = wire_open(p, THREAD);
	p = wire_i64(thread, THREAD_PID, (int32_t)of->pid);
	p = wire_i64(p, THREAD_TID, xsp_track_tid(out->trace, of));
	p = pf_put_string(p, THREAD_NAME, name);
	pf_packet_close(out, wire_close(track, wire_close(thread, p)));
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
	pf_end_thread(out, xsp_track_tid(out->trace, thread), thread->pid);
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
		put_thread(out, thread, name, out->base_ns);
}

/* ---- tracks that are no threads ------------------------------------------------------------ */

static void track_by_name(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name,
			  uint64_t uuid, uint64_t parent, bool counter)
{
	const char *text = xsp_word_type(ev->type);
	size_t len = strlen(text);

	if (name)
		text = xsprof_trace_name_len(out->trace, ev->producer, name, &len);
	named_track(out, ev->ns, uuid, parent, text, len < XSP_NAME_BYTES ? len : XSP_NAME_BYTES,
		    counter);
}

/* Rows named like their ranges. */
static bool is_by_name(enum xsp_lane kind)
{
	return kind == XSP_LANE_OVERLAP || kind == XSP_LANE_SPANS;
}

static bool make_lane(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_track *lane)
{
	uint64_t uuid = pf_hash_uuid(lane->producer, lane->kind, lane->tid);
	uint64_t parent = pf_process_track(out, ev->producer, ev->pid, ev->ns);
	char track[2 + WIRE_MAX], text[224], *end;

	end = wire_u64(track, PF_TRACK, uuid);
	if (!xsp_tracks_prefix(out->tracks, lane, track, (size_t)(end - track)))
		return false;
	if (lane->kind == XSP_LANE_OVERLAP)
		parent = thread_uuid(ev->producer, ev->tid ? ev->tid : ev->pid);
	if (is_by_name(lane->kind)) {
		track_by_name(out, ev, ev->name, uuid, parent, false);
		return true;
	}
	end = xsp_lane_name(out, ev, lane, text);
	named_track(out, ev->ns, uuid, parent, text, (size_t)(end - text), false);
	return true;
}

/*
 * Readers sort by time, and keep the order of the file for equal times: a range that begins at the
 * same time as one inside it, which is already in the file, would begin after that.
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
	return !begins_with_another(&thread->opens.stack, begin) &&
	       xsp_tracks_complete(out->tracks, thread, begin, end);
}

struct xsp_track *pf_lane(struct xsp_out *out, const struct xsprof_event *ev, enum xsp_lane kind,
			  uint64_t key, uint64_t begin, uint64_t end)
{
	struct xsp_track *lane;
	uint32_t i;

	/* Rows with the same name, which viewers group. */
	if (is_by_name(kind))
		key = mix(mix(key) + ev->name) / XSP_LANES;
	for (i = 0; i < XSP_LANES; i++) {
		lane = xsp_tracks_get(out->tracks, ev->producer, ev->pid, kind, key * XSP_LANES + i,
				      ev->ns);
		if (!lane)
			return NULL;
		if (kind == XSP_LANE_GPU || kind == XSP_LANE_CALLS ?
		    !xsp_lane_take(out, lane, begin, end) : !pf_nests(out, lane, begin, end))
			continue;
		return lane->prefix || make_lane(out, ev, lane) ? lane : NULL;
	}
	return NULL;
}

uint64_t pf_alone(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name)
{
	uint64_t uuid = pf_hash_uuid(ev->producer, PF_ALONE, pf_of(out)->alone++);

	track_by_name(out, ev, name, uuid, pf_process_track(out, ev->producer, ev->pid, ev->ns),
		      false);
	return uuid;
}

uint64_t pf_counter_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t name)
{
	uint64_t uuid = pf_hash_uuid(ev->producer, PF_COUNTERS, name);

	if (pf_names_counter(out, ev->producer, name))
		track_by_name(out, ev, name, uuid,
			      pf_process_track(out, ev->producer, ev->pid, ev->ns), true);
	return uuid;
}

uint64_t pf_memory_track(struct xsp_out *out, const struct xsprof_event *ev)
{
	const struct xsprof_rec_gpu *gpu = (const struct xsprof_rec_gpu *)ev->rec;
	uint64_t uuid = pf_hash_uuid(ev->producer, PF_COUNTERS, UINT64_MAX - gpu->device);
	char text[64], *p = put_u32(put_lit(text, "memory in use on GPU "), gpu->device);

	/* No counter name has this number. */
	if (pf_names_counter(out, ev->producer, UINT32_MAX - gpu->device))
		named_track(out, ev->ns, uuid,
			    pf_process_track(out, ev->producer, ev->pid, ev->ns), text,
			    (size_t)(p - text), true);
	return uuid;
}

uint64_t pf_metric_track(struct xsp_out *out, const struct xsprof_event *ev, uint32_t key)
{
	const struct xsprof_rec_gpu *gpu = (const struct xsprof_rec_gpu *)ev->rec;
	/* Numbers of names never have these bits. */
	uint64_t uuid = pf_hash_uuid(ev->producer, PF_COUNTERS,
				     (gpu->device + 1ull) << 32 | key);
	char text[FMT_METRIC_BYTES];

	if (pf_names_metric(out, uuid))
		named_track(out, ev->ns, uuid,
			    pf_process_track(out, ev->producer, ev->pid, ev->ns), text,
			    fmt_gpu_metric_name(out->trace, ev, key, text), true);
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
		track_by_name(out, ev, name, uuid,
			      pf_process_track(out, ev->producer, ev->pid, ev->ns), false);
	return uuid;
}
