// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the kernel's tracer in a Perfetto trace: bundles of a CPU's events, by which viewers
 * draw what ran where.  Kinds that Perfetto knows get their own message, all others one that
 * names each field.
 *
 * A CPU's events are collected until there are enough for a bundle.  Their times are of
 * CLOCK_BOOTTIME: that is how a bundle is read.
 */
#include <errno.h>
#include <stdlib.h>

#include "out/kernel-field.h"
#include "out/perfetto.h"

#define BUNDLE		(16u << 10)	/* bytes of events in one */
#define CPUS		64u		/* bundles under way at once */
#define CPU_LIMIT	1024u		/* readers refuse others */
#define WAIT_NS		1000000000u	/* the most that an event waits for its bundle */
#define TEXT_MAX	2048u		/* of a field: beyond it is cut */
#define EVENT_MAX	(256u << 10)	/* of an event: fields beyond are left out */
#define TASKS		(4u << 20)	/* tids end there */
#define FIELDS		7u

/* Field numbers in FtraceEventBundle, FtraceEvent and GenericFtraceEvent. */
enum { B_CPU = 1, B_EVENT = 2, B_LOST = 3 };
enum { E_TIMESTAMP = 1, E_PID = 2, E_GENERIC = 327 };
enum { G_NAME = 1, G_FIELD = 2, G_FIELD_NAME = 1, G_TEXT = 3, G_I64 = 4, G_U64 = 5 };

/* A kind that has a message of its own: its number, and which field of it a field is. */
static const struct known {
	const char	*system;
	const char	*name;
	uint32_t	number;
	const char	*task;		/* the field that names another task */
	struct {
		const char	*name;
		uint32_t	number;
	} fields[FIELDS];
} known[] = {
	{ "sched", "sched_switch", 4, "next_pid", { { "prev_comm", 1 }, { "prev_pid", 2 },
	  { "prev_prio", 3 }, { "prev_state", 4 }, { "next_comm", 5 }, { "next_pid", 6 },
	  { "next_prio", 7 } } },
	{ "sched", "sched_wakeup", 17, "pid", { { "comm", 1 }, { "pid", 2 }, { "prio", 3 },
	  { "success", 4 }, { "target_cpu", 5 } } },
	{ "sched", "sched_waking", 20, "pid", { { "comm", 1 }, { "pid", 2 }, { "prio", 3 },
	  { "success", 4 }, { "target_cpu", 5 } } },
	{ "sched", "sched_wakeup_new", 114, "pid", { { "comm", 1 }, { "pid", 2 },
	  { "prio", 3 }, { "success", 4 }, { "target_cpu", 5 } } },
	{ "sched", "sched_migrate_task", 491, "pid", { { "comm", 1 }, { "pid", 2 },
	  { "prio", 3 }, { "orig_cpu", 4 }, { "dest_cpu", 5 } } },
	{ "sched", "sched_process_exec", 237, "pid", { { "filename", 1 }, { "pid", 2 },
	  { "old_pid", 3 } } },
	{ "sched", "sched_process_exit", 238, "pid", { { "comm", 1 }, { "pid", 2 },
	  { "prio", 4 } } },
	{ "sched", "sched_process_fork", 239, "child_pid", { { "parent_comm", 1 },
	  { "parent_pid", 2 }, { "child_comm", 3 }, { "child_pid", 4 } } },
	{ "sched", "sched_process_free", 240, NULL, { { "comm", 1 }, { "pid", 2 },
	  { "prio", 3 } } },
	{ "sched", "sched_process_hang", 241, NULL, { { "comm", 1 }, { "pid", 2 } } },
	{ "sched", "sched_process_wait", 242, NULL, { { "comm", 1 }, { "pid", 2 },
	  { "prio", 3 } } },
	{ "sched", "sched_pi_setprio", 353, NULL, { { "comm", 1 }, { "newprio", 2 },
	  { "oldprio", 3 }, { "pid", 4 } } },
	{ "task", "task_newtask", 235, "pid", { { "pid", 1 }, { "comm", 2 },
	  { "clone_flags", 3 }, { "oom_score_adj", 4 } } },
	{ "task", "task_rename", 236, NULL, { { "pid", 1 }, { "oldcomm", 2 },
	  { "newcomm", 3 }, { "oom_score_adj", 4 } } },
	{ "irq", "irq_handler_entry", 36, NULL, { { "irq", 1 }, { "name", 2 } } },
	{ "irq", "irq_handler_exit", 37, NULL, { { "irq", 1 }, { "ret", 2 } } },
	{ "irq", "softirq_entry", 24, NULL, { { "vec", 1 } } },
	{ "irq", "softirq_exit", 25, NULL, { { "vec", 1 } } },
	{ "irq", "softirq_raise", 26, NULL, { { "vec", 1 } } },
	{ "irq_vectors", "local_timer_entry", 559, NULL, { { "vector", 1 } } },
	{ "irq_vectors", "local_timer_exit", 560, NULL, { { "vector", 1 } } },
	{ "raw_syscalls", "sys_enter", 329, NULL, { { "id", 1 }, { "args", 2 } } },
	{ "raw_syscalls", "sys_exit", 330, NULL, { { "id", 1 }, { "ret", 2 } } },
	{ "workqueue", "workqueue_activate_work", 56, NULL, { { "work", 1 },
	  { "function", 2 } } },
	{ "workqueue", "workqueue_execute_start", 58, NULL, { { "work", 1 },
	  { "function", 2 } } },
	{ "workqueue", "workqueue_execute_end", 57, NULL, { { "work", 1 },
	  { "function", 2 } } },
	{ "power", "cpu_frequency", 11, NULL, { { "state", 1 }, { "cpu_id", 2 } } },
	{ "power", "cpu_idle", 13, NULL, { { "state", 1 }, { "cpu_id", 2 } } },
	{ "ftrace", "print", 3, NULL, { { "ip", 1 }, { "buf", 2 } } },
};

/* How a field is read: the usual ones need no more than a look. */
enum how { BY_KIND, S32, U32, W64, COMM };

struct field {
	const struct xsprof_kernel_field	*field;
	uint32_t				number;
	uint16_t				offset;
	uint16_t				how;
};

/* A kind of this trace. */
struct kind {
	uint32_t				number;	/* E_GENERIC: of no message of its own */
	uint32_t				n;
	uint32_t				least;	/* bytes that all of @fields are in */
	const struct xsprof_kernel_field	*task;
	struct field				fields[FIELDS];
};

struct bundle {
	int32_t		cpu;		/* -1: none */
	bool		lost;		/* events before it */
	uint32_t	used;
	uint64_t	first_ns;
	char		data[BUNDLE];
};

struct pf_kernel {
	struct kind	**kinds;	/* by id, made when they are met */
	uint8_t		*told;		/* bits: tasks whose process was told */
	uint64_t	written;
	uint64_t	left_out;
	struct kind	generic;
	struct bundle	bundles[CPUS];
};

uint64_t pf_kernel_left_out(const struct perfetto *pf)
{
	return pf->kernel ? pf->kernel->left_out : 0;
}

uint64_t pf_kernel_written(const struct perfetto *pf)
{
	return pf->kernel ? pf->kernel->written : 0;
}

static struct pf_kernel *new_kernel(void)
{
	struct pf_kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->kinds = calloc(UINT16_MAX + 1, sizeof(*k->kinds));
	k->told = calloc(TASKS / 8, 1);
	k->generic.number = E_GENERIC;
	for (uint32_t i = 0; i < CPUS; i++)
		k->bundles[i].cpu = -1;
	if (k->kinds && k->told)
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
	free(k->told);
	free(k);
}

/* ---- kinds --------------------------------------------------------------------------------- */

static enum how how_to_read(const struct xsprof_kernel_field *field)
{
	if (field->flags & XSPROF_KFIELD_DYNAMIC)
		return BY_KIND;
	if (field->flags & XSPROF_KFIELD_ARRAY)
		return field->flags & XSPROF_KFIELD_STRING && field->size == 16 ? COMM : BY_KIND;
	if (field->size == 8)
		return W64;
	if (field->size != 4)
		return BY_KIND;
	return field->flags & XSPROF_KFIELD_SIGNED ? S32 : U32;
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
	for (uint32_t i = 0; i < FIELDS && k->fields[i].name; i++) {
		const struct xsprof_kernel_field *field =
			xsprof_kernel_field(format, k->fields[i].name);

		if (!field)
			continue;
		kind->fields[kind->n++] = (struct field){
			.field = field, .number = k->fields[i].number, .offset = field->offset,
			.how = (uint16_t)how_to_read(field),
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

/* What a kind's own message says a field is: text, a number, or an array of numbers. */
static char *put_field(char *p, const struct xsprof_event *ev,
		       const struct xsprof_kernel_field *field, uint32_t number)
{
	const char *bytes;
	uint32_t width;
	uint64_t v;
	size_t len;

	if (xsprof_kernel_value(ev, field, &v))
		return wire_u64(p, number, v);
	bytes = xsp_field_bytes(ev, field, &len);
	if (!bytes)
		return p;
	if (field->flags & XSPROF_KFIELD_STRING)
		return wire_text(p, number, bytes, len < TEXT_MAX ? len : TEXT_MAX);
	width = xsp_field_width(field);
	for (size_t i = 0; width && i < len / width && i < 64; i++)
		p = wire_u64(p, number, xsp_field_element(field, bytes, width, i));
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
		return put_field(p, ev, f->field, f->number);
	}
}

static char *put_hex(char *p, uint32_t number, const char *bytes, size_t len)
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
			p = put_hex(p, G_TEXT, bytes, len);
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
		p = put_hex(p, G_TEXT, (const char *)ev->rec, ev->rec_size);
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
	char *event = wire_open(p, B_EVENT), *message;

	/* Readers are quickest with these two in front. */
	p = wire_u64(event, E_TIMESTAMP, ev->ns + pf_of(out)->boot_off);
	p = wire_u64(p, E_PID, ev->tid);
	message = p = wire_open(p, kind->number);
	if (kind->number == E_GENERIC) {
		p = put_generic(out, ev, p);
	} else if (ev->rec_size >= kind->least) {
		for (uint32_t i = 0; i < kind->n; i++)
			p = put_quick(p, ev, &kind->fields[i]);
	} else {
		for (uint32_t i = 0; i < kind->n; i++)
			p = put_field(p, ev, kind->fields[i].field, kind->fields[i].number);
	}
	return wire_close(event, wire_close(message, p));
}

/* ---- bundles ------------------------------------------------------------------------------- */

static void put_bundle(struct xsp_out *out, const struct bundle *b, const char *data, size_t len)
{
	char head[6 * WIRE_MAX], inner[4 * WIRE_MAX], *p, *q;

	q = wire_u64(inner, B_CPU, (uint32_t)b->cpu);
	if (b->lost)
		q = wire_u64(q, B_LOST, 1);
	p = wire_u64(head, PF_SEQUENCE, PF_KERNEL);
	p = wire_varint(p, PF_FTRACE_EVENTS << 3 | 2);
	p = wire_varint(p, len + (size_t)(q - inner));
	memcpy(p, inner, (size_t)(q - inner));
	p += q - inner;
	/* The packet's own length is known now. */
	q = wire_varint(inner, PF_TRACE_PACKET << 3 | 2);
	q = wire_varint(q, len + (size_t)(p - head));
	xsp_buf_put(&out->buf, inner, (size_t)(q - inner));
	xsp_buf_put(&out->buf, head, (size_t)(p - head));
	xsp_buf_put(&out->buf, data, len);
}

static void flush(struct xsp_out *out, struct bundle *b)
{
	if (b->cpu < 0 || (!b->used && !b->lost))
		return;
	put_bundle(out, b, b->data, b->used);
	b->used = 0;
	b->lost = false;
}

static struct bundle *bundle_of(struct xsp_out *out, struct pf_kernel *k, int32_t cpu)
{
	struct bundle *b = &k->bundles[(uint32_t)cpu % CPUS];

	if (b->cpu != cpu) {
		flush(out, b);
		b->cpu = cpu;
	}
	return b;
}

static void add(struct xsp_out *out, struct bundle *b, uint64_t ns, const char *data, size_t len)
{
	if (b->used + len > BUNDLE || (b->used && ns - b->first_ns > WAIT_NS))
		flush(out, b);
	if (len > BUNDLE) {
		put_bundle(out, b, data, len);
		b->lost = false;
		return;
	}
	if (!b->used)
		b->first_ns = ns;
	memcpy(b->data + b->used, data, len);
	b->used += (uint32_t)len;
}

/* ---- tasks --------------------------------------------------------------------------------- */

/* Which process a task is of, once: its name comes with the events. */
static void __attribute__((noinline)) tell_new_task(struct xsp_out *out, struct pf_kernel *k,
						    uint32_t tid, uint64_t ns)
{
	Pf__ProcessTree__Process process = PF__PROCESS_TREE__PROCESS__INIT, *processes = &process;
	Pf__ProcessTree__Thread thread = PF__PROCESS_TREE__THREAD__INIT, *threads = &thread;
	Pf__ProcessTree tree = PF__PROCESS_TREE__INIT;
	Pf__TracePacket packet = PF__TRACE_PACKET__INIT;
	char *at = out->scratch, *command;
	const char *comm, *leader;
	uint32_t tgid;

	k->told[tid / 8] |= (uint8_t)(1u << tid % 8);
	tgid = xsprof_trace_tgid(out->trace, tid);
	if (!tgid)
		return;
	comm = xsprof_trace_comm(out->trace, tid);
	leader = xsprof_trace_comm(out->trace, tgid);
	thread.has_tid = true;
	thread.tid = (int32_t)tid;
	thread.has_tgid = true;
	thread.tgid = (int32_t)tgid;
	if (*comm)
		thread.name = pf_text(&at, comm, strnlen(comm, 64));
	process.has_pid = true;
	process.pid = (int32_t)tgid;
	if (*leader) {
		command = pf_text(&at, leader, strnlen(leader, 64));
		process.n_cmdline = 1;
		process.cmdline = &command;
	}
	tree.n_processes = 1;
	tree.processes = &processes;
	tree.n_threads = 1;
	tree.threads = &threads;
	packet.has_timestamp = true;
	packet.timestamp = ns;
	packet.has_timestamp_clock_id = true;
	packet.timestamp_clock_id = PF_MONOTONIC;
	packet.has_trusted_packet_sequence_id = true;
	packet.trusted_packet_sequence_id = PF_KERNEL;
	packet.process_tree = &tree;
	pf_put(out, &packet);
}

static inline void tell_task(struct xsp_out *out, struct pf_kernel *k, uint32_t tid, uint64_t ns)
{
	if (__builtin_expect(tid && tid < TASKS && !(k->told[tid / 8] & 1u << tid % 8), 0))
		tell_new_task(out, k, tid, ns);
}

/* ---- the format's --------------------------------------------------------------------------- */

void pf_kernel_event(struct xsp_out *out, const struct xsprof_event *ev)
{
	struct perfetto *pf = pf_of(out);
	const struct kind *kind;
	struct bundle *b;
	uint64_t task;
	char *end;

	if (!pf->kernel)
		pf->kernel = new_kernel();
	if (!pf->kernel) {
		out->buf.err = ENOMEM;
		return;
	}
	if ((uint32_t)ev->cpu >= CPU_LIMIT) {
		pf->kernel->left_out += ev->type != XSPROF_EV_LOST;
		return;
	}
	b = bundle_of(out, pf->kernel, ev->cpu);
	if (ev->type == XSPROF_EV_LOST) {
		flush(out, b);
		b->lost = true;
		return;
	}
	kind = kind_of(out, pf->kernel, ev);
	tell_task(out, pf->kernel, ev->tid, ev->ns);
	if (kind->task && xsprof_kernel_value(ev, kind->task, &task) && task < TASKS)
		tell_task(out, pf->kernel, (uint32_t)task, ev->ns);
	end = put_event(out, ev, kind, out->scratch);
	add(out, b, ev->ns, out->scratch, (size_t)(end - out->scratch));
	pf->kernel->written++;
}

void pf_kernel_finish(struct xsp_out *out)
{
	struct pf_kernel *k = pf_of(out)->kernel;

	for (uint32_t i = 0; k && i < CPUS; i++)
		flush(out, &k->bundles[i]);
}
