/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A packet of a Perfetto trace that protobuf-c writes.
 */
#ifndef XSPROF_PERFETTO_PACKET_H
#define XSPROF_PERFETTO_PACKET_H

#include "format/perfetto/local.h"

/* A packet by protobuf-c. */
void pf_put(struct xsp_out *out, const Pf__TracePacket *packet);
/* UTF-8 of @s at *@at in the scratch, which is moved on: good until pf_put(). */
char *pf_text(char **at, const char *s, size_t len);

#endif /* XSPROF_PERFETTO_PACKET_H */
