/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two files of the text format share: text.c owns the columns, text-fields.c what
 * follows them.
 */
#ifndef XSPROF_OUT_TEXT_H
#define XSPROF_OUT_TEXT_H

#include "format/common/out.h"

/* What the record of a type holds besides its name; 32 kB of room are enough. */
char *text_put_fields(struct xsp_out *out, const struct xsp_view *view, char *p);
/* In quotes, those inside escaped. */
char *text_put_quoted(char *p, const char *s, size_t len);

/* CPU and time of an event: "[001]   1234.567890123: ". */
char *text_put_place(struct xsp_out *out, const struct xsprof_event *ev, char *p);

/* text-kernel.c: an event of the kernel's tracer. */
void text_kernel_event(struct xsp_out *out, const struct xsprof_event *ev);

#endif /* XSPROF_OUT_TEXT_H */
