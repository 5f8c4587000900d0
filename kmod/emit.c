// SPDX-License-Identifier: GPL-2.0-only
/*
 * Markers as tracepoints: permission to trace them, and the ioctl by which producers send them.
 * Never touches a ring.
 *
 * ftrace, perf and BPF register and unregister through the same two callbacks of a tracepoint,
 * called for the first and the last of them. ftrace may do so before the module's init and after
 * its exit, when there is no producer. A probe runs inside an ioctl of a process that has the
 * device open, or in sync.c, so none runs when the module is unloaded, and there is nothing to wait
 * for.
 */
#include <linux/capability.h>
#include <linux/nospec.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
#include "xsprof.h"

static bool guarded;		/* perf calls may_count() now */

/* ---- who traces what ----------------------------------------------------------------------- */

/*
 * Before xsp_emit_init() perf opens events without a permission check, and does not check open
 * events later: so they are refused to callers that may not trace the machine.
 */
static int switch_on(u32 kind)
{
	if (!READ_ONCE(guarded) && !perfmon_capable())
		return -EPERM;
	xsp_producer_trace(BIT(kind), 0);
	return 0;
}

#define SWITCH_ON(name, kind)			\
	int xsp_emit_##name##_on(void)		\
	{					\
		return switch_on(kind);		\
	}

#define SWITCH_OFF(name, kind)			\
	void xsp_emit_##name##_off(void)	\
	{					\
		xsp_producer_trace(0, BIT(kind));	\
	}

SWITCH_ON(begin, XSPROF_EMIT_BEGIN)
SWITCH_ON(end, XSPROF_EMIT_END)
SWITCH_ON(instant, XSPROF_EMIT_INSTANT)
SWITCH_ON(counter, XSPROF_EMIT_COUNTER)
SWITCH_ON(complete, XSPROF_EMIT_COMPLETE)
SWITCH_ON(gpu, XSPROF_EMIT_GPU)
SWITCH_OFF(begin, XSPROF_EMIT_BEGIN)
SWITCH_OFF(end, XSPROF_EMIT_END)
SWITCH_OFF(instant, XSPROF_EMIT_INSTANT)
SWITCH_OFF(counter, XSPROF_EMIT_COUNTER)
SWITCH_OFF(complete, XSPROF_EMIT_COMPLETE)
SWITCH_OFF(gpu, XSPROF_EMIT_GPU)

#ifdef CONFIG_PERF_EVENTS
/*
 * perf opens an event of this module. A count of the opener's own task reveals nothing, but turns
 * every marker of every program into a system call.
 *
 * An event with a parent is its copy for a child of a traced task, and current is the task that
 * forks: the opener was checked, and a refusal would fail the fork.
 */
static int may_count(struct trace_event_call *call, struct perf_event *event)
{
	return event->parent || perfmon_capable() ? 0 : -EPERM;
}
#endif

void xsp_emit_init(void)
{
#ifdef CONFIG_PERF_EVENTS
	/* TRACE_EVENT_PERF_PERM() uses an initcall, and a module can have only one. */
	event_xsp_begin.perf_perm = may_count;
	event_xsp_end.perf_perm = may_count;
	event_xsp_instant.perf_perm = may_count;
	event_xsp_counter.perf_perm = may_count;
	event_xsp_complete.perf_perm = may_count;
	event_xsp_gpu_activity.perf_perm = may_count;
#endif
	WRITE_ONCE(guarded, true);
}

/* ---- a marker ------------------------------------------------------------------------------ */

/* Space for the truncated text, "..." and the terminator. */
#define TEXT_SIZE	(XSPROF_EMIT_TEXT_MAX + 4)

/*
 * The text is printed in lines that other users read: replace line ends and characters that control
 * terminals, in ASCII or (C1) in UTF-8.
 */
static void make_harmless(unsigned char *text)
{
	for (; *text; text++) {
		if (*text < ' ' || *text == 0x7f)
			*text = '?';
		else if (*text == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0)
			memset(text, '?', 2);
	}
}

/* Do not truncate within a UTF-8 character. */
static void mark_cut(char *text)
{
	int at = XSPROF_EMIT_TEXT_MAX, i;

	for (i = 0; i < 3 && ((unsigned char)text[at] & 0xc0) == 0x80; i++)
		at--;
	strscpy(text + at, "...", 4);
}

/* Return: 0 or -EFAULT. */
static int get_text(char text[TEXT_SIZE], u64 from, u32 len)
{
	/* One byte more than shown, to see whether the limit splits a character. */
	long n = min_t(u32, len, XSPROF_EMIT_TEXT_MAX + 1);

	if (n) {
		n = strncpy_from_user(text, u64_to_user_ptr(from), n);
		if (n < 0)
			return n;
	}
	text[n] = 0;
	if (n > XSPROF_EMIT_TEXT_MAX)
		mark_cut(text);
	make_harmless(text);
	return 0;
}

static bool traced(u32 kind)
{
	switch (kind) {
	case XSPROF_EMIT_BEGIN:
		return trace_xsp_begin_enabled();
	case XSPROF_EMIT_END:
		return trace_xsp_end_enabled();
	case XSPROF_EMIT_INSTANT:
		return trace_xsp_instant_enabled();
	case XSPROF_EMIT_COUNTER:
		return trace_xsp_counter_enabled();
	case XSPROF_EMIT_COMPLETE:
		return trace_xsp_complete_enabled();
	case XSPROF_EMIT_GPU:
		return trace_xsp_gpu_activity_enabled();
	}
	return false;
}

static void send_marker(struct xsp_producer *p, struct xsp_marker *m)
{
	switch (m->arg->kind) {
	case XSPROF_EMIT_BEGIN:
		trace_xsp_begin(m);
		break;
	case XSPROF_EMIT_END:
		trace_xsp_end(m);
		break;
	case XSPROF_EMIT_INSTANT:
		trace_xsp_instant(m);
		break;
	case XSPROF_EMIT_COUNTER:
		trace_xsp_counter(m);
		break;
	case XSPROF_EMIT_COMPLETE:
		m->ns = xsp_ctl_ns(p, m->arg->value);
		trace_xsp_complete(m);
		break;
	case XSPROF_EMIT_GPU:
		trace_xsp_gpu_activity(m);
		break;
	}
}

static bool has_gpu_fields(const struct xsprof_emit *arg)
{
	return arg->begin || arg->end || arg->device || arg->stream || arg->clock;
}

static int check_emit(const struct xsprof_emit *arg)
{
	static const u32 flags[XSPROF_EMIT_KINDS] = {
		[XSPROF_EMIT_COUNTER] = XSPROF_EMIT_DOUBLE,
	};
	static const u32 aux[XSPROF_EMIT_KINDS] = {
		[XSPROF_EMIT_INSTANT] = XSPROF_SCOPE_GLOBAL,
		[XSPROF_EMIT_GPU] = U32_MAX,	/* unknown kinds are numbers */
	};
	u32 kind;

	if (arg->kind >= XSPROF_EMIT_KINDS || arg->reserved)
		return -EINVAL;
	/* Nothing beyond the tables is read by speculation, past the branch above. */
	kind = array_index_nospec(arg->kind, XSPROF_EMIT_KINDS);
	if (arg->flags & ~flags[kind] || arg->aux > aux[kind])
		return -EINVAL;
	if (arg->kind <= XSPROF_EMIT_END && arg->value)
		return -EINVAL;
	return arg->kind != XSPROF_EMIT_GPU && has_gpu_fields(arg) ? -EINVAL : 0;
}

/**
 * xsp_emit() - send a marker of the calling process to its tracepoint
 * @p: its producer
 * @arg: as the caller gave it
 *
 * Return: 1; 0: this kind is not traced; -EINVAL; -EFAULT.
 */
long xsp_emit(struct xsp_producer *p, const struct xsprof_emit *arg)
{
	char name[TEXT_SIZE], category[TEXT_SIZE];
	struct xsp_marker m = { .arg = arg, .name = name, .category = category };
	int err;

	err = check_emit(arg);
	if (err)
		return err;
	if (!traced(arg->kind))
		return 0;
	err = get_text(name, arg->name, arg->name_len);
	if (!err)
		err = get_text(category, arg->category, arg->category_len);
	if (err)
		return err;
	send_marker(p, &m);
	return 1;
}
