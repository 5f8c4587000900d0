/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds a record of several slots before it is written to a capture: the fields of its kind, and
 * arguments.
 */
#ifndef XSPROF_TESTS_TOOLS_CAPTURE_WIDE_H
#define XSPROF_TESTS_TOOLS_CAPTURE_WIDE_H

#include <stdbool.h>

#include "tools/capture.h"

struct cap_wide {
	union {
		struct xsprof_rec	rec;
		struct xsprof_rec_op	op;
		struct xsprof_rec_gpu	gpu;
		struct xsprof_rec_mem	mem;
		uint8_t			bytes[8 * XSPROF_SLOT_SIZE];
	} u;
	uint32_t			used;
};

/* Begins a record: all other fields are 0. */
void cap_wide(struct cap_wide *w, uint64_t ticks, uint8_t type, uint32_t tid, uint32_t name,
	      uint32_t aux, uint64_t value);
/* Begins an op without a sequence number; set its other fields in u.op. */
void cap_wide_op(struct cap_wide *w, uint64_t ticks, uint32_t tid, uint32_t name, uint32_t scope,
		 uint64_t correlation);
/* Begins a record of arguments that belong to the record before. */
void cap_wide_args(struct cap_wide *w, uint64_t ticks, uint32_t tid);

void cap_wide_bytes(struct cap_wide *w, const void *data, size_t len);
void cap_wide_arg(struct cap_wide *w, uint32_t key, uint8_t type, uint8_t flags, uint64_t value,
		  const void *data, size_t len);
void cap_wide_value(struct cap_wide *w, uint32_t key, uint8_t type, uint64_t value);
void cap_wide_str(struct cap_wide *w, uint32_t key, uint8_t flags, const char *s);

/* @more: its arguments continue in the next record. */
void cap_wide_put(struct cap_ring *ring, struct cap_wide *w, bool more);

#endif /* XSPROF_TESTS_TOOLS_CAPTURE_WIDE_H */
