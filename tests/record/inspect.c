// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads an uncompressed capture by the file format alone, chunk by chunk, and prints its contents
 * in lines that a shell can compare. Exit status 1 and "broken: ..." if the file breaks a rule: a
 * wrong checksum, records out of sequence, a payload that does not match its record, an account
 * that does not add up. 3: the file is correct, but ends inside a chunk.
 *
 * With PIDs, checks payloads only for these processes: others may be hostile.
 *
 *	inspect FILE [PID...]	sync points N		of each chunk of them
 *				producer N pid P how H status S
 *				ring N K head H read R skipped S bad B drops D unsaved U
 *				total records R producers P end 0|1 why W notes N
 *				total begins_and_ends N
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xsprof/capture.h>

#include "common/crc32c.h"

#define MAX_PRODUCERS	256
#define MAX_RINGS	80

static struct {
	int				known;
	uint32_t			pid;
	uint32_t			mode;
	struct xsprof_cap_exit		exit;
	int				exited;
	uint64_t			names;
	struct xsprof_cap_ledger	ledger[MAX_RINGS];
	int				has_ledger[MAX_RINGS];
	uint64_t			end[MAX_RINGS];
	uint64_t			stored[MAX_RINGS];
} prod[MAX_PRODUCERS];

static int broken, nr_trusted;
static char **trusted;
static uint64_t records, ranges, notes;

static void wrong(const char *what, uint64_t at)
{
	printf("broken: %s at %" PRIu64 "\n", what, at);
	broken = 1;
}

static int is_trusted(uint32_t pid)
{
	int i;

	for (i = 0; i < nr_trusted; i++)
		if (strtoul(trusted[i], NULL, 10) == pid)
			return 1;
	return !nr_trusted;
}

static void ring(const struct xsprof_chunk *c, const struct xsprof_rec *slot, uint64_t at)
{
	uint32_t n = c->stored / XSPROF_SLOT_SIZE, i = 0, j, size;
	int payload = is_trusted(prod[c->producer].pid);

	if (c->stored % XSPROF_SLOT_SIZE || c->ring >= MAX_RINGS) {
		wrong("slots", at);
		return;
	}
	if (c->pos < prod[c->producer].end[c->ring])
		wrong("slots stored twice", at);
	prod[c->producer].end[c->ring] = c->pos + n;
	prod[c->producer].stored[c->ring] += n;
	while (i < n) {
		const uint64_t *words = (const uint64_t *)&slot[i];

		size = slot[i].size & 15;
		if (size < 1 || size > 8 || i + size > n ||
		    (c->pos + i) % XSPROF_BLOCK_SLOTS + size > XSPROF_BLOCK_SLOTS) {
			wrong("a record's size", at);
			return;
		}
		if (slot[i].type == XSPROF_REC_INSTANT) {
			records++;
			for (j = 3; j < 4 * size; j++)
				if (payload && words[j] != slot[i].value) {
					wrong("a torn record", at);
					return;
				}
			if (payload && slot[i].name > prod[c->producer].names)
				wrong("a name before it was stored", at);
		}
		ranges += slot[i].type == XSPROF_REC_BEGIN || slot[i].type == XSPROF_REC_END;
		i += size;
	}
}

static void arena(const struct xsprof_chunk *c, const uint8_t *p, uint64_t at)
{
	const struct xsprof_entry *e;
	uint32_t i = 0;

	while (i + sizeof(*e) <= c->stored) {
		e = (const void *)(p + i);
		if (e->size < sizeof(*e) || e->size % 8 || e->size > c->stored - i) {
			wrong("an arena entry", at);
			return;
		}
		if (e->type == XSPROF_ENTRY_NAME && e->id > prod[c->producer].names)
			prod[c->producer].names = e->id;
		i += e->size;
	}
	if (i != c->stored)
		wrong("the end of an arena chunk", at);
}

static void ledger(const struct xsprof_chunk *c, const struct xsprof_cap_ledger *l, uint64_t at)
{
	uint32_t n;

	for (n = c->stored / sizeof(*l); n; n--, l++) {
		if (l->ring >= MAX_RINGS) {
			wrong("a ledger's ring", at);
			continue;
		}
		prod[c->producer].ledger[l->ring] = *l;
		prod[c->producer].has_ledger[l->ring] = 1;
	}
}

static void chunk(const struct xsprof_chunk *c, const uint8_t *p, uint64_t at)
{
	if (c->type == XSPROF_CHUNK_NOTE) {
		printf("note %.*s\n", (int)c->stored, p);
		notes++;
	}
	if (c->type == XSPROF_CHUNK_CLOCK)
		printf("sync points %zu\n", c->stored / sizeof(struct xsprof_sync));
	if (c->producer == XSPROF_NO_PRODUCER)
		return;
	if (c->producer >= MAX_PRODUCERS) {
		wrong("a producer's number", at);
		return;
	}
	if (c->type == XSPROF_CHUNK_PRODUCER) {
		const struct xsprof_cap_producer *found = (const void *)p;

		if (prod[c->producer].known)
			wrong("a producer twice", at);
		prod[c->producer].known = 1;
		prod[c->producer].pid = found->pid;
		prod[c->producer].mode = found->ctl.mode;
	} else if (!prod[c->producer].known) {
		wrong("a chunk of an unknown producer", at);
	} else if (c->type == XSPROF_CHUNK_RING) {
		ring(c, (const void *)p, at);
	} else if (c->type == XSPROF_CHUNK_ARENA) {
		arena(c, p, at);
	} else if (c->type == XSPROF_CHUNK_LEDGER) {
		ledger(c, (const void *)p, at);
	} else if (c->type == XSPROF_CHUNK_EXIT) {
		memcpy(&prod[c->producer].exit, p, sizeof(prod[0].exit));
		prod[c->producer].exited = 1;
	}
}

static int print(int ended, uint32_t why)
{
	uint32_t i, k, producers = 0;

	for (i = 0; i < MAX_PRODUCERS; i++) {
		if (!prod[i].known)
			continue;
		producers++;
		printf("producer %u pid %u how %d status %d\n", i, prod[i].pid,
		       prod[i].exited ? (int)prod[i].exit.how : -1, prod[i].exit.status);
		for (k = 0; k < MAX_RINGS; k++) {
			const struct xsprof_cap_ledger *l = &prod[i].ledger[k];

			if (!prod[i].has_ledger[k])
				continue;
			printf("ring %u %u head %" PRIu64 " read %" PRIu64 " skipped %" PRIu64
			       " bad %" PRIu64 " drops %" PRIu64 " unsaved %" PRIu64 "\n", i, k,
			       (uint64_t)l->head, (uint64_t)l->read, (uint64_t)l->skipped,
			       (uint64_t)l->bad, (uint64_t)l->drops, (uint64_t)l->unsaved);
			/* In a truncated recording the ledger is older than the last chunks. */
			if (ended && l->read != prod[i].stored[k])
				wrong("a ledger against the chunks", k);
		}
	}
	printf("total records %" PRIu64 " producers %u end %d why %u notes %" PRIu64 "\n", records,
	       producers, ended, why, notes);
	printf("total begins_and_ends %" PRIu64 "\n", ranges);
	return broken;
}

int main(int argc, char **argv)
{
	const struct xsprof_cap_header *header;
	const struct xsprof_chunk *c;
	uint64_t at, size, index = 0;
	uint32_t why = 0;
	int fd, wrongs, ended = 0;
	bool cut = false;
	struct stat st;
	uint8_t *map;

	trusted = argv + 2;
	nr_trusted = argc - 2;
	fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0 || fstat(fd, &st) || st.st_size < (off_t)sizeof(*header)) {
		fprintf(stderr, "inspect: no file, or too short for a capture\n");
		return 2;
	}
	size = st.st_size;
	map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return 2;
	header = (void *)map;
	if (header->magic != XSPROF_CAP_MAGIC || header->crc != crc32c(map, 60))
		wrong("the header", 0);
	for (at = header->header_size; at < size; at += sizeof(*c) + ((c->stored + 7) & ~7u)) {
		c = (void *)(map + at);
		cut = size - at < sizeof(*c);
		if (!cut && (c->magic != XSPROF_CHUNK_MAGIC ||
			     c->header_crc != crc32c((void *)c, offsetof(struct xsprof_chunk,
									 header_crc)))) {
			wrong("a chunk's header", at);
			break;
		}
		cut = cut || size - at - sizeof(*c) < ((c->stored + 7) & ~7u);
		if (cut)
			break;
		if (c->crc != crc32c((void *)(c + 1), c->stored) || c->raw != c->stored)
			wrong("a chunk's checksum", at);
		if (c->type == XSPROF_CHUNK_END) {
			ended = 1;
			why = ((const struct xsprof_cap_end *)(c + 1))->why;
		}
		if (c->type == XSPROF_CHUNK_INDEX)
			index = at;
		chunk(c, (void *)(c + 1), at);
	}
	if (index && !ended)
		wrong("an index without an end", index);
	if (cut && ended)
		wrong("a chunk behind the end", at);
	wrongs = print(ended, why);
	return wrongs || !cut ? wrongs : 3;
}
