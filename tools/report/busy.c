// SPDX-License-Identifier: GPL-2.0-only
/*
 * Union of overlapping times, in bounded memory. Times arrive in buffers, those of one thread after
 * those of another: pieces older than the latest hundred thousand are summed up. Of a time that
 * arrives too late, only the part after these counts; the rest is reported.
 *
 * Pieces are in blocks, so that an insertion moves few others.
 */
#include <stdlib.h>
#include <string.h>

#include "report/gpu.h"

#define BLOCK	256u		/* pieces of a block, at most */
#define BLOCKS	1024u
#define ALL	6144u		/* blocks of all: 24 MiB */

struct piece {
	uint64_t	begin;
	uint64_t	end;
};

struct block {
	uint32_t	n;
	struct piece	v[BLOCK];
};

/**
 * struct gpu_busy - a union of times
 * @v: sorted blocks of pieces, none of them empty; no piece touches another
 * @n: their number
 * @floor: times before it no longer count
 * @before: ns before @floor
 * @late: ns that came too late to be counted
 */
struct gpu_busy {
	struct block	*v[BLOCKS];
	uint32_t	n;
	uint64_t	floor;
	uint64_t	before;
	uint64_t	late;
};

static uint32_t blocks;	/* of all */

struct gpu_busy *gpu_busy_new(void)
{
	return calloc(1, sizeof(struct gpu_busy));
}

void gpu_busy_free(struct gpu_busy *b)
{
	for (uint32_t i = 0; b && i < b->n; i++)
		free(b->v[i]);
	blocks -= b ? b->n : 0;
	free(b);
}

static uint64_t last_end(const struct block *block)
{
	return block->v[block->n - 1].end;
}

static void drop_block(struct gpu_busy *b, uint32_t i)
{
	free(b->v[i]);
	memmove(b->v + i, b->v + i + 1, (b->n - i - 1) * sizeof(*b->v));
	b->n--;
	blocks--;
}

/* The oldest block is added up. */
static void forget(struct gpu_busy *b)
{
	for (uint32_t i = 0; i < b->v[0]->n; i++)
		b->before += b->v[0]->v[i].end - b->v[0]->v[i].begin;
	b->floor = last_end(b->v[0]);
	drop_block(b, 0);
}

/* The first block with a piece that ends at @ns or later; @b->n for none. */
static uint32_t find_block(const struct gpu_busy *b, uint64_t ns)
{
	uint32_t low = 0, high = b->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (last_end(b->v[mid]) < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint32_t find_piece(const struct block *block, uint64_t ns)
{
	uint32_t low = 0, high = block->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (block->v[mid].end < ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Takes out all that touch the piece, which becomes one with them. */
static void swallow(struct gpu_busy *b, struct piece *p)
{
	uint32_t i = find_block(b, p->begin), at, to;

	while (i < b->n) {
		struct block *block = b->v[i];

		at = find_piece(block, p->begin);
		for (to = at; to < block->n && block->v[to].begin <= p->end; to++) {
			if (block->v[to].begin < p->begin)
				p->begin = block->v[to].begin;
			if (block->v[to].end > p->end)
				p->end = block->v[to].end;
		}
		if (to == at)
			return;
		/*
		 * The following pieces in the block are later; else the next block may be adjacent.
		 */
		memmove(block->v + at, block->v + to, (block->n - to) * sizeof(*block->v));
		block->n -= to - at;
		if (at < block->n)
			return;
		if (block->n)
			i++;
		else
			drop_block(b, i);
	}
}

/* A block in front of @i.  Return: false without memory. */
static bool new_block(struct gpu_busy *b, uint32_t i, const struct piece *v, uint32_t n)
{
	struct block *block = malloc(sizeof(*block));

	if (!block)
		return false;
	memcpy(block->v, v, n * sizeof(*v));
	block->n = n;
	memmove(b->v + i + 1, b->v + i, (b->n - i) * sizeof(*b->v));
	b->v[i] = block;
	b->n++;
	blocks++;
	return true;
}

static bool insert(struct gpu_busy *b, const struct piece *p)
{
	uint32_t i = find_block(b, p->begin), at;
	struct block *block;

	/* Behind all of them: into the last block. */
	if (i == b->n && i && b->v[i - 1]->n < BLOCK) {
		b->v[i - 1]->v[b->v[i - 1]->n++] = *p;
		return true;
	}
	if (i == b->n)
		return new_block(b, i, p, 1);
	block = b->v[i];
	if (block->n == BLOCK) {
		if (!new_block(b, i + 1, block->v + BLOCK / 2, BLOCK / 2))
			return false;
		block->n = BLOCK / 2;
		if (last_end(block) < p->begin)
			block = b->v[i + 1];
	}
	at = find_piece(block, p->begin);
	memmove(block->v + at + 1, block->v + at, (block->n - at) * sizeof(*block->v));
	block->v[at] = *p;
	block->n++;
	return true;
}

void gpu_busy_add(struct gpu_busy *b, uint64_t begin, uint64_t end)
{
	struct piece p;

	/* One may be split below. */
	if (b->n + 1 >= BLOCKS || (blocks >= ALL && b->n > 1))
		forget(b);
	p = (struct piece){ begin < b->floor ? b->floor : begin, end };
	if (begin < b->floor)
		b->late += (end < b->floor ? end : b->floor) - begin;
	if (p.end <= p.begin)
		return;
	swallow(b, &p);
	if (!insert(b, &p))
		b->late += p.end - p.begin;
}

uint64_t gpu_busy_ns(const struct gpu_busy *b)
{
	uint64_t ns = b->before;

	for (uint32_t i = 0; i < b->n; i++)
		for (uint32_t k = 0; k < b->v[i]->n; k++)
			ns += b->v[i]->v[k].end - b->v[i]->v[k].begin;
	return ns;
}

uint64_t gpu_busy_late(const struct gpu_busy *b)
{
	return b->late;
}

uint64_t gpu_busy_within(const struct gpu_busy *b, uint64_t begin, uint64_t end)
{
	uint32_t i = find_block(b, begin);
	uint32_t k = i < b->n ? find_piece(b->v[i], begin) : 0;
	uint64_t ns = 0;

	for (; i < b->n; i++, k = 0) {
		for (; k < b->v[i]->n; k++) {
			const struct piece *p = &b->v[i]->v[k];
			uint64_t from = p->begin > begin ? p->begin : begin;
			uint64_t to = p->end < end ? p->end : end;

			if (p->begin >= end)
				return ns;
			ns += to > from ? to - from : 0;
		}
	}
	return ns;
}

void gpu_busy_join(struct gpu_busy *to, const struct gpu_busy *b, uint64_t begin, uint64_t end)
{
	for (uint32_t i = 0; i < b->n; i++) {
		for (uint32_t k = 0; k < b->v[i]->n; k++) {
			const struct piece *p = &b->v[i]->v[k];
			uint64_t from = p->begin > begin ? p->begin : begin;
			uint64_t till = p->end < end ? p->end : end;

			if (till > from)
				gpu_busy_add(to, from, till);
		}
	}
}

/* A gap of @busy, or the part of it that counts. */
static uint64_t beside(const struct gpu_busy *b, uint64_t begin, uint64_t end)
{
	return end > begin ? gpu_busy_within(b, begin, end) : 0;
}

uint64_t gpu_busy_beside(const struct gpu_busy *b, const struct gpu_busy *busy, uint64_t begin,
			 uint64_t end)
{
	uint64_t at = busy->floor > begin ? busy->floor : begin, ns = 0, idle;

	/* Where @busy is only a sum: at most what that leaves. */
	if (at > begin) {
		idle = at - begin > busy->before ? at - begin - busy->before : 0;
		ns = beside(b, begin, at);
		ns = ns < idle ? ns : idle;
	}
	for (uint32_t i = 0; i < busy->n; i++) {
		for (uint32_t k = 0; k < busy->v[i]->n; k++) {
			const struct piece *p = &busy->v[i]->v[k];

			ns += beside(b, at, p->begin < end ? p->begin : end);
			at = p->end > at ? p->end : at;
		}
	}
	return ns + beside(b, at, end);
}

void gpu_busy_gaps(const struct gpu_busy *b, void (*fn)(void *data, uint64_t begin, uint64_t end),
		   void *data)
{
	uint64_t end = b->floor;

	for (uint32_t i = 0; i < b->n; i++)
		for (uint32_t k = 0; k < b->v[i]->n; k++) {
			const struct piece *p = &b->v[i]->v[k];

			if (end && p->begin > end)
				fn(data, end, p->begin);
			end = p->end;
		}
}
