/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the NDJSON format share: ndjson.c writes events of programs, kernel.c
 * those of the kernel's tracer.
 */
#ifndef XSPROF_NDJSON_LOCAL_H
#define XSPROF_NDJSON_LOCAL_H

#include "format/common/out.h"

void ndjson_kernel_event(struct xsp_out *out, const struct xsprof_event *ev);

#endif /* XSPROF_NDJSON_LOCAL_H */
