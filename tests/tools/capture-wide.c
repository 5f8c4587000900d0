// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of several slots, for hand-made captures: see capture-wide.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/capture-wide.h"

void cap_wide(struct cap_wide *w, uint64_t ticks, uint8_t type, uint32_t tid, uint32_t name,
	      uint32_t aux, uint64_t value)
{
	memset(w, 0, sizeof(*w));
	w->u.rec = cap_head(ticks, type, tid, name, aux, value);
	w->used = sizeof(w->u.rec);
}

void cap_wide_op(struct cap_wide *w, uint64_t ticks, uint32_t tid, uint32_t name, uint32_t scope,
		 uint64_t correlation)
{
	cap_wide(w, ticks, XSPROF_REC_OP, tid, name, scope, correlation);
	w->u.op.sequence = -1;
	w->used = sizeof(w->u.op);
}

void cap_wide_args(struct cap_wide *w, uint64_t ticks, uint32_t tid)
{
	cap_wide(w, ticks, XSPROF_REC_ARGS, tid, 0, 0, 0);
}

void cap_wide_bytes(struct cap_wide *w, const void *data, size_t len)
{
	if (w->used + len > sizeof(w->u)) {
		fprintf(stderr, "capture: a record is too long\n");
		exit(1);
	}
	memcpy(w->u.bytes + w->used, data, len);
	w->used += (uint32_t)((len + 15) & ~(size_t)15);
}

void cap_wide_arg(struct cap_wide *w, uint32_t key, uint8_t type, uint8_t flags, uint64_t value,
		  const void *data, size_t len)
{
	struct xsprof_arg a = {
		.key = key, .type = type, .flags = flags, .len = (uint16_t)len, .value = value,
	};

	cap_wide_bytes(w, &a, sizeof(a));
	cap_wide_bytes(w, data, len);
}

void cap_wide_value(struct cap_wide *w, uint32_t key, uint8_t type, uint64_t value)
{
	cap_wide_arg(w, key, type, 0, value, "", 0);
}

void cap_wide_str(struct cap_wide *w, uint32_t key, uint8_t flags, const char *s)
{
	cap_wide_arg(w, key, XSPROF_ARG_STR, flags, 0, s, strlen(s));
}

void cap_wide_put(struct cap_ring *ring, struct cap_wide *w, bool more)
{
	if (more)
		w->u.rec.size = XSPROF_RECF_MORE << 4;
	cap_record(ring, w, (w->used + XSPROF_SLOT_SIZE - 1) / XSPROF_SLOT_SIZE);
}
