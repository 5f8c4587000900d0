/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What ops cost, from what they had as inputs: the formulas of flops.c, for results and for tools.
 */
#ifndef XSR_FLOPS_H
#define XSR_FLOPS_H

#include "ranges/keep.h"

/* The number of the formula for ops of that name, 0: there is none. */
uint32_t xsr_flops_formula(const char *name);

/**
 * xsr_flops_of() - FLOPs of an op
 * @formula: for its name, not 0
 * @walk: its arguments, whole
 *
 * Return: FLOPs; 0: its inputs are not there, or are none that the formula takes.
 */
uint64_t xsr_flops_of(uint32_t formula, struct xsr_walk *walk);

#endif /* XSR_FLOPS_H */
