// SPDX-License-Identifier: GPL-2.0-only
/*
 * xsprof dump, xsprof-dump: prints a capture as text, Chrome's JSON, that of PyTorch's profiler,
 * NDJSON or a Perfetto trace. It reads the events once, in time order, and passes the selected ones
 * to a format; it formats nothing itself.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/tool.h"
#include "dump/local.h"
#include "format/common/rows.h"
#include "format/common/sched.h"
#include "result/frames.h"

#define BATCH		256u
#define NAMES_MEMORY	(4u << 20)
#define KEYS_MEMORY	(1u << 20)
#define FOLLOW_MIN_MS	10		/* pause at the end of a growing file */
#define FOLLOW_MAX_MS	200

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

/* Earlier events show which tasks run when the time shown begins. */
static void before(struct dump *dump, const struct xsprof_event *ev)
{
	if (dump->format->before && ev->ns < dump->filter.from_ns)
		dump->format->before(&dump->out, ev);
}

/* Kernel events are on no track of a program. */
static void kernel_event(struct dump *dump, const struct xsprof_event *ev)
{
	struct xsp_out *out = &dump->out;

	if (!out->kernel)
		return;
	xsp_kernel_seen(out->kernel, ev);
	out->last_ns = ev->ns;
	if (!dump->format->kernel_event || !dump_kernel_matches(dump, ev))
		return;
	before(dump, ev);
	if (!xsp_filter_time(&dump->filter, ev->ns))
		return;
	out->shown++;
	dump->format->kernel_event(out, ev);
}

/* libtraceevent formats the events of a batch together. */
static void kernel_ahead(struct dump *dump, const struct xsprof_event *evs, int n)
{
	struct xsp_kernel *kernel = dump->out.kernel;

	if (!kernel || !dump->format->kernel_info)
		return;
	xsp_kernel_batch(kernel);
	for (int i = 0; i < n; i++)
		if (evs[i].producer == XSPROF_NO_PRODUCER && dump_kernel_wanted(dump, &evs[i]))
			xsp_kernel_soon(kernel, &evs[i]);
}

/* Is a range that just began or ended nested deeper in its thread than viewers draw? */
static bool is_deep(const struct dump *dump, const struct xsp_view *view)
{
	const struct xsp_stack *stack = &view->thread->opens.stack;
	uint32_t around = stack->open, nested = dump->format->nested;

	if (view->ev->type != XSPROF_REC_COMPLETE && (view->ev->type != XSPROF_REC_BEGIN ||
						      !view->range))
		return false;
	around -= view->ev->type == XSPROF_REC_BEGIN;
	if (!nested || around < nested)
		return false;
	/* Ranges that are not shown do not count. */
	for (uint32_t i = 0; i < stack->n; i++)
		around -= stack->v[i].end == XSP_OPEN && !stack->v[i].match;
	return around >= nested;
}

static void one_event(struct dump *dump, const struct xsprof_event *ev)
{
	struct xsp_out *out = &dump->out;
	struct xsp_view view = { .ev = ev };
	struct xsp_track *thread;
	bool match, shown;

	if (xsp_tracks_exit(out->tracks, ev)) {
		/* A format with its own tracks needs to know. */
		if (dump->format->cuts)
			dump->format->event(out, &view);
		return;
	}
	xsp_tracks_event(out->tracks, ev, &view);
	thread = view.thread;
	xsp_captured_event(&out->captured, ev, thread);
	(void)xsp_early_event(&out->early, ev, NULL);
	match = dump_matches(dump, &view);
	shown = dump_in_time(dump, ev) && match;
	if (ev->type == XSPROF_REC_BEGIN &&
	    xsp_tracks_begin(out->tracks, thread, ev->ns, ev->name, match, shown))
		view.range = xsp_stack_top(&thread->opens.stack);
	dump->deep += shown && is_deep(dump, &view);
	view.async = shown && ev->type >= XSPROF_REC_ASYNC_BEGIN &&
		     ev->type <= XSPROF_REC_ASYNC_END && xsp_tracks_async(out->tracks, ev);
	if (ev->ns <= dump->filter.to_ns)
		out->last_ns = ev->ns;
	if (shown) {
		out->shown++;
		out->events += xsp_event_counts(ev);
		thread->shown++;
	}
	if (shown || (match && dump->format->cuts))
		dump->format->event(out, &view);
	else if (match && (fmt_sched_is(ev) || ev->type == XSPROF_EV_LOST))
		before(dump, ev);
	thread->last_match = match;
	if (ev->type == XSPROF_REC_END)
		xsp_tracks_end(out->tracks, &view);
	thread->more = ev->rec && ev->rec->size >> 4 & XSPROF_RECF_MORE;
	if (ev->type != XSPROF_REC_ARGS || !thread->more)
		thread->note_to_top = ev->type == XSPROF_REC_BEGIN || !thread->more;
}

/* Sets the start of the trace, and the times of --from and --to relative to it. */
static int find_base(struct dump *dump, const struct xsprof_event *first)
{
	int ret = xsp_source_start(&dump->source, first, &dump->out.base_ns);

	if (ret)
		return ret;
	dump->late.any = xsp_trace_has_devices(dump->source.trace);
	ret = xsp_filter_base(&dump->filter, "dump", dump->out.base_ns);
	dump->out.from_ns = dump->filter.from_ns;
	dump->out.to_ns = dump->filter.to_ns;
	return ret;
}

/* Passes on the event if it is selected; an event after the time shown ends it. */
static void next_event(struct dump *dump, const struct xsprof_event *ev)
{
	const struct xsp_filter *filter = &dump->filter;

	dump->past_end = dump->out.shown == dump->reading.limit;
	/*
	 * Later ends may be of ranges that began in time; but a followed recording may never end
	 * them.
	 */
	if (ev->ns > filter->to_ns && (!dump->format->cuts || dump->follow || dump->look_on)) {
		dump->end_ns = filter->to_ns;
		if (dump->late.any && !dump->follow && !dump->look_on) {
			if (ev->type == XSPROF_REC_GPU || dump_continues(dump, ev))
				one_event(dump, ev);
			return;
		}
		dump->past_end = true;
	}
	if (dump->past_end)
		return;
	if (!dump->begun && ev->ns >= filter->from_ns) {
		dump->begun = true;
		if (filter->from_ns && dump->format->begin)
			dump->format->begin(&dump->out, filter->from_ns);
	}
	if (ev->producer == XSPROF_NO_PRODUCER)
		kernel_event(dump, ev);
	else
		one_event(dump, ev);
	dump->past_end = dump->out.shown == dump->reading.limit;
}

static void wait_for_more(struct dump *dump, int *ms)
{
	struct timespec ts = { .tv_nsec = *ms * 1000000L };

	xsp_buf_flush(&dump->out.buf);
	nanosleep(&ts, NULL);
	*ms = *ms * 2 < FOLLOW_MAX_MS ? *ms * 2 : FOLLOW_MAX_MS;
}

/* There is nothing to show now. Return: false: no more will come. */
static bool more(struct dump *dump, int *ms)
{
	if (!dump->look_on) {
		wait_for_more(dump, ms);
		return true;
	}
	xsp_buf_flush(&dump->out.buf);
	return live_wait(&dump->live, dump->source.trace, true);
}

/* A stop was requested: stop reading a file here; show the last records of rings. */
static bool stop_now(struct dump *dump)
{
	if (stopped && dump->look_on)
		live_finish(&dump->live);
	return stopped && !dump->look_on;
}

/* Return: 0, or an exit status after a message. */
static int all_events(struct dump *dump)
{
	static struct xsprof_event evs[BATCH];
	int n, i, ret, ms = FOLLOW_MIN_MS;
	bool first = true;

	while (!stop_now(dump) && !dump->out.buf.err && !dump->past_end) {
		n = xsprof_trace_next_batch(dump->source.trace, evs, BATCH);
		if (n == -EAGAIN) {
			if (!more(dump, &ms))
				break;
			continue;
		}
		if (n < 0)
			return xsp_source_error(&dump->source, n);
		if (n == 0)
			break;
		ms = FOLLOW_MIN_MS;
		if (dump->look_on)
			live_wait(&dump->live, dump->source.trace, false);
		if (first) {
			ret = find_base(dump, &evs[0]);
			if (ret)
				return ret;
			first = false;
		}
		kernel_ahead(dump, evs, n);
		for (i = 0; i < n && !dump->past_end; i++)
			next_event(dump, &evs[i]);
	}
	return 0;
}

static int start(struct dump *dump)
{
	struct xsprof_trace_kernel kernel = { .size = sizeof(kernel) };
	struct xsp_out *out = &dump->out;
	int ret;

	out->trace = dump->source.trace;
	out->pid = xsp_filter_one_pid(&dump->filter);
	out->scratch = malloc(XSP_SCRATCH);
	ret = out->scratch ? 0 : -ENOMEM;
	if (!ret)
		ret = xsp_names_new(out->trace, dump->format->name_text, NAMES_MEMORY, &out->names);
	if (!ret)
		ret = xsp_names_new(out->trace, dump->format->key_text, KEYS_MEMORY, &out->keys);
	if (!ret && xsprof_trace_get_kernel(out->trace, &kernel) == 0)
		ret = xsp_kernel_new(out->trace, &out->kernel);
	if (!ret)
		ret = xsp_tracks_new(&dump->format->ops, out, &out->tracks);
	if (!ret && dump->format->start)
		ret = dump->format->start(out);
	return ret ? tool_error("%s", strerror(-ret)) : 0;
}

/* These events are shown, but not as the kernel would print them. */
static void say_unprinted(struct dump *dump)
{
	struct xsp_kernel_unprinted not;

	if (!dump->out.kernel)
		return;
	xsp_kernel_unprinted(dump->out.kernel, &not);
	if (!not.events)
		return;
	if (not.kinds)
		tool_note("%s: %" PRIu64 " kernel events are shown field by field: the "
			  "formats of %" PRIu32 " kinds (one is %s) crash libtraceevent or make it "
			  "hang", dump->source.path, not.events, not.kinds, not.name);
	else
		tool_note("%s: %" PRIu64 " kernel events are shown field by field%s%s",
			  dump->source.path, not.events,
			  not.err ? ": cannot start a process to format "
			  "them: " : ": they are too long",
			  not.err ? strerror(-not.err) : "");
}

/* Like losses of the recording, this is printed even with -q. */
static void say_left_out(const struct dump *dump)
{
	if (dump->out.left_out)
		tool_note("%s: %" PRIu64 " ranges are left out: too many are open or overlap at "
			  "once; -f ndjson has all", dump->source.path, dump->out.left_out);
	if (dump->out.captured.left_out)
		tool_note("%s: %" PRIu64 " graph nodes exceed the limit: their activities are "
			  "shown without the range that captured them", dump->source.path,
			  dump->out.captured.left_out);
}

static void say_deep(const struct dump *dump)
{
	if (dump->deep)
		tool_note("%s: %" PRIu64 " ranges are nested in %" PRIu32 " others or more: "
			  "Perfetto shows these without a length, and ends others too early; "
			  "report and -f text have the right times", dump->source.path, dump->deep,
			  dump->format->nested);
}

/* An empty file would look like a trace. */
static int say_nothing(const struct dump *dump)
{
	if (!dump->out.nothing || stopped || dump->follow || dump->look_on)
		return 0;
	return tool_error(xsp_filter_given(&dump->filter) ?
			  "%s: no sample matches the filters: leave out --pid, --tid, --from and "
			  "the like" :
			  "%s: has no stack samples: record Python with --python, and "
			  "with the category python",
			  dump->source.path);
}

static void finish(struct dump *dump)
{
	struct xsp_out *out = &dump->out;

	/* Ranges open at the end of the time shown end there. */
	xsp_tracks_finish(out->tracks, dump->end_ns ? dump->end_ns : out->last_ns);
	if (dump->format->finish)
		dump->format->finish(out);
}

static void release(struct dump *dump)
{
	xsp_tracks_free(dump->out.tracks);
	xsp_captured_free(&dump->out.captured);
	xsp_early_free(&dump->out.early);
	xsr_frames_free(dump->out.frames);
	xsp_names_free(dump->out.names);
	xsp_names_free(dump->out.keys);
	fmt_rows_free(dump->out.rows);
	xsp_kernel_free(dump->out.kernel);
	free(dump->out.scratch);
}

/* Takes the signal's default action after the output is complete. */
static void die_of(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

static int run(struct dump *dump)
{
	int status;

	status = dump_output_open(dump);
	if (status)
		return status;
	status = start(dump);
	if (!status) {
		status = all_events(dump);
		finish(dump);
		say_unprinted(dump);
		say_left_out(dump);
		say_deep(dump);
		if (!status)
			status = say_nothing(dump);
	}
	if (!status && stopped && !dump->follow && !dump->look_on)
		status = TOOL_FAILED;
	status = dump_output_close(dump, status);
	release(dump);
	if (stopped && !dump->follow && !dump->look_on)
		die_of(stopped);
	/* Stopped early: losses after the last event shown are unknown, so none are reported. */
	if (!status && !dump->left && !(dump->look_on && dump->past_end))
		status = xsp_source_losses(&dump->source);
	return status;
}

static int open_source(struct dump *dump)
{
	int status;

	status = xsp_source_open(&dump->source, &dump->reading,
				 dump->look_on ? dump->live.path : NULL,
				 dump->follow || dump->look_on ? XSPROF_TRACE_FOLLOW : 0);
	if (dump->look_on)
		dump->source.path = "rings";
	return status;
}

int cmd_dump(int argc, char **argv)
{
	struct dump *dump = calloc(1, sizeof(*dump));
	struct sigaction sa = { .sa_handler = stop };
	bool left;
	int status;

	if (!dump)
		return tool_error("out of memory");
	dump->format = &xsp_format_text;
	dump->output = "-";
	dump->reading = (struct reading){
		.verb = "dump",
		.filter = &dump->filter,
		.limit = UINT64_MAX,
	};
	dump->filter.to_ns = UINT64_MAX;
	status = dump_parse(dump, argc, argv);
	if (status >= 0)
		goto out;
	/* A second signal ends the program at once, even in a read that does not return. */
	sa.sa_flags = SA_RESETHAND;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	status = dump_output_check(dump);
	if (!status && dump->look_on)
		status = live_open(&dump->live);
	if (!status)
		status = open_source(dump);
	if (!status) {
		status = dump->whole ? dump_whole(dump) : run(dump);
		xsp_source_close(&dump->source);
		if (!status && dump->live.nobody)
			status = TOOL_FAILED;
	}
out:
	live_close(&dump->live);
	xsp_filter_free(&dump->filter);
	left = dump->left;
	free(dump);
	/* Like the other verbs, and any filter that keeps the signal's default. */
	if (left)
		die_of(SIGPIPE);
	return status;
}
