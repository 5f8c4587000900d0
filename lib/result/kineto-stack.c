// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Stacks of ops as texts, "libfoo.so+0x12a0;program+0x4f10": which file an address is in is in the
 * mappings of its process.  Many ops have one stack: texts are kept, and forgotten all at once
 * when they are too many.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "result/kineto.h"

#define FRAMES		64u
#define FILE_MAX	96u		/* bytes of a file's name */
#define FRAME_MAX	(XSP_ESCAPE_MAX * FILE_MAX + 2 * XSP_PUT_MAX)
#define SLOTS		4096u
#define ARENA		(4u << 20)
#define MAPS_MAX	65536u

struct map {
	uint64_t	start;
	uint64_t	end;
	uint64_t	offset;
	const char	*file;		/* in the trace's own text */
};

struct slot {
	uint64_t	stack;
	uint32_t	producer;
	uint32_t	len;
	const char	*text;		/* NULL: it is free */
};

struct xsr_stacks {
	struct map	*maps;		/* of @producer, by their addresses */
	uint32_t	nr_maps;
	uint32_t	seen;		/* lines of it that were read */
	uint32_t	producer;
	uint32_t	kept;
	size_t		used;
	struct slot	slots[SLOTS];
	char		scratch[FRAMES * (FRAME_MAX + 1)];
	char		arena[ARENA];
};

int xsr_stacks_new(struct xsr_stacks **stacks)
{
	*stacks = calloc(1, sizeof(**stacks));
	if (!*stacks)
		return -ENOMEM;
	(*stacks)->producer = XSPROF_NO_PRODUCER;
	return 0;
}

void xsr_stacks_free(struct xsr_stacks *stacks)
{
	if (stacks)
		free(stacks->maps);
	free(stacks);
}

static int by_start(const void *a, const void *b)
{
	const struct map *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* A line is "start-end offset buildid path". */
static bool parse(const char *line, struct map *map)
{
	unsigned long long start, end, offset;
	const char *base;
	int at = 0;

	if (sscanf(line, "%llx-%llx %llx %*s %n", &start, &end, &offset, &at) < 3 || !at)
		return false;
	base = strrchr(line + at, '/');
	*map = (struct map){ start, end, offset, base ? base + 1 : line + at };
	return true;
}

/* Mappings may come while the program runs: those that are new are read. */
static void read_maps(struct xsr_kineto *k, uint32_t producer)
{
	struct xsr_stacks *s = k->stack;
	const char *line;
	struct map *more;

	if (s->producer != producer) {
		s->producer = producer;
		s->nr_maps = s->seen = 0;
	}
	if (!xsprof_trace_map(k->trace, producer, s->seen))
		return;
	for (; s->seen < MAPS_MAX && (line = xsprof_trace_map(k->trace, producer, s->seen));
	     s->seen++) {
		if (s->nr_maps % 256 == 0) {
			more = realloc(s->maps, (s->nr_maps + 256) * sizeof(*more));
			if (!more)
				break;
			s->maps = more;
		}
		s->nr_maps += parse(line, &s->maps[s->nr_maps]);
	}
	if (s->nr_maps)
		qsort(s->maps, s->nr_maps, sizeof(*s->maps), by_start);
}

static char *put_frame(const struct xsr_stacks *s, uint64_t address, char *p)
{
	uint32_t low = 0, high = s->nr_maps, mid;
	const struct map *map;

	/* The last that begins at or before it. */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->maps[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	map = low ? &s->maps[low - 1] : NULL;
	if (!map || address >= map->end)
		return put_hex(p, address);
	p = xsp_escape_json(p, map->file, strnlen(map->file, FILE_MAX), NULL);
	*p++ = '+';
	return put_hex(p, address - map->start + map->offset);
}

static struct slot *find(struct xsr_stacks *s, uint32_t producer, uint64_t stack)
{
	uint64_t h = (stack ^ (uint64_t)producer << 32) * 0x9e3779b97f4a7c15u;
	uint32_t i = (uint32_t)(h >> 52) % SLOTS;

	while (s->slots[i].text &&
	       (s->slots[i].stack != stack || s->slots[i].producer != producer))
		i = (i + 1) % SLOTS;
	return &s->slots[i];
}

static const struct slot *make(struct xsr_kineto *k, uint32_t producer, uint64_t stack,
			       const uint64_t *frames, size_t nr)
{
	struct xsr_stacks *s = k->stack;
	char *p = s->scratch;
	struct slot *slot;
	size_t i;

	read_maps(k, producer);
	for (i = 0; i < nr && i < FRAMES; i++) {
		if (i)
			*p++ = ';';
		p = put_frame(s, frames[i], p);
	}
	if (s->kept == SLOTS / 2 || s->used + sizeof(s->scratch) > ARENA) {
		memset(s->slots, 0, sizeof(s->slots));
		s->kept = 0;
		s->used = 0;
	}
	slot = find(s, producer, stack);
	*slot = (struct slot){ stack, producer, (uint32_t)(p - s->scratch), s->arena + s->used };
	memcpy(s->arena + s->used, s->scratch, slot->len);
	s->used += slot->len;
	s->kept++;
	return slot;
}

char *xsr_kineto_stack(struct xsr_kineto *k, uint32_t producer, uint64_t stack, char *p)
{
	const struct slot *slot = find(k->stack, producer, stack);
	const uint64_t *frames;
	size_t nr;

	if (!slot->text) {
		frames = xsprof_trace_stack(k->trace, producer, stack, &nr, NULL);
		/* It may still come. */
		if (!frames)
			return p;
		slot = make(k, producer, stack, frames, nr);
	}
	k->buf->p = put_lit(xsr_kineto_room(k, p), ",\"Call stack\":\"");
	xsp_buf_put(k->buf, slot->text, slot->len);
	p = xsp_buf_room(k->buf, XSP_BUF_ROOM);
	*p++ = '"';
	return p;
}
