/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Writes the JSON of PyTorch's profiler, event by event.
 */
#ifndef XSR_EXPORT_KINETO_H
#define XSR_EXPORT_KINETO_H

#include <xsprof/result.h>
#include <xsprof/trace.h>

struct xsp_buf;
struct xsr_kineto;

/* Begins the file in @buf; @opts: NULL for all of @trace. Return: 0 or -errno. */
int xsr_kineto_new(struct xsprof_trace *trace, const struct xsprof_result_options *opts,
		   struct xsp_buf *buf, struct xsr_kineto **out);
void xsr_kineto_event(struct xsr_kineto *k, const struct xsprof_event *ev);
/* Ends open ranges and the file. Call xsr_kineto_free() afterwards. */
void xsr_kineto_finish(struct xsr_kineto *k, const char *name);
/* Number of ranges left out of the file: too deep, or too many overlap. */
uint64_t xsr_kineto_left_out(const struct xsr_kineto *k);
void xsr_kineto_free(struct xsr_kineto *k);

#endif /* XSR_EXPORT_KINETO_H */
