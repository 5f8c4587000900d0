// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of OVERWRITE rings during writing. The reader trusts only slots at or above head +
 * margin - size, with head read again after the copy; it never takes a torn record. Every slot is
 * read, or counted as skipped.
 *
 *	session XSPROF_MODE=overwrite XSPROF_BUFFER_SIZE=32k snapshot [threads=N] [records=N]
 *		[most=SLOTS] [timer=US] [margin=SLOTS] [cursor=1]
 *
 * cursor: continue where the last snapshot ended, while that is still valid; this needs the whole
 * margin. Otherwise start at the first block, which needs less.
 */
#include "writers.h"

static struct rd rd;
static uint64_t *copy;
static uint64_t margin, torn, snapshots, accepted, lost;
static bool keep_cursor;

/* Copies oldest slots first: they are overwritten first. */
static void copy_slots(const struct rd_ring *r, uint64_t from, uint64_t to)
{
	while (from < to) {
		uint64_t at = from & (r->size - 1), n = r->size - at;

		if (n > to - from)
			n = to - from;
		memcpy(copy + at * 4, r->data + at * 4, n * XSPROF_SLOT_SIZE);
		from += n;
	}
}

static bool whole(struct rd_ring *r, const uint64_t *slot, unsigned int n, uint64_t pos,
		  uint64_t head)
{
	unsigned int type = rd_type(slot), id;
	uint64_t seq;

	if (n < 1 || n > XSPROF_RECORD_SLOTS || pos + n > head ||
	    (pos & (XSPROF_BLOCK_SLOTS - 1)) + n > XSPROF_BLOCK_SLOTS || slot[1] < r->last_ts)
		return false;
	r->last_ts = slot[1];
	if (type == XSPROF_REC_PAD)
		return !((pos + n) & (XSPROF_BLOCK_SLOTS - 1)) && !slot[2] && !slot[3];
	if (type == XSPROF_REC_LOST) {
		lost++;
		return true;
	}
	return stream_check(slot, n, &id, &seq) && id < 2 * writers.threads &&
	       seq < writers.emitted[id];
}

static void snapshot(struct rd_ring *r)
{
	uint64_t head = rd_head(r), again, from, trusted, pos;

	from = head > r->size ? head - r->size : 0;
	if (keep_cursor && from < r->at)
		from = r->at;
	copy_slots(r, from, head);
	/* Pairs with the writer's order: head before the next record's first store. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	again = rd_head(r);
	trusted = again + margin > r->size ? again + margin - r->size : 0;
	if (keep_cursor && r->at >= trusted) {
		pos = r->at;
	} else {
		pos = trusted > from ? trusted : from;
		if (pos)
			pos = (pos + XSPROF_BLOCK_SLOTS - 1) & ~(uint64_t)(XSPROF_BLOCK_SLOTS - 1);
		r->last_ts = 0;
	}
	if (pos > head)
		pos = head;
	if (keep_cursor)
		r->skipped += pos - r->at;
	snapshots++;
	while (pos < head) {
		const uint64_t *slot = copy + (pos & (r->size - 1)) * 4;
		unsigned int n = rd_slots(slot);

		if (!whole(r, slot, n, pos, head)) {
			if (torn++ < 4)
				tap_note("torn: ring %u slot %llu head %llu then %llu: %llx", r->k,
					 (unsigned long long)pos, (unsigned long long)head,
					 (unsigned long long)again, (unsigned long long)slot[0]);
			n = XSPROF_BLOCK_SLOTS - (pos & (XSPROF_BLOCK_SLOTS - 1));
			r->last_ts = 0;
			pos = pos + n < head ? pos + n : head;
			continue;
		}
		accepted++;
		r->slots += n;
		pos += n;
	}
	r->at = keep_cursor ? head : 0;
}

int main(int argc, char **argv)
{
	uint64_t emitted, x = 5, drops, skipped = 0;
	uint32_t k;

	margin = arg_number(argc, argv, "margin", XSPROF_OVERWRITE_MARGIN);
	keep_cursor = arg_number(argc, argv, "cursor", 0);
	writers_setup(argc, argv);
	stream_init();
	if (rd_open_pid(&rd, getpid()))
		tap_bail("not attached: run it under session");
	if (rd.ctl->mode != XSPROF_MODE_OVERWRITE)
		tap_bail("not in OVERWRITE mode");
	copy = malloc(rd.ctl->ring_size);
	writers_start();
	while (writers_running()) {
		k = (x = stream_mix(x + 1)) % rd.nr;
		if (rd_ready(&rd, k))
			snapshot(&rd.ring[k]);
		if (!(x & 0xf00))
			sched_yield();
	}
	emitted = writers_join();
	for (k = 0; k < rd.nr; k++) {
		struct rd_ring *r = &rd.ring[k];

		if (!rd_ready(&rd, k))
			continue;
		snapshot(r);
		if (keep_cursor && !torn)
			CHECK_EQ(r->slots + r->skipped, rd_head(r));
		skipped += r->skipped;
	}
	drops = rd_all_drops(&rd);
	tap_note("%llu written, %llu snapshots, %llu records accepted, %llu slots skipped, "
		 "%llu torn, %llu dropped",
		 (unsigned long long)emitted, (unsigned long long)snapshots,
		 (unsigned long long)accepted, (unsigned long long)skipped,
		 (unsigned long long)torn, (unsigned long long)drops);
	CHECK_EQ(torn, 0);
	CHECK(snapshots > 10 && accepted > 0);
	/* Here only a handler over its own lock may lose a record. */
	for (k = 0; k < rd.ctl->nr_rings; k++)
		if (rd_ready(&rd, k))
			CHECK_EQ(rd_drops(&rd.ring[k]), 0);
	tap_result("%u threads, ring of %llu KiB, margin %llu, %s, records of up to %u slots",
		   writers.threads, (unsigned long long)rd.ctl->ring_size >> 10,
		   (unsigned long long)margin, keep_cursor ? "own cursor" : "from a block",
		   writers.most);
	return tap_done();
}
