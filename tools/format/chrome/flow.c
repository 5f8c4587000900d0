// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flow arrows in Chrome's JSON: which range each end is bound to.
 *
 * Viewers draw an arrow from range to range, and drop one with an end outside of ranges. An end is
 * bound to the innermost open range of its thread. It gets its own range of one time step, at its
 * time, in cases where Perfetto would bind it to another range or reverse the arrow:
 *
 * - no range is open, or its begin is not shown;
 * - the last event drawn was an instant or a range in one record: Perfetto takes it for open until
 * another event begins or ends;
 * - the next event of the thread has the same time: Perfetto sorts ends first;
 * - the range at the end began before the arrow did: Perfetto starts an arrow in the range that
 * began earlier;
 * - the arrow has arguments, which viewers show for ranges only.
 *
 * Perfetto shows a range of one time step without length, and speedscope ends no range before its
 * begin.
 */
#include "base/hash.h"
#include "format/chrome/local.h"

static bool is_flow(uint32_t type)
{
	return type >= XSPROF_REC_FLOW_START && type <= XSPROF_REC_FLOW_END;
}

/* A range of one time step at the end of an arrow. */
static void put_own_range(struct xsp_out *out, const struct xsp_view *view)
{
	char *p = chrome_open(out, view->thread, 'X', view->ev->ns);

	p = chrome_put_name(out, view->ev, view->name, put_lit(p, "\"dur\":" XSP_STEP ","));
	chrome_close(out, view->ev, NULL, NULL, p);
}

static void put_flow(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsprof_event *ev = view->ev;
	char ph = ev->type == XSPROF_REC_FLOW_START ? 's' :
		  ev->type == XSPROF_REC_FLOW_END ? 'f' : 't';
	char *p = put_lit(chrome_open(out, view->thread, ph, ev->ns), "\"id\":");

	p = put_u64(p, xsp_hash_flow(ev->producer, ev->value));
	p = ph == 's' ? put_lit(p, ",") : put_lit(p, ",\"bp\":\"e\",");
	chrome_close_plain(out, chrome_put_name(out, ev, view->name, p));
}

/* Was the arrow's latest event before @begin? No if the arrow was dropped from the table. */
static bool came_before(struct chrome *chrome, const struct xsprof_event *ev, uint64_t begin)
{
	uint64_t id = xsp_hash_flow(ev->producer, ev->value);
	struct chrome_flow *flow = &chrome->flows[xsp_hash_mix(id) & (CHROME_FLOWS - 1)];
	bool before = ev->type == XSPROF_REC_FLOW_START ||
		      (flow->ns && flow->id == id && flow->ns <= begin);

	if (ev->type != XSPROF_REC_FLOW_END)
		*flow = (struct chrome_flow){ .id = id, .ns = ev->ns };
	return before;
}

void chrome_put_flow(struct xsp_out *out, const struct xsp_view *view)
{
	const struct xsp_range *range = xsp_stack_top(&view->thread->opens.stack);
	bool before = came_before(out->priv, view->ev, range ? range->begin : 0);

	/*
	 * A range that was written late, and ended before, is drawn elsewhere: it nests with this.
	 */
	if (range && range->shown && before && !view->thread->stale && !chrome_has_args(view->ev) &&
	    xsp_tracks_complete(out->tracks, view->thread, view->ev->ns, view->ev->ns) &&
	    fmt_hold_plain(view))
		return;
	put_own_range(out, view);
	put_flow(out, view);
}

void chrome_flow_done(struct xsp_out *out, struct xsp_track *thread, uint64_t ns)
{
	const struct fmt_held *waits = thread->priv;
	struct xsp_view view = { .thread = thread };
	struct fmt_held *held;

	if (!waits || !waits->used || !is_flow(waits->ev.type))
		return;
	held = fmt_held_take(thread);
	view.ev = &held->ev;
	view.name = held->name;
	if (ns <= held->ev.ns)
		put_own_range(out, &view);
	put_flow(out, &view);
	fmt_held_done(out, held);
}
