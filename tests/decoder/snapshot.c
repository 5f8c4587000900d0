// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ring files read directly: after the producer's death, in both modes, with forged counters, and
 * during writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decoder/sample.h"
#include "common/tap.h"

#define SLOTS	512u	/* slots of a ring of sample_ring_file() */

static void test_discard(void)
{
	static const uint64_t heads[] = { 0, 1, 100, 511, 512, 513, 100000 };

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		uint64_t head = heads[i], from = head > SLOTS ? head - SLOTS : 0;
		struct drained d;
		uint8_t *data;
		size_t len;

		data = sample_ring_file(XSPROF_MODE_DISCARD, head, &len);
		drain(&d, cap_path(data, len), NULL, 50);
		CHECK_EQ(d.open, 0);
		CHECK_EQ(d.warnings, 0);
		CHECK_EQ(d.info.records, 2 * (head - from));
		CHECK_EQ(d.info.lost_records, 4);
		CHECK_EQ(d.lost, 4);
		CHECK_EQ(d.lost_slots, 0);
		for (size_t n = 0, next = 2 * from; n < d.nr; n++)
			if (d.list[n].ev.rec)
				CHECK_EQ(d.list[n].ev.value, next++);
		drained_free(&d);
		free(data);
	}
	tap_result("DISCARD: from tail to head");
}

/* Only records that cannot be half overwritten: from the first block above head + 15 - size. */
static void test_overwrite(void)
{
	static const struct { uint64_t head, from; } v[] = {
		{ 0, 0 }, { 1, 0 }, { 497, 0 }, { 498, 128 }, { 512, 128 }, { 625, 128 },
		{ 626, 256 }, { 100000, 99584 },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct drained d;
		uint8_t *data;
		size_t len;

		data = sample_ring_file(XSPROF_MODE_OVERWRITE, v[i].head, &len);
		drain(&d, cap_path(data, len), NULL, 50);
		CHECK_EQ(d.warnings, 0);
		CHECK_EQ(d.info.records, 2 * (v[i].head - v[i].from));
		CHECK_EQ(d.info.lost_slots, 2 * v[i].from);
		CHECK_EQ(d.lost_slots, 2 * v[i].from);
		for (size_t n = 0, next = 2 * v[i].from; n < d.nr; n++)
			if (d.list[n].ev.rec)
				CHECK_EQ(d.list[n].ev.value, next++);
		drained_free(&d);
		free(data);
	}
	tap_result("OVERWRITE: what is safe above the margin");
}

static void test_about(void)
{
	struct xsprof_trace_producer producer;
	struct xsprof_cap_ledger ledger;
	struct xsprof_trace *t;
	struct xsprof_ctl *ctl;
	uint8_t *data;
	size_t len;

	data = sample_ring_file(XSPROF_MODE_DISCARD, 10, &len);
	ctl = (struct xsprof_ctl *)data;
	ctl->state = XSPROF_STATE_EXITED;
	ctl->exit_ticks = 9000;
	if (xsprof_trace_open(cap_path(data, len), NULL, &t))
		tap_bail("%s", xsprof_trace_error(NULL));
	CHECK(!strcmp(xsprof_trace_name(t, 0, 1), "alpha"));
	CHECK(!strcmp(xsprof_trace_fact(t, 0, "exe"), "/bin/true"));
	CHECK_EQ(xsprof_trace_get_producer(t, 0, &producer), 0);
	CHECK_EQ(producer.pid, 4711);
	CHECK_EQ(producer.how, XSPROF_HOW_EXITED);
	CHECK_EQ(producer.exit_ns, 9000);
	CHECK_EQ(producer.rings, 2);
	CHECK_EQ(xsprof_trace_get_ledger(t, 0, 0, &ledger), 0);
	CHECK_EQ(ledger.head, 10);
	CHECK_EQ(ledger.drops, 2);
	tap_result("names, facts and ledger of a ring file");
	xsprof_trace_close(t);
	free(data);
}

/* Changes each word of the control page, of the pages of ring 0 and of the arena's header. */
static void test_lies(void)
{
	static const uint64_t lies[] = { 0, 1, 7, 0xfff, 0x10001, 0x7fffffff, 0xffffffff,
		1ull << 40, 1ull << 58, 0x7fffffffffffffffull, ~0ull };
	size_t tried = 0, opened = 0;

	for (uint32_t mode = 0; mode < 2; mode++) {
		size_t len, areas[4][2] = { { 64, 320 }, { 1024, 1040 } };
		uint8_t *data, *copy;

		data = sample_ring_file(mode, 700, &len);
		copy = malloc(len);
		if (!copy)
			tap_bail("no memory");
		areas[2][0] = ((struct xsprof_ctl *)data)->arena_off;
		areas[2][1] = areas[2][0] + 128;
		areas[3][0] = ((struct xsprof_ctl *)data)->rings_off;
		areas[3][1] = areas[3][0] + 4096 + 64;
		for (int a = 0; a < 4; a++) {
			for (size_t at = areas[a][0]; at < areas[a][1]; at += 4) {
				/* There is nothing between the two pages. */
				if (a == 3 && at % 4096 >= areas[3][0] % 4096 + 128)
					continue;
				for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
					struct drained d;

					memcpy(copy, data, len);
					memcpy(copy + at, &lies[i], at % 8 ? 4 : 8);
					drain(&d, cap_path(copy, len), NULL, 50);
					if (!d.open && d.end)
						tap_wrong("at %zu, lie %zu: %s", at, i, d.error);
					CHECK(d.info.records <= 2 * SLOTS);
					opened += !d.open;
					tried++;
					drained_free(&d);
				}
			}
		}
		free(data);
		free(copy);
	}
	CHECK(opened > tried / 3 && opened < tried);
	tap_result("%zu lies in a ring file, %zu opened", tried, opened);
}

static void test_short(void)
{
	struct drained d;
	uint8_t *data;
	size_t len;

	data = sample_ring_file(XSPROF_MODE_DISCARD, 700, &len);
	for (size_t cut = 0; cut < len; cut += cut < 3000 ? 7 : 977) {
		drain(&d, cap_path(data, cut), NULL, 50);
		CHECK(d.open < 0);
		drained_free(&d);
	}
	((struct xsprof_ctl *)data)->abi_major = 9;
	drain(&d, cap_path(data, len), NULL, 50);
	CHECK_EQ(d.open, -EPROTONOSUPPORT);
	tap_result("a short file, another ABI");
	free(data);
}

/* ---- a living ring ----------------------------------------------------------------------- */

static uint8_t *live;
static volatile bool stop;

/* Writes records of 1 to 8 slots; every word identifies its record. */
static void *writer(void *data)
{
	struct xsprof_ctl *ctl = (struct xsprof_ctl *)live;
	struct xsprof_ring_writer *w = (void *)(live + ctl->rings_off);
	uint8_t *slots = live + ctl->rings_off + 2 * 4096;
	uint64_t size = ctl->ring_size / XSPROF_SLOT_SIZE, head = 0, value = 1;

	(void)data;
	while (!stop) {
		uint64_t n = 1 + value % 8, at = head % XSPROF_BLOCK_SLOTS;
		struct xsprof_rec rec = { .tid = value, .type = XSPROF_REC_INSTANT, .size = n,
					  .ts = 1000 + value, .value = value };

		if (at + n > XSPROF_BLOCK_SLOTS) {
			struct xsprof_rec pad = { .type = XSPROF_REC_PAD, .ts = 1000 + value,
						  .size = XSPROF_BLOCK_SLOTS - at };

			memcpy(slots + head % size * XSPROF_SLOT_SIZE, &pad, sizeof(pad));
			head += XSPROF_BLOCK_SLOTS - at;
		}
		memcpy(slots + head % size * XSPROF_SLOT_SIZE, &rec, sizeof(rec));
		for (uint64_t i = 4; i < n * 4; i++)
			memcpy(slots + head % size * XSPROF_SLOT_SIZE + i * 8, &value, 8);
		head += n;
		__atomic_store_n(&w->head, head, __ATOMIC_RELEASE);
		value++;
	}
	return NULL;
}

static void test_live(void)
{
	struct xsprof_ctl ctl = ctl_make(1, 0, 16 * XSPROF_BLOCK_SIZE, XSPROF_MODE_OVERWRITE);
	bool full = getenv("XSPROF_TIER") && !strcmp(getenv("XSPROF_TIER"), "full");
	unsigned long long records = 0, torn = 0;
	int fd = memfd_create("ring", MFD_CLOEXEC);
	pthread_t thread;
	char path[64];

	if (fd < 0 || ftruncate(fd, ctl.total_size))
		tap_bail("memfd");
	live = mmap(NULL, ctl.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (live == MAP_FAILED)
		tap_bail("mmap");
	ctl.ready[0] = 1;
	memcpy(live, &ctl, sizeof(ctl));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (pthread_create(&thread, NULL, writer, NULL))
		tap_bail("pthread_create");
	/* At least this many reads, and more if the writer got little CPU time. */
	for (int round = 0; round < (full ? 20000 : 1500) ||
	     (records <= 1000 && round < 1000000); round++) {
		const struct xsprof_event *ev;
		uint64_t before = 0;
		struct xsprof_trace *t;

		if (xsprof_trace_open(path, NULL, &t))
			tap_bail("%s", xsprof_trace_error(NULL));
		while (xsprof_trace_next(t, &ev) == 1) {
			const uint64_t *word = (const uint64_t *)ev->rec;

			if (!ev->rec)
				continue;
			records++;
			CHECK(ev->value > before && ev->rec_size / 32 == 1 + ev->value % 8);
			before = ev->value;
			for (size_t i = 4; i < ev->rec_size / 8; i++)
				torn += word[i] != ev->value;
			CHECK(!ev->flags);
		}
		xsprof_trace_close(t);
	}
	stop = true;
	pthread_join(thread, NULL);
	CHECK_EQ(torn, 0);
	CHECK(records > 1000);
	tap_result("a ring that is written to: %llu records, %llu torn", records, torn);
	munmap(live, ctl.total_size);
	close(fd);
}

/* A file opened read-only is enough. */
static void test_read_only(void)
{
	char path[] = "/tmp/xsprof-snapshot-XXXXXX";
	int fd = mkstemp(path);
	struct drained d;
	uint8_t *data;
	size_t len;

	data = sample_ring_file(XSPROF_MODE_DISCARD, 10, &len);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || fchmod(fd, 0400))
		tap_bail("mkstemp");
	drain(&d, path, NULL, 50);
	CHECK_EQ(d.info.records, 20);
	drained_free(&d);
	drain(&d, path, NULL, 50);
	CHECK_EQ(d.info.records, 20);
	tap_result("reading consumes nothing");
	drained_free(&d);
	unlink(path);
	close(fd);
	free(data);
}

int main(void)
{
	test_discard();
	test_overwrite();
	test_about();
	test_lies();
	test_short();
	test_live();
	test_read_only();
	return tap_done();
}
