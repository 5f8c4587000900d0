// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Determines the clock of each producer and its conversion. Uses the recorder's sync points; those
 * that producers wrote at attach count only if the recorder left fewer than two, because a producer
 * must not distort the time of others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/local.h"

static struct xst_point point_of(const struct xsprof_sync *sync, bool raw)
{
	return (struct xst_point){
		.ticks = raw ? sync->mono_raw : sync->ticks,
		.mono = sync->mono,
		.boot = sync->boot,
		.window = sync->window,
	};
}

/* Ticks per second that a producer stated at attach; 0 if implausible. */
static double freq_of(const struct xsprof_clock *clock)
{
	if (clock->kind == XSPROF_CLOCK_MONO_RAW)
		return 1e9;
	if (clock->freq)
		return (double)clock->freq;
	if (clock->mult && clock->shift < 64)
		return 1e9 * (double)(1ull << clock->shift) / clock->mult;
	return 0;
}

static double common_freq(const struct xsprof_trace *t, uint32_t kind)
{
	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		const struct xst_producer *p = t->found.producers[i];

		if (p && p->known && p->clock_kind == kind && freq_of(&p->clock) > 0)
			return freq_of(&p->clock);
	}
	return kind == XSPROF_CLOCK_MONO_RAW ? 1e9 : 0;
}

static bool usable(const struct xsprof_sync *sync)
{
	return sync->ticks && sync->mono && sync->kind > XSPROF_CLOCK_NONE &&
	       sync->kind <= XSPROF_CLOCK_MONO_RAW;
}

static size_t collect_syncs(const struct xsprof_trace *t, struct xst_point *points, uint32_t kind)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < t->found.nr_syncs; i++)
		if (usable(&t->found.syncs[i]) && t->found.syncs[i].kind == kind)
			points[nr++] = point_of(&t->found.syncs[i], false);
	/* Every point includes CLOCK_MONOTONIC_RAW, whatever counter it was taken with. */
	if (nr >= 2 || kind != XSPROF_CLOCK_MONO_RAW)
		return nr;
	nr = 0;
	for (uint32_t i = 0; i < t->found.nr_syncs; i++)
		if (usable(&t->found.syncs[i]))
			points[nr++] = point_of(&t->found.syncs[i], true);
	return nr;
}

static size_t collect(const struct xsprof_trace *t, struct xst_point *points, uint32_t kind)
{
	bool raw = kind == XSPROF_CLOCK_MONO_RAW;
	size_t nr = collect_syncs(t, points, kind);

	if (nr >= 2)
		return nr;
	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		const struct xst_producer *p = t->found.producers[i];

		if (p && p->known && usable(&p->attach) && (raw || p->attach.kind == kind))
			points[nr++] = point_of(&p->attach, raw);
	}
	return nr;
}

static uint32_t main_kind(const struct xsprof_trace *t)
{
	for (uint32_t i = 0; i < t->found.nr_syncs; i++)
		if (usable(&t->found.syncs[i]))
			return t->found.syncs[i].kind;
	for (uint32_t i = 0; i < t->found.nr_producers; i++) {
		const struct xst_producer *p = t->found.producers[i];

		if (p && p->known && p->clock_kind)
			return p->clock_kind;
	}
	return XSPROF_CLOCK_NONE;
}

static int build(struct xsprof_trace *t, struct xst_fit *fit, uint32_t kind)
{
	size_t room = (size_t)t->found.nr_syncs + t->found.nr_producers + 1;
	struct xst_point *points = calloc(room, sizeof(*points));
	size_t nr;
	int err;

	if (!points)
		return -ENOMEM;
	nr = collect(t, points, kind);
	xst_fit_free(fit);
	err = xst_fit_build(fit, points, nr, common_freq(t, kind));
	free(points);
	if (!err && fit->refused)
		xst_warn(t, XST_WARN_CLOCK, "%u of %zu sync points contradict the others: left out",
			 fit->refused, nr);
	return err;
}

/* ---- the kernel's tracer ----------------------------------------------------------------- */

/* Fits CLOCK_BOOTTIME like a counter. */
static int build_boot(struct xsprof_trace *t, struct xst_fit *fit)
{
	struct xst_point *points = calloc((size_t)t->found.nr_syncs + 1, sizeof(*points));
	size_t nr = 0;
	int err;

	if (!points)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->found.nr_syncs; i++)
		if (usable(&t->found.syncs[i]) && t->found.syncs[i].boot)
			points[nr++] = (struct xst_point){
				.ticks = t->found.syncs[i].boot,
				.mono = t->found.syncs[i].mono,
				.boot = t->found.syncs[i].boot,
			};
	xst_fit_free(fit);
	err = xst_fit_build(fit, points, nr, 1e9);
	free(points);
	return err;
}

/*
 * The tracer's clock is the markers' counter, or one that every sync point includes; times of any
 * other clock cannot be converted.
 */
static int fit_kernel(struct xsprof_trace *t)
{
	struct xst_kernel *k = &t->found.kernel;
	const char *clock = k->clock ? k->clock->s : "";

	if (!k->any)
		return 0;
	k->refused = NULL;
	if (!strcmp(clock, "x86-tsc")) {
		if (t->found.main_kind == XSPROF_CLOCK_TSC ||
		    t->found.main_kind == XSPROF_CLOCK_NONE) {
			k->producer.fit = &t->found.fit;
			return 0;
		}
		if (!build(t, &k->fit, XSPROF_CLOCK_TSC) && k->fit.points)
			return 0;
	} else if (!strcmp(clock, "mono_raw")) {
		return build(t, &k->fit, XSPROF_CLOCK_MONO_RAW);
	} else if (!strcmp(clock, "mono")) {
		xst_fit_free(&k->fit);
		return xst_fit_build(&k->fit, NULL, 0, 1e9);
	} else if (!strcmp(clock, "boot")) {
		return build_boot(t, &k->fit);
	}
	k->refused = "its clock cannot be compared with that of the markers";
	xst_warn(t, XST_WARN_CLOCK,
		 "the kernel's tracer used its clock '%s', which cannot be compared with that of "
		 "the markers: its events are left out; record with one of x86-tsc, mono_raw, "
		 "mono, boot", clock);
	return 0;
}

/*
 * Markers read the counter without a fence: it may be read while preceding instructions are still
 * executing. There are at most some hundred of them, which take less than this.
 */
#define IN_FLIGHT_NS	100u

/* Error of the tracer's times relative to those of markers, not to CLOCK_MONOTONIC. */
uint64_t xst_kernel_error(const struct xsprof_trace *t)
{
	const struct xst_kernel *k = &t->found.kernel;
	uint64_t worst = t->found.fit.error_ns;
	const uint64_t ends[] = { k->hints.first, k->hints.last };

	/* The same counter: both have the same conversion error. */
	if (k->producer.fit == &t->found.fit)
		return IN_FLIGHT_NS;
	/* The tracer uses CLOCK_MONOTONIC: what remains is the error of the markers' conversion. */
	if (!k->producer.fit->points)
		return worst == UINT64_MAX ? worst : worst + IN_FLIGHT_NS;
	for (int i = 0; i < 2; i++) {
		uint64_t error = ends[i] ? xst_fit_error(k->producer.fit, ends[i]) : 0;

		if (error > worst)
			worst = error;
	}
	/* The difference of two clocks may have the errors of both. */
	return worst > UINT64_MAX / 4 ? UINT64_MAX : worst + t->found.fit.error_ns + IN_FLIGHT_NS;
}

int xst_clocks_fit(struct xsprof_trace *t)
{
	uint32_t kind = main_kind(t);
	int err;

	t->found.main_kind = kind;
	for (uint32_t k = 0; k < XST_CLOCK_KINDS; k++)
		xst_fit_free(&t->found.other_fits[k]);
	err = build(t, &t->found.fit, kind);
	for (uint32_t i = 0; i < t->found.nr_producers && !err; i++) {
		struct xst_producer *p = t->found.producers[i];
		struct xst_fit *fit;

		if (!p || !p->known || !p->clock_kind || p->clock_kind == kind)
			continue;
		fit = &t->found.other_fits[p->clock_kind];
		if (!fit->nr)
			err = build(t, fit, p->clock_kind);
		p->fit = fit;
	}
	if (!err)
		err = fit_kernel(t);
	return err ? xst_fail(t, err, "no memory for %u sync points", t->found.nr_syncs) : 0;
}

void xst_clocks_free(struct xsprof_trace *t)
{
	xst_fit_free(&t->found.fit);
	for (uint32_t k = 0; k < XST_CLOCK_KINDS; k++)
		xst_fit_free(&t->found.other_fits[k]);
	free(t->found.syncs);
}

/* Producers without a known clock get the main one. */
static const struct xst_fit *fit_of(const struct xsprof_trace *t, uint32_t kind)
{
	const struct xst_found *found = &t->found;

	return kind == found->main_kind || !found->other_fits[kind].nr ? &found->fit :
									 &found->other_fits[kind];
}

uint64_t xst_first_ns(const struct xsprof_trace *t)
{
	uint64_t first = 0;

	for (uint32_t k = 0; k < XST_CLOCK_KINDS; k++) {
		uint64_t ticks = t->found.hints[k].first;
		uint64_t ns = ticks ? xst_fit_ns(fit_of(t, k), ticks) : 0;

		if (ns && (!first || ns < first))
			first = ns;
	}
	if (t->found.kernel.hints.first && !t->found.kernel.refused) {
		uint64_t ns = xst_fit_ns(t->found.kernel.producer.fit, t->found.kernel.hints.first);

		if (ns && (!first || ns < first))
			first = ns;
	}
	return first;
}

uint64_t xst_last_ns(const struct xsprof_trace *t)
{
	uint64_t last = 0;

	for (uint32_t k = 0; k < XST_CLOCK_KINDS; k++) {
		uint64_t ticks = t->found.hints[k].last;
		uint64_t ns = ticks ? xst_fit_ns(fit_of(t, k), ticks) : 0;

		if (ns > last)
			last = ns;
	}
	if (t->found.kernel.hints.last && !t->found.kernel.refused) {
		uint64_t ns = xst_fit_ns(t->found.kernel.producer.fit, t->found.kernel.hints.last);

		if (ns > last)
			last = ns;
	}
	return last;
}

/* The error at the first or last ticks, or at the ends of the shown interval. */
static uint64_t error_at(const struct xst_fit *fit, uint64_t ticks, uint64_t from, uint64_t to)
{
	uint64_t ns = xst_fit_ns(fit, ticks), first = xst_fit_ns(fit, fit->first);
	uint64_t last = xst_fit_ns(fit, fit->last);

	if (ns < from)
		ns = from;
	else if (ns > to)
		ns = to;
	return xst_fit_error_away(fit, ns < first ? first - ns : ns > last ? ns - last : 0);
}

uint64_t xst_clocks_error(const struct xsprof_trace *t, uint64_t from, uint64_t to)
{
	uint64_t worst = t->found.fit.error_ns;

	for (uint32_t k = 0; k < XST_CLOCK_KINDS; k++) {
		const uint64_t ends[] = { t->found.hints[k].first, t->found.hints[k].last };

		for (int i = 0; i < 2; i++) {
			uint64_t error = ends[i] ? error_at(fit_of(t, k), ends[i], from, to) : 0;

			if (error > worst)
				worst = error;
		}
	}
	return worst;
}

uint64_t xsprof_trace_ticks_to_ns(const struct xsprof_trace *t, uint64_t ticks)
{
	return xst_fit_ns(&t->found.fit, ticks);
}

int xsprof_trace_get_sync(const struct xsprof_trace *t, uint32_t index, struct xsprof_sync *sync)
{
	if (index >= t->found.nr_syncs)
		return -ENOENT;
	*sync = t->found.syncs[index];
	return 0;
}
