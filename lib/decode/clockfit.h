/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Converts ticks of a counter to nanoseconds of CLOCK_MONOTONIC: a piecewise linear function
 * through points where both were read. Works on numbers only.
 */
#ifndef XST_CLOCKFIT_H
#define XST_CLOCKFIT_H

#include <stddef.h>
#include <stdint.h>

#define XST_SEG_SHIFT	48

/**
 * struct xst_seg - a linear piece: ns = @ns + ((ticks - @base) * @mult >> XST_SEG_SHIFT)
 * @base: first ticks of the piece
 * @len: it is valid for ticks - @base below this
 * @ns: time at @base
 * @mult: slope
 */
struct xst_seg {
	uint64_t	base;
	uint64_t	len;
	uint64_t	ns;
	uint64_t	mult;
};

/**
 * struct xst_point - the clocks at one instant
 * @ticks: the counter
 * @mono: CLOCK_MONOTONIC, ns
 * @boot: CLOCK_BOOTTIME, ns; 0 if unknown
 * @window: uncertainty of @ticks, in ticks
 */
struct xst_point {
	uint64_t	ticks;
	uint64_t	mono;
	uint64_t	boot;
	uint64_t	window;
};

/**
 * struct xst_fit - the conversion
 * @segs: pieces, the first from 0, each up to the next, the last without end
 * @nr: number of pieces, at least 1
 * @points: number of points used
 * @refused: number of contradictory points
 * @freq: ticks per second, over all points
 * @first: ticks of the first point
 * @last: ticks of the last point
 * @error_ns: bound of the error between the first and the last point
 */
struct xst_fit {
	struct xst_seg	*segs;
	size_t		nr;
	uint32_t	points;
	uint32_t	refused;
	double		freq;
	uint64_t	first;
	uint64_t	last;
	uint64_t	error_ns;
};

/**
 * xst_fit_build() - compute the conversion
 * @fit: filled in; free it with xst_fit_free()
 * @points: points, sorted here; contradictory ones are left out and counted
 * @nr: number of points; 0 gives ns = ticks, with no bound
 * @freq: ticks per second for the case of a single point, 0 if unknown
 *
 * Return: 0 or -ENOMEM.
 */
int xst_fit_build(struct xst_fit *fit, struct xst_point *points, size_t nr, double freq);
void xst_fit_free(struct xst_fit *fit);

/* Converts ticks that @seg covers. */
static inline uint64_t xst_seg_ns(const struct xst_seg *seg, uint64_t ticks)
{
	return seg->ns + (uint64_t)((unsigned __int128)(ticks - seg->base) * seg->mult >>
				    XST_SEG_SHIFT);
}

/* The piece that covers @ticks. */
const struct xst_seg *xst_fit_find(const struct xst_fit *fit, uint64_t ticks);
uint64_t xst_fit_ns(const struct xst_fit *fit, uint64_t ticks);
/* Error bound @ns before the first or after the last point; 0: between them. */
uint64_t xst_fit_error_away(const struct xst_fit *fit, uint64_t ns);
/* Error bound at @ticks, also outside of the points. */
uint64_t xst_fit_error(const struct xst_fit *fit, uint64_t ticks);

#endif /* XST_CLOCKFIT_H */
