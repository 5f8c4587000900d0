/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A packet of a Perfetto trace that is rare: it is made in the scratch, one at a time.
 */
#ifndef XSPROF_PERFETTO_PACKET_H
#define XSPROF_PERFETTO_PACKET_H

#include "format/perfetto/local.h"

/* Begins one of @sequence; @ns and @flags: 0, without.  Return: where its other fields go. */
char *pf_packet_open(struct xsp_out *out, uint64_t ns, uint32_t sequence, uint32_t flags);
/* A field with the text @s; nothing where that is NULL or empty. */
char *pf_put_string(char *p, uint32_t field, const char *s);
/* Writes it; @p: where it ends. */
void pf_packet_close(struct xsp_out *out, char *p);

#endif /* XSPROF_PERFETTO_PACKET_H */
