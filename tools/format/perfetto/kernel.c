// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel events in a Perfetto trace: bundles of a CPU's events, from which viewers draw the running
 * tasks. Kinds that Perfetto knows get their own message, all others a generic one that names each
 * field.
 *
 * bundle.c collects them.
 */
#include <errno.h>
#include <stdlib.h>

#include "format/common/kernel-field.h"
#include "format/perfetto/local.h"

#define TEXT_MAX	2048u		/* of a field: longer ones are truncated */
#define EVENT_MAX	(256u << 10)	/* of an event: further fields are left out */
#define FIELDS		7u
#define COMM_MAX	16u		/* TASK_COMM_LEN */

/* Field numbers in FtraceEvent and GenericFtraceEvent. */
enum { E_SWITCH = 4, E_FORK = 239 };

/* States of a task at its last switch away: dead, a zombie. */
#define ENDED	0x30u

/* Types of message fields: text, an int32, a uint32, 64 bits, an array of 64 bits. */
enum type { TEXT, INT, UINT, WIDE, WIDES };

/* A kind with its own message: the message's number, and the numbers of its fields. */
static const struct known {
	const char	*system;
	const char	*name;
	uint32_t	number;
	const char	*task;		/* the field that names another task */
	struct {
		const char	*name;
		uint16_t	number;
		uint16_t	type;
	} fields[FIELDS];
} known[] = {
	{ "sched", "sched_switch", 4, "next_pid", { { "prev_comm", 1, TEXT },
	  { "prev_pid", 2, INT }, { "prev_prio", 3, INT }, { "prev_state", 4, WIDE },
	  { "next_comm", 5, TEXT }, { "next_pid", 6, INT }, { "next_prio", 7, INT } } },
	{ "sched", "sched_wakeup", 17, "pid", { { "comm", 1, TEXT }, { "pid", 2, INT },
	  { "prio", 3, INT }, { "success", 4, INT }, { "target_cpu", 5, INT } } },
	{ "sched", "sched_waking", 20, "pid", { { "comm", 1, TEXT }, { "pid", 2, INT },
	  { "prio", 3, INT }, { "success", 4, INT }, { "target_cpu", 5, INT } } },
	{ "sched", "sched_wakeup_new", 114, "pid", { { "comm", 1, TEXT }, { "pid", 2, INT },
	  { "prio", 3, INT }, { "success", 4, INT }, { "target_cpu", 5, INT } } },
	{ "sched", "sched_migrate_task", 491, "pid", { { "comm", 1, TEXT }, { "pid", 2, INT },
	  { "prio", 3, INT }, { "orig_cpu", 4, INT }, { "dest_cpu", 5, INT } } },
	{ "sched", "sched_process_exec", 237, "pid", { { "filename", 1, TEXT }, { "pid", 2, INT },
	  { "old_pid", 3, INT } } },
	{ "sched", "sched_process_exit", 238, "pid", { { "comm", 1, TEXT }, { "pid", 2, INT },
	  { "prio", 4, INT } } },
	{ "sched", "sched_process_fork", 239, "child_pid", { { "parent_comm", 1, TEXT },
	  { "parent_pid", 2, INT }, { "child_comm", 3, TEXT }, { "child_pid", 4, INT } } },
	{ "sched", "sched_process_hang", 241, NULL, { { "comm", 1, TEXT }, { "pid", 2, INT } } },
	{ "sched", "sched_process_wait", 242, NULL, { { "comm", 1, TEXT }, { "pid", 2, INT },
	  { "prio", 3, INT } } },
	{ "sched", "sched_pi_setprio", 353, NULL, { { "comm", 1, TEXT }, { "newprio", 2, INT },
	  { "oldprio", 3, INT }, { "pid", 4, INT } } },
	{ "task", "task_rename", 236, NULL, { { "pid", 1, INT }, { "oldcomm", 2, TEXT },
	  { "newcomm", 3, TEXT }, { "oom_score_adj", 4, INT } } },
	{ "irq", "irq_handler_entry", 36, NULL, { { "irq", 1, INT }, { "name", 2, TEXT } } },
	{ "irq", "irq_handler_exit", 37, NULL, { { "irq", 1, INT }, { "ret", 2, INT } } },
	{ "irq", "softirq_entry", 24, NULL, { { "vec", 1, UINT } } },
	{ "irq", "softirq_exit", 25, NULL, { { "vec", 1, UINT } } },
	{ "irq", "softirq_raise", 26, NULL, { { "vec", 1, UINT } } },
	{ "irq_vectors", "local_timer_entry", 559, NULL, { { "vector", 1, INT } } },
	{ "irq_vectors", "local_timer_exit", 560, NULL, { { "vector", 1, INT } } },
	{ "raw_syscalls", "sys_enter", 329, NULL, { { "id", 1, WIDE }, { "args", 2, WIDES } } },
	{ "raw_syscalls", "sys_exit", 330, NULL, { { "id", 1, WIDE }, { "ret", 2, WIDE } } },
	{ "workqueue", "workqueue_activate_work", 56, NULL, { { "work", 1, WIDE },
	  { "function", 2, WIDE } } },
	{ "workqueue", "workqueue_execute_start", 58, NULL, { { "work", 1, WIDE },
	  { "function", 2, WIDE } } },
	{ "workqueue", "workqueue_execute_end", 57, NULL, { { "work", 1, WIDE },
	  { "function", 2, WIDE } } },
	{ "power", "cpu_frequency", 11, NULL, { { "state", 1, UINT }, { "cpu_id", 2, UINT } } },
	{ "power", "cpu_idle", 13, NULL, { { "state", 1, UINT }, { "cpu_id", 2, UINT } } },
	{ "ftrace", "print", 3, NULL, { { "ip", 1, WIDE }, { "buf", 2, TEXT } } },
};

/* How a field is read; the usual ones need only one load. */
enum how { BY_KIND, S32, U32, W64, COMM };

struct field {
	const struct xsprof_kernel_field	*field;
	uint16_t				number;
	uint16_t				type;
	uint16_t				offset;
	uint16_t				how;
};

/* A kind of this trace. */
struct kind {
	uint32_t				number;	/* E_GENERIC: no own message */
	uint32_t				n;
	uint32_t				least;	/* size that contains all of @fields */
	const struct xsprof_kernel_field	*task;
	const struct xsprof_kernel_field	*comm;	/* of a fork: the new task's name */
	const struct xsprof_kernel_field	*prev;	/* of a switch: the task, and its state */
	const struct xsprof_kernel_field	*state;
	struct field				fields[FIELDS];
};

struct pf_kernel {
	struct kind	**kinds;	/* by id, created at first use */
	struct kind	generic;
};

static struct pf_kernel *new_kernel(void)
{
	struct pf_kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->kinds = calloc(UINT16_MAX + 1, sizeof(*k->kinds));
	k->generic.number = E_GENERIC;
	if (k->kinds)
		return k;
	pf_kernel_free(k);
	return NULL;
}

void pf_kernel_free(struct pf_kernel *k)
{
	if (!k)
		return;
	for (uint32_t i = 0; k->kinds && i <= UINT16_MAX; i++)
		free(k->kinds[i]);
	free(k->kinds);
	free(k);
}

/* ---- kinds --------------------------------------------------------------------------------- */

/* Does the field's description in the trace fit the message? */
static bool fits(const struct xsprof_kernel_field *field, enum type type)
{
	if (type == TEXT)
		return field->flags & XSPROF_KFIELD_STRING;
	return !(field->flags & XSPROF_KFIELD_STRING) &&
	       !(field->flags & XSPROF_KFIELD_ARRAY) == (type != WIDES);
}

static enum how how_to_read(const struct xsprof_kernel_field *field, enum type type)
{
	if (field->flags & XSPROF_KFIELD_DYNAMIC)
		return BY_KIND;
	if (field->flags & XSPROF_KFIELD_ARRAY)
		return field->flags & XSPROF_KFIELD_STRING && field->size == 16 ? COMM : BY_KIND;
	if (field->size == 8)
		return W64;
	if (field->size != 4)
		return BY_KIND;
	/* 32-bit values have the signedness of the message: readers interpret them so. */
	return type == INT || (type == WIDE && field->flags & XSPROF_KFIELD_SIGNED) ? S32 : U32;
}

static void choose(struct kind *kind, const struct xsprof_kernel_event *format)
{
	const struct known *k = known;
	size_t left = sizeof(known) / sizeof(known[0]);

	kind->number = E_GENERIC;
	for (; left && (strcmp(k->system, format->system) || strcmp(k->name, format->name)); k++)
		left--;
	if (!left)
		return;
	kind->number = k->number;
	if (k->task)
		kind->task = xsprof_kernel_field(format, k->task);
	if (k->number == E_FORK)
		kind->comm = xsprof_kernel_field(format, "child_comm");
	if (k->number == E_SWITCH) {
		kind->prev = xsprof_kernel_field(format, "prev_pid");
		kind->state = xsprof_kernel_field(format, "prev_state");
	}
	for (uint32_t i = 0; i < FIELDS && k->fields[i].name; i++) {
		const struct xsprof_kernel_field *field =
			xsprof_kernel_field(format, k->fields[i].name);

		if (!field)
			continue;
		/* It has an unknown layout: written as a generic event. */
		if (!fits(field, k->fields[i].type)) {
			*kind = (struct kind){ .number = E_GENERIC };
			return;
		}
		kind->fields[kind->n++] = (struct field){
			.field = field, .number = k->fields[i].number, .offset = field->offset,
			.type = k->fields[i].type,
			.how = (uint16_t)how_to_read(field, k->fields[i].type),
		};
		if (kind->least < (uint32_t)field->offset + field->size)
			kind->least = (uint32_t)field->offset + field->size;
	}
}

static const struct kind *kind_of(struct xsp_out *out, struct pf_kernel *k,
				  const struct xsprof_event *ev)
{
	uint32_t id = ev->name & UINT16_MAX;
	const struct xsprof_kernel_event *format;

	if (k->kinds[id])
		return k->kinds[id];
	format = xsprof_trace_kernel_event(out->trace, id);
	if (!format)
		return &k->generic;
	k->kinds[id] = calloc(1, sizeof(*k->kinds[id]));
	if (!k->kinds[id])
		return &k->generic;
	choose(k->kinds[id], format);
	return k->kinds[id];
}

/* ---- one event ----------------------------------------------------------------------------- */

static char *put_number(char *p, const struct field *f, uint64_t v)
{
	if (f->type == INT)
		return wire_i64(p, f->number, (int32_t)v);
	return wire_u64(p, f->number, f->type == UINT ? (uint32_t)v : v);
}

/* The type of a field in its message: text, a number, or an array of numbers. */
static char *put_field(char *p, const struct xsprof_event *ev, const struct field *f)
{
	const struct xsprof_kernel_field *field = f->field;
	const char *bytes;
	uint32_t width;
	uint64_t v;
	size_t len;

	if (xsprof_kernel_value(ev, field, &v))
		return put_number(p, f, v);
	bytes = xsp_field_bytes(ev, field, &len);
	if (!bytes)
		return p;
	if (field->flags & XSPROF_KFIELD_STRING)
		return wire_text(p, f->number, bytes, len < TEXT_MAX ? len : TEXT_MAX);
	width = xsp_field_width(field);
	for (size_t i = 0; width && i < len / width && i < 64; i++)
		p = wire_u64(p, f->number, xsp_field_element(field, bytes, width, i));
	return p;
}

/* The name of a task, most often plain letters. */
static char *put_comm(char *p, uint32_t number, const char *s)
{
	char *start = wire_open(p, number);
	size_t len = 0;

	while (len < 16 && s[len] > 0)
		len++;
	if (len < 16 && s[len])
		return wire_text(p, number, s, strnlen(s, 16));
	memcpy(start, s, 16);
	return wire_close(start, start + len);
}

/* All fields lie inside the event. */
static char *put_quick(char *p, const struct xsprof_event *ev, const struct field *f)
{
	const char *at = (const char *)ev->rec + f->offset;
	int32_t s32;
	uint32_t u32;
	uint64_t v;

	switch (f->how) {
	case S32:
		memcpy(&s32, at, sizeof(s32));
		return wire_i64(p, f->number, s32);
	case U32:
		memcpy(&u32, at, sizeof(u32));
		return wire_u64(p, f->number, u32);
	case W64:
		memcpy(&v, at, sizeof(v));
		return wire_u64(p, f->number, v);
	case COMM:
		return put_comm(p, f->number, at);
	default:
		return put_field(p, ev, f);
	}
}

static char *put_hex_text(char *p, uint32_t number, const char *bytes, size_t len)
{
	char *start = wire_open(p, number);

	p = start;
	for (size_t i = 0; i < len && i < TEXT_MAX; i++) {
		*p++ = "0123456789abcdef"[(unsigned char)bytes[i] >> 4];
		*p++ = "0123456789abcdef"[(unsigned char)bytes[i] & 15];
	}
	return wire_close(start, p);
}

static char *put_generic_field(char *p, const struct xsprof_event *ev,
			       const struct xsprof_kernel_field *field)
{
	char *start = wire_open(p, G_FIELD);
	const char *bytes;
	uint64_t v;
	size_t len;

	p = wire_text(start, G_FIELD_NAME, field->name, strnlen(field->name, 256));
	if (xsprof_kernel_value(ev, field, &v)) {
		p = field->flags & XSPROF_KFIELD_SIGNED ? wire_i64(p, G_I64, (int64_t)v) :
							  wire_u64(p, G_U64, v);
	} else {
		bytes = xsp_field_bytes(ev, field, &len);
		if (bytes && field->flags & XSPROF_KFIELD_STRING)
			p = wire_text(p, G_TEXT, bytes, len < TEXT_MAX ? len : TEXT_MAX);
		else if (bytes)
			p = put_hex_text(p, G_TEXT, bytes, len);
	}
	return wire_close(start, p);
}

static char *put_generic(struct xsp_out *out, const struct xsprof_event *ev, char *p)
{
	const struct xsp_kernel_kind *kind = xsp_kernel_kind(out->kernel, ev);
	char *limit = p + EVENT_MAX, *start;

	p = wire_text(p, G_NAME, kind->name, kind->name_len);
	if (!kind->kind) {
		start = wire_open(p, G_FIELD);
		p = wire_text(start, G_FIELD_NAME, "record", 6);
		p = put_hex_text(p, G_TEXT, (const char *)ev->rec, ev->rec_size);
		return wire_close(start, p);
	}
	for (uint32_t i = 0; i < kind->kind->nr_fields && p < limit; i++)
		if (!xsp_field_common(&kind->kind->fields[i]))
			p = put_generic_field(p, ev, &kind->kind->fields[i]);
	return p;
}

static char *put_event(struct xsp_out *out, const struct xsprof_event *ev,
		       const struct kind *kind, char *p)
{
	char *message, *event = pf_open_kernel(out, ev->ns, ev->tid, kind->number, p, &message);

	p = message;
	if (kind->number == E_GENERIC) {
		p = put_generic(out, ev, p);
	} else if (ev->rec_size >= kind->least) {
		for (uint32_t i = 0; i < kind->n; i++)
			p = put_quick(p, ev, &kind->fields[i]);
	} else {
		for (uint32_t i = 0; i < kind->n; i++)
			p = put_field(p, ev, kind->fields + i);
	}
	return wire_close(event, wire_close(message, p));
}

/* The other task in an event. */
static void tell_other(struct xsp_out *out, const struct kind *kind, const struct xsprof_event *ev)
{
	char comm[COMM_MAX + 1] = "";
	const char *bytes;
	uint64_t task;
	size_t len;

	if (!kind->task || !xsprof_kernel_value(ev, kind->task, &task) || task > UINT32_MAX)
		return;
	if (kind->number != E_FORK) {
		pf_tell_kernel_task(out, (uint32_t)task, ev->ns);
		return;
	}
	bytes = xsprof_kernel_bytes(ev, kind->comm, &len);
	if (bytes)
		memcpy(comm, bytes, strnlen(bytes, len < COMM_MAX ? len : COMM_MAX));
	pf_tell_forked_task(out, (uint32_t)task, ev->tid, ev->ns, comm);
}

/* An ended task never runs again. */
static void tell_end(struct xsp_out *out, const struct kind *kind, const struct xsprof_event *ev)
{
	uint64_t tid, state;

	pf_of(out)->switches |= kind->prev != NULL;
	if (kind->prev && xsprof_kernel_value(ev, kind->prev, &tid) && tid <= UINT32_MAX &&
	    xsprof_kernel_value(ev, kind->state, &state) && state & ENDED)
		pf_end_task(out, ev->cpu, ev->ns, (uint32_t)tid,
			    xsprof_trace_tgid(out->trace, (uint32_t)tid));
}

/* ---- the format's --------------------------------------------------------------------------- */

void pf_kernel_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct perfetto *pf = pf_of(out);
	struct fmt_inferred inferred;
	const struct kind *kind;
	bool left_out;
	char *end;

	left_out = pf_running_take(out, ev, &inferred);
	if (out->buf.err)
		return;
	if (ev->type == XSPROF_EV_LOST) {
		pf_bundle_lost(out, ev->cpu);
		return;
	}
	if (!pf_bundle_takes(out, ev->cpu))
		return;
	if (!pf->kernel)
		pf->kernel = new_kernel();
	if (!pf->kernel) {
		out->buf.err = ENOMEM;
		return;
	}
	kind = kind_of(out, pf->kernel, ev);
	pf_tell_kernel_task(out, ev->tid, ev->ns);
	tell_other(out, kind, ev);
	if (left_out)
		pf_sched_inferred(out, ev, &inferred);
	end = put_event(out, ev, kind, out->scratch);
	pf_bundle_add(out, ev->cpu, ev->ns, out->scratch, (size_t)(end - out->scratch));
	tell_end(out, kind, ev);
}
