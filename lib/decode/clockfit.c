// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Converts ticks of a counter to nanoseconds of CLOCK_MONOTONIC.
 *
 * Between two sync points the conversion is linear; it is exact at each point, and never goes back.
 * CLOCK_MONOTONIC stops during suspend, which most counters do not: such a gap is detected with
 * CLOCK_BOOTTIME and becomes three pieces. The error is measured: each inner point is compared with
 * the line between its neighbours. Everything unknown is part of the error bound.
 */
#include "decode/clockfit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

typedef unsigned __int128 u128;

#define MULT_ONE	(1ull << XST_SEG_SHIFT)
#define MULT_MIN	(MULT_ONE >> 12)	/* four ticks per picosecond */
#define MULT_MAX	(MULT_ONE << 11)	/* one tick per two microseconds */
#define MONO_MAX	(1ull << 62)
#define NS_MAX		(1ull << 63)
#define SUSPEND_MIN	1000000u		/* ns: less is the clocks' own spread */
#define SHORT		50000000u	/* ns: a slope of less is worse than what was told */
#define SLEW_MAX	500e-6			/* maximum rate adjustment by the kernel */

static uint64_t whole(double x)
{
	if (!(x > 0))
		return 0;
	return x < 1e19 ? (uint64_t)x : UINT64_MAX;
}

/* Slope of @ns per @ticks; -1 if no clock is like that. */
static int64_t slope(uint64_t ns, uint64_t ticks)
{
	u128 mult = ticks ? ((u128)ns << XST_SEG_SHIFT) / ticks : 0;

	return mult < MULT_MIN || mult > MULT_MAX ? -1 : (int64_t)mult;
}

static uint64_t span(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)((u128)ticks * mult >> XST_SEG_SHIFT);
}

static int by_ticks(const void *a, const void *b)
{
	const struct xst_point *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	return (x->window > y->window) - (x->window < y->window);
}

/* ns of suspend between two points. */
static uint64_t suspended(const struct xst_point *a, const struct xst_point *b)
{
	uint64_t mono = b->mono - a->mono;
	uint64_t boot = b->boot - a->boot;

	if (!a->boot || b->boot < a->boot || boot < mono + SUSPEND_MIN)
		return 0;
	return boot - mono;
}

/* Can @b be a later point than @a? */
static bool follows(const struct xst_point *a, const struct xst_point *b)
{
	if (b->ticks <= a->ticks || b->mono <= a->mono)
		return false;
	return slope(b->mono - a->mono, b->ticks - a->ticks) > 0 ||
	       (suspended(a, b) && slope(b->boot - a->boot, b->ticks - a->ticks) > 0);
}

/* Do the points coincide within their windows? Then @b adds nothing. */
static bool repeats(const struct xst_point *a, const struct xst_point *b)
{
	return b->ticks - a->ticks <= a->window / 2 + b->window / 2;
}

static size_t sieve(struct xst_fit *fit, struct xst_point *points, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(points, nr, sizeof(*points), by_ticks);
	for (size_t i = 0; i < nr; i++) {
		const struct xst_point *last = kept ? &points[kept - 1] : NULL;

		if (points[i].mono >= MONO_MAX || points[i].boot >= MONO_MAX)
			fit->refused++;
		else if (!last || follows(last, &points[i]))
			points[kept++] = points[i];
		else if (!repeats(last, &points[i]))
			fit->refused++;
	}
	fit->points = kept;
	return kept;
}

static void add(struct xst_fit *fit, uint64_t base, uint64_t ns, uint64_t mult)
{
	if (fit->nr)
		fit->segs[fit->nr - 1].len = base - fit->segs[fit->nr - 1].base;
	fit->segs[fit->nr++] = (struct xst_seg){ base, UINT64_MAX, ns, mult };
}

/* Before the first point: the first slope, but never below 0. */
static void add_before(struct xst_fit *fit, const struct xst_point *p, uint64_t mult)
{
	u128 reach = ((u128)p->mono << XST_SEG_SHIFT) / mult;
	uint64_t back = reach < p->ticks ? (uint64_t)reach : p->ticks;

	if (back < p->ticks)
		add(fit, 0, 0, 0);
	if (back)
		add(fit, p->ticks - back, p->mono - span(back, mult), mult);
}

/* After the last point: the last slope, but never beyond NS_MAX. */
static void add_after(struct xst_fit *fit, const struct xst_point *p, uint64_t mult)
{
	u128 reach = ((u128)(NS_MAX - p->mono) << XST_SEG_SHIFT) / mult;

	add(fit, p->ticks, p->mono, mult);
	if (reach < UINT64_MAX - p->ticks)
		add(fit, p->ticks + (uint64_t)reach, p->mono + span((uint64_t)reach, mult), 0);
}

/*
 * When the machine was suspended between @a and @b is unknown: half of the time awake is placed
 * before the suspend. That half is the error.
 */
static uint64_t add_suspended(struct xst_fit *fit, const struct xst_point *a,
			      const struct xst_point *b)
{
	uint64_t mono = b->mono - a->mono;
	uint64_t ticks = b->ticks - a->ticks;
	uint64_t mult = slope(b->boot - a->boot, ticks);
	uint64_t awake = (uint64_t)((u128)ticks * mono / (b->boot - a->boot));
	uint64_t before = awake / 2, after = awake - before;
	uint64_t at = a->mono + span(before, mult);

	if (before)
		add(fit, a->ticks, a->mono, mult);
	add(fit, a->ticks + before, at, 0);
	if (after)
		add(fit, b->ticks - after, at,
		    (uint64_t)(((u128)(b->mono - at) << XST_SEG_SHIFT) / after));
	return mono / 2 + 1;
}

/* Does the counter stop during suspend as well? Then its slope is normal. */
static bool is_plain(const struct xst_point *a, const struct xst_point *b, int64_t nominal)
{
	int64_t mult = slope(b->mono - a->mono, b->ticks - a->ticks);

	if (!suspended(a, b) || slope(b->boot - a->boot, b->ticks - a->ticks) < 0)
		return true;
	return nominal > 0 && mult > 0 && llabs(mult - nominal) < nominal / 100;
}

/*
 * The slope outside of the points, and where none is known: that over all points, unless they are
 * so close that their windows matter.
 */
static int64_t nominal_slope(const struct xst_point *p, size_t nr, double freq)
{
	int64_t told = freq >= 1 ? slope(1000000000u, whole(freq)) : -1;
	uint64_t ns = 0, ticks = 0;

	for (size_t i = 0; i + 1 < nr; i++) {
		if (!suspended(&p[i], &p[i + 1])) {
			ns += p[i + 1].mono - p[i].mono;
			ticks += p[i + 1].ticks - p[i].ticks;
		}
	}
	if (!ticks || (told > 0 && ns < SHORT))
		return told;
	return slope(ns, ticks);
}

/* Distance of point @p from the line between its neighbours. */
static uint64_t residual(const struct xst_point *p)
{
	uint64_t ns = (uint64_t)((u128)(p[1].mono - p[-1].mono) * (p->ticks - p[-1].ticks) /
				 (p[1].ticks - p[-1].ticks));
	uint64_t seen = p->mono - p[-1].mono;

	return ns > seen ? ns - seen : seen - ns;
}

static uint64_t saturate_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static void measure(struct xst_fit *fit, const struct xst_point *p, size_t nr, int64_t nominal)
{
	uint64_t worst = 0, window = 0, ticks = 0, ns = 0;
	bool before = false;

	for (size_t i = 0; i < nr; i++) {
		bool after = i + 1 < nr && is_plain(&p[i], &p[i + 1], nominal);

		if (p[i].window > window)
			window = p[i].window;
		if (before && after && residual(&p[i]) > worst)
			worst = residual(&p[i]);
		if (after) {
			ticks += p[i + 1].ticks - p[i].ticks;
			ns += p[i + 1].mono - p[i].mono;
		}
		before = after;
	}
	if (ns)
		fit->freq = (double)ticks * 1e9 / (double)ns;
	/* With two points there is no third one to compare: the error is the kernel's limit. */
	if (nr == 2)
		worst += whole((double)ns * SLEW_MAX / 2);
	if (fit->freq > 0)
		window = saturate_add(whole((double)window / 2 * 1e9 / fit->freq), 1);
	fit->error_ns = saturate_add(fit->error_ns, saturate_add(worst, window));
}

static void build_chain(struct xst_fit *fit, const struct xst_point *p, size_t nr,
			int64_t nominal)
{
	add_before(fit, &p[0], nominal);
	for (size_t i = 0; i + 1 < nr; i++) {
		const struct xst_point *a = &p[i], *b = &p[i + 1];
		uint64_t error;

		if (is_plain(a, b, nominal)) {
			add(fit, a->ticks, a->mono,
			    slope(b->mono - a->mono, b->ticks - a->ticks));
			continue;
		}
		error = add_suspended(fit, a, b);
		if (error > fit->error_ns)
			fit->error_ns = error;
	}
	add_after(fit, &p[nr - 1], nominal);
}

int xst_fit_build(struct xst_fit *fit, struct xst_point *points, size_t nr, double freq)
{
	int64_t nominal;

	*fit = (struct xst_fit){ 0 };
	nr = sieve(fit, points, nr);
	/* At most three pieces between two points, two before the first and two after the last. */
	fit->segs = calloc(3 * nr + 4, sizeof(*fit->segs));
	if (!fit->segs)
		return -ENOMEM;
	fit->freq = freq;
	if (!nr) {
		fit->error_ns = UINT64_MAX;
		add(fit, 0, 0, MULT_ONE);
		return 0;
	}
	nominal = nominal_slope(points, nr, freq);
	if (nominal < 0 && nr > 1 && suspended(&points[0], &points[1]))
		nominal = slope(points[1].boot - points[0].boot, points[1].ticks - points[0].ticks);
	if (nominal < 0) {
		fit->error_ns = UINT64_MAX;
		nominal = MULT_ONE;
	}
	fit->first = points[0].ticks;
	fit->last = points[nr - 1].ticks;
	build_chain(fit, points, nr, nominal);
	measure(fit, points, nr, nominal);
	return 0;
}

void xst_fit_free(struct xst_fit *fit)
{
	free(fit->segs);
	*fit = (struct xst_fit){ 0 };
}

const struct xst_seg *xst_fit_find(const struct xst_fit *fit, uint64_t ticks)
{
	size_t low = 0, high = fit->nr;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (fit->segs[mid].base <= ticks)
			low = mid;
		else
			high = mid;
	}
	return &fit->segs[low];
}

uint64_t xst_fit_ns(const struct xst_fit *fit, uint64_t ticks)
{
	const struct xst_seg *seg = xst_fit_find(fit, ticks);

	/* Ticks before the first piece exist only if it begins above 0, which it never does. */
	return seg->ns + span(ticks - seg->base, seg->mult);
}

uint64_t xst_fit_error_away(const struct xst_fit *fit, uint64_t ns)
{
	if (!ns || fit->freq <= 0 || fit->error_ns == UINT64_MAX)
		return fit->error_ns;
	return saturate_add(fit->error_ns, saturate_add(whole((double)ns * SLEW_MAX), 1));
}

uint64_t xst_fit_error(const struct xst_fit *fit, uint64_t ticks)
{
	uint64_t away = 0;

	if (ticks < fit->first)
		away = fit->first - ticks;
	else if (ticks > fit->last)
		away = ticks - fit->last;
	if (!away || fit->freq <= 0)
		return fit->error_ns;
	/* +1: part of a nanosecond. */
	return xst_fit_error_away(fit, saturate_add(whole((double)away * 1e9 / fit->freq), 1));
}
