/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Walks buffers with two functions: CUPTI's, and the stand-in's.
 */
#ifndef ORACLE_STEPS_H
#define ORACLE_STEPS_H

#include <stddef.h>
#include <stdint.h>

typedef int (*next_fn)(uint8_t *buffer, size_t valid, void **record);

/* Records of @kind have @length in the headers: the stand-in must agree, or the program ends. */
void oracle_length(const char *stand_in, uint32_t version, uint32_t kind, size_t length);

/*
 * @version: CUDA version, 1108; @raw: buffers of a device, written with this version, or NULL
 * Return: records that both found; if they differ, prints that and ends the program.
 */
long oracle_steps(next_fn next, const char *stand_in, uint32_t version, const char *raw);

#endif /* ORACLE_STEPS_H */
