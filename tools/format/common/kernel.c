// SPDX-License-Identifier: GPL-2.0-only
/*
 * See kernel.h. A capture's description of an event is checked before use: every printed field lies
 * inside the event, also if apart.c formats it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/common/apart.h"
#include "format/common/kernel-print.h"
#include "format/common/kernel.h"
#include "text/escape.h"
#include "text/put.h"

#define LEARNED		8192u	/* tasks named by the events themselves */

struct learned {
	uint32_t	tid;
	char		comm[KERNEL_COMM + 1];
};

struct xsp_kernel {
	const struct xsprof_trace *trace;
	struct xsp_kernel_kind	**kinds;	/* by id, created on first use */
	struct learned		*learned;
	struct xsp_apart	*apart;		/* created when libtraceevent is first needed */
	uint64_t		unprinted;	/* events */
};

/* ---- kinds --------------------------------------------------------------------------------- */

/* The fields that each printer needs, in the order in which it reads them. */
static const struct recipe {
	const char	*system;
	const char	*name;
	enum printer	printer;
	const char	*fields[7];
} recipes[] = {
	{ "sched", "sched_switch", SWITCH, { "prev_comm", "prev_pid", "prev_prio", "prev_state",
	  "next_comm", "next_pid", "next_prio" } },
	{ "sched", "sched_wakeup", WAKEUP, { "comm", "pid", "prio", "target_cpu" } },
	{ "sched", "sched_wakeup_new", WAKEUP, { "comm", "pid", "prio", "target_cpu" } },
	{ "sched", "sched_waking", WAKEUP, { "comm", "pid", "prio", "target_cpu" } },
	{ "sched", "sched_migrate_task", MIGRATE, { "comm", "pid", "prio", "orig_cpu",
	  "dest_cpu" } },
	{ "raw_syscalls", "sys_enter", SYS_ENTER, { "id", "args" } },
	{ "raw_syscalls", "sys_exit", SYS_EXIT, { "id", "ret" } },
	{ "irq_vectors", NULL, VECTOR, { "vector" } },
	{ "irq", "softirq_entry", SOFTIRQ, { "vec" } },
	{ "irq", "softirq_exit", SOFTIRQ, { "vec" } },
	{ "irq", "softirq_raise", SOFTIRQ, { "vec" } },
};

/* Size of a field that the printers expect; a field of another size is a different one. */
static uint16_t size_of(const char *field)
{
	if (strstr(field, "comm"))
		return KERNEL_COMM;
	if (!strcmp(field, "args"))
		return 48;
	if (!strcmp(field, "id") || !strcmp(field, "ret") || !strcmp(field, "prev_state"))
		return 8;
	return 4;
}

static bool take_recipe(struct xsp_kernel_kind *k, const struct recipe *r)
{
	uint16_t least = 8;

	for (int i = 0; i < 7 && r->fields[i]; i++) {
		const struct xsprof_kernel_field *f = xsprof_kernel_field(k->kind, r->fields[i]);
		uint16_t size = size_of(r->fields[i]);

		if (!f || f->size != size || f->flags & XSPROF_KFIELD_DYNAMIC ||
		    f->offset > UINT16_MAX - size)
			return false;
		k->at[i] = f->offset;
		if (f->offset + size > least)
			least = f->offset + size;
	}
	k->least = least;
	k->printer = r->printer;
	return true;
}

/* The letters of states differ between kernel versions: the format tells which are used. */
static bool known_states(const struct xsprof_kernel_event *kind)
{
	return strstr(kind->format, "{ 0x00000080, \"I\" }") &&
	       strstr(kind->format, "{ 0x00000040, \"P\" }") && strstr(kind->format, "+ 1) << 1)");
}

static void choose_printer(struct xsp_kernel_kind *k)
{
	k->printer = BY_LIBRARY;
	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
		const struct recipe *r = &recipes[i];

		if (strcmp(k->kind->system, r->system) ||
		    (r->name && strcmp(k->kind->name, r->name)))
			continue;
		if (r->printer == SWITCH && !known_states(k->kind))
			continue;
		if (r->printer == VECTOR && k->kind->nr_fields != 5)
			continue;
		if (take_recipe(k, r))
			return;
	}
}

static struct xsp_kernel_kind *make_kind(struct xsp_kernel *kernel, uint32_t id)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_";
	static struct xsp_kernel_kind none = { .name = "event", .name_len = 5 };
	struct xsp_kernel_kind *k = calloc(1, sizeof(*k));

	if (!k)
		return &none;
	k->kind = xsprof_trace_kernel_event(kernel->trace, id);
	if (k->kind) {
		size_t len = strnlen(k->kind->name, sizeof(k->text) - 1);

		k->name = k->kind->name;
		k->name_len = strnlen(k->name, 256);
		/* A kernel event's name is one word; other names are converted to one. */
		if (strspn(k->name, word) != k->name_len) {
			for (size_t i = 0; i < len; i++)
				k->text[i] = strchr(word, k->name[i]) ? k->name[i] : '_';
			k->name = k->text;
			k->name_len = len;
		}
		choose_printer(k);
	} else {
		k->name = k->text;
		k->name_len = put_u32(put_lit(k->text, "event-"), id) - k->text;
	}
	kernel->kinds[id] = k;
	return k;
}

struct xsp_kernel_kind *xsp_kernel_kind(struct xsp_kernel *kernel, const struct xsprof_event *ev)
{
	uint32_t id = ev->name & UINT16_MAX;

	return kernel->kinds[id] ? kernel->kinds[id] : make_kind(kernel, id);
}

int xsp_kernel_new(const struct xsprof_trace *trace, struct xsp_kernel **out)
{
	struct xsp_kernel *kernel = calloc(1, sizeof(*kernel));

	*out = kernel;
	if (!kernel)
		return -ENOMEM;
	kernel->trace = trace;
	kernel->kinds = calloc(UINT16_MAX + 1, sizeof(*kernel->kinds));
	kernel->learned = calloc(LEARNED, sizeof(*kernel->learned));
	if (kernel->kinds && kernel->learned)
		return 0;
	xsp_kernel_free(kernel);
	*out = NULL;
	return -ENOMEM;
}

void xsp_kernel_free(struct xsp_kernel *kernel)
{
	if (!kernel)
		return;
	for (uint32_t i = 0; kernel->kinds && i <= UINT16_MAX; i++)
		free(kernel->kinds[i]);
	free(kernel->kinds);
	free(kernel->learned);
	xsp_apart_free(kernel->apart);
	free(kernel);
}

/* ---- the others ---------------------------------------------------------------------------- */

/* Prints field by field, as far as the event has them. */
static char *put_fields(const struct xsprof_kernel_event *kind, const struct xsprof_event *ev,
			char *p)
{
	for (uint32_t i = 0; i < kind->nr_fields && i < 64; i++) {
		const struct xsprof_kernel_field *f = &kind->fields[i];
		size_t len, name = strnlen(f->name, 64);
		const char *s;
		uint64_t v;

		if (!strncmp(f->name, "common_", 7))
			continue;
		memcpy(p, f->name, name);
		p += name;
		*p++ = '=';
		if (f->flags & XSPROF_KFIELD_STRING && (s = xsprof_kernel_bytes(ev, f, &len)))
			p = xsp_escape_text(p, s, len < 128 ? len : 128);
		else if (xsprof_kernel_value(ev, f, &v))
			p = f->flags & XSPROF_KFIELD_SIGNED ? put_i64(p, (int64_t)v) :
							      put_u64(p, v);
		else
			*p++ = '?';
		*p++ = ' ';
	}
	return p;
}

static bool all_inside(const struct xsprof_event *ev, const struct xsprof_kernel_event *kind)
{
	size_t len;

	for (uint32_t i = 0; i < kind->nr_fields; i++) {
		const struct xsprof_kernel_field *f = &kind->fields[i];

		if (f->size && !xsprof_kernel_bytes(ev, f, &len))
			return false;
	}
	return true;
}

void xsp_kernel_batch(struct xsp_kernel *kernel)
{
	if (kernel->apart)
		xsp_apart_begin(kernel->apart);
}

void xsp_kernel_soon(struct xsp_kernel *kernel, const struct xsprof_event *ev)
{
	struct xsp_kernel_kind *k;

	if (ev->type != XSPROF_EV_KERNEL)
		return;
	k = xsp_kernel_kind(kernel, ev);
	if (k->printer == BY_LIBRARY && !k->refused && all_inside(ev, k->kind) &&
	    (kernel->apart || !xsp_apart_new(kernel->trace, &kernel->apart)))
		xsp_apart_add(kernel->apart, k, ev);
}

void xsp_kernel_unprinted(const struct xsp_kernel *kernel, struct xsp_kernel_unprinted *out)
{
	*out = (struct xsp_kernel_unprinted){ .events = kernel->unprinted, .err = -ENOMEM };
	if (!kernel->apart)
		return;
	out->kinds = xsp_apart_refused(kernel->apart, &out->name);
	out->err = xsp_apart_error(kernel->apart);
}

static const char *text_of(struct xsp_kernel *kernel, struct xsp_kernel_kind *k,
			   const struct xsprof_event *ev, size_t *len)
{
	if (!kernel->apart && xsp_apart_new(kernel->trace, &kernel->apart))
		return NULL;
	return xsp_apart_text(kernel->apart, k, ev, len);
}

static char *put_by_library(struct xsp_kernel *kernel, struct xsp_kernel_kind *k,
			    const struct xsprof_event *ev, char *p)
{
	const char *text;
	size_t len;

	if (!all_inside(ev, k->kind))
		return put_lit(p, "[the event is shorter than its fields]");
	text = text_of(kernel, k, ev, &len);
	if (!text) {
		kernel->unprinted++;
		return put_fields(k->kind, ev, p);
	}
	/* An escaped byte becomes several. */
	return xsp_escape_text(p, text, len);
}

/* Prints the bytes, if there is no description. */
static char *put_bytes(char *p, const struct xsprof_event *ev)
{
	const uint8_t *data = (const uint8_t *)ev->rec;
	size_t n = ev->rec_size < 64 ? ev->rec_size : 64;

	for (size_t i = 8; i < n; i++) {
		*p++ = "0123456789abcdef"[data[i] >> 4];
		*p++ = "0123456789abcdef"[data[i] & 15];
	}
	return p;
}

char *xsp_kernel_info(struct xsp_kernel *kernel, const struct xsprof_event *ev, char *p)
{
	struct xsp_kernel_kind *k = xsp_kernel_kind(kernel, ev);

	if (k->printer > BY_LIBRARY && ev->rec_size < k->least)
		return put_lit(p, "[the event is shorter than its fields]");
	if (k->printer > BY_LIBRARY)
		return xsp_kernel_print(k->printer, (const char *)ev->rec, k->at, p);
	return k->printer == BY_LIBRARY ? put_by_library(kernel, k, ev, p) : put_bytes(p, ev);
}

/* ---- names of tasks ------------------------------------------------------------------------ */

static void learn(struct xsp_kernel *kernel, uint32_t tid, const char *comm)
{
	struct learned *l = &kernel->learned[tid % LEARNED];

	if (!tid || !*comm)
		return;
	l->tid = tid;
	memcpy(l->comm, comm, KERNEL_COMM);
	l->comm[strnlen(l->comm, KERNEL_COMM)] = '\0';
}

void xsp_kernel_seen(struct xsp_kernel *kernel, const struct xsprof_event *ev)
{
	const struct xsp_kernel_kind *k;
	const char *d = (const char *)ev->rec;

	if (ev->type != XSPROF_EV_KERNEL)
		return;
	k = xsp_kernel_kind(kernel, ev);
	if (ev->rec_size < k->least)
		return;
	if (k->printer == SWITCH)
		learn(kernel, xsp_kernel_get32(d, k->at[5]), d + k->at[4]);
	else if (k->printer == WAKEUP)
		learn(kernel, xsp_kernel_get32(d, k->at[1]), d + k->at[0]);
}

const char *xsp_kernel_comm(struct xsp_kernel *kernel, uint32_t tid)
{
	const struct learned *l = &kernel->learned[tid % LEARNED];
	const char *comm;

	if (!tid)
		return "<idle>";
	/* A name from an event was valid then; saved names are from the end of the trace. */
	if (l->tid == tid)
		return l->comm;
	comm = xsprof_trace_comm(kernel->trace, tid);
	return *comm ? comm : "<...>";
}
