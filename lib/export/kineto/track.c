// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Tracks of a Kineto trace: threads by their numbers, GPU streams by device and stream, and those
 * of lane.c. A track's name is written when it is forgotten, or at the end: its name is known by
 * then.
 */
#include "decode/rank.h"
#include "export/kineto/local.h"
#include "ranges/device-names.h"
#include "ranges/program.h"

/* Programs count streams from small numbers: these tids are above them, below those of others. */
#define SYNC_TID	1000000u	/* Kineto's offset for tracks that wait for a stream */
#define FAULTS_TID	7000000u	/* Linux has 2^22 threads */
#define NO_STREAM_TID	8000000u	/* what is in no stream */
#define OTHER_TID	10000000u	/* offset for streams of other processes */
#define GPU_SORT	5000000u
#define OVERHEAD_SORT	16777226u
#define LABEL_MAX	96u
#define SEVERAL		UINT64_MAX	/* contexts */

/* Does the stream belong to another process than that of the trace? */
static bool is_others(const struct xsr_kineto *k, const struct xsp_track *stream)
{
	return k->main != XSPROF_NO_PRODUCER && stream->producer != k->main;
}

static bool is_beside(const struct xsp_track *track)
{
	return track->kind >= XSR_STREAM + XSR_BESIDE;
}

/* The kind without XSR_BESIDE. */
static uint32_t kind_of(const struct xsp_track *track)
{
	return is_beside(track) ? track->kind - XSR_BESIDE : track->kind;
}

/* Device, as its process calls it, and stream. */
static uint64_t place_of(const struct xsp_track *track)
{
	return is_beside(track) ? track->tid / XSR_LANES : track->tid;
}

static uint32_t stream_of(const struct xsp_track *track)
{
	return (uint32_t)place_of(track);
}

/* The tid of a track of a device's, other than those beside it. */
static uint64_t device_tid(const struct xsr_kineto *k, const struct xsp_track *track)
{
	uint64_t tid = (uint32_t)track->tid;

	if (track->kind == XSR_FAULTS)
		tid = FAULTS_TID;
	else if (track->kind != XSR_OVERHEAD && tid == XSPROF_NO_STREAM)
		tid = NO_STREAM_TID;
	if (track->kind == XSR_STREAM_SYNC)
		tid += SYNC_TID;
	/*
	 * Each process numbers its streams: only those of the trace's process keep their numbers.
	 */
	return is_others(k, track) ? tid + (track->producer + 1ull) * OTHER_TID : tid;
}

/* Is it on a row of a process, not of a device? */
static bool is_of_process(const struct xsp_track *track)
{
	return track->kind < XSR_STREAM ||
	       (kind_of(track) == XSR_FAULTS && place_of(track) >> 32 == XSPROF_NO_DEVICE);
}

static char *put_ids(struct xsr_kineto *k, struct xsp_track *thread, char *p)
{
	uint64_t tid;

	if (kind_of(thread) == XSR_OVERHEAD)
		p = put_lit(p, "\"pid\":-1");
	else
		p = put_u32(put_lit(p, "\"pid\":"), is_of_process(thread) ?
			    xsr_pid_shown(k, thread->pid) : thread->pid);
	if (thread->kind == XSR_THREAD)
		tid = xsp_track_tid(k->w.trace, thread);
	else if (thread->kind < XSR_STREAM || thread->shown >> 32)
		tid = thread->shown >> 32;
	else
		tid = device_tid(k, thread);
	p = put_u64(put_lit(p, ",\"tid\":"), tid);
	*p++ = ',';
	return p;
}

char *xsr_kineto_track(struct xsr_kineto *k, struct xsp_track *thread, char *p)
{
	char *end;

	thread->shown |= 1;
	if (__builtin_expect(thread->prefix != NULL, 1)) {
		/* The prefix has at least 64 bytes. */
		memcpy(p, thread->prefix, 32);
		if (thread->prefix_len > 32)
			memcpy(p + 32, thread->prefix + 32, 32);
		return p + thread->prefix_len;
	}
	end = put_ids(k, thread, p);
	if (end - p <= 64)
		xsp_tracks_prefix(k->tracks, thread, p, (size_t)(end - p));
	return end;
}

char *xsr_kineto_begin(struct xsr_kineto *k, struct xsp_track *thread, const char *kind,
		       uint32_t producer, uint32_t name, uint64_t ns)
{
	char *p = stpcpy(put_lit(xsr_writer_open(&k->w), "{\"ph\":"), kind);

	k->events++;
	p = put_lit(p, ",\"name\":");
	p = xsr_writer_name(&k->w, producer, name, p);
	*p++ = ',';
	p = xsr_kineto_track(k, thread, p);
	return xsr_kineto_ts(k, p, ns);
}

uint32_t xsr_kineto_device(struct xsr_kineto *k, uint32_t producer, uint32_t device)
{
	uint32_t number = xsr_number_of(k, producer, device);

	if (number < XSP_DEVICE_NUMBERS)
		k->devices[number / 64] |= 1ull << number % 64;
	return number;
}

struct xsp_track *xsr_kineto_stream(struct xsr_kineto *k, uint32_t producer, uint32_t device,
				    uint64_t stream, bool sync)
{
	struct xsp_track *track;

	track = xsp_tracks_get(k->tracks, producer, xsr_kineto_device(k, producer, device),
			       sync ? XSR_STREAM_SYNC : XSR_STREAM,
			       (uint64_t)device << 32 | (uint32_t)stream, 0);
	/* Larger numbers are tids of other tracks. */
	if (track && (uint32_t)stream >= SYNC_TID && (uint32_t)stream != XSPROF_NO_STREAM)
		(void)xsr_kineto_own_tid(k, track);
	return track;
}

struct xsp_track *xsr_kineto_faults(struct xsr_kineto *k, const struct xsprof_event *ev,
				    uint32_t device)
{
	uint32_t pid = device == XSPROF_NO_DEVICE ? ev->pid :
		       xsr_kineto_device(k, ev->producer, device);

	return xsp_tracks_get(k->tracks, ev->producer, pid, XSR_FAULTS, (uint64_t)device << 32, 0);
}

/* @context: + 1, as in the track; 0: not known. */
static void add_context(struct xsp_track *track, uint64_t context)
{
	if (!track->context)
		track->context = context;
	else if (context && track->context != context)
		track->context = SEVERAL;
}

void xsr_kineto_in_context(struct xsp_track *stream, uint32_t context)
{
	add_context(stream, context + 1ull);
}

struct xsp_track *xsr_kineto_beside(struct xsr_kineto *k, const struct xsprof_event *ev,
				    struct xsp_track *track, uint64_t begin, uint64_t end)
{
	struct xsprof_event there = *ev;
	uint32_t kind = track->kind;
	uint64_t tid = track->tid, context;
	struct xsp_track *lane;

	if (xsr_recent_add(k, track, begin, end))
		return track;
	there.pid = track->pid;
	context = track->context;
	lane = xsr_kineto_lane(k, &there, kind + XSR_BESIDE, tid, begin, end);
	/* Readers find work by its stream: a range that overlaps is better than none. */
	if (!lane)
		lane = xsp_tracks_get(k->tracks, ev->producer, there.pid, kind, tid, 0);
	if (lane)
		add_context(lane, context);
	return lane;
}

/*
 * Writes metadata of a thread, or of a process if @thread is NULL. The value follows, quoted if
 * @text.
 */
static char *put_meta(struct xsr_kineto *k, const char *what, const char *pid,
		      struct xsp_track *thread)
{
	char *p = xsr_writer_open(&k->w);

	p = put_lit(p, "{\"ph\":\"M\",\"name\":\"");
	p = stpcpy(p, what);
	p = put_lit(p, "\",");
	p = xsr_kineto_ts(k, p, k->first);
	*p++ = ',';
	if (thread)
		p = put_ids(k, thread, p);
	else
		p = put_lit(stpcpy(put_lit(p, "\"pid\":"), pid), ",\"tid\":0,");
	return put_lit(p, "\"args\":{");
}

static void sort_index(struct xsr_kineto *k, const char *what, const char *pid,
		       struct xsp_track *thread, uint64_t index)
{
	char *p = put_meta(k, what, pid, thread);

	p = put_u64(put_lit(p, "\"sort_index\":"), index);
	k->w.buf->p = put_lit(p, "}}");
}

static void thread_name(struct xsr_kineto *k, struct xsp_track *thread)
{
	uint32_t own = (uint32_t)thread->tid;
	const char *comm = xsprof_trace_thread(k->w.trace, thread->producer, own);
	uint32_t tid = xsp_track_tid(k->w.trace, thread);
	char *p = put_meta(k, "thread_name", NULL, thread);

	p = put_u32(put_lit(p, "\"name\":\"thread "), tid);
	p = put_lit(p, " (");
	p = xsp_escape_json(p, comm, strnlen(comm, 256), NULL);
	k->w.buf->p = put_lit(p, ")\"}}");
	sort_index(k, "thread_sort_index", NULL, thread, tid);
}

static void lane_name(struct xsr_kineto *k, struct xsp_track *lane)
{
	char *p = put_meta(k, "thread_name", NULL, lane);

	if (lane->kind == XSR_SPANS)
		p = put_lit(p, "\"name\":\"spans");
	else
		p = put_u64(put_lit(p, "\"name\":\"overlapping ranges of thread "),
			    lane->tid / XSR_LANES);
	if (lane->tid % XSR_LANES)
		p = put_u64(put_lit(p, ", track "), lane->tid % XSR_LANES + 1);
	k->w.buf->p = put_lit(p, "\"}}");
	sort_index(k, "thread_sort_index", NULL, lane, lane->shown >> 32);
}

/* What a track of a device is for. */
static char *put_stream(const struct xsp_track *track, char *p)
{
	uint32_t stream = stream_of(track);

	if (kind_of(track) == XSR_OVERHEAD)
		return put_lit(p, "overhead");
	if (kind_of(track) == XSR_FAULTS)
		return put_lit(p, "faults of unified memory");
	p = put_lit(p, "stream ");
	return stream == XSPROF_NO_STREAM ? put_lit(p, "-1") : put_u32(p, stream);
}

/*
 * The name that the program gave to a stream; NULL: none. Streams of several contexts may have the
 * same number, and here one track.
 */
static const char *given_name(const struct xsr_kineto *k, const struct xsp_track *track)
{
	if (kind_of(track) > XSR_STREAM_SYNC || !track->context || track->context == SEVERAL)
		return NULL;
	return xsp_stream_name(k->w.trace, track->producer, (uint32_t)(place_of(track) >> 32),
			       (uint32_t)(track->context - 1), stream_of(track));
}

static void stream_name(struct xsr_kineto *k, struct xsp_track *track)
{
	struct xsprof_trace_producer producer = { 0 };
	const char *name = given_name(k, track);
	uint32_t stream = stream_of(track);
	char *p;

	/* The process "Overhead" says it already. */
	if (track->kind == XSR_OVERHEAD && !is_others(k, track))
		return;
	p = put_stream(track, put_lit(put_meta(k, "thread_name", NULL, track), "\"name\":\""));
	if (is_others(k, track) &&
	    !xsprof_trace_get_producer(k->w.trace, track->producer, &producer))
		p = put_u32(put_lit(p, " of process "), producer.pid);
	if (kind_of(track) == XSR_STREAM_SYNC)
		p = put_lit(p, " (sync)");
	/* Kineto writes the blank. */
	if (name || (kind_of(track) == XSR_STREAM && !is_beside(track)))
		*p++ = ' ';
	if (name)
		p = xsp_escape_json(p, name, strnlen(name, 256), NULL);
	if (is_beside(track))
		p = put_lit(put_u64(put_lit(p, " (track "), track->tid % XSR_LANES + 2), ")");
	k->w.buf->p = put_lit(p, "\"}}");
	sort_index(k, "thread_sort_index", NULL, track, stream == XSPROF_NO_STREAM ? 0 : stream);
}

void xsr_kineto_name_track(struct xsr_kineto *k, struct xsp_track *thread)
{
	if (!(thread->shown & 1))
		return;
	if (thread->kind == XSR_THREAD)
		thread_name(k, thread);
	else if (thread->kind >= XSR_STREAM)
		stream_name(k, thread);
	else
		lane_name(k, thread);
}

static void process(struct xsr_kineto *k, const char *pid, const char *name, const char *label,
		    uint64_t sort)
{
	char *p = put_meta(k, "process_name", pid, NULL);

	p = put_lit(p, "\"name\":\"");
	p = xsp_escape_json(p, name, strnlen(name, 1024), NULL);
	k->w.buf->p = put_lit(p, "\"}}");
	if (label) {
		p = put_lit(put_meta(k, "process_labels", pid, NULL), "\"labels\":\"");
		k->w.buf->p = put_lit(stpcpy(p, label), "\"}}");
	}
	sort_index(k, "process_sort_index", pid, NULL, sort);
}

static const char *process_text(const struct xsr_kineto *k, uint32_t producer, char *text)
{
	const char *name = producer == XSPROF_NO_PRODUCER ? NULL :
			   xsp_program(k->w.trace, producer, text);

	return name ? name : "process";
}

/* Readers know the device by the first words. */
static void gpu_label(const struct xsr_kineto *k, uint32_t number, char label[LABEL_MAX])
{
	const struct xsr_numbered *device = xsr_numbered_at(k, number);
	struct xsprof_trace_producer producer;
	char *p = put_u32(put_lit(label, "GPU "), number);

	if (device && device->number != number &&
	    !xsprof_trace_get_producer(k->w.trace, device->producer, &producer)) {
		p = put_u32(put_lit(p, ", device "), device->number);
		p = put_u32(put_lit(p, " of process "), producer.pid);
		if (device->shared)
			p = put_lit(p, " and others");
	}
	*p = '\0';
}

void xsr_kineto_names(struct xsr_kineto *k)
{
	struct xsprof_trace_info info = { .size_of = sizeof(info) };
	struct xsprof_trace_producer producer;
	char pid[XSP_PUT_MAX], label[LABEL_MAX], text[XSP_PROGRAM_MAX], *p;
	const struct xsr_numbered *device;
	struct xsp_rank rank, one;
	uint32_t i;

	xsp_rank_find(k->w.trace, k->opts.pid, &rank);
	if (xsprof_trace_get_info(k->w.trace, &info) < 0)
		info.producers = 0;
	for (i = 0; i < info.producers; i++) {
		if (xsprof_trace_get_producer(k->w.trace, i, &producer) < 0 ||
		    (k->opts.pid && producer.pid != k->opts.pid))
			continue;
		*put_u32(pid, xsr_pid_shown(k, producer.pid)) = '\0';
		p = put_lit(label, "CPU");
		if (rank.several && xsp_rank_of(k->w.trace, i, &one))
			p = put_u32(put_lit(p, ", rank "), one.rank);
		if (xsr_pid_shown(k, producer.pid) != producer.pid)
			p = put_u32(put_lit(p, ", process "), producer.pid);
		*p = '\0';
		process(k, pid, process_text(k, i, text), label, producer.pid);
	}
	for (i = 0; i < XSP_DEVICE_NUMBERS; i++) {
		if (!(k->devices[i / 64] >> i % 64 & 1))
			continue;
		*put_u32(pid, i) = '\0';
		gpu_label(k, i, label);
		device = xsr_numbered_at(k, i);
		process(k, pid, process_text(k, device ? device->producer : k->main, text), label,
			GPU_SORT + i);
	}
	if (k->overhead)
		process(k, "-1", "Overhead", NULL, OVERHEAD_SORT);
}
