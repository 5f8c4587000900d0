// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ends of processes and threads in a Perfetto trace. Readers take them only from
 * sched_process_free, and treat later events with the same id as those of a new task. The tracer's
 * own event comes late, or is not recorded; so one is written for a thread at its last switch away,
 * for a process when all its threads have made it, and for a program when its end was seen too,
 * which is an event of its own, or when another program replaced it.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "format/perfetto/local.h"

enum { E_FREE = 240, FREE_PID = 2 };

/* State of a process; bits below: the number of its described threads that have not ended. */
#define LEADER	(1ull << 32)	/* its first thread made its last switch away */
#define EXIT	(1ull << 33)	/* its end was seen */
#define PROGRAM	(1ull << 34)	/* its end is an event of its own */

struct pf_ends {
	struct xsp_map	processes;
	struct xsp_map	threads;	/* the process of each program */
};

static struct pf_ends *ends_of(struct xsp_out *out)
{
	struct perfetto *pf = pf_of(out);

	if (!pf->ends)
		pf->ends = calloc(1, sizeof(*pf->ends));
	if (!pf->ends)
		out->buf.err = ENOMEM;
	return pf->ends;
}

void pf_ends_free(struct pf_ends *ends)
{
	if (!ends)
		return;
	xsp_map_free(&ends->processes);
	xsp_map_free(&ends->threads);
	free(ends);
}

static uint64_t known(const struct pf_ends *ends, uint32_t pid)
{
	const uint64_t *what = xsp_map_get(&ends->processes, pid);

	return what ? *what : 0;
}

static void know(struct xsp_out *out, uint32_t pid, uint64_t what)
{
	if (xsp_map_set(&pf_of(out)->ends->processes, pid, what))
		out->buf.err = ENOMEM;
}

/*
 * Perfetto's UI shows a trace from the first event of the kernel on: without any before it, the end
 * of a process would hide all that the process did.
 */
static void mark_begin(struct xsp_out *out, uint64_t end_ns)
{
	static const char name[] = "xsprof_begin";
	uint64_t ns = pf_of(out)->begin_ns;
	char *message, *p, *event;

	if (pf_bundles_any(pf_of(out)))
		return;
	/* A program may have been replaced as early as that. */
	if (ns > end_ns)
		ns = end_ns;
	event = pf_open_kernel(out, ns, 0, E_GENERIC, out->scratch, &message);
	p = wire_close(message, wire_text(message, G_NAME, name, sizeof(name) - 1));
	p = wire_close(event, p);
	pf_of(out)->made++;
	pf_bundle_add(out, 0, ns, out->scratch, (size_t)(p - out->scratch));
}

static void put_free(struct xsp_out *out, int32_t cpu, uint64_t ns, uint32_t tid)
{
	char *message, *p, *event;

	mark_begin(out, ns);
	event = pf_open_kernel(out, ns, 0, E_FREE, out->scratch, &message);
	p = wire_close(message, wire_i64(message, FREE_PID, (int32_t)tid));
	p = wire_close(event, p);
	pf_of(out)->made++;
	/* Without memory the task has no process. */
	(void)xsp_map_set(&pf_of(out)->ends->threads, tid, 0);
	pf_bundle_add(out, cpu, ns, out->scratch, (size_t)(p - out->scratch));
	if (pf_of(out)->bundles)
		pf_forget_task(out, tid);
}

void pf_end_told(struct xsp_out *out, uint32_t tgid)
{
	struct pf_ends *ends = ends_of(out);

	if (ends && tgid)
		know(out, tgid, known(ends, tgid) + 1);
}

void pf_end_is_program(struct xsp_out *out, uint32_t pid)
{
	struct pf_ends *ends = ends_of(out);

	if (ends && pid)
		know(out, pid, known(ends, pid) | PROGRAM);
}

bool pf_end_of_program(const struct xsp_out *out, uint32_t pid)
{
	const struct pf_ends *ends = pf_of(out)->ends;

	return ends && pid && known(ends, pid) & PROGRAM;
}

void pf_end_thread(struct xsp_out *out, uint32_t tid, uint32_t pid)
{
	struct pf_ends *ends = ends_of(out);

	if (ends && tid && xsp_map_set(&ends->threads, tid, pid))
		out->buf.err = ENOMEM;
}

uint32_t pf_end_process_of(const struct xsp_out *out, uint32_t tid)
{
	const struct pf_ends *ends = pf_of(out)->ends;
	const uint64_t *pid = ends && tid ? xsp_map_get(&ends->threads, tid) : NULL;

	return pid ? (uint32_t)*pid : 0;
}

/* All its threads have ended, and the program's end was seen: the latest of these is the end. */
static bool is_over(uint64_t what)
{
	return what & LEADER && !(uint32_t)what && (what & EXIT || !(what & PROGRAM));
}

void pf_end_task(struct xsp_out *out, int32_t cpu, uint64_t ns, uint32_t tid, uint32_t tgid)
{
	struct pf_ends *ends = ends_of(out);
	uint64_t what;

	if (!ends || !tid || !pf_bundle_takes(out, cpu))
		return;
	/* The kernel's tracer may not know the process of a task. */
	if (known(ends, tid) & PROGRAM)
		tgid = tid;
	if (!tgid)
		tgid = pf_end_process_of(out, tid);
	if (tid != tgid)
		put_free(out, cpu, ns, tid);
	what = tgid ? known(ends, tgid) : 0;
	if (!what)
		return;
	what -= (uint32_t)what != 0;
	if (tid == tgid)
		what |= LEADER;
	if (is_over(what)) {
		put_free(out, cpu, ns, tgid);
		what = 0;
	}
	know(out, tgid, what);
}

/*
 * The next program has the id from @ns on, and is described then: the previous one's end comes
 * before. Its tasks, of which one is left, are described again.
 */
static void put_exec(struct xsp_out *out, uint64_t ns, uint32_t pid)
{
	uint64_t what = known(pf_of(out)->ends, pid);

	put_free(out, 0, ns - (ns != 0), pid);
	know(out, pid, what - ((uint32_t)what != 0));
}

void pf_end_program(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct pf_ends *ends = ends_of(out);
	uint32_t how = (uint32_t)(ev->value >> 32);
	struct xsprof_trace_producer program;
	uint64_t what;

	if (!ends || !ev->pid || how == XSPROF_HOW_RUNNING ||
	    xsprof_trace_get_producer(out->trace, ev->producer, &program) < 0)
		return;
	if (how == XSPROF_HOW_EXEC) {
		put_exec(out, ev->ns, ev->pid);
		return;
	}
	what = known(ends, ev->pid) | EXIT;
	/* After the event that shows it, unless other events have the same time. */
	if (is_over(what) || (!pf_of(out)->switches && !program.exit_within_ns)) {
		put_free(out, 0, ev->ns + 1, ev->pid);
		what = 0;
	}
	know(out, ev->pid, what);
}
