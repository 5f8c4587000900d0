// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of kernel events in a Perfetto trace: their processes, and the parents of these.
 */
#include <stdlib.h>

#include "format/perfetto/packet.h"

/*
 * Readers take a second description of a process with another parent as a reuse of its id: so it is
 * described once, and a program by its own description.
 */
static bool tells_process(struct xsp_out *out, const struct pf_task *task)
{
	enum pf_told told = pf_mark_told(out, task->tid, task->tgid);

	if (told == PF_PROGRAM)
		pf_program_track(out, task->tgid, task->ns);
	return told == PF_PROCESS && !pf_end_of_program(out, task->tgid);
}

static uint32_t number_of(const struct xsp_out *out, const char *fact)
{
	const char *s = xsprof_trace_host_fact(out->trace, fact);
	unsigned long number = s ? strtoul(s, NULL, 10) : 0;

	return number <= INT32_MAX ? (uint32_t)number : 0;
}

/* The recorder started its command before the recording. */
static uint32_t parent_of(const struct xsp_out *out, const struct pf_task *task)
{
	if (task->parent || task->tgid != number_of(out, "command_pid"))
		return task->parent;
	return number_of(out, "recorder_pid");
}

static char *put_process(const struct xsp_out *out, const struct pf_task *task, char *p)
{
	uint32_t parent = parent_of(out, task);
	char *start = wire_open(p, PF_TREE_PROCESS);

	p = wire_i64(start, PF_PROCESS_PID, (int32_t)task->tgid);
	if (parent)
		p = wire_i64(p, PF_PROCESS_PPID, (int32_t)parent);
	if (*task->leader)
		p = wire_text(p, PF_PROCESS_CMDLINE, task->leader, strnlen(task->leader, 64));
	if (task->parent)
		p = wire_u64(p, PF_PROCESS_START, task->ns + pf_of(out)->boot_off);
	return wire_close(start, p);
}

static char *put_thread(const struct pf_task *task, char *p)
{
	char *start = wire_open(p, PF_TREE_THREAD);

	p = wire_i64(start, PF_THREAD_TID, (int32_t)task->tid);
	if (*task->comm)
		p = wire_text(p, PF_THREAD_NAME, task->comm, strnlen(task->comm, 64));
	return wire_close(start, wire_i64(p, PF_THREAD_TGID, (int32_t)task->tgid));
}

void pf_tell_task(struct xsp_out *out, const struct pf_task *task)
{
	bool process = tells_process(out, task);
	char *p, *tree;

	pf_end_told(out, task->tgid);
	p = wire_u64(pf_packet_open(out, task->ns, PF_KERNEL, 0), PF_CLOCK, PF_MONOTONIC);
	tree = wire_open(p, PF_TREE);
	p = process ? put_process(out, task, tree) : tree;
	pf_packet_close(out, wire_close(tree, put_thread(task, p)));
}

/* The process of a task: its name comes with the events. */
static void tell(struct xsp_out *out, uint32_t tid, uint32_t by, uint64_t ns, const char *forked)
{
	bool told = pf_is_told(out, tid);
	uint32_t tgid = told ? 0 : xsprof_trace_tgid(out->trace, tid);
	const char *leader;

	if (!told && !tgid)
		tgid = pf_end_process_of(out, tid);
	if (!tgid)
		return;
	leader = xsprof_trace_comm(out->trace, tgid);
	/* Readers ignore a process without a name, including its parent. */
	if (!*leader && tgid == tid)
		leader = forked;
	pf_tell_task(out, &(struct pf_task){
		.ns = ns, .tid = tid, .tgid = tgid,
		/* A forked task is a thread of its process, or starts a new process. */
		.parent = tgid == tid ? xsprof_trace_tgid(out->trace, by) : 0,
		.comm = xsprof_trace_comm(out->trace, tid),
		.leader = leader,
	});
}

void pf_tell_kernel_task(struct xsp_out *out, uint32_t tid, uint64_t ns)
{
	tell(out, tid, 0, ns, "");
}

void pf_tell_forked_task(struct xsp_out *out, uint32_t tid, uint32_t by, uint64_t ns,
			 const char *comm)
{
	tell(out, tid, by, ns, comm);
}
