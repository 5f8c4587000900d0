/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Costs of ops, from their inputs: the formulas of flops.c, for results and for tools.
 */
#ifndef XSR_FLOPS_H
#define XSR_FLOPS_H

#include "ranges/keep.h"

/* The number of the formula for an op of that name, 0: none. */
uint32_t xsr_flops_formula(const char *name);

/**
 * xsr_flops_of() - FLOPs of an op
 * @formula: formula of the op, not 0
 * @walk: its arguments, complete
 *
 * Return: FLOPs; 0: the inputs are missing or do not fit the formula.
 */
uint64_t xsr_flops_of(uint32_t formula, struct xsr_walk *walk);

#endif /* XSR_FLOPS_H */
