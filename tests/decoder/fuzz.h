/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the fuzz targets. Each target is a file that defines LLVMFuzzerTestOneInput() and
 * fuzz_seeds(); it is linked with libFuzzer, or with fuzz-main.c, which replays files and has a
 * plain mutator of its own.
 */
#ifndef TESTS_DECODER_FUZZ_H
#define TESTS_DECODER_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Passes each of the target's seeds to @give. */
void fuzz_seeds(void (*give)(const void *data, size_t size));

/* Reads the file @data as a trace and through the pairer; aborts if a guarantee is broken. */
void fuzz_read(const void *data, size_t size);

#endif /* TESTS_DECODER_FUZZ_H */
