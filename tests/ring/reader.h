/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reader of ring files, written from abi.h alone, to compare the library's decoder with a second
 * one. Owns the walk over a ring and the rules that every ring keeps: whole records, none across a
 * block, time that never goes back, PAD and LOST in their places. It trusts the process it reads:
 * other tests cover hostile rings.
 */
#ifndef XSP_TEST_READER_H
#define XSP_TEST_READER_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xsprof/abi.h>

#include "common/tap.h"

/**
 * struct rd_ring - one ring being read
 * @w: the writer's page
 * @r: the reader's page
 * @data: its slots, four words each
 * @size: slots
 * @k: its number
 * @at: the slot to read next
 * @last_ts: time of the previous record
 * @lost: drops in LOST records so far
 * @records: records read, without PAD and LOST
 * @slots: slots of these records
 * @pads: PAD records
 * @losts: LOST records
 * @empty: LOST records that added nothing
 * @skipped: slots that a snapshot missed
 */
struct rd_ring {
	struct xsprof_ring_writer	*w;
	struct xsprof_ring_reader	*r;
	uint64_t			*data;
	uint64_t			size;
	uint32_t			k;
	uint64_t			at;
	uint64_t			last_ts;
	uint64_t			lost;
	uint64_t			records;
	uint64_t			slots;
	uint64_t			pads;
	uint64_t			losts;
	uint64_t			empty;
	uint64_t			skipped;
};

struct rd {
	char			*base;
	uint64_t		len;
	struct xsprof_ctl	*ctl;
	struct xsprof_arena	*arena;
	struct rd_ring		*ring;
	uint32_t		nr;		/* rings, including lock rings */
	char			path[300];
};

/* An error in a ring file fails the test. */
#define rd_wrong(r, fmt, ...) \
	tap_wrong("ring %u slot %llu: " fmt, (r)->k, (unsigned long long)(r)->at, ##__VA_ARGS__)

typedef void (*rd_record_fn)(struct rd_ring *r, const uint64_t *slot, unsigned int n, void *arg);

static inline unsigned int rd_type(const uint64_t *slot)
{
	return slot[0] >> 32 & 0xff;
}

static inline unsigned int rd_slots(const uint64_t *slot)
{
	return slot[0] >> 40 & 0xf;
}

static inline uint64_t *rd_slot(const struct rd_ring *r, uint64_t pos)
{
	return r->data + (pos & (r->size - 1)) * 4;
}

static inline uint64_t rd_head(const struct rd_ring *r)
{
	return __atomic_load_n(&r->w->head, __ATOMIC_ACQUIRE);
}

static inline bool rd_ready(const struct rd *rd, uint32_t k)
{
	return __atomic_load_n(&rd->ctl->ready[k / 64], __ATOMIC_ACQUIRE) >> (k % 64) & 1;
}

static inline uint64_t rd_drops(const struct rd_ring *r)
{
	return __atomic_load_n(&r->w->drops, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&r->w->busy, __ATOMIC_ACQUIRE);
}

/* Returns the end of the last ring; the kernel's rings follow and are not read here. */
static inline uint64_t rd_end(const struct xsprof_ctl *c)
{
	uint64_t end = c->rings_off + (uint64_t)(c->nr_rings + c->nr_lock_rings) * c->ring_stride;

	if (!c->nr_kernel_rings)
		return end;
	return c->kernel_off < end ? 0 :
	       c->kernel_off + c->nr_kernel_rings * (2ull * c->page_size + c->kernel_size);
}

/* Return: 0 or -errno; -EAGAIN while the producer is not ready. */
__attribute__((unused)) static int rd_open(struct rd *rd, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct xsprof_ctl *c;
	struct stat st;

	memset(rd, 0, sizeof(*rd));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_size < (off_t)sizeof(*c)) {
		close(fd);
		return -EAGAIN;
	}
	rd->len = st.st_size;
	rd->base = mmap(NULL, rd->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (rd->base == MAP_FAILED)
		return -errno;
	rd->ctl = c = (struct xsprof_ctl *)rd->base;
	if (__atomic_load_n(&c->magic, __ATOMIC_ACQUIRE) != XSPROF_MAGIC) {
		munmap(rd->base, rd->len);
		return -EAGAIN;
	}
	if (c->abi_major != XSPROF_ABI_MAJOR || c->total_size != rd->len ||
	    c->ring_stride != 2ull * c->page_size + c->ring_size ||
	    c->rings_off != c->arena_off + c->arena_size ||
	    c->ring_size & (c->ring_size - 1) ||
	    c->ring_size < XSPROF_MIN_BLOCKS * XSPROF_BLOCK_SIZE ||
	    rd_end(c) != c->total_size) {
		munmap(rd->base, rd->len);
		return -EBADMSG;
	}
	rd->arena = (struct xsprof_arena *)(rd->base + c->arena_off);
	rd->nr = c->nr_rings + c->nr_lock_rings;
	rd->ring = calloc(rd->nr, sizeof(*rd->ring));
	for (uint32_t k = 0; k < rd->nr; k++) {
		char *at = rd->base + c->rings_off + k * c->ring_stride;

		rd->ring[k].w = (struct xsprof_ring_writer *)at;
		rd->ring[k].r = (struct xsprof_ring_reader *)(at + c->page_size);
		rd->ring[k].data = (uint64_t *)(at + 2 * c->page_size);
		rd->ring[k].size = c->ring_size / XSPROF_SLOT_SIZE;
		rd->ring[k].k = k;
	}
	snprintf(rd->path, sizeof(rd->path), "%s", path);
	return 0;
}

__attribute__((unused)) static void rd_close(struct rd *rd)
{
	free(rd->ring);
	munmap(rd->base, rd->len);
	memset(rd, 0, sizeof(*rd));
}

/* Finds the newest file of a process in a session. Return: 0 or -ENOENT. */
__attribute__((unused)) static int rd_find(const char *session, pid_t pid, char *path, size_t size)
{
	long best = -1;
	struct dirent *e;
	DIR *d = opendir(session);

	while (d && (e = readdir(d))) {
		unsigned long long start;
		long seq;
		int p;

		if (sscanf(e->d_name, "p.%d.%llu.%ld", &p, &start, &seq) != 3 || p != pid ||
		    seq <= best)
			continue;
		best = seq;
		snprintf(path, size, "%s/%s", session, e->d_name);
	}
	if (d)
		closedir(d);
	return best < 0 ? -ENOENT : 0;
}

__attribute__((unused)) static int rd_open_pid(struct rd *rd, pid_t pid)
{
	const char *session = getenv("XSPROF_SESSION");
	char path[300];

	if (!session || rd_find(session, pid, path, sizeof(path)))
		return -ENOENT;
	return rd_open(rd, path);
}

static inline void rd_check_lost(struct rd_ring *r, const uint64_t *slot)
{
	r->losts++;
	if (slot[0] != ((uint64_t)XSPROF_REC_LOST << 32 | 1ull << 40) || slot[2])
		rd_wrong(r, "LOST with something in its unused words");
	if (slot[3] < r->lost)
		rd_wrong(r, "LOST goes back");
	r->empty += slot[3] == r->lost;
	r->lost = slot[3];
}

static inline void rd_check_pad(struct rd_ring *r, const uint64_t *slot, uint64_t pos,
				unsigned int n)
{
	r->pads++;
	if ((uint32_t)slot[0] || slot[0] >> 44 || slot[2] || slot[3])
		rd_wrong(r, "PAD with something in its unused words");
	if ((pos + n) & (XSPROF_BLOCK_SLOTS - 1))
		rd_wrong(r, "PAD that does not end its block");
}

/* Reads one record at @slot, position @pos. Return: its slots, 0 if it is not a record. */
static inline unsigned int rd_step(struct rd_ring *r, const uint64_t *slot, uint64_t pos,
				   uint64_t head, rd_record_fn fn, void *arg)
{
	unsigned int n = rd_slots(slot), type = rd_type(slot);

	if (n < 1 || n > XSPROF_RECORD_SLOTS || type == XSPROF_REC_INVALID ||
	    (pos & (XSPROF_BLOCK_SLOTS - 1)) + n > XSPROF_BLOCK_SLOTS || pos + n > head) {
		rd_wrong(r, "no record: header %llx", (unsigned long long)slot[0]);
		return 0;
	}
	if (slot[1] < r->last_ts)
		rd_wrong(r, "time goes back by %llu", (unsigned long long)(r->last_ts - slot[1]));
	if (type == XSPROF_REC_PAD) {
		rd_check_pad(r, slot, pos, n);
	} else {
		r->records += type != XSPROF_REC_LOST;
		r->slots += type != XSPROF_REC_LOST ? n : 0;
		/* The caller sees a LOST before the sum is updated. */
		if (fn)
			fn(r, slot, n, arg);
		if (type == XSPROF_REC_LOST)
			rd_check_lost(r, slot);
	}
	r->last_ts = slot[1];
	return n;
}

/**
 * rd_drain() - read a DISCARD ring, and free its slots
 * @rd: file
 * @k: ring
 * @most: stop after this many slots
 * @fn: called for every record except PAD; also for LOST
 * @arg: passed on
 */
__attribute__((unused)) static void rd_drain(struct rd *rd, uint32_t k, uint64_t most,
					     rd_record_fn fn, void *arg)
{
	struct rd_ring *r = &rd->ring[k];
	uint64_t head, end;

	if (!rd_ready(rd, k))
		return;
	head = rd_head(r);
	if (head - r->at > r->size)
		rd_wrong(r, "head %llu is a ring away", (unsigned long long)head);
	end = most < head - r->at ? r->at + most : head;
	while (r->at < end) {
		unsigned int n = rd_step(r, rd_slot(r, r->at), r->at, head, fn, arg);

		if (!n) {
			r->at = head;
			break;
		}
		r->at += n;
	}
	__atomic_store_n(&r->r->tail, r->at, __ATOMIC_RELEASE);
}

__attribute__((unused)) static void rd_drain_all(struct rd *rd, rd_record_fn fn, void *arg)
{
	for (uint32_t k = 0; k < rd->nr; k++)
		rd_drain(rd, k, UINT64_MAX, fn, arg);
}

/* Return: lost records of the producer that have no LOST record. */
__attribute__((unused)) static uint64_t rd_all_drops(struct rd *rd)
{
	uint64_t n = __atomic_load_n(&rd->arena->nomem, __ATOMIC_ACQUIRE) +
		     __atomic_load_n(&rd->arena->late, __ATOMIC_ACQUIRE);

	for (uint32_t k = 0; k < rd->nr; k++)
		if (rd_ready(rd, k))
			n += rd_drops(&rd->ring[k]);
	return n;
}

#endif /* XSP_TEST_READER_H */
