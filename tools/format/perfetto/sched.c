// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's scheduler records in a Perfetto trace, as the messages of the tracer's equivalent
 * events. They are left out if the trace has the tracer's own events.
 */
#include <errno.h>
#include <stdio.h>

#include "format/common/sched.h"
#include "format/perfetto/local.h"

enum { E_SWITCH = 4, E_WAKING = 20, E_WAKEUP_NEW = 114, E_MIGRATE = 491 };

/* Task states as the kernel numbers them since 4.14; none: a state without a letter. */
static uint32_t state_bits(const struct fmt_sched_event *e)
{
	static const char letters[] = "SDTtXZPI";
	const char *at = e->state ? strchr(letters, e->state) : NULL;

	if (at)
		return 1u << (at - letters);
	return e->preempted ? 0x100 : 0;
}

/* Without a name the field is left out: an empty text would replace a known name. */
static char *put_comm(char *p, uint32_t number, const struct xsp_task *task)
{
	return !*task->comm ? p : wire_text(p, number, task->comm, strlen(task->comm));
}

/* Name, number and priority, in fields from @number on. */
static char *put_task(char *p, uint32_t number, const struct xsp_task *task)
{
	p = wire_i64(put_comm(p, number, task), number + 1, (int32_t)task->tid);
	return wire_u64(p, number + 2, FMT_SCHED_PRIO);
}

static char *put_event(struct xsp_out *out, const struct xsprof_event *ev,
		       const struct fmt_sched_event *e, char *p)
{
	static const uint32_t numbers[] = {
		[FMT_SCHED_SWITCH] = E_SWITCH, [FMT_SCHED_WAKING] = E_WAKING,
		[FMT_SCHED_WAKEUP_NEW] = E_WAKEUP_NEW, [FMT_SCHED_MIGRATE] = E_MIGRATE,
	};
	char *message, *event;

	event = pf_open_kernel(out, ev->ns, e->by.tid, numbers[e->kind], p, &message);
	if (e->kind == FMT_SCHED_SWITCH) {
		p = wire_u64(put_task(message, 1, &e->by), 4, state_bits(e));
		p = put_task(p, 5, &e->task);
	} else {
		p = put_task(message, 1, &e->task);
	}
	if (e->kind == FMT_SCHED_MIGRATE)
		p = wire_i64(wire_i64(p, 4, (int32_t)e->from), 5, (int32_t)e->to);
	return wire_close(event, wire_close(message, p));
}

/* An event without its own message: only its name. */
static char *put_marker(struct xsp_out *out, const struct fmt_inferred *inferred, char *p)
{
	static const char name[] = "inferred_sched_switch", field[] = "next_pid";
	char *message, *event, *start;

	event = pf_open_kernel(out, inferred->ns, 0, E_GENERIC, p, &message);
	start = wire_open(wire_text(message, G_NAME, name, sizeof(name) - 1), G_FIELD);
	p = wire_text(start, G_FIELD_NAME, field, sizeof(field) - 1);
	p = wire_close(start, wire_i64(p, G_I64, (int32_t)inferred->to.tid));
	return wire_close(event, wire_close(message, p));
}

void pf_sched_inferred(struct xsp_out *out, const struct xsprof_event *ev,
		       const struct fmt_inferred *inferred)
{
	struct fmt_sched_event e = {
		.kind = FMT_SCHED_SWITCH, .state = inferred->state, .by = inferred->from,
		.task = inferred->to,
	};
	struct xsprof_event at = *ev;
	char *end;

	at.ns = inferred->ns;
	end = put_event(out, &at, &e, out->scratch);
	pf_bundle_add(out, ev->cpu, at.ns, out->scratch, (size_t)(end - out->scratch));
	end = put_marker(out, inferred, out->scratch);
	pf_bundle_add(out, ev->cpu, at.ns, out->scratch, (size_t)(end - out->scratch));
	pf_of(out)->inferred++;
}

static void tell(struct xsp_out *out, const struct xsprof_event *ev, const struct xsp_task *task)
{
	if (!task->own || !task->tgid || pf_is_told(out, task->tid))
		return;
	pf_tell_task(out, &(struct pf_task){
		.ns = ev->ns, .tid = task->tid, .tgid = task->tgid, .comm = task->comm,
		.leader = xsprof_trace_thread(out->trace, ev->producer, task->tgid),
	});
}

static bool has_sched(struct xsp_out *out)
{
	struct perfetto *pf = pf_of(out);

	if (!pf->sched && fmt_sched_new(&pf->sched))
		out->buf.err = ENOMEM;
	return pf->sched;
}

void pf_sched_before(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct fmt_sched_event e;

	if (out->kernel || (uint32_t)ev->cpu >= FMT_SCHED_CPUS || !has_sched(out))
		return;
	if (ev->type == XSPROF_EV_LOST)
		fmt_sched_lost(pf_of(out)->sched, ev->cpu);
	else
		fmt_sched_take(pf_of(out)->sched, out->trace, ev, &e);
}

static void put_running(void *data, int32_t cpu, const struct fmt_inferred *inferred)
{
	struct xsprof_event at = { .cpu = cpu };

	if (pf_bundle_takes(data, cpu))
		pf_sched_inferred(data, &at, inferred);
}

void pf_sched_begin(struct xsp_out *out, uint64_t ns)
{
	struct perfetto *pf = pf_of(out);

	if (!pf->sched)
		return;
	fmt_sched_at(pf->sched, ns, put_running, out);
	pf->switches = true;
}

bool pf_sched_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct perfetto *pf = pf_of(out);
	struct fmt_sched_event e;
	char *end;

	if (out->kernel)
		return false;
	if (!pf_bundle_takes(out, ev->cpu))
		return true;
	if (!has_sched(out))
		return true;
	fmt_sched_take(pf->sched, out->trace, ev, &e);
	if (e.kind == FMT_SCHED_SAID) {
		out->merged++;
		return true;
	}
	tell(out, ev, &e.by);
	tell(out, ev, &e.task);
	end = put_event(out, ev, &e, out->scratch);
	pf_bundle_add(out, ev->cpu, ev->ns, out->scratch, (size_t)(end - out->scratch));
	pf->switches = true;
	if (e.kind == FMT_SCHED_SWITCH && (e.state == 'X' || e.state == 'Z'))
		pf_end_task(out, ev->cpu, ev->ns, e.by.tid, e.by.tgid);
	return true;
}
