// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the kernel's tracer in Chrome's JSON: viewers read them as "systemTraceEvents", one
 * string with the lines of the kernel's trace file. As a string cannot be inside the array of
 * events, the lines are kept in a spool until the end; their times are on the same clock as the
 * other events.
 *
 *	            comm-TID     (   TGID) [CPU] FLAGS SECONDS.MICROS: NAME: what it says
 */
#include <errno.h>
#include <stdio.h>

#include "format/chrome/local.h"
#include "format/common/sched.h"

/* Viewers recognize the text by this line, for any tracer. */
static const char header[] =
	"# tracer: nop\\n#\\n"
	"#           TASK-PID     (  TGID)  CPU#  ||||   TIMESTAMP  FUNCTION\\n";

/* The kernel's flags of an event. */
#define IRQS_OFF	0x01u
#define NEED_RESCHED	0x04u
#define HARDIRQ		0x08u
#define SOFTIRQ		0x10u
#define PREEMPT_RESCHED	0x20u
#define NMI		0x40u

/* "d.h2": as the kernel prints them, with only the letters that all viewers know. */
static char *put_flags(char *p, uint32_t aux)
{
	uint32_t flags = aux & 0xff, depth = aux >> 8 & 0xf, resched;

	resched = flags & (NEED_RESCHED | PREEMPT_RESCHED);
	*p++ = flags & IRQS_OFF ? 'd' : '.';
	*p++ = resched == (NEED_RESCHED | PREEMPT_RESCHED) ? 'N' : resched & NEED_RESCHED ? 'n' :
	       resched ? 'p' : '.';
	*p++ = flags & (HARDIRQ | NMI) ? flags & SOFTIRQ ? 'H' : 'h' : flags & SOFTIRQ ? 's' : '.';
	*p++ = depth ? "0123456789abcdef"[depth] : '.';
	return p;
}

static char *put_padded(char *p, const char *s, size_t len, size_t width)
{
	if (len < width) {
		memset(p, ' ', width - len);
		p += width - len;
	}
	memcpy(p, s, len);
	return p + len;
}

static char *put_task(char *p, const char *comm, uint32_t tid, uint32_t tgid)
{
	char text[63 * XSP_ESCAPE_MAX], *end;

	end = xsp_escape_text(text, comm, strnlen(comm, 63));
	p = put_padded(p, text, (size_t)(end - text), 16);
	*p++ = '-';
	end = put_u32(p, tid);
	while (end - p < 7)
		*end++ = ' ';
	p = put_lit(end, " (");
	if (!tgid)
		return put_lit(p, "-------) ");
	end = put_u32(text, tgid);
	p = put_padded(p, text, (size_t)(end - text), 7);
	return put_lit(p, ") ");
}

/* As the kernel prints losses between the lines. */
static char *put_lost(const struct xsprof_event *ev, char *p)
{
	p = put_u32(put_lit(p, "CPU:"), (uint32_t)ev->cpu);
	if (ev->flags & XSPROF_EVF_UNKNOWN)
		return put_lit(p, " [LOST EVENTS]");
	p = put_u64(put_lit(p, " [LOST "), ev->value);
	return ev->flags & XSPROF_EVF_SLOTS ? put_lit(p, " TIMES 32 BYTES OF EVENTS]") :
					      put_lit(p, " EVENTS]");
}

/*
 * Text written into the trace by trace_printk() is printed as "FUNCTION: text", without a name of
 * the event.
 */
static bool names_itself(const struct xsp_kernel_kind *kind, const char *info, const char *end)
{
	const char *space = memchr(info, ' ', (size_t)(end - info));

	return kind->kind && !strcmp(kind->kind->name, "print") &&
	       !strcmp(kind->kind->system, "ftrace") && space > info + 1 && space[-1] == ':';
}

/* Inserts the name, one word, before the text that is already there. */
static char *put_name(const struct xsp_kernel_kind *kind, char *info, char *end)
{
	memmove(info + kind->name_len + 2, info, (size_t)(end - info));
	for (uint32_t i = 0; i < kind->name_len; i++)
		info[i] = kind->name[i] > ' ' ? kind->name[i] : '_';
	memcpy(info + kind->name_len, ": ", 2);
	return end + kind->name_len + 2;
}

/* The columns after the task: CPU, flags, time. */
static char *put_when(struct xsp_out *out, const struct xsprof_event *ev, uint32_t flags, char *p)
{
	uint64_t micros = chrome_rel(out, ev->ns) / 1000;
	char text[XSP_PUT_MAX], *end;

	*p++ = '[';
	p = ev->cpu < 1000 ? put_d3(p, (uint32_t)ev->cpu) : put_u32(p, (uint32_t)ev->cpu);
	p = put_lit(p, "] ");
	p = put_flags(p, flags);
	*p++ = ' ';
	end = put_u64(text, micros / 1000000);
	p = put_padded(p, text, (size_t)(end - text), 5);
	*p++ = '.';
	p = put_d3(p, (uint32_t)(micros / 1000 % 1000));
	p = put_d3(p, (uint32_t)(micros % 1000));
	return put_lit(p, ": ");
}

/* A process in a line gets its name at the end, if it is known. */
static void is_shown(struct xsp_out *out, uint32_t pid)
{
	if (pid && pid < CHROME_PIDS)
		((struct chrome *)out->priv)->others[pid / 8] |= (uint8_t)(1u << pid % 8);
}

static char *put_line(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const struct xsp_kernel_kind *kind;
	char *end;

	if (ev->type == XSPROF_EV_LOST)
		return put_lost(ev, p);
	kind = xsp_kernel_kind(out->kernel, ev);
	p = put_task(p, xsp_kernel_comm(out->kernel, ev->tid), ev->tid, ev->pid);
	p = put_when(out, ev, ev->aux, p);
	end = xsp_kernel_info(out->kernel, ev, p);
	is_shown(out, ev->pid);
	return names_itself(kind, p, end) ? end : put_name(kind, p, end);
}

static void failed(struct xsp_out *out, int err)
{
	if (!out->spool_err)
		out->spool_err = err;
	if (!out->buf.err)
		out->buf.err = -err;
}

_Static_assert((2 + 2 * XSP_ESCAPE_MAX) * XSP_KERNEL_ROOM <= XSP_SCRATCH, "a line and its JSON");

/* The line is at the begin of the scratch buffer; its JSON follows there. */
static void keep_line(struct xsp_out *out, char *end)
{
	char *line = out->scratch, *json = out->scratch + 2 * XSP_KERNEL_ROOM;
	struct chrome *chrome = out->priv;
	int err;

	if (!chrome->spool) {
		chrome->spool = xsp_spool_new();
		if (!chrome->spool) {
			failed(out, -ENOMEM);
			return;
		}
	}
	end = put_lit(xsp_escape_json(json, line, (size_t)(end - line), NULL), "\\n");
	err = xsp_spool_put(chrome->spool, json, (size_t)(end - json));
	if (err)
		failed(out, err);
}

/*
 * Perfetto names a thread as in the last of its lines, whatever other names it has: so xsprof adds
 * a line with the thread's name.
 */
void chrome_kernel_thread(struct xsp_out *out, struct xsp_track *thread)
{
	const char *name = xsprof_trace_thread(out->trace, thread->producer, (uint32_t)thread->tid);
	struct xsprof_event at = { .ns = out->last_ns };
	uint32_t tid = xsp_track_tid(out->trace, thread);
	char *p;

	/* A pid used twice is not the kernel's. */
	if (!((struct chrome *)out->priv)->spool || thread->kind != XSP_LANE_THREAD ||
	    !thread->shown || !*name ||
	    chrome_pid(out, thread->producer, thread->pid) != thread->pid)
		return;
	p = put_when(out, &at, 0, put_task(out->scratch, name, tid, thread->pid));
	p = put_lit(p, "xsprof_thread: name=");
	keep_line(out, xsp_escape_text(p, name, strnlen(name, 63)));
}

static bool has_sched(struct xsp_out *out)
{
	struct chrome *chrome = out->priv;

	if (!chrome->sched && fmt_sched_new(&chrome->sched))
		failed(out, -ENOMEM);
	return chrome->sched;
}

static bool has_running(struct xsp_out *out)
{
	struct chrome *chrome = out->priv;

	if (!chrome->running && fmt_running_new(&chrome->running))
		failed(out, -ENOMEM);
	return chrome->running;
}

/* ---- the module's records of the scheduler -------------------------------------------------- */

static char *put_words(char *p, const char *key, const char *comm)
{
	p = stpcpy(p, key);
	return *comm ? xsp_escape_text(p, comm, strlen(comm)) : put_lit(p, "<...>");
}

static char *put_pid(char *p, const char *key, const struct xsp_task *task)
{
	return put_u32(stpcpy(p, key), task->tid);
}

/* As the kernel prints it, for readers that parse these lines. */
static char *put_sched(const struct fmt_sched_event *e, uint32_t cpu, char *p)
{
	if (e->kind == FMT_SCHED_SWITCH) {
		p = put_words(put_lit(p, "sched_switch: "), "prev_comm=", e->by.comm);
		p = put_u32(stpcpy(put_pid(p, " prev_pid=", &e->by), " prev_prio="),
			    FMT_SCHED_PRIO);
		p = put_lit(p, " prev_state=");
		*p++ = e->state;
		if (e->preempted)
			*p++ = '+';
		p = put_words(p, " ==> next_comm=", e->task.comm);
		return put_u32(stpcpy(put_pid(p, " next_pid=", &e->task), " next_prio="),
			       FMT_SCHED_PRIO);
	}
	p = e->kind == FMT_SCHED_MIGRATE ? put_lit(p, "sched_migrate_task: ") :
	    e->kind == FMT_SCHED_WAKING ? put_lit(p, "sched_waking: ") :
					  put_lit(p, "sched_wakeup_new: ");
	p = put_pid(put_words(p, "comm=", e->task.comm), " pid=", &e->task);
	p = put_u32(put_lit(p, " prio="), FMT_SCHED_PRIO);
	if (e->kind == FMT_SCHED_MIGRATE)
		return put_u32(put_lit(put_u32(put_lit(p, " orig_cpu="), e->from),
				       " dest_cpu="), e->to);
	p = put_lit(p, " target_cpu=");
	return cpu < 1000 ? put_d3(p, cpu) : put_u32(p, cpu);
}

bool chrome_sched_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct chrome *chrome = out->priv;
	struct fmt_sched_event e;
	uint32_t pid = 0;
	char *p;

	if (out->kernel || (uint32_t)ev->cpu >= FMT_SCHED_CPUS)
		return false;
	if (!has_sched(out))
		return true;
	fmt_sched_take(chrome->sched, out->trace, ev, &e);
	if (e.kind == FMT_SCHED_SAID) {
		out->merged++;
		return true;
	}
	/* The process has the pid of its other events. */
	if (e.by.own)
		pid = chrome_pid(out, ev->producer, e.by.tgid);
	p = put_task(out->scratch, !e.by.tid ? "<idle>" : *e.by.comm ? e.by.comm : "<...>",
		     e.by.tid, pid);
	keep_line(out, put_sched(&e, (uint32_t)ev->cpu, put_when(out, ev, 0, p)));
	chrome->kernel_lines++;
	return true;
}

static char *put_from(struct xsp_out *out, const struct xsp_task *task)
{
	const char *comm = !task->tid ? "<idle>" : *task->comm ? task->comm : "<...>";
	uint32_t pid = xsprof_trace_tgid(out->trace, task->tid);

	is_shown(out, pid);
	return put_task(out->scratch, comm, task->tid, pid);
}

/* A switch that the tracer left out: its line, and an instant that marks it. */
static void put_inferred(struct xsp_out *out, const struct xsprof_event *ev,
			 const struct fmt_inferred *inferred)
{
	struct fmt_sched_event e = {
		.kind = FMT_SCHED_SWITCH, .state = inferred->state, .by = inferred->from,
		.task = inferred->to,
	};
	struct xsprof_event at = *ev;
	char *p;

	at.ns = inferred->ns;
	p = put_when(out, &at, 0, put_from(out, &e.by));
	keep_line(out, put_sched(&e, (uint32_t)ev->cpu, p));
	p = put_when(out, &at, 0, put_from(out, &e.by));
	keep_line(out, put_u32(put_lit(p, "inferred_sched_switch: next_pid="), inferred->to.tid));
}

void chrome_kernel_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct chrome *chrome = out->priv;
	struct fmt_inferred inferred;

	if (!has_running(out))
		return;
	if (fmt_running_take(chrome->running, out->trace, ev, &inferred))
		put_inferred(out, ev, &inferred);
	keep_line(out, put_line(out, ev, out->scratch));
	chrome->kernel_lines++;
}

void chrome_kernel_marker(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct chrome *chrome = out->priv;
	struct fmt_inferred inferred;

	if (chrome->running && fmt_running_marker(chrome->running, out->trace, ev, &inferred))
		put_inferred(out, ev, &inferred);
}

void chrome_kernel_before(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct chrome *chrome = out->priv;
	struct fmt_sched_event e;
	struct fmt_inferred inferred;

	if (ev->producer != XSPROF_NO_PRODUCER) {
		if (out->kernel || (uint32_t)ev->cpu >= FMT_SCHED_CPUS || !has_sched(out))
			return;
		if (ev->type == XSPROF_EV_LOST)
			fmt_sched_lost(chrome->sched, ev->cpu);
		else
			fmt_sched_take(chrome->sched, out->trace, ev, &e);
	} else if (has_running(out)) {
		fmt_running_take(chrome->running, out->trace, ev, &inferred);
	}
}

static void put_running(void *data, int32_t cpu, const struct fmt_inferred *inferred)
{
	struct xsprof_event at = { .cpu = cpu };

	put_inferred(data, &at, inferred);
}

void chrome_kernel_begin(struct xsp_out *out, uint64_t ns)
{
	const struct chrome *chrome = out->priv;

	if (chrome->running)
		fmt_running_at(chrome->running, out->trace, ns, put_running, out);
	if (chrome->sched)
		fmt_sched_at(chrome->sched, ns, put_running, out);
}

void chrome_kernel_end(struct xsp_out *out)
{
	struct chrome *chrome = out->priv;
	int err;

	if (!chrome->spool)
		return;
	/* Catapult shows lines of the kernel only if the other events have this clock. */
	xsp_buf_puts(&out->buf, ",\n\"metadata\":{\"clock-domain\":\"LINUX_FTRACE_GLOBAL\"}");
	xsp_buf_puts(&out->buf, ",\n\"systemTraceEvents\":\"");
	xsp_buf_puts(&out->buf, header);
	err = xsp_spool_copy(chrome->spool, &out->buf);
	if (err)
		failed(out, err);
	xsp_buf_puts(&out->buf, "\"");
	xsp_spool_free(chrome->spool);
	chrome->spool = NULL;
}
