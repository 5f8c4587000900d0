/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Ticks of a counter to nanoseconds of CLOCK_MONOTONIC: a chain of straight pieces through
 * points where both were read.  It knows of numbers only, not of files.
 */
#ifndef XST_CLOCKFIT_H
#define XST_CLOCKFIT_H

#include <stddef.h>
#include <stdint.h>

#define XST_SEG_SHIFT	48

/**
 * struct xst_seg - a straight piece: ns = @ns + ((ticks - @base) * @mult >> XST_SEG_SHIFT)
 * @base: first ticks of it
 * @len: it is good for ticks - @base below this
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
 * struct xst_point - one instant
 * @ticks: the counter
 * @mono: CLOCK_MONOTONIC, ns
 * @boot: CLOCK_BOOTTIME, ns; 0 when not known
 * @window: uncertainty of @ticks, in ticks
 */
struct xst_point {
	uint64_t	ticks;
	uint64_t	mono;
	uint64_t	boot;
	uint64_t	window;
};

/**
 * struct xst_fit - the chain
 * @segs: pieces, the first from 0, each up to the next, the last without end
 * @nr: how many, at least 1
 * @points: points used
 * @refused: points that cannot be true
 * @freq: ticks a second, over all points
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
 * xst_fit_build() - make the chain
 * @fit: filled in; xst_fit_free() it
 * @points: points, sorted here; those that cannot be true are left out and counted
 * @nr: how many; 0 gives ns = ticks, with no bound
 * @freq: ticks a second where a single point does not tell, 0 when not known
 *
 * Return: 0 or -ENOMEM.
 */
int xst_fit_build(struct xst_fit *fit, struct xst_point *points, size_t nr, double freq);
void xst_fit_free(struct xst_fit *fit);

/* The time of ticks that @seg is good for. */
static inline uint64_t xst_seg_ns(const struct xst_seg *seg, uint64_t ticks)
{
	return seg->ns + (uint64_t)((unsigned __int128)(ticks - seg->base) * seg->mult >>
				    XST_SEG_SHIFT);
}

/* The piece that @ticks falls into. */
const struct xst_seg *xst_fit_find(const struct xst_fit *fit, uint64_t ticks);
uint64_t xst_fit_ns(const struct xst_fit *fit, uint64_t ticks);
/* Bound of the error @ns before the first point or behind the last; 0: between them. */
uint64_t xst_fit_error_away(const struct xst_fit *fit, uint64_t ns);
/* Bound of the error at @ticks, also outside of the points. */
uint64_t xst_fit_error(const struct xst_fit *fit, uint64_t ticks);

#endif /* XST_CLOCKFIT_H */
