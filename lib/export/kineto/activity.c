// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Activities timed by the program, in a Kineto trace: each under its own category and on the track
 * that its record states. And thread names.
 */
#include "export/kineto/local.h"
#include "result/activity.h"
#include "result/post.h"

/* A process that writes about itself uses its own pid. */
static bool is_own(const struct xsr_kineto *k, const struct xsprof_event *ev, int64_t device)
{
	struct xsprof_trace_producer producer;

	if (device == ev->pid)
		return true;
	return !xsprof_trace_get_producer(k->w.trace, ev->producer, &producer) && producer.ctl &&
	       producer.ctl->pid == device;
}

/* Writes "pid":1,"tid":2, */
static char *put_track(struct xsr_kineto *k, const struct xsprof_event *ev,
		       const struct xsr_activity *a, char *p)
{
	struct xsp_track *track = NULL;

	if (a->on & XSR_ON_STREAM && a->device >= 0 && a->device <= UINT16_MAX &&
	    a->resource >= 0 && a->resource <= UINT32_MAX)
		track = xsr_kineto_stream(k, ev->producer, (uint32_t)a->device,
					  (uint64_t)a->resource, false);
	else if (!(a->on & XSR_ON_STREAM) && a->resource > 0 && a->resource <= INT32_MAX &&
		 is_own(k, ev, a->device))
		track = xsp_tracks_get(k->tracks, ev->producer, ev->pid, XSR_THREAD,
				       (uint64_t)a->resource, ev->ns);
	if (track)
		return xsr_kineto_track(k, track, p);
	p = put_i64(put_lit(p, "\"pid\":"), a->device);
	p = put_i64(put_lit(p, ",\"tid\":"), a->resource);
	*p++ = ',';
	return p;
}

/*
 * The trace's span, stated by the program. Its "pid" is a word, not a number, which speedscope
 * cannot open, but Kineto writes it and readers of PyTorch's traces look for it.
 */
static char *put_span(struct xsr_kineto *k, const struct xsprof_event *ev, char *p)
{
	p = xsr_writer_name(&k->w, ev->producer, ev->name,
			    put_lit(p, "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":"));
	p = put_lit(p, ",\"pid\":\"Spans\",\"tid\":");
	p = xsr_writer_name(&k->w, ev->producer, ev->name, p);
	*p++ = ',';
	return p;
}

static char *put_head(struct xsr_kineto *k, const struct xsprof_event *ev,
		      const struct xsr_activity *a, char *p)
{
	size_t len = strlen(a->type);

	p = a->kind == XSPROF_EVENT_INSTANT ? put_lit(p, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":") :
					      put_lit(p, "{\"ph\":\"X\",\"cat\":");
	p = json_string(p, a->type, len < 256 ? len : 256, NULL);
	p = xsr_writer_name(&k->w, ev->producer, ev->name, put_lit(p, ",\"name\":"));
	*p++ = ',';
	return put_track(k, ev, a, p);
}

static bool wanted(const struct xsr_kineto *k, const struct xsr_activity *a)
{
	return (a->on & XSR_ON_HOST && k->host) || (a->on & XSR_ON_DEVICE && k->gpu);
}

/* Ranges that other events may belong to. */
static bool is_of_host(const struct xsr_activity *a)
{
	return !strcmp(a->type, "cpu_op") || !strcmp(a->type, "user_annotation");
}

bool xsr_kineto_activity(struct xsr_kineto *k, const struct xsprof_event *ev,
			 struct xsr_walk *walk, uint64_t at)
{
	uint64_t begin = ev->begin_ns, end = ev->end_ns > begin ? ev->end_ns : begin;
	struct xsr_activity a;
	const struct xsr_post *post;
	bool any = false, span;
	char *p;

	if (!xsr_activity_read(k->w.trace, ev, &a))
		return false;
	/*
	 * Device activities launched in it carry its name, whether or not the range itself is
	 * wanted.
	 */
	if (!strcmp(a.type, "user_annotation"))
		xsr_user_name(k, ev->producer, ev->value, ev->name);
	if (!wanted(k, &a) || !xsr_kineto_cut(k, &begin, &end))
		return true;
	if (end > k->last && !k->over)
		k->last = end;
	span = !strcmp(a.type, "Trace");
	p = xsr_writer_open(&k->w);
	p = span ? put_span(k, ev, p) : put_head(k, ev, &a, p);
	p = xsr_kineto_ts(k, p, begin);
	if (a.kind != XSPROF_EVENT_INSTANT)
		p = xsr_kineto_dur(k, p, begin, end);
	p = put_lit(p, ",\"args\":{");
	if (ev->value || is_of_host(&a)) {
		p = put_lit(p, "\"External id\":");
		p = put_u64(p, xsr_kineto_id(ev->value, k->index++));
		any = true;
	}
	post = xsr_post_find(k->posts, at);
	p = xsr_kineto_args(k, walk, a.on & XSR_ON_STREAM,
			    xsr_kineto_post_keys(post) | (any ? XSR_OWN_EXTERNAL : 0), p, &any);
	p = xsr_kineto_post(k, post, &any, p);
	k->w.buf->p = put_lit(p, "}}");
	k->ops += a.kind == XSPROF_EVENT_OP;
	k->events += !span;
	return true;
}

bool xsr_kineto_thread_info(struct xsr_kineto *k, const struct xsprof_event *ev,
			    struct xsr_walk *walk)
{
	struct xsr_activity a;
	bool any = true;
	char *p;

	if (!xsr_activity_read(k->w.trace, ev, &a) || strcmp(a.type, "thread_info"))
		return false;
	p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"M\",\"name\":\"thread_info\",");
	p = put_track(k, ev, &a, p);
	p = xsr_kineto_ts(k, p, ev->ns > k->from ? ev->ns : k->from);
	p = put_i64(put_lit(p, ",\"args\":{\"System thread id\":"), a.resource);
	p = xsr_kineto_args(k, walk, false, XSR_OWN_THREAD, p, &any);
	k->w.buf->p = put_lit(p, "}}");
	return true;
}
