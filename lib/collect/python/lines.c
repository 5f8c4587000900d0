// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Decodes Python's line tables, of three kinds: from an offset in a code object to a line.
 */
#include "collect/python/sample.h"

struct table {
	const uint8_t	*at;
	const uint8_t	*end;
};

static uint32_t next(struct table *t)
{
	return t->at < t->end ? *t->at++ : 0;
}

/* Pairs of steps in the code and in lines: up to 3.9. */
static uint32_t by_pairs(struct table t, int32_t line, int32_t at)
{
	int32_t address = 0;

	while (t.end - t.at >= 2) {
		address += (int32_t)next(&t);
		if (address > at)
			break;
		line += (int8_t)next(&t);
	}
	return line > 0 ? (uint32_t)line : 0;
}

/* Pairs of a range's length and its line step: 3.10. */
static uint32_t by_ranges(struct table t, int32_t line, int32_t at)
{
	int32_t end = 0, step;

	while (t.end - t.at >= 2) {
		end += (int32_t)next(&t);
		step = (int8_t)next(&t);
		line += step == -128 ? 0 : step;
		if (end > at)
			return step == -128 || line <= 0 ? 0 : (uint32_t)line;
	}
	return 0;
}

/* A varint: six bits per byte, the lowest first. */
static uint32_t number(struct table *t)
{
	uint32_t v = 0, shift = 0, byte;

	do {
		byte = next(t);
		v |= shift < 32 ? (byte & 63) << shift : 0;
		shift += 6;
	} while (byte & 64);
	return v;
}

static int32_t signed_number(struct table *t)
{
	uint32_t v = number(t);

	return v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
}

/* Ranges with lines and columns: since 3.11. */
static uint32_t by_places(struct table t, int32_t line, int32_t at)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
	int32_t end = 0;

	while (t.at < t.end) {
		uint32_t first = next(&t), kind = first >> 3 & 15;

		end += (int32_t)((first & 7) + 1) * 2;
		if (kind == LONG || kind == NO_COLUMNS)
			line += signed_number(&t);
		else if (kind >= ONE_LINE && kind < NO_COLUMNS)
			line += (int32_t)kind - ONE_LINE;
		if (end > at)
			return kind == NONE || line <= 0 ? 0 : (uint32_t)line;
		for (uint32_t n = kind == LONG ? 3 : 0; n; n--)
			(void)number(&t);
		for (uint32_t n = kind < ONE_LINE ? 1 : kind < NO_COLUMNS ? 2 : 0; n; n--)
			(void)next(&t);
	}
	return 0;
}

uint32_t python_line_at(enum python_lines kind, const uint8_t *table, uint32_t size, int32_t first,
			int32_t at)
{
	const struct table t = { table, table + size };

	if (at < 0)
		return 0;
	switch (kind) {
	case PYTHON_LINES_PAIRS:
		return by_pairs(t, first, at);
	case PYTHON_LINES_RANGES:
		return by_ranges(t, first, at);
	case PYTHON_LINES_PLACES:
		return by_places(t, first, at);
	default:
		return 0;
	}
}
