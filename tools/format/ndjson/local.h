/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of the NDJSON format: ndjson.c writes events of programs, fields.c the fields that
 * depend on their type, kernel.c events of the kernel tracer.
 */
#ifndef XSPROF_NDJSON_LOCAL_H
#define XSPROF_NDJSON_LOCAL_H

#include "format/common/out.h"

#define FIELD(p, key, put, value)	put(put_lit(p, ",\"" key "\":"), value)

/* All functions return the end of what they wrote at @p. */
char *ndjson_put_word(char *p, const char *word);
/* Says that records were lost inside the range: its end may be that of another. */
char *ndjson_put_uncertain(const struct xsp_range *range, char *p);
char *ndjson_put_fields(struct xsp_out *out, const struct xsp_view *view, char *p);

void ndjson_kernel_event(struct xsp_out *out, const struct xsprof_event *ev);

#endif /* XSPROF_NDJSON_LOCAL_H */
