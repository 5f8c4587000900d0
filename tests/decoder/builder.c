// SPDX-License-Identifier: GPL-2.0-only
/*
 * Builds captures and ring files in memory for the decoder's tests.  It never calls the library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "common/crc32c.h"
#include "decoder/builder.h"

static void *need(void *p)
{
	if (!p) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return p;
}

static void *append(struct cap *cap, const void *data, size_t len)
{
	void *at;

	if (cap->len + len > cap->room) {
		cap->room = (cap->len + len) * 2;
		cap->data = need(realloc(cap->data, cap->room));
	}
	at = cap->data + cap->len;
	if (data)
		memcpy(at, data, len);
	else
		memset(at, 0, len);
	cap->len += len;
	return at;
}

void cap_begin(struct cap *cap)
{
	struct xsprof_cap_header header = {
		.magic = XSPROF_CAP_MAGIC,
		.major = XSPROF_CAP_MAJOR,
		.minor = XSPROF_CAP_MINOR,
		.header_size = sizeof(header),
		.created = 1700000000000000000ull,
		.uuid = "0123456789abcde",
	};

	*cap = (struct cap){ 0 };
	header.crc = crc32c(&header, offsetof(struct xsprof_cap_header, crc));
	append(cap, &header, sizeof(header));
}

/* Follows capture.h slot by slot and byte by byte. */
static uint8_t *to_columns(const uint8_t *raw, size_t len)
{
	uint8_t *out = need(malloc(len + 1));
	size_t slots = len / XSPROF_SLOT_SIZE;
	uint64_t before = 0;

	for (size_t i = 0; i < slots; i++) {
		uint64_t column[4], time;

		memcpy(column, raw + i * XSPROF_SLOT_SIZE, sizeof(column));
		time = column[1];
		column[1] -= before;
		before = time;
		for (int c = 0; c < 4; c++)
			for (int k = 0; k < 8; k++)
				out[(c * 8 + k) * slots + i] = column[c] >> 8 * k;
	}
	return out;
}

void cap_chunk(struct cap *cap, struct xsprof_chunk chunk, unsigned int flags, const void *data,
	       size_t len)
{
	uint8_t *columns = NULL, *packed = NULL;
	const void *stored = data;
	size_t off;

	chunk.magic = XSPROF_CHUNK_MAGIC;
	chunk.flags = flags;
	chunk.raw = chunk.stored = len;
	if (flags & CAP_COLUMNS)
		stored = columns = to_columns(data, len);
	if (flags & CAP_ZSTD) {
		size_t room = ZSTD_compressBound(len);

		packed = need(malloc(room));
		chunk.stored = ZSTD_compress(packed, room, stored, len, 1);
		stored = packed;
	}
	chunk.crc = crc32c(stored, chunk.stored);
	chunk.header_crc = crc32c(&chunk, offsetof(struct xsprof_chunk, header_crc));
	off = cap->len;
	append(cap, &chunk, sizeof(chunk));
	append(cap, stored, chunk.stored);
	append(cap, NULL, (off - cap->len) & 7);
	free(columns);
	free(packed);
}

void cap_reseal(struct cap *cap, size_t off)
{
	struct xsprof_chunk chunk;

	memcpy(&chunk, cap->data + off, sizeof(chunk));
	if (chunk.stored <= cap->len - off - sizeof(chunk))
		chunk.crc = crc32c(cap->data + off + sizeof(chunk), chunk.stored);
	chunk.header_crc = crc32c(&chunk, offsetof(struct xsprof_chunk, header_crc));
	memcpy(cap->data + off, &chunk, sizeof(chunk));
}

void cap_producer(struct cap *cap, uint32_t number, uint32_t pid, const struct xsprof_ctl *ctl)
{
	struct xsprof_cap_producer producer = {
		.pid = pid,
		.found = ctl->attach.ticks,
		.ctl = *ctl,
	};

	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_PRODUCER, .producer = number },
		  0, &producer, sizeof(producer));
}

void cap_entry(struct cap *arena, uint16_t type, uint32_t id, uint32_t aux, const char *text)
{
	size_t len = strlen(text), size = (sizeof(struct xsprof_entry) + len + 7) & ~(size_t)7;
	struct xsprof_entry entry = {
		.size = size,
		.type = type,
		.text_len = len,
		.id = id,
		.aux = aux,
	};

	append(arena, &entry, sizeof(entry));
	append(arena, text, len);
	append(arena, NULL, size - sizeof(entry) - len);
}

void cap_arena(struct cap *cap, uint32_t number, uint64_t pos, const struct cap *arena)
{
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_ARENA, .producer = number,
		  .pos = pos }, 0, arena->data, arena->len);
}

void cap_clock(struct cap *cap, const struct xsprof_sync *syncs, size_t nr)
{
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_CLOCK,
		  .producer = XSPROF_NO_PRODUCER }, 0, syncs, nr * sizeof(*syncs));
}

void cap_ring(struct cap *cap, uint32_t number, uint32_t ring, unsigned int flags, struct ring *r)
{
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_RING, .producer = number,
		  .ring = ring, .pos = r->pos, .first = r->first, .last = r->last }, flags,
		  r->data, r->len);
	ring_reset(r);
}

void cap_ledger(struct cap *cap, uint32_t number, struct xsprof_cap_ledger ledger)
{
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_LEDGER, .producer = number },
		  0, &ledger, sizeof(ledger));
}

void cap_exit(struct cap *cap, uint32_t number, struct xsprof_cap_exit exit)
{
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_EXIT, .producer = number }, 0,
		  &exit, sizeof(exit));
}

void cap_end(struct cap *cap, uint64_t ticks)
{
	struct xsprof_cap_end end = { .ticks = ticks };

	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_END,
		  .producer = XSPROF_NO_PRODUCER }, 0, &end, sizeof(end));
}

void cap_text(struct cap *cap, uint16_t type, const char *text)
{
	cap_chunk(cap, (struct xsprof_chunk){ .type = type, .producer = XSPROF_NO_PRODUCER }, 0,
		  text, strlen(text));
}

void cap_free(struct cap *cap)
{
	free(cap->data);
	*cap = (struct cap){ 0 };
}

const char *cap_path(const void *data, size_t len)
{
	static char path[64];
	static int fd = -1;
	size_t done = 0;

	if (fd < 0)
		fd = memfd_create("capture", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)) {
		perror("memfd");
		exit(1);
	}
	while (done < len) {
		ssize_t n = write(fd, (const char *)data + done, len - done);

		if (n <= 0) {
			perror("memfd");
			exit(1);
		}
		done += n;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* ---- rings ------------------------------------------------------------------------------- */

void ring_raw(struct ring *r, const void *data, size_t len)
{
	struct cap c = { r->data, r->len, r->room };

	append(&c, data, len);
	r->data = c.data;
	r->len = c.len;
	r->room = c.room;
}

void ring_put(struct ring *r, struct xsprof_rec rec, const void *extra, size_t len)
{
	size_t slots = 1 + (len + XSPROF_SLOT_SIZE - 1) / XSPROF_SLOT_SIZE;
	uint64_t at = (r->pos + r->len / XSPROF_SLOT_SIZE) % XSPROF_BLOCK_SLOTS;

	if (at + slots > XSPROF_BLOCK_SLOTS) {
		struct xsprof_rec pad = {
			.type = XSPROF_REC_PAD,
			.size = XSPROF_BLOCK_SLOTS - at,
			.ts = rec.ts,
		};

		ring_raw(r, &pad, sizeof(pad));
		ring_raw(r, NULL, (pad.size - 1) * XSPROF_SLOT_SIZE);
	}
	rec.size = (rec.size & 0xf0) | slots;
	if (!r->len)
		r->first = rec.ts;
	r->last = rec.ts;
	ring_raw(r, &rec, sizeof(rec));
	if (len)
		ring_raw(r, extra, len);
	ring_raw(r, NULL, (slots - 1) * XSPROF_SLOT_SIZE - len);
}

void ring_rec(struct ring *r, uint8_t type, uint32_t tid, uint64_t ts, uint32_t name,
	      uint64_t value)
{
	ring_put(r, (struct xsprof_rec){ .tid = tid, .type = type, .ts = ts, .name = name,
		 .value = value }, NULL, 0);
}

void ring_reset(struct ring *r)
{
	r->pos += r->len / XSPROF_SLOT_SIZE;
	r->len = 0;
	r->first = r->last = 0;
}

void ring_free(struct ring *r)
{
	free(r->data);
	*r = (struct ring){ 0 };
}

/* ---- pages ------------------------------------------------------------------------------- */

struct xsprof_sync sync_at(uint64_t mono, uint64_t offset)
{
	return (struct xsprof_sync){
		.ticks = mono + offset,
		.mono = mono,
		.mono_raw = mono + 7,
		.boot = mono + 1000,
		.real = mono + 1600000000000000000ull,
		.window = 20,
		.kind = XSPROF_CLOCK_TSC,
	};
}

struct xsprof_ctl ctl_make(uint32_t rings, uint32_t lock_rings, uint64_t ring_size, uint32_t mode)
{
	struct xsprof_ctl ctl = {
		.enabled = 1,
		.wanted = 1,
		.magic = XSPROF_MAGIC,
		.abi_major = XSPROF_ABI_MAJOR,
		.abi_minor = XSPROF_ABI_MINOR,
		.page_size = 4096,
		.mode = mode,
		.nr_rings = rings,
		.nr_lock_rings = lock_rings,
		.ring_size = ring_size,
		.ring_stride = 2 * 4096 + ring_size,
		.arena_off = 4096,
		.arena_size = 65536,
		.rings_off = 4096 + 65536,
		.pid = 4711,
		.uid = 1000,
		.state = XSPROF_STATE_LIVE,
		.start_time = 12345,
		.clock = { .kind = XSPROF_CLOCK_TSC, .freq = 1000000000 },
	};

	ctl.total_size = ctl.rings_off + (rings + lock_rings) * ctl.ring_stride;
	ctl.attach = sync_at(1000, 0);
	return ctl;
}

static void names(struct cap *cap)
{
	struct cap arena = { 0 };

	cap_entry(&arena, XSPROF_ENTRY_CATEGORY, 1, 0, "net");
	cap_entry(&arena, XSPROF_ENTRY_NAME, 1, 0, "alpha");
	cap_entry(&arena, XSPROF_ENTRY_NAME, 1u << XSPROF_NAME_SHIFT | 2, 0, "b\xc3\xa9ta");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 1000, XSPROF_THREAD_GIVEN, "given");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 1001, 0, "old");
	cap_entry(&arena, XSPROF_ENTRY_FACT, 0, 0, "exe=/bin/a=b");
	cap_entry(&arena, XSPROF_ENTRY_FACT, 0, 0, "exe=/bin/c");
	cap_arena(cap, 0, 0, &arena);
	cap_free(&arena);
}

void cap_head(struct cap *cap, uint32_t rings)
{
	struct xsprof_ctl ctl = ctl_make(rings, 1, 1 << 20, XSPROF_MODE_DISCARD);
	struct xsprof_sync syncs[] = { sync_at(1000, 0), sync_at(1000000, 0),
				       sync_at(2000000, 0) };

	cap_begin(cap);
	cap_text(cap, XSPROF_CHUNK_HOST, "hostname=here\nkernel=6.1\n");
	cap_clock(cap, syncs, 3);
	cap_producer(cap, 0, 100, &ctl);
	names(cap);
}
