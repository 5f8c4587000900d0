/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps over buffers by two functions: CUPTI's, and that of the stand-in for it.
 */
#ifndef ORACLE_STEPS_H
#define ORACLE_STEPS_H

#include <stddef.h>
#include <stdint.h>

typedef int (*next_fn)(uint8_t *buffer, size_t valid, void **record);

/* Records of @kind are of @length in the headers: also in the stand-in, or the program ends. */
void oracle_length(const char *stand_in, uint32_t version, uint32_t kind, size_t length);

/*
 * @version: of CUDA, 1108; @raw: a file of buffers of a device that this version wrote, or NULL
 * Return: records that both found; where they differ it says so and ends the program.
 */
long oracle_steps(next_fn next, const char *stand_in, uint32_t version, const char *raw);

#endif /* ORACLE_STEPS_H */
