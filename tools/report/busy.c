// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times that overlap, each moment counted once, in memory that does not grow.  They come nearly in
 * order: what is older than the latest some thousand pieces is added up, and what comes later than
 * that counts from there on.
 */
#include <stdlib.h>
#include <string.h>

#include "report/gpu.h"

#define PIECES	8192u

struct piece {
	uint64_t	begin;
	uint64_t	end;
};

/**
 * struct gpu_busy - such times
 * @v: the latest, in their order; none touches another
 * @n: how many
 * @floor: nothing counts before
 * @before: what was before that
 */
struct gpu_busy {
	struct piece	*v;
	uint32_t	n;
	uint32_t	room;
	uint64_t	floor;
	uint64_t	before;
};

struct gpu_busy *gpu_busy_new(void)
{
	return calloc(1, sizeof(struct gpu_busy));
}

void gpu_busy_free(struct gpu_busy *busy)
{
	if (busy)
		free(busy->v);
	free(busy);
}

static bool make_room(struct gpu_busy *b)
{
	uint32_t room = b->room ? 2 * b->room : 64, half = b->n / 2;
	struct piece *v;

	if (b->n < b->room)
		return true;
	if (room <= PIECES) {
		v = realloc(b->v, room * sizeof(*v));
		if (!v)
			return false;
		b->v = v;
		b->room = room;
		return true;
	}
	for (uint32_t i = 0; i < half; i++)
		b->before += b->v[i].end - b->v[i].begin;
	b->floor = b->v[half - 1].end;
	memmove(b->v, b->v + half, (b->n - half) * sizeof(*b->v));
	b->n -= half;
	return true;
}

void gpu_busy_add(struct gpu_busy *b, uint64_t begin, uint64_t end)
{
	uint32_t at, from;

	/* Room may be made of what is before a new floor. */
	if (!make_room(b))
		return;
	if (begin < b->floor)
		begin = b->floor;
	if (end <= begin)
		return;
	/* Those from @from to before @at touch it, and become one with it. */
	for (at = b->n; at && b->v[at - 1].begin > end; at--)
		;
	for (from = at; from && b->v[from - 1].end >= begin; from--) {
		if (b->v[from - 1].begin < begin)
			begin = b->v[from - 1].begin;
		if (b->v[from - 1].end > end)
			end = b->v[from - 1].end;
	}
	memmove(b->v + from + 1, b->v + at, (b->n - at) * sizeof(*b->v));
	b->n = b->n - (at - from) + 1;
	b->v[from] = (struct piece){ begin, end };
}

uint64_t gpu_busy_ns(const struct gpu_busy *b)
{
	uint64_t ns = b->before;

	for (uint32_t i = 0; i < b->n; i++)
		ns += b->v[i].end - b->v[i].begin;
	return ns;
}
