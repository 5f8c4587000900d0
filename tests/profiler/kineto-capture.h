/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the sources of kineto-capture.
 */
#ifndef TESTS_PROFILER_KINETO_CAPTURE_H
#define TESTS_PROFILER_KINETO_CAPTURE_H

#include "tools/capture-wide.h"

#define MAIN	500u	/* the main thread's id */

/* Adds a new name each time, even for the same text. */
uint32_t name(uint32_t category, const char *text);
void number(struct cap_wide *w, uint32_t key, uint64_t value);
void real(struct cap_wide *w, uint32_t key, double value);
/* @rf: the number that links the op with device activities. */
void op(struct cap_wide *w, uint64_t t, uint32_t tid, uint32_t id, uint32_t scope, uint64_t rf,
	int64_t sequence, uint64_t forward);
void fact(const char *text);

/* kineto-capture-gpu.c */
void make_rank(uint32_t rank, uint32_t world);
void make_inline(void);

#endif /* TESTS_PROFILER_KINETO_CAPTURE_H */
