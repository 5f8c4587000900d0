// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes the kernel's scheduler events of a trace to the machine of cause.h. It draws no
 * conclusions; events whose fields are not in the expected form are ignored.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cause/gil.h"
#include "cause/sched.h"

#define KINDS	65536u
#define FIELDS	5

/* Bits of common_flags: the context of the event. */
#define FLAG_HARDIRQ	0x08u
#define FLAG_SOFTIRQ	0x10u

enum what {
	NOT_SEEN,
	NOTHING,
	SWITCH,
	WAKEUP,
	MIGRATE,
	IRQ_ENTER,
	IRQ_LEAVE,
	VECTOR_ENTER,
	VECTOR_LEAVE,
	SOFTIRQ_ENTER,
	SOFTIRQ_LEAVE,
	IPI_ENTER,
	IPI_LEAVE,
	SYS_ENTER,
	SYS_EXIT,
	USER_FAULT,
};

static const struct known {
	const char	*system;
	const char	*name;
	enum what	what;
	const char	*fields[FIELDS];
} all[] = {
	{ "sched", "sched_switch", SWITCH, { "prev_pid", "prev_state", "next_pid" } },
	{ "sched", "sched_waking", WAKEUP, { "pid", "target_cpu" } },
	{ "sched", "sched_wakeup", WAKEUP, { "pid", "target_cpu" } },
	{ "sched", "sched_wakeup_new", WAKEUP, { "pid", "target_cpu" } },
	{ "sched", "sched_migrate_task", MIGRATE, { "pid", "dest_cpu" } },
	{ "irq", "irq_handler_entry", IRQ_ENTER, { "irq", "name" } },
	{ "irq", "irq_handler_exit", IRQ_LEAVE, { "irq" } },
	{ "irq", "softirq_entry", SOFTIRQ_ENTER, { "vec" } },
	{ "irq", "softirq_exit", SOFTIRQ_LEAVE, { "vec" } },
	{ "ipi", "ipi_entry", IPI_ENTER, { 0 } },
	{ "ipi", "ipi_exit", IPI_LEAVE, { 0 } },
	{ "raw_syscalls", "sys_enter", SYS_ENTER, { "id" } },
	{ "raw_syscalls", "sys_exit", SYS_EXIT, { "id" } },
	{ "exceptions", "page_fault_user", USER_FAULT, { 0 } },
};

struct kind {
	uint8_t				what;
	const struct xsprof_kernel_event *kind;
	const struct xsprof_kernel_field *fields[FIELDS];
};

struct cause_reader {
	struct xsprof_trace	*trace;
	struct cause		*cause;
	const struct cause_stats *stats;
	struct cause_gils	*gils;
	struct kind		*kinds[KINDS];
	bool			tracer;		/* it has scheduler events */
	uint64_t		until;		/* when these end, 0: unknown */
	bool			ended;		/* they did */
	bool			module;		/* the module does */
};

int cause_reader_new(struct xsprof_trace *trace, struct cause *cause, struct cause_reader **out)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };

	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	if (!xsprof_trace_get_kernel(trace, &kernel))
		(*out)->until = kernel.until_ns;
	(*out)->trace = trace;
	(*out)->cause = cause;
	(*out)->stats = cause_get_stats(cause);
	return cause_gils_new(trace, cause, &(*out)->gils);
}

void cause_reader_free(struct cause_reader *reader)
{
	if (!reader)
		return;
	for (uint32_t i = 0; i < KINDS; i++)
		free(reader->kinds[i]);
	cause_gils_free(reader->gils);
	free(reader);
}

/* ---- kinds of events ------------------------------------------------------------------------ */

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

/* An entry whose exit event is not recorded would never end: such entries are ignored. */
static bool is_left(const struct xsprof_trace *trace, const struct xsprof_kernel_event *kind)
{
	static const struct {
		const char	*enter;
		const char	*leave;
	} ends[] = { { "_entry", "_exit" }, { "sys_enter", "sys_exit" } };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(kind->name), m = strlen(ends[i].enter);
		char leave[128];

		if (n < m || strcmp(kind->name + n - m, ends[i].enter))
			continue;
		snprintf(leave, sizeof(leave), "%.*s%s", (int)(n - m), kind->name, ends[i].leave);
		return xsprof_trace_kernel_find(trace, kind->system, leave);
	}
	return true;
}

static void choose(const struct xsprof_trace *trace, struct kind *k)
{
	const char *const *fields = NULL;

	k->what = NOTHING;
	if (!is_left(trace, k->kind))
		return;
	if (!strcmp(k->kind->system, "irq_vectors")) {
		if (ends_with(k->kind->name, "_entry"))
			k->what = VECTOR_ENTER;
		else if (ends_with(k->kind->name, "_exit"))
			k->what = VECTOR_LEAVE;
		k->fields[0] = xsprof_kernel_field(k->kind, "vector");
		return;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(k->kind->system, all[i].system) || strcmp(k->kind->name, all[i].name))
			continue;
		k->what = all[i].what;
		fields = all[i].fields;
	}
	for (int i = 0; fields && i < FIELDS && fields[i]; i++)
		k->fields[i] = xsprof_kernel_field(k->kind, fields[i]);
}

static const struct kind *kind_of(struct cause_reader *reader, const struct xsprof_event *ev)
{
	static const struct kind none = { .what = NOTHING };
	uint32_t id = ev->name & (KINDS - 1);
	const struct xsprof_kernel_event *kind;

	if (reader->kinds[id])
		return reader->kinds[id];
	kind = xsprof_trace_kernel_event(reader->trace, id);
	reader->kinds[id] = kind ? calloc(1, sizeof(struct kind)) : NULL;
	if (!reader->kinds[id])
		return &none;
	reader->kinds[id]->kind = kind;
	choose(reader->trace, reader->kinds[id]);
	return reader->kinds[id];
}

/* ---- kernel events --------------------------------------------------------------------------- */

static bool get(const struct xsprof_event *ev, const struct kind *k, int field, int64_t *value)
{
	uint64_t v;

	if (!xsprof_kernel_value(ev, k->fields[field], &v))
		return false;
	*value = (int64_t)v;
	return true;
}

/* The bits of prev_state are the same since Linux 4.14; R+ is one above them. */
static enum cause_state state_of(int64_t state)
{
	if (state & 0x02)
		return CAUSE_STATE_DISK;
	if (state & 0x30)
		return CAUSE_STATE_DEAD;
	return state & 0xff ? CAUSE_STATE_SLEEP : CAUSE_STATE_RUN;
}

static void copy_name(struct cause_who *who, const char *name, size_t len)
{
	if (len > sizeof(who->name) - 1)
		len = sizeof(who->name) - 1;
	memcpy(who->name, name, len);
}

/* The waker: the current task, unless an interrupt or softirq ran on top of it. */
static struct cause_who waker_of(struct cause_reader *reader, const struct xsprof_event *ev)
{
	uint32_t context = ev->aux & FLAG_HARDIRQ ? CAUSE_IN_IRQ :
			   ev->aux & FLAG_SOFTIRQ ? CAUSE_IN_SOFTIRQ : CAUSE_IN_TASK;
	struct cause_who who;

	cause_context(reader->cause, ev->cpu, &who);
	if (who.context != context)
		who = (struct cause_who){ .context = context, .vec = -1 };
	who.tid = ev->tid;
	return who;
}

static void wakeup(struct cause_reader *reader, const struct xsprof_event *ev,
		   const struct kind *k)
{
	struct cause_who who = waker_of(reader, ev);
	int64_t tid, target;

	if (!get(ev, k, 0, &tid))
		return;
	if (!get(ev, k, 1, &target) || target > INT32_MAX)
		target = -1;
	cause_wakeup(reader->cause, ev->ns, (uint32_t)tid, (int32_t)target, &who);
}

static void interrupt(struct cause_reader *reader, const struct xsprof_event *ev,
		      const struct kind *k)
{
	struct cause_who who = { .tid = ev->tid, .context = CAUSE_IN_IRQ, .vec = -1 };
	bool enter = true;
	const char *name;
	int64_t vec;
	size_t len;

	if (get(ev, k, 0, &vec) && vec >= 0 && vec < INT32_MAX)
		who.vec = (int32_t)vec;
	switch (k->what) {
	case SOFTIRQ_ENTER:
	case SOFTIRQ_LEAVE:
		who.context = CAUSE_IN_SOFTIRQ;
		who.vec &= 0x7f;
		enter = k->what == SOFTIRQ_ENTER;
		break;
	case VECTOR_ENTER:
		copy_name(&who, k->kind->name, strlen(k->kind->name) - strlen("_entry"));
		break;
	case IRQ_ENTER:
		name = xsprof_kernel_bytes(ev, k->fields[1], &len);
		if (name)
			copy_name(&who, name, len);
		break;
	case IPI_ENTER:
		copy_name(&who, "ipi", 3);
		break;
	default:
		enter = false;
	}
	if (enter)
		cause_irq_enter(reader->cause, ev->cpu, ev->ns, &who);
	else
		cause_irq_leave(reader->cause, ev->cpu, ev->ns, who.context, who.vec);
}

static void kernel_event(struct cause_reader *reader, const struct xsprof_event *ev)
{
	const struct kind *k = kind_of(reader, ev);
	struct cause *cause = reader->cause;
	int64_t a, b, c;

	cause_hear(cause, ev->cpu, ev->ns);
	if (k->what != SWITCH)
		cause_runs(cause, ev->cpu, ev->ns, ev->tid);
	switch (k->what) {
	case NOTHING:
		break;
	case SWITCH:
		reader->tracer = true;
		if (get(ev, k, 0, &a) && get(ev, k, 1, &b) && get(ev, k, 2, &c))
			cause_switch(cause, ev->cpu, ev->ns, (uint32_t)a, state_of(b), (uint32_t)c);
		break;
	case WAKEUP:
		wakeup(reader, ev, k);
		break;
	case MIGRATE:
		if (get(ev, k, 0, &a) && get(ev, k, 1, &b) && b >= 0 && b <= INT32_MAX)
			cause_migrate(cause, ev->ns, (uint32_t)a, (int32_t)b);
		break;
	case SYS_ENTER:
		if (get(ev, k, 0, &a))
			cause_syscall(cause, ev->cpu, ev->ns, ev->tid, (int32_t)(a & INT32_MAX));
		break;
	case SYS_EXIT:
		cause_syscall(cause, ev->cpu, ev->ns, ev->tid, -1);
		break;
	case USER_FAULT:
		cause_fault(cause, ev->cpu, ev->ns, ev->tid);
		break;
	default:
		interrupt(reader, ev, k);
	}
	cause_seen(cause, ev->cpu, ev->ns);
}

/* ---- events of programs --------------------------------------------------------------------- */

uint64_t cause_reader_key(struct cause_reader *reader, uint32_t producer, uint32_t tid)
{
	return cause_key(reader->trace, producer, tid);
}

/* The tracer has the same events, and more. */
static void sched_event(struct cause_reader *reader, const struct xsprof_event *ev)
{
	if (reader->tracer)
		return;
	reader->module = true;
	cause_sched_event(reader->cause, ev, cause_reader_key(reader, ev->producer, ev->tid),
			  cause_reader_key(reader, ev->producer, (uint32_t)ev->value));
}

static void program_event(struct cause_reader *reader, const struct xsprof_event *ev)
{
	uint64_t key;

	/* Most captures have no scheduler events: avoid the cost for them. */
	if (!reader->stats->switches && ev->type < XSPROF_REC_SCHED_IN)
		return;
	switch (ev->type) {
	case XSPROF_REC_SCHED_IN:
	case XSPROF_REC_SCHED_OUT:
	case XSPROF_REC_SCHED_WAKE:
	case XSPROF_REC_SCHED_MIGRATE:
		sched_event(reader, ev);
		return;
	case XSPROF_EV_LOST:
		/* The ring is unknown, and may have had scheduler events. */
		if (reader->module)
			cause_lost(reader->cause, ev->cpu, ev->ns);
		return;
	case XSPROF_REC_BEGIN:
	case XSPROF_REC_END:
	case XSPROF_REC_COMPLETE:
	case XSPROF_REC_SPAN:
	case XSPROF_REC_INSTANT:
	case XSPROF_REC_COUNTER_I64:
	case XSPROF_REC_COUNTER_F64:
		break;
	default:
		return;
	}
	key = cause_reader_key(reader, ev->producer, ev->tid);
	cause_marker(reader->cause, ev->cpu, ev->ns, key);
	if (ev->type == XSPROF_REC_BEGIN)
		cause_begin(reader->cause, ev->ns, key);
	cause_gils_event(reader->gils, ev, key);
}

uint64_t cause_reader_until(const struct cause_reader *reader)
{
	return reader->tracer && reader->until ? reader->until : UINT64_MAX;
}

void cause_reader_end(struct cause_reader *reader, uint64_t ns)
{
	uint64_t until = cause_reader_until(reader);

	if (ns <= until)
		return;
	reader->ended = true;
	cause_end(reader->cause, until, ns);
}

void cause_reader_event(struct cause_reader *reader, const struct xsprof_event *ev)
{
	cause_reader_end(reader, ev->ns);
	if (reader->ended)
		return;
	if (ev->type == XSPROF_EV_KERNEL)
		kernel_event(reader, ev);
	else if (ev->producer != XSPROF_NO_PRODUCER)
		program_event(reader, ev);
	else if (ev->type == XSPROF_EV_LOST)
		cause_lost(reader->cause, ev->cpu, ev->ns);
}
