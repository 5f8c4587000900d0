// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The memory mappings of a process, by address. Owns the mappings of one producer, read from the
 * trace on demand.
 *
 * The newest mappings are in a short list. When it is full it becomes a block: a segment tree over
 * the bounds of its mappings, each of which is in the lists of the few nodes that form its range. A
 * new block absorbs preceding blocks that are not longer, so there are few blocks, and a mapping is
 * built into a tree a logarithmic number of times.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "result/mappings.h"
#include "xsprof/trace.h"

#define TAIL		64u	/* searched linearly */
#define MAX_BLOCKS	32u	/* each is longer than the next: enough for 2^32 mappings */

/*
 * Contains mappings @first to @first + @nr. Leaf i of the tree is the range from bound i to the
 * next, and node @points + i; node n / 2 is the parent of n. The list of node n is
 * numbers[lists[n]] to numbers[lists[n + 1]], ascending.
 */
struct block {
	uint32_t	first;
	uint32_t	nr;
	uint32_t	points;
	uint64_t	*bounds;
	uint32_t	*lists;
	uint32_t	*numbers;
};

struct xsr_mappings {
	const struct xsprof_trace	*trace;
	uint32_t			producer;
	uint32_t			nr;
	uint32_t			nr_blocks;
	struct xsr_mapping		**list;
	struct block			blocks[MAX_BLOCKS];
	struct xsp_pool			pool;
};

/* "start-end offset buildid path" */
static void read_mapping(const char *text, struct xsr_mapping *m)
{
	int build_id = 0, path = 0;

	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %" SCNx64 " %n%*s %n", &m->start, &m->end,
		   &m->offset, &build_id, &path) != 3 || !path || m->start >= m->end || !text[path])
		m->start = m->end = 0;
	m->build_id = text + build_id;
	m->path = text + path;
}

/* ---- a block -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Index of the last bound <= @address; -1: none. */
static int64_t bound_at(const struct block *b, uint64_t address)
{
	uint32_t low = 0, high = b->points;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (b->bounds[mid] <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return (int64_t)low - 1;
}

static void sort_bounds(struct block *b, struct xsr_mapping *const *list)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < b->nr; i++) {
		b->bounds[2 * i] = list[i]->start;
		b->bounds[2 * i + 1] = list[i]->end;
	}
	qsort(b->bounds, 2 * (size_t)b->nr, sizeof(*b->bounds), by_value);
	for (uint32_t i = 0; i < 2 * b->nr; i++)
		if (!i || b->bounds[i] != b->bounds[nr - 1])
			b->bounds[nr++] = b->bounds[i];
	b->points = nr;
}

/*
 * Visits the nodes that form @m's range: counts while @b has no numbers; afterwards stores @number
 * at the position that lists[node + 1] has reached.
 */
static void enter(struct block *b, const struct xsr_mapping *m, uint32_t number)
{
	uint32_t left, right;

	if (m->start == m->end)
		return;
	left = (uint32_t)bound_at(b, m->start) + b->points;
	right = (uint32_t)bound_at(b, m->end) + b->points;
	for (; left < right; left /= 2, right /= 2) {
		uint32_t nodes[2], nr = 0;

		if (left & 1)
			nodes[nr++] = left++;
		if (right & 1)
			nodes[nr++] = --right;
		while (nr--) {
			uint32_t *at = &b->lists[nodes[nr] + 1];

			if (b->numbers)
				b->numbers[*at] = number;
			++*at;
		}
	}
}

/*
 * lists[n + 1] first counts the entries of node n. Then it holds the begin of that list, and
 * advances to its end, the begin of the next list, as numbers are stored.
 */
static int build(struct block *b, struct xsr_mapping *const *list)
{
	size_t lists;
	uint32_t sum = 0;

	b->bounds = malloc(2 * (size_t)b->nr * sizeof(*b->bounds));
	if (!b->bounds)
		return -ENOMEM;
	sort_bounds(b, list);
	lists = 2 * (size_t)b->points + 1;
	b->lists = calloc(lists, sizeof(*b->lists));
	if (!b->lists)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr; i++)
		enter(b, list[i], 0);
	for (size_t i = 1; i < lists; i++) {
		uint32_t nr = b->lists[i];

		b->lists[i] = sum;
		sum += nr;
	}
	b->numbers = malloc((sum ? sum : 1) * sizeof(*b->numbers));
	if (!b->numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr; i++)
		enter(b, list[i], b->first + i);
	return 0;
}

static void free_block(struct block *b)
{
	free(b->bounds);
	free(b->lists);
	free(b->numbers);
}

/* The newest mapping below @known in a node's list; 0: none, else its number + 1. */
static uint32_t newest(const struct block *b, uint32_t node, uint32_t known)
{
	uint32_t first = b->lists[node], low = first, high = b->lists[node + 1];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (b->numbers[mid] < known)
			low = mid + 1;
		else
			high = mid;
	}
	return low > first ? b->numbers[low - 1] + 1 : 0;
}

static uint32_t find_in_block(const struct block *b, uint32_t known, uint64_t address)
{
	int64_t bound = bound_at(b, address);
	uint32_t found = 0;

	if (bound < 0)
		return 0;
	for (uint32_t node = (uint32_t)bound + b->points; node; node /= 2) {
		uint32_t number = newest(b, node, known);

		if (number > found)
			found = number;
	}
	return found;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static uint32_t tail_of(const struct xsr_mappings *m)
{
	const struct block *last;

	if (!m->nr_blocks)
		return 0;
	last = &m->blocks[m->nr_blocks - 1];
	return last->first + last->nr;
}

/* Makes a block of the list at the end and of the preceding blocks that are not longer. */
static int make_block(struct xsr_mappings *m)
{
	uint32_t first = tail_of(m), left = m->nr_blocks;
	struct block b;
	int err;

	while (left && m->blocks[left - 1].nr <= m->nr - first)
		first = m->blocks[--left].first;
	b = (struct block){ .first = first, .nr = m->nr - first };
	err = build(&b, m->list + first);
	if (err) {
		free_block(&b);
		return err;
	}
	while (m->nr_blocks > left)
		free_block(&m->blocks[--m->nr_blocks]);
	m->blocks[m->nr_blocks++] = b;
	return 0;
}

static int add(struct xsr_mappings *m, const char *text)
{
	struct xsr_mapping *mapping;

	if (m->nr - tail_of(m) >= TAIL) {
		int err = make_block(m);

		if (err)
			return err;
	}
	/* The capacity is a power of two: full when the number is one. */
	if (!(m->nr & (m->nr - 1))) {
		void *list = realloc(m->list, (m->nr ? 2 * (size_t)m->nr : 1) * sizeof(*m->list));

		if (!list)
			return -ENOMEM;
		m->list = list;
	}
	mapping = xsp_pool_get(&m->pool, sizeof(*mapping));
	if (!mapping)
		return -ENOMEM;
	read_mapping(text, mapping);
	m->list[m->nr++] = mapping;
	return 0;
}

int64_t xsr_mappings_find(struct xsr_mappings *m, uint32_t known, uint64_t address)
{
	const char *text;
	uint32_t tail;

	while (m->nr < known && (text = xsprof_trace_map(m->trace, m->producer, m->nr))) {
		int err = add(m, text);

		if (err)
			return err;
	}
	tail = tail_of(m);
	for (uint32_t i = known < m->nr ? known : m->nr; i > tail; i--)
		if (address >= m->list[i - 1]->start && address < m->list[i - 1]->end)
			return i;
	for (uint32_t i = m->nr_blocks; i--;) {
		uint32_t number = find_in_block(&m->blocks[i], known, address);

		if (number)
			return number;
	}
	return 0;
}

const struct xsr_mapping *xsr_mappings_get(const struct xsr_mappings *m, uint32_t number)
{
	return m->list[number - 1];
}

struct xsr_mappings *xsr_mappings_new(const struct xsprof_trace *trace, uint32_t producer)
{
	struct xsr_mappings *m = calloc(1, sizeof(*m));

	if (m) {
		m->trace = trace;
		m->producer = producer;
	}
	return m;
}

void xsr_mappings_free(struct xsr_mappings *m)
{
	if (!m)
		return;
	while (m->nr_blocks)
		free_block(&m->blocks[--m->nr_blocks]);
	xsp_pool_free(&m->pool);
	free(m->list);
	free(m);
}
