/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A capture with one of every record, for tests that damage it, and a check whether a record read
 * from the damaged one was ever written.
 */
#ifndef TESTS_DECODER_SAMPLE_H
#define TESTS_DECODER_SAMPLE_H

#include "decoder/builder.h"
#include "decoder/drain.h"

/* A sanitizer takes several times as long, so use fewer records; every byte is still cut. */
#ifdef __has_feature
#define CHECKED	__has_feature(address_sanitizer)
#else
#define CHECKED	0
#endif

/* Makes @records records, each with its own value, in chunks of @chunk bytes. */
void sample_make(struct cap *cap, unsigned int records, unsigned int flags, size_t chunk);

/* Every record of @d must be equal to one of @full, and occur once. */
void sample_subset(const struct drained *d, const struct drained *full, const char *what);

/* Returns a ring file of @len bytes (to be freed), with records in two rings. */
uint8_t *sample_ring_file(uint32_t mode, uint64_t head, size_t *len);

#endif /* TESTS_DECODER_SAMPLE_H */
