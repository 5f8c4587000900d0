/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the text format share: text.c makes the lines of programs' events, kernel.c
 * those of the kernel's, columns.c what stands before the name, fields.c what stands behind it.
 */
#ifndef XSPROF_TEXT_LOCAL_H
#define XSPROF_TEXT_LOCAL_H

#include "format/common/out.h"

/* What the record of a type holds besides its name; 32 kB of room are enough. */
char *text_put_fields(struct xsp_out *out, const struct xsp_view *view, char *p);
/* In quotes, those inside escaped. */
char *text_put_quoted(char *p, const char *s, size_t len);

/* columns.c: what it keeps, in @out->priv until free(); then "   comm-TID  ". */
int text_columns_new(struct xsp_out *out);
char *text_put_thread(struct xsp_out *out, struct xsp_track *thread, char *p);
/* CPU and time of an event: "[001]   1234.567890123: ". */
char *text_put_place(struct xsp_out *out, int32_t cpu, uint64_t ns, char *p);
/* "begin:    " */
char *text_put_label(struct xsp_out *out, uint16_t type, char *p);

/* kernel.c: an event of the kernel's tracer. */
void text_kernel_event(struct xsp_out *out, const struct xsprof_event *ev);

#endif /* XSPROF_TEXT_LOCAL_H */
