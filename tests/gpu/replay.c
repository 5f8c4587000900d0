// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replays buffers of a real device, written by raw.c, through the stand-in: unchanged records with
 * current times, and kernel names at their addresses in this process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/replay.h"

#define TEXTS	256u

/* The names' addresses in the recording, and now. */
static struct {
	uint64_t	was;
	char		*is;
} texts[TEXTS];
static uint32_t nr_texts;

static void keep_text(uint64_t was, const char *text, size_t len)
{
	for (uint32_t i = 0; i < nr_texts; i++)
		if (texts[i].was == was)
			return;
	if (nr_texts == TEXTS)
		return;
	texts[nr_texts].was = was;
	texts[nr_texts++].is = strndup(text, len);
}

static const char *text_of(uint64_t was)
{
	for (uint32_t i = 0; i < nr_texts; i++)
		if (texts[i].was == was)
			return texts[i].is;
	return NULL;
}

/* Returns the offset of a record's two times; 0: it has none. */
static size_t times_at(uint32_t kind)
{
	switch (kind) {
	case CUPTI_KERNEL:
	case CUPTI_MEMCPY:
	case CUPTI_MEMCPY_PEER:
	case CUPTI_MEMSET:
		return 16;
	case CUPTI_DRIVER:
	case CUPTI_RUNTIME:
	case CUPTI_SYNC:
		return 8;
	case CUPTI_OVERHEAD:
		return 24;
	default:
		return 0;
	}
}

static void put_raw(const uint8_t *buffer, size_t len, int64_t shift, uint64_t *put)
{
	uint64_t copy[32], times[2], name;
	uint8_t *bytes = (uint8_t *)copy;

	for (size_t at = 0, n; at + 8 <= len; at += n) {
		uint32_t kind = *(const uint32_t *)(buffer + at);
		size_t where = times_at(kind);

		n = stand_in_length(kind);
		memset(copy, 0, sizeof(copy));
		memcpy(copy, buffer + at, n < len - at ? n : len - at);
		if (where) {
			memcpy(times, bytes + where, sizeof(times));
			times[0] += (uint64_t)shift;
			times[1] += (uint64_t)shift;
			memcpy(bytes + where, times, sizeof(times));
		}
		if (kind == CUPTI_KERNEL) {
			memcpy(&name, bytes + offsetof(struct cupti_kernel, name), sizeof(name));
			name = (uintptr_t)text_of(name);
			memcpy(bytes + offsetof(struct cupti_kernel, name), &name, sizeof(name));
		}
		/* What it points to is not in the file. */
		if (kind == CUPTI_OVERHEAD)
			memset(bytes + sizeof(struct cupti_overhead), 0,
			       sizeof(copy) - sizeof(struct cupti_overhead));
		if (kind != CUPTI_DEVICE)
			*put = stand_in_put(copy, n);
	}
}

__attribute__((visibility("default"))) uint64_t stand_in_raw(const char *path)
{
	static uint8_t bytes[1 << 16];
	const uint32_t none = 0;	/* a kind that is never enabled */
	FILE *file = fopen(path, "rb");
	uint64_t address, first = 0, before = stand_in_put(&none, sizeof(none)), put = before;
	uint32_t head[4];

	if (!file || fread(head, sizeof(head), 1, file) != 1 || memcmp(head, "XSCUPTI1", 8))
		return 0;
	while (fread(head, 8, 1, file) == 1 && fread(&address, 8, 1, file) == 1 &&
	       head[1] <= sizeof(bytes) && fread(bytes, head[1], 1, file) == 1) {
		if (head[0] == 1)
			keep_text(address, (const char *)bytes, head[1]);
		/* All times are after that of the first call. */
		for (size_t at = 0; head[0] == 2 && !first && at + 8 <= head[1];
		     at += stand_in_length(*(uint32_t *)(bytes + at)))
			if (*(uint32_t *)(bytes + at) == CUPTI_RUNTIME)
				memcpy(&first, bytes + at + 8, sizeof(first));
		if (head[0] == 2)
			put_raw(bytes, head[1], (int64_t)(stand_in_now() - first), &put);
	}
	fclose(file);
	return put - before;
}
