// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Steps in a Kineto trace: "ProfilerStep#3" is a range from its record to that of the next step
 * with the same name, or to the end.
 */
#include <string.h>

#include "export/kineto/local.h"
#include "result/activity.h"

/* Is it a step of xsprof_profiler_step() with a lower number? */
static bool is_before(const struct xsr_kineto *k, const struct xsr_step *step, uint64_t number)
{
	return step->number < number &&
	       !strcmp(xsprof_trace_name(k->w.trace, step->producer, step->name), XSR_STEP_NAME);
}

static void put_step(struct xsr_kineto *k, struct xsr_step *step, uint64_t ns, bool unfinished)
{
	uint64_t from = step->begin, to = ns;
	struct xsp_track *thread;
	char *p;

	step->used = false;
	if (is_before(k, step, k->opts.steps_from))
		return;
	thread = xsp_tracks_get(k->tracks, step->producer, step->pid, XSR_THREAD, step->tid, ns);
	if (!thread || !k->host || !xsr_kineto_cut(k, &from, &to))
		return;
	k->events++;
	p = put_lit(xsr_writer_open(&k->w), "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":");
	p = xsr_writer_step_name(&k->w, step->producer, step->name, step->number, p);
	*p++ = ',';
	p = xsr_kineto_ts(k, xsr_kineto_track(k, thread, p), from);
	p = xsr_kineto_dur(k, p, from, to);
	p = put_u64(put_lit(p, ",\"args\":{\"Ev Idx\":"), step->index);
	p = put_u64(put_lit(p, ",\"External id\":"), xsr_kineto_id(0, step->index));
	if (unfinished)
		p = put_lit(p, ",\"finished\":false");
	k->w.buf->p = put_lit(p, "}}");
}

void xsr_kineto_cut_steps(struct xsr_kineto *k, uint32_t producer, uint64_t ns)
{
	uint32_t i;

	for (i = 0; i < XSR_STEPS; i++)
		if (k->steps[i].used && k->steps[i].producer == producer)
			put_step(k, &k->steps[i], ns, true);
}

/* The program may have begun another step there, which is then the end. */
void xsr_kineto_end_steps(struct xsr_kineto *k, uint64_t ns)
{
	uint32_t i;

	for (i = 0; i < XSR_STEPS; i++)
		if (k->steps[i].used)
			put_step(k, &k->steps[i], ns,
				 !is_before(k, &k->steps[i], k->opts.steps_to));
}

/* A step ends where the next one of its name begins. */
void xsr_kineto_step(struct xsr_kineto *k, const struct xsprof_event *ev,
		     struct xsp_track *thread)
{
	struct xsr_step *found = NULL;
	uint32_t i;

	for (i = 0; i < XSR_STEPS; i++) {
		struct xsr_step *s = &k->steps[i];

		if (s->used && s->producer == ev->producer && s->name == ev->name) {
			put_step(k, s, ev->ns, false);
			found = s;
			break;
		}
		if (!s->used && !found)
			found = s;
	}
	if (!found) {
		/* Too many kinds of steps at once. */
		found = &k->steps[ev->producer % XSR_STEPS];
		put_step(k, found, ev->ns, true);
	}
	*found = (struct xsr_step){
		.begin = ev->ns, .index = k->index++, .number = ev->value, .tid = thread->tid,
		.producer = ev->producer, .pid = ev->pid, .name = ev->name, .used = true,
	};
}
