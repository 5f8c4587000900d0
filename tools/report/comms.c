// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of tasks: those that a recorded program gave its threads, else as the kernel's tracer or
 * the module told them last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cause/sched.h"
#include "format/common/kernel.h"
#include "ranges/tracks.h"
#include "report/comms.h"
#include "text/utf8.h"

#define NAMED	4096u

/* The name of a task that is not in the trace otherwise. */
struct named {
	uint32_t	tid;
	char		comm[REPORT_COMM];
};

/* A thread that recorded something, or was sampled. @key: of cause.h; 0: free */
struct recorded {
	uint64_t	key;
	uint32_t	producer;
	uint32_t	tid;
};

/**
 * struct report_comms - names of tasks
 * @trace: has the names that programs gave
 * @kernel: by the tracer
 * @named: by the module
 * @recorded: threads of programs, by the id that the program uses
 * @keyed: the same threads, by key
 */
struct report_comms {
	const struct xsprof_trace	*trace;
	struct xsp_kernel		*kernel;
	struct named			named[NAMED];
	struct recorded			recorded[NAMED];
	struct recorded			keyed[NAMED];
};

int report_comms_new(const struct xsprof_trace *trace, struct report_comms **out)
{
	struct report_comms *comms = calloc(1, sizeof(*comms));
	int ret = comms ? xsp_kernel_new(trace, &comms->kernel) : -ENOMEM;

	if (ret < 0) {
		free(comms);
		return ret;
	}
	comms->trace = trace;
	*out = comms;
	return 0;
}

void report_comms_free(struct report_comms *comms)
{
	if (comms)
		xsp_kernel_free(comms->kernel);
	free(comms);
}

static void records(struct report_comms *comms, const struct xsprof_event *ev)
{
	uint32_t tid = xsp_event_tid(ev);
	struct recorded *r = &comms->recorded[tid % NAMED];

	if (ev->producer == XSPROF_NO_PRODUCER ||
	    (r->producer == ev->producer && r->tid == tid))
		return;
	*r = (struct recorded){ cause_key(comms->trace, ev->producer, tid), ev->producer, tid };
	/* In a pid namespace these differ. */
	comms->keyed[(uint32_t)r->key % NAMED] = *r;
}

void report_comms_event(struct report_comms *comms, const struct xsprof_event *ev)
{
	struct named *named;
	const char *comm;
	uint32_t tid;
	size_t len;

	if (ev->type == XSPROF_EV_KERNEL) {
		xsp_kernel_seen(comms->kernel, ev);
		return;
	}
	comm = cause_sched_comm(ev, &tid, &len);
	if (!comm) {
		records(comms, ev);
		return;
	}
	named = &comms->named[tid % NAMED];
	named->tid = tid;
	memcpy(named->comm, comm, len);
	named->comm[len] = '\0';
}

static const char *given(const struct report_comms *comms, uint64_t key)
{
	const struct recorded *r = &comms->keyed[(uint32_t)key % NAMED];

	return key && r->key == key ?
	       xsprof_trace_thread_given(comms->trace, r->producer, r->tid) : "";
}

void report_comms_copy(const struct report_comms *comms, char to[REPORT_COMM], uint64_t key)
{
	const struct named *named = &comms->named[(uint32_t)key % NAMED];
	const char *comm = given(comms, key);
	size_t len;

	if (!*comm && key && named->tid == (uint32_t)key)
		comm = named->comm;
	if (!*comm)
		comm = xsp_kernel_comm(comms->kernel, (uint32_t)key);
	len = xsp_utf8_piece(comm, strlen(comm), REPORT_COMM - 4);
	memcpy(to, comm, len);
	to[len] = '\0';
}
