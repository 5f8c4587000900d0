// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bundles of a CPU's events in a Perfetto trace, from which viewers draw the running tasks: a CPU's
 * events are collected until there are enough for a bundle. Readers take their times as
 * CLOCK_BOOTTIME. This file does not interpret the events.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "format/perfetto/packet.h"

#define BUNDLE		(16u << 10)	/* bytes of events in one */
#define CPUS		64u		/* open bundles at a time */
#define CPU_LIMIT	1024u		/* readers refuse others */
#define WAIT_NS		1000000000u	/* limit of the time that an event waits for its bundle */
#define TASKS		(4u << 20)	/* tids end there */

/* Field numbers in FtraceEventBundle and FtraceEvent. */
enum { B_CPU = 1, B_EVENT = 2, B_LOST = 3 };
enum { E_TIMESTAMP = 1, E_PID = 2 };

struct bundle {
	int32_t		cpu;		/* -1: none */
	bool		lost;		/* events before it */
	uint32_t	used;
	uint64_t	first_ns;
	char		data[BUNDLE];
};

struct pf_bundles {
	uint64_t	written;
	struct bundle	bundles[CPUS];
	uint8_t		told[TASKS / 8];	/* bits: tasks whose process was described */
	uint8_t		processes[TASKS / 8];	/* processes that were described */
	uint8_t		programs[TASKS / 8];	/* processes that are producers */
	struct xsp_map	producers;		/* the first of each, by the process */
};

uint64_t pf_kernel_written(const struct perfetto *pf)
{
	/* Events that were not recorded: an inferred switch and its mark, what was made here. */
	return pf->bundles ? pf->bundles->written - 2 * pf->inferred - pf->made : 0;
}

bool pf_bundles_any(const struct perfetto *pf)
{
	return pf->bundles && pf->bundles->written;
}

static bool test(const uint8_t *bits, uint32_t tid)
{
	return tid < TASKS && bits[tid / 8] & 1u << tid % 8;
}

static void set(uint8_t *bits, uint32_t tid)
{
	if (tid < TASKS)
		bits[tid / 8] |= (uint8_t)(1u << tid % 8);
}

static void clear(uint8_t *bits, uint32_t tid)
{
	if (tid < TASKS)
		bits[tid / 8] &= (uint8_t)~(1u << tid % 8);
}

static void find_programs(struct xsp_out *out, struct pf_bundles *all)
{
	struct xsprof_trace_producer program;

	for (uint32_t i = 0; i < XSPROF_CAP_MAX_PRODUCERS; i++) {
		if (xsprof_trace_get_producer(out->trace, i, &program) < 0 || !program.pid ||
		    test(all->programs, program.pid))
			continue;
		set(all->programs, program.pid);
		if (xsp_map_set(&all->producers, program.pid, i))
			out->buf.err = ENOMEM;
	}
}

static struct pf_bundles *bundles_of(struct xsp_out *out)
{
	struct perfetto *pf = pf_of(out);

	if (pf->bundles)
		return pf->bundles;
	pf->bundles = calloc(1, sizeof(*pf->bundles));
	if (!pf->bundles)
		out->buf.err = ENOMEM;
	for (uint32_t i = 0; pf->bundles && i < CPUS; i++)
		pf->bundles->bundles[i].cpu = -1;
	if (pf->bundles)
		find_programs(out, pf->bundles);
	return pf->bundles;
}

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
	/* The length of the packet is known now. */
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

static struct bundle *bundle_of(struct xsp_out *out, struct pf_bundles *all, int32_t cpu)
{
	struct bundle *b = &all->bundles[(uint32_t)cpu % CPUS];

	if (b->cpu != cpu) {
		flush(out, b);
		b->cpu = cpu;
	}
	return b;
}

char *pf_open_kernel(struct xsp_out *out, uint64_t ns, uint32_t tid, uint32_t number, char *p,
		     char **message)
{
	char *event = wire_open(p, B_EVENT);

	/* Readers are fastest with these two first. */
	p = wire_u64(event, E_TIMESTAMP, ns + pf_of(out)->boot_off);
	p = wire_u64(p, E_PID, tid);
	*message = wire_open(p, number);
	return event;
}

bool pf_bundle_takes(struct xsp_out *out, int32_t cpu)
{
	if ((uint32_t)cpu < CPU_LIMIT)
		return true;
	pf_of(out)->left_out++;
	return false;
}

void pf_bundle_lost(struct xsp_out *out, int32_t cpu)
{
	struct pf_bundles *all = (uint32_t)cpu < CPU_LIMIT ? bundles_of(out) : NULL;
	struct bundle *b = all ? bundle_of(out, all, cpu) : NULL;

	if (!b)
		return;
	flush(out, b);
	b->lost = true;
}

void pf_bundle_add(struct xsp_out *out, int32_t cpu, uint64_t ns, const char *data, size_t len)
{
	struct pf_bundles *all = bundles_of(out);
	struct bundle *b;

	if (!all)
		return;
	all->written++;
	b = bundle_of(out, all, cpu);
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

void pf_bundles_finish(struct xsp_out *out)
{
	struct pf_bundles *all = pf_of(out)->bundles;

	for (uint32_t i = 0; all && i < CPUS; i++)
		flush(out, &all->bundles[i]);
}

void pf_bundles_free(struct pf_bundles *all)
{
	if (all)
		xsp_map_free(&all->producers);
	free(all);
}

/* ---- tasks --------------------------------------------------------------------------------- */

bool pf_is_told(struct xsp_out *out, uint32_t tid)
{
	struct pf_bundles *all = bundles_of(out);

	return !all || !tid || tid >= TASKS || test(all->told, tid);
}

enum pf_told pf_mark_told(struct xsp_out *out, uint32_t tid, uint32_t tgid)
{
	struct pf_bundles *all = pf_of(out)->bundles;

	set(all->told, tid);
	if (test(all->processes, tgid))
		return PF_TOLD;
	set(all->processes, tgid);
	return test(all->programs, tgid) ? PF_PROGRAM : PF_PROCESS;
}

bool pf_program_of(const struct xsp_out *out, uint32_t pid, uint32_t *producer)
{
	const uint64_t *known = xsp_map_get(&pf_of(out)->bundles->producers, pid);

	if (known)
		*producer = (uint32_t)*known;
	return known != NULL;
}

void pf_forget_task(struct xsp_out *out, uint32_t tid)
{
	struct pf_bundles *all = pf_of(out)->bundles;

	clear(all->told, tid);
	clear(all->processes, tid);
}
