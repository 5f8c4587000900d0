// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes and tracks of Chrome's JSON: their numbers and names in the viewer.
 *
 * Viewers identify a process by its pid only. If the system reused a pid, or a process executed
 * another program, the second one gets a new number above any real pid.
 */
#include <errno.h>
#include <stdlib.h>

#include "decode/rank.h"
#include "format/chrome/local.h"
#include "ranges/program.h"

#define FIRST_PID	10000000u	/* numbers that are no pid */
#define FIRST_TID	20000000u	/* numbers of tracks that are no thread */

void chrome_tracks_start(struct chrome *chrome)
{
	chrome->next_tid = FIRST_TID;
}

static bool take_pid(struct chrome *chrome, uint32_t pid)
{
	if (!pid || pid >= CHROME_PIDS || chrome->used[pid / 8] & 1u << pid % 8)
		return false;
	chrome->used[pid / 8] |= (uint8_t)(1u << pid % 8);
	return true;
}

uint32_t chrome_pid(struct xsp_out *out, uint32_t producer, uint32_t pid)
{
	struct chrome *chrome = out->priv;
	struct chrome_process *v;
	uint32_t n;

	if (producer >= chrome->nr_processes) {
		if (producer >= XSPROF_CAP_MAX_PRODUCERS)
			return pid;
		n = (producer / 64 + 1) * 64;
		v = realloc(chrome->processes, n * sizeof(*v));
		if (!v)
			return pid;
		memset(v + chrome->nr_processes, 0, (n - chrome->nr_processes) * sizeof(*v));
		chrome->processes = v;
		chrome->nr_processes = n;
	}
	v = &chrome->processes[producer];
	if (!v->pid) {
		v->real = pid;
		v->pid = take_pid(chrome, pid) ? pid : FIRST_PID + chrome->given++;
	}
	return v->pid;
}

static char *make_prefix(struct xsp_out *out, const struct xsp_track *thread, uint32_t tid,
			 char *p)
{
	p = put_u32(put_lit(p, "\"pid\":"), chrome_pid(out, thread->producer, thread->pid));
	p = put_u32(put_lit(p, ",\"tid\":"), tid);
	return put_lit(p, ",\"ts\":");
}

char *chrome_put_thread(struct xsp_out *out, struct xsp_track *thread, char *p)
{
	char *end;

	if (__builtin_expect(thread->prefix != NULL, 1)) {
		/* At most 64 bytes: two numbers and their keys. */
		memcpy(p, thread->prefix, 32);
		if (thread->prefix_len > 32)
			memcpy(p + 32, thread->prefix + 32, 32);
		return p + thread->prefix_len;
	}
	end = make_prefix(out, thread, xsp_track_tid(out->trace, thread), p);
	xsp_tracks_prefix(out->tracks, thread, p, (size_t)(end - p));
	return end;
}

static char *put_metadata(struct xsp_out *out, const char *name, uint32_t pid, uint32_t tid)
{
	struct chrome *chrome = out->priv;
	char *p = xsp_buf_room(&out->buf, CHROME_ROOM);

	*p++ = chrome->sep;
	*p++ = '\n';
	chrome->sep = ',';
	p = put_lit(p, "{\"ph\":\"M\",\"pid\":");
	p = put_u32(p, pid);
	p = put_u32(put_lit(p, ",\"tid\":"), tid);
	p = put_lit(p, ",\"name\":\"");
	memcpy(p, name, strlen(name));
	return put_lit(p + strlen(name), "\",\"args\":{");
}

static void name_metadata(struct xsp_out *out, const char *what, uint32_t pid, uint32_t tid,
			  const char *name, size_t len)
{
	char *p = put_lit(put_metadata(out, what, pid, tid), "\"name\":");

	/* Viewers show no more than half of the room. */
	p = json_string(p, name, len < XSPROF_TEXT_MAX ? len : XSPROF_TEXT_MAX, NULL);
	out->buf.p = put_lit(p, "}}");
}

static void sort_metadata(struct xsp_out *out, const char *what, uint32_t pid, uint32_t tid,
			  uint32_t index)
{
	char *p = put_lit(put_metadata(out, what, pid, tid), "\"sort_index\":");

	out->buf.p = put_lit(put_u32(p, index), "}}");
}

void chrome_thread_name(struct xsp_out *out, struct xsp_track *thread)
{
	const char *comm;
	uint32_t pid, tid;

	/* Tracks that are no threads are named when they are created. */
	if (thread->kind != XSP_LANE_THREAD || !thread->shown)
		return;
	pid = chrome_pid(out, thread->producer, thread->pid);
	tid = xsp_track_tid(out->trace, thread);
	comm = xsprof_trace_thread(out->trace, thread->producer, (uint32_t)thread->tid);
	if (*comm)
		name_metadata(out, "thread_name", pid, tid, comm, strlen(comm));
	sort_metadata(out, "thread_sort_index", pid, tid,
		      thread->tid == thread->pid ? 0 : 1);
}

static bool make_lane(struct xsp_out *out, const struct xsprof_event *ev, struct xsp_track *lane)
{
	struct chrome *chrome = out->priv;
	uint32_t tid = chrome->next_tid;
	uint32_t pid = chrome_pid(out, lane->producer, lane->pid);
	char text[224], *end;

	end = make_prefix(out, lane, tid, text);
	if (tid == UINT32_MAX ||
	    !xsp_tracks_prefix(out->tracks, lane, text, (size_t)(end - text)))
		return false;
	chrome->next_tid++;
	end = xsp_lane_name(out, ev, lane, text);
	name_metadata(out, "thread_name", pid, tid, text, (size_t)(end - text));
	sort_metadata(out, "thread_sort_index", pid, tid, lane->kind + 1);
	return true;
}

struct xsp_track *chrome_lane(struct xsp_out *out, const struct xsprof_event *ev, uint32_t kind,
			      uint64_t key, uint64_t begin, uint64_t end)
{
	struct xsp_track *lane;
	uint32_t i;

	for (i = 0; i < XSP_LANES; i++) {
		lane = xsp_tracks_get(out->tracks, ev->producer, ev->pid, kind, key * XSP_LANES + i,
				      ev->ns);
		if (!lane)
			return NULL;
		if (kind == XSP_LANE_GPU || kind == XSP_LANE_CALLS ?
		    !xsp_lane_take(out, lane, begin, end) :
		    !xsp_tracks_complete(out->tracks, lane, begin, end))
			continue;
		return lane->prefix || make_lane(out, ev, lane) ? lane : NULL;
	}
	return NULL;
}

/* A label is drawn on every line of its process: the part of the command that fits. */
#define LABEL_MAX	120u

static size_t label_len(const char *text)
{
	size_t len = strnlen(text, LABEL_MAX + 1);

	if (len > LABEL_MAX)
		for (len = LABEL_MAX; len && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
			;
	return len;
}

/* And a suffix if another process has the same pid. */
static void process_name(struct xsp_out *out, uint32_t producer, const struct chrome_process *proc)
{
	const char *cmdline = xsprof_trace_fact(out->trace, producer, "cmdline");
	const char *name = xsp_program(out->trace, producer, out->scratch);
	struct xsp_rank rank;
	size_t len = 0;
	char *p;

	p = name ? out->scratch + strlen(name) : put_lit(out->scratch, "process");
	if (proc->pid != proc->real) {
		p = put_u32(put_lit(p, " (again pid "), proc->real);
		*p++ = ')';
	}
	name_metadata(out, "process_name", proc->pid, proc->real, out->scratch,
		      (size_t)(p - out->scratch));
	sort_metadata(out, "process_sort_index", proc->pid, proc->real, producer);
	if (!cmdline)
		return;
	if (xsp_rank_of(out->trace, producer, &rank))
		len = (size_t)(put_lit(put_u32(put_lit(out->scratch, "rank "), rank.rank), ": ") -
			       out->scratch);
	memcpy(out->scratch + len, cmdline, label_len(cmdline));
	len += label_len(cmdline);
	p = put_lit(put_metadata(out, "process_labels", proc->pid, proc->real), "\"labels\":");
	p = json_string(p, out->scratch, len, NULL);
	out->buf.p = put_lit(p, "}}");
}

/*
 * They are named as their first thread, and are sorted after the programs. Catapult draws
 * interrupts in process 0.
 */
static void other_names(struct xsp_out *out)
{
	struct chrome *chrome = out->priv;
	const char *comm;

	name_metadata(out, "process_name", 0, 0, "kernel", 6);
	sort_metadata(out, "process_sort_index", 0, 0, XSPROF_CAP_MAX_PRODUCERS);
	for (uint32_t pid = 1; pid < CHROME_PIDS; pid++) {
		if (!(chrome->others[pid / 8] & ~chrome->used[pid / 8] & 1u << pid % 8))
			continue;
		comm = xsp_kernel_comm(out->kernel, pid);
		if (*comm != '<')
			name_metadata(out, "process_name", pid, pid, comm, strlen(comm));
		sort_metadata(out, "process_sort_index", pid, pid, XSPROF_CAP_MAX_PRODUCERS);
	}
}

void chrome_process_names(struct xsp_out *out)
{
	struct chrome *chrome = out->priv;
	uint32_t i;

	for (i = 0; i < chrome->nr_processes; i++)
		if (chrome->processes[i].pid)
			process_name(out, i, &chrome->processes[i]);
	if (out->kernel)
		other_names(out);
}
