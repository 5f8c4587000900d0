/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a dump and its formats share.  A format turns one event after the other into text in
 * out->buf; it never reads the trace ahead, and never decides what is shown.
 */
#ifndef XSPROF_OUT_OUT_H
#define XSPROF_OUT_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <xsprof/trace.h>

#include "format/common/kernel.h"
#include "ranges/captured.h"
#include "ranges/early.h"
#include "ranges/names.h"
#include "ranges/tracks.h"
#include "text/buf.h"

/**
 * struct xsp_out - a dump under way
 * @buf: where the text goes
 * @trace: what is read
 * @names: names as the format wants them
 * @keys: keys of arguments likewise
 * @tracks: threads and what is open on them
 * @captured: nodes of graphs
 * @early: activities of devices that began before their call
 * @kernel: events of the kernel tracer; NULL where the trace has none
 * @scratch: XSP_SCRATCH bytes for whatever has to be made anew each time
 * @base_ns: the start of the trace, known before the first event is shown
 * @last_ns: time of the latest event shown
 * @from_ns: begin of the time that is shown, 0: that of the trace; known as @base_ns is
 * @to_ns: end of it, UINT64_MAX: that of the trace
 * @pid: the only process that is shown, 0: there may be others
 * @relative: text: times since @base_ns
 * @shown: events shown, and what else has an entry: late arguments, marks of the reader
 * @events: of them, those that count as events, see xsprof(1)
 * @merged: of them, how many have no line or object of their own
 * @left_out: ranges that the format has no place for, known when it is finished
 * @nothing: the trace has nothing of what the format shows, known when it is finished
 * @frames: names of code, NULL before the first sample that has some
 * @rows: tracks of what comes in any order, NULL before the first
 * @spool_err: 0, or -errno: what waits in a spool for its turn cannot be kept
 * @priv: the format's
 */
struct xsp_out {
	struct xsp_buf		buf;
	struct xsprof_trace	*trace;
	struct xsp_names	*names;
	struct xsp_names	*keys;
	struct xsp_tracks	*tracks;
	struct xsp_captured	captured;
	struct xsp_early	early;
	struct xsp_kernel	*kernel;
	char			*scratch;
	uint64_t		base_ns;
	uint64_t		last_ns;
	uint64_t		from_ns;
	uint64_t		to_ns;
	uint32_t		pid;
	bool			relative;
	uint64_t		shown;
	uint64_t		events;
	uint64_t		merged;
	uint64_t		left_out;
	bool			nothing;
	int			spool_err;
	struct xsr_frames	*frames;
	struct fmt_rows		*rows;
	void			*priv;
};

/**
 * struct xsp_format - a format; all that is NULL is not needed
 * @name: as -f takes it
 * @name_text: how a name stands in it
 * @key_text: how the key of an argument stands in it
 * @start: before the first event.  Return: 0 or -errno
 * @event: shows an event; a BEGIN is put on its thread's stack before, an END taken off after
 * @kernel_event: shows an event of the kernel's tracer, or one of its losses (LOST)
 * @kernel_info: ... by xsp_kernel_info()
 * @before: takes an event of the scheduler, of the tracer or of the module, or a loss, that is too
 *	early to be shown
 * @begin: the time that is shown begins, and @before was called
 * @nested: ranges that are open in a thread are drawn at most so deep, 0: however deep
 * @cuts: @event gets events of all times, and shows of them what is in the time that is shown; and
 *	the ends of threads
 * @ops: what happens without an event
 * @finish: after the last
 */
struct xsp_format {
	const char		*name;
	xsp_name_build		name_text;
	xsp_name_build		key_text;
	int			(*start)(struct xsp_out *out);
	void			(*event)(struct xsp_out *out, const struct xsp_view *view);
	void			(*kernel_event)(struct xsp_out *out, const struct xsprof_event *ev);
	bool			kernel_info;
	void			(*before)(struct xsp_out *out, const struct xsprof_event *ev);
	void			(*begin)(struct xsp_out *out, uint64_t ns);
	uint32_t		nested;
	bool			cuts;
	struct xsp_tracks_ops	ops;
	void			(*finish)(struct xsp_out *out);
};

/*
 * Perfetto draws no more, and takes ends of what is deeper for those of what is around it.  A range
 * that is one event, as Kineto's are, ends no other.
 */
#define FMT_NESTED	512u

extern const struct xsp_format xsp_format_text;
extern const struct xsp_format xsp_format_chrome;
extern const struct xsp_format xsp_format_folded;
extern const struct xsp_format xsp_format_kineto;
extern const struct xsp_format xsp_format_ndjson;
extern const struct xsp_format xsp_format_perfetto;

/* A range that was open when the time that is shown began, and goes on to @ns, which is in it. */
static inline bool xsp_range_reaches_in(const struct xsp_out *out, const struct xsp_range *range,
					uint64_t ns)
{
	return range->match && range->begin < out->from_ns && ns >= out->from_ns;
}

/* The end of a process: after what time it ended, where an interval is known; else 0. */
static inline uint64_t fmt_exit_after(const struct xsp_out *out, const struct xsprof_event *ev)
{
	uint64_t lived = xsprof_trace_lived_ns(out->trace, ev->producer);

	return lived < ev->ns ? lived : 0;
}

/* The struct behind a record, or NULL when the record is too short to hold it. */
#define xsp_record(ev, type) \
	((ev)->rec && (ev)->rec_size >= sizeof(type) ? (const type *)(ev)->rec : NULL)

/* The other one's name in a record of the scheduler, @len bytes; NULL where it has none. */
static inline const char *fmt_sched_comm(const struct xsprof_event *ev, size_t *len)
{
	const struct xsprof_rec_sched *sched = xsp_record(ev, struct xsprof_rec_sched);

	*len = sched ? strnlen((const char *)sched->comm, sizeof(sched->comm)) : 0;
	return sched ? (const char *)sched->comm : NULL;
}

/* The state that a thread is in: a letter, '?' where it is none. */
static inline char fmt_sched_state(uint32_t aux)
{
	char c = (char)((aux & XSPROF_SCHED_STATE) >> XSPROF_SCHED_STATE_SHIFT);

	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? c : '?';
}

/* Memory that is in use after an allocation of a device.  Return: it is known. */
bool fmt_gpu_in_use(const struct xsprof_trace *trace, const struct xsprof_event *ev,
		    uint64_t *bytes);

#define FMT_METRIC_BYTES	320u

/* The next metric of a sample.  Return: false: there is none left. */
bool fmt_gpu_metric(const struct xsprof_event *ev, size_t *pos, struct xsprof_trace_arg *arg);
/* A sample is of a kernel's time, not of a device. */
bool fmt_gpu_of_kernel(const struct xsprof_event *ev);
/* What its track is called: "GPU 0 SM active (%)", cut to FMT_METRIC_BYTES.  Return: bytes. */
size_t fmt_gpu_metric_name(const struct xsprof_trace *trace, const struct xsprof_event *ev,
			   uint32_t key, char *text);

/* Words for numbers: "?" for those that are not known here. */
const char *xsp_word_type(uint16_t type);
const char *xsp_word_scope(uint32_t scope);
/*
 * The categories that a CONTROL event leaves off, by name, as far as a line is long; "" where there
 * are none.  Valid until the next call.
 */
const char *xsp_words_off(const struct xsprof_trace *trace, const struct xsprof_event *ev);
const char *xsp_word_sync(uint32_t op);
const char *xsp_word_control(uint32_t op);
const char *xsp_word_sample(uint32_t how);
const char *xsp_word_gpu(uint32_t kind);
const char *xsp_word_sched(uint32_t who);
const char *xsp_word_how(uint32_t how);
/* What the number is that a process ended with. */
const char *xsp_word_of_end(uint32_t how);
const char *xsp_word_arg(uint8_t type);
/* Of an op, by its scope. */
const char *xsp_word_op(uint32_t scope);
const char *xsp_word_clock(uint32_t kind);
const char *xsp_word_ring(uint32_t kind);
const char *xsp_word_mode(uint32_t mode);

/*
 * True when the name of @thread is to be asked for again: it may come, or change, later than the
 * thread's first events.
 */
static inline bool xsp_track_stale(struct xsp_track *thread)
{
	if (__builtin_expect(thread->events < thread->refresh, 1))
		return false;
	thread->refresh = thread->events < 4096 ? thread->events * 2 : thread->events + 4096;
	return true;
}

/*
 * What is neither a number nor a string is shown as text: @arg is made a string in @buf, which has
 * XSP_ARG_TEXT bytes.  So is a string that was longer, as it is shown: with "..." at its end.
 */
#define XSP_ARG_TEXT	2048u

static inline void xsp_arg_plain(const struct xsprof_trace *trace, uint32_t producer,
				 struct xsprof_trace_arg *arg, char *buf)
{
	if (arg->type == XSPROF_ARG_STR && arg->flags & XSPROF_ARGF_CUT &&
	    arg->len <= XSP_ARG_TEXT - 3) {
		memcpy(buf, arg->str, arg->len);
		memcpy(buf + arg->len, "...", 3);
		arg->str = buf;
		arg->len += 3;
	}
	if (arg->type <= XSPROF_ARG_STR)
		return;
	arg->len = (uint16_t)xsprof_trace_arg_text(trace, producer, arg, buf, XSP_ARG_TEXT);
	arg->str = buf;
	arg->type = XSPROF_ARG_STR;
	arg->flags = 0;
}

/* Calls @fn for each argument of @ev, made plain, until it returns false, which is returned. */
static inline bool xsp_each_plain(struct xsp_out *out, const struct xsprof_event *ev,
				  struct xsp_range *range,
				  bool (*fn)(struct xsp_out *out, const struct xsprof_event *ev,
					     struct xsp_range *range,
					     const struct xsprof_trace_arg *arg))
{
	char plain[XSP_ARG_TEXT];
	struct xsprof_trace_arg arg;
	size_t pos = 0;

	while (xsprof_trace_args(ev, &pos, &arg)) {
		xsp_arg_plain(out->trace, ev->producer, &arg, plain);
		if (!fn(out, ev, range, &arg))
			return false;
	}
	return true;
}

#endif /* XSPROF_OUT_OUT_H */
