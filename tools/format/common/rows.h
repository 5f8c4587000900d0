/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracks of ranges that are written after their time, in any order: activities of a device, and
 * runtime calls. Tells whether a range nests with those of its track.
 */
#ifndef XSPROF_OUT_ROWS_H
#define XSPROF_OUT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct fmt_rows;

/* Return: NULL without memory. */
struct fmt_rows *fmt_rows_new(void);
void fmt_rows_free(struct fmt_rows *rows);
/*
 * Adds a range to the track @key, if it nests with all ranges kept. Return: false: it does not, or
 * that is not known.
 */
bool fmt_rows_take(struct fmt_rows *rows, uint64_t key, uint64_t begin, uint64_t end);

#endif /* XSPROF_OUT_ROWS_H */
