/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracks of what is told of later than it was, in any order: activities of a device, and calls of
 * its runtime.  Says whether one nests with those of its track.
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
 * Takes in a range of the track @key, if it nests with all of them that are remembered.  Return:
 * false when it does not, or may not.
 */
bool fmt_rows_take(struct fmt_rows *rows, uint64_t key, uint64_t begin, uint64_t end);

#endif /* XSPROF_OUT_ROWS_H */
