// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks of ranges in any order: see rows.h. For each track the latest ranges are kept, sorted by
 * begin; a range earlier than all of them does not fit.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format/common/rows.h"

#define ROWS	1024u		/* a power of two */
#define RANGES	16384u		/* kept for each row, at most */
#define ALL	(1u << 20)	/* of all rows */

struct range {
	uint64_t	begin;
	uint64_t	end;
	uint64_t	latest;		/* latest end of all ranges up to this one */
};

/**
 * struct row - a track
 * @key: its key, 0: unused
 * @floor: no range may begin before
 * @v: its ranges
 * @n: number of ranges
 * @room: capacity of @v
 */
struct row {
	uint64_t	key;
	uint64_t	floor;
	struct range	*v;
	uint32_t	n;
	uint32_t	room;
};

struct fmt_rows {
	struct row	rows[ROWS];
	uint32_t	nr;
	uint32_t	ranges;		/* total capacity of all rows */
};

struct fmt_rows *fmt_rows_new(void)
{
	return calloc(1, sizeof(struct fmt_rows));
}

void fmt_rows_free(struct fmt_rows *rows)
{
	for (uint32_t i = 0; rows && i < ROWS; i++)
		free(rows->rows[i].v);
	free(rows);
}

static struct row *find(struct fmt_rows *rows, uint64_t key)
{
	uint64_t hash = xsp_hash_pair(key, 1);
	struct row *row;

	for (uint32_t i = 0; i < ROWS; i++) {
		row = &rows->rows[(hash + i) & (ROWS - 1)];
		if (row->key == key)
			return row;
		if (row->key)
			continue;
		if (rows->nr == ROWS / 2)
			return NULL;
		rows->nr++;
		row->key = key;
		return row;
	}
	return NULL;
}

/* If there is no room, the older half is dropped. */
static bool make_room(struct fmt_rows *rows, struct row *row)
{
	uint32_t room = row->room ? 2 * row->room : 16, half = row->n / 2;
	struct range *v;

	if (row->n < row->room)
		return true;
	if (room <= RANGES && rows->ranges + room - row->room <= ALL) {
		v = realloc(row->v, room * sizeof(*v));
		if (!v)
			return false;
		rows->ranges += room - row->room;
		row->v = v;
		row->room = room;
		return true;
	}
	if (!half)
		return false;
	row->floor = row->v[half - 1].latest;
	memmove(row->v, row->v + half, (row->n - half) * sizeof(*row->v));
	row->n -= half;
	return true;
}

/* Number of ranges that begin earlier; most ranges are added at the end. */
static uint32_t place(const struct row *row, uint64_t begin)
{
	uint32_t at = row->n;

	while (at && row->v[at - 1].begin >= begin)
		at--;
	return at;
}

static bool nests(const struct row *row, uint32_t at, uint64_t begin, uint64_t end)
{
	/*
	 * Ranges that begin later are inside, or begin after its end. An end and a begin of the
	 * same time are ordered as written.
	 */
	for (uint32_t i = at; i < row->n && row->v[i].begin <= end; i++)
		if (row->v[i].end > end)
			return false;
	/* Ranges that begin earlier have ended, or contain it. */
	for (uint32_t i = at; i && row->v[i - 1].latest > begin; i--)
		if (row->v[i - 1].end > begin && row->v[i - 1].end < end)
			return false;
	return true;
}

bool fmt_rows_take(struct fmt_rows *rows, uint64_t key, uint64_t begin, uint64_t end)
{
	struct row *row = find(rows, key ? key : 1);
	uint64_t latest;
	uint32_t at;

	if (!row || !make_room(rows, row) || begin < row->floor)
		return false;
	at = place(row, begin);
	/* If two begin at the same time, viewers cannot tell which is the outer one. */
	if ((at < row->n && row->v[at].begin == begin) || !nests(row, at, begin, end))
		return false;
	memmove(row->v + at + 1, row->v + at, (row->n - at) * sizeof(*row->v));
	row->n++;
	latest = at ? row->v[at - 1].latest : 0;
	row->v[at] = (struct range){ .begin = begin, .end = end };
	for (; at < row->n; at++) {
		if (row->v[at].end > latest)
			latest = row->v[at].end;
		row->v[at].latest = latest;
	}
	return true;
}
