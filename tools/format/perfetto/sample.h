/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of where threads were: see sample.c.
 */
#ifndef XSPROF_PERFETTO_SAMPLE_H
#define XSPROF_PERFETTO_SAMPLE_H

#include "format/perfetto/local.h"

/* Return: false: it is none that has a stack; or there is no memory. */
bool pf_sample(struct xsp_out *out, const struct xsp_view *view);
void pf_samples_free(struct pf_samples *samples);

#endif /* XSPROF_PERFETTO_SAMPLE_H */
