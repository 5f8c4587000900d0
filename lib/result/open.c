// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Opens a result: its options and its trace. Makes no events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/losses.h"
#include "decode/source.h"
#include "result/absence.h"
#include "result/frames.h"
#include "result/handle.h"
#include "result/writer.h"

/* ---- options -------------------------------------------------------------------------------- */

/*
 * Copies a struct that begins with its size in the layout of this library. Size 0 means all
 * defaults.
 */
static int copy_sized(void *to, size_t size, const void *from)
{
	size_t given;

	memcpy(&given, from, sizeof(given));
	memset(to, 0, size);
	memcpy(to, from, given && given < size ? given : size);
	for (size_t i = size; i < given; i++)
		if (((const char *)from)[i])
			return -E2BIG;
	return 0;
}

static const void *keep(struct xsprof_result *r, const void *from, size_t size)
{
	void *to = xsp_pool_get(&r->options, size);

	return to ? memcpy(to, from, size) : NULL;
}

static int keep_text(struct xsprof_result *r, const char **text)
{
	*text = keep(r, *text, strlen(*text) + 1);
	return *text ? 0 : -ENOMEM;
}

static int keep_texts(struct xsprof_result *r, const char *const **list, size_t nr)
{
	const char **copy = xsp_pool_get(&r->options, (nr + !nr) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		copy[i] = (*list)[i];
		if (keep_text(r, &copy[i]))
			return -ENOMEM;
	}
	*list = copy;
	return 0;
}

static int keep_config(struct xsprof_result *r)
{
	struct xsprof_profiler_config *c = &r->config;
	struct xsprof_experimental *e = &r->experimental;
	int err = copy_sized(c, sizeof(*c), r->opts.config);

	r->opts.config = c;
	if (!err && c->trace_id)
		err = keep_text(r, &c->trace_id);
	if (err || !c->experimental)
		return err;
	err = copy_sized(e, sizeof(*e), c->experimental);
	c->experimental = e;
	if (!err && e->nr_metrics)
		err = keep_texts(r, &e->metrics, e->nr_metrics);
	if (!err && e->custom)
		err = keep_text(r, &e->custom);
	return err;
}

static bool keep_tids(struct xsprof_result *r)
{
	struct xsprof_result_options *o = &r->opts;
	uint32_t *copy;

	if (!o->nr_tids)
		return true;
	copy = xsp_pool_get(&r->options, o->nr_tids * sizeof(*copy));
	if (!copy)
		return false;
	memcpy(copy, o->tids, o->nr_tids * sizeof(*copy));
	qsort(copy, o->nr_tids, sizeof(*copy), xsr_tid_compare);
	o->tids = copy;
	return true;
}

static bool keep_absences(struct xsprof_result *r)
{
	struct xsprof_result_options *o = &r->opts;
	struct xsprof_absence *copy;

	if (!o->nr_absences)
		return true;
	copy = o->nr_absences < SIZE_MAX / sizeof(*copy) ?
	       xsp_pool_get(&r->options, o->nr_absences * sizeof(*copy)) : NULL;
	if (!copy)
		return false;
	memcpy(copy, o->absences, o->nr_absences * sizeof(*copy));
	qsort(copy, o->nr_absences, sizeof(*copy), xsr_absence_compare);
	o->absences = copy;
	return true;
}

static int keep_options(struct xsprof_result *r, const struct xsprof_result_options *opts)
{
	struct xsprof_result_options *o = &r->opts;
	int err = copy_sized(o, sizeof(*o), opts);

	if (err)
		return err;
	if ((o->nr_tids && !o->tids) ||
	    (o->nr_metadata && (!o->keys || !o->values)) || (o->nr_absences && !o->absences))
		return -EINVAL;
	if (!keep_tids(r) || !keep_absences(r))
		return -ENOMEM;
	if (o->nr_metadata) {
		err = keep_texts(r, &o->keys, o->nr_metadata);
		if (!err)
			err = keep_texts(r, &o->values, o->nr_metadata);
	}
	if (!err && o->config)
		err = keep_config(r);
	return err;
}

/*
 * Edges in ticks are converted to ns like records' times, monotonically: what was before an edge
 * stays before it.
 */
static int set_window(struct xsprof_result *r)
{
	struct xsprof_result_options *o = &r->opts;

	if (o->from_ticks)
		o->from_ns = xsprof_trace_ticks_to_ns(r->trace, o->from_ticks);
	if (o->to_ticks)
		o->to_ns = xsprof_trace_ticks_to_ns(r->trace, o->to_ticks);
	/* 0 would mean the end of the capture. */
	if (o->to_ticks && !o->to_ns)
		o->to_ns = 1;
	return o->to_ns && o->to_ns < o->from_ns ? -EINVAL : 0;
}

/* ---- open and free -------------------------------------------------------------------------- */

int xsprof_result_open(const char *path, const struct xsprof_result_options *opts,
		       struct xsprof_result **result)
{
	struct xsprof_result *r = calloc(1, sizeof(*r));
	int err = 0;

	*result = NULL;
	if (!r)
		return -ENOMEM;
	r->root = XSR_NONE;
	if (opts)
		err = keep_options(r, opts);
	if (!err)
		err = xsprof_trace_open(path, NULL, &r->trace);
	if (!err) {
		r->info.size_of = sizeof(r->info);
		err = xsprof_trace_get_info(r->trace, &r->info);
	}
	if (!err)
		err = set_window(r);
	if (err) {
		xsprof_result_free(r);
		return err;
	}
	r->real = r->info.real_offset_ns;
	*result = r;
	return 0;
}

int xsr_open_trace(const struct xsprof_result *r, struct xsprof_trace **trace)
{
	return xst_trace_again(r->trace, trace);
}

void xsprof_result_free(struct xsprof_result *r)
{
	if (!r)
		return;
	xsr_tables_free(r);
	xsr_frames_free(r->frames);
	xsr_scratch_free(r->scratch);
	xsprof_trace_close(r->trace);
	xsp_pool_free(&r->options);
	xsp_pool_free(&r->pool);
	xsr_texts_free(&r->texts);
	xsp_map_free(&r->made);
	xsp_map_free(&r->posts);
	free(r->events);
	free(r);
}

uint64_t xsprof_result_start_ns(const struct xsprof_result *r)
{
	return xsr_real(r, r->opts.from_ns ? r->opts.from_ns : r->info.first_ns);
}

uint64_t xsprof_result_lost(const struct xsprof_result *r, uint64_t *slots)
{
	struct xsp_losses losses;

	xsp_losses_of(r->trace, &losses);
	if (slots)
		*slots = losses.slots;
	return losses.records;
}

const char *xsprof_result_error(const struct xsprof_result *r)
{
	return r->error;
}
