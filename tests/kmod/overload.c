// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counted loss under overload: rings of a few blocks, readers that are stopped, slow or killed,
 * records of each size, both modes.  One writer a ring makes all of it exact: in DISCARD each
 * LOST stands where the numbers jump and counts the jump; in OVERWRITE each record's place
 * follows from its number, and read + skipped is what was written.
 */
#include <signal.h>
#include <sys/wait.h>

#include "ring.h"

enum pace { STOPPED, SLOW, KILLED, FAST, PACES };

static const char *const pace_name[PACES] = { "stopped", "slow", "killed", "fast" };
static const unsigned int sizes[] = { 1, 2, 5, 8 };	/* slots */

/**
 * struct check - one ring as its reader found it; shared with readers that are killed
 * @c: how far; a reader that is killed goes on at the tail
 * @next: the number the next record should have
 * @n: slots of every record
 * @overwrite: the mode
 * @lost_seen: what LOST records said at the record before
 * @mark: where the tail is and what LOST records had said there, the one before and the latest:
 *	a reader may be killed between noting it and moving the tail
 * @marks: how many were noted
 * @misplaced: jumps that no LOST accounts for, or the reverse
 * @wrong_place: OVERWRITE: records that lie where their number does not put them
 * @rounds: of readers
 * @reading: a reader is there
 * @stop: the writer is done
 * @err: what stopped a reader
 */
struct check {
	struct ring_cursor	c;
	uint64_t		next;
	unsigned int		n;
	bool			overwrite;
	bool			again;
	uint64_t		lost_seen;
	struct { uint64_t tail, lost; } mark[2];
	uint64_t		marks;
	uint64_t		misplaced;
	uint64_t		wrong_place;
	uint64_t		rounds;
	uint32_t		reading;
	uint32_t		stop;
	int			err;
};

static struct check *ck;
static uint64_t losses, taken[PACES];

/* The slot of record @seq where none was dropped. */
static uint64_t place(uint64_t seq, unsigned int n)
{
	uint64_t per_block = XSPROF_BLOCK_SLOTS / n;

	return seq / per_block * XSPROF_BLOCK_SLOTS + seq % per_block * n;
}

static void take(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct check *c = arg;
	uint64_t seq = s[3] & RING_SEQ_MASK;

	(void)k;
	if (ring_rec_type(s) != XSPROF_REC_INSTANT)
		return;
	if (n != c->n)
		c->misplaced++;
	if (c->overwrite) {
		c->wrong_place += place(seq, n) != at;
		return;
	}
	/* The first record after a killed reader may be one it had before. */
	if (c->again)
		c->again = false;
	else if (seq - c->next != c->c.lost - c->lost_seen)
		c->misplaced++;
	c->lost_seen = c->c.lost;
	c->next = seq + 1;
}

static void read_some(struct dev *d, uint64_t most)
{
	uint64_t i = (ck->marks + 1) % 2;

	ring_take(d, d->nr, &ck->c, most, take, ck);
	if (ck->overwrite)
		return;
	ck->mark[i].tail = ck->c.at;
	ck->mark[i].lost = ck->c.lost;
	__atomic_store_n(&ck->marks, ck->marks + 1, __ATOMIC_RELEASE);
	ring_tail_set(d, d->nr, ck->c.at);
}

/* What the killed one had not made known is read again, and what was lost in it counted again. */
static void go_on_at_tail(struct dev *d)
{
	uint64_t tail = dev_reader(d, d->nr)->tail;
	uint64_t i = ck->mark[ck->marks % 2].tail == tail ? ck->marks % 2 : (ck->marks + 1) % 2;

	if (ck->mark[i].tail != tail)
		ck->misplaced++;
	ck->c.at = tail;
	ck->c.last = 0;
	ck->c.lost = ck->lost_seen = ck->mark[i].lost;
	ck->again = true;
}

/* A reader's process at its pace; a killed one is replaced by one that goes on at the tail. */
static int reader(uint64_t id, enum pace pace, uint64_t seed)
{
	int fd = dev_open(), err;
	struct dev d;
	bool last;

	err = fd < 0 ? fd : dev_read_id(&d, fd, id, XSPROF_OPEN_CONSUME);
	if (!err)
		err = dev_tail_open(&d, d.nr);
	if (err)
		return err;
	if (pace == KILLED && !ck->overwrite)
		go_on_at_tail(&d);
	__atomic_store_n(&ck->reading, 1, __ATOMIC_RELEASE);
	do {
		last = __atomic_load_n(&ck->stop, __ATOMIC_ACQUIRE);
		if (pace != STOPPED || last)
			read_some(&d, last || pace == FAST ? UINT64_MAX :
				  1 + env_random(&seed) % 100);
		__atomic_add_fetch(&ck->rounds, 1, __ATOMIC_RELAXED);
		if (pace != FAST)
			env_nap(20);
		else
			sched_yield();
	} while (!last);
	return 0;
}

static pid_t reader_start(uint64_t id, enum pace pace, uint64_t seed)
{
	pid_t pid;

	ck->reading = 0;
	pid = fork();
	if (!pid) {
		ck->err = reader(id, pace, seed);
		__atomic_store_n(&ck->reading, 1, __ATOMIC_RELEASE);
		_exit(ck->err ? 1 : 0);
	}
	while (pid > 0 && !__atomic_load_n(&ck->reading, __ATOMIC_ACQUIRE))
		sched_yield();
	return pid;
}

static pid_t reader_replace(pid_t pid, uint64_t id, uint64_t seed)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return reader_start(id, KILLED, seed);
}

/* Until the reader has been round once more: some of all is read, whatever the scheduler does. */
static void let_read(void)
{
	uint64_t round = __atomic_load_n(&ck->rounds, __ATOMIC_RELAXED);

	while (__atomic_load_n(&ck->rounds, __ATOMIC_RELAXED) == round && !ck->err)
		sched_yield();
}

static void one(struct __test_metadata *_metadata, uint32_t mode, uint64_t ring_size,
		unsigned int slots, enum pace pace, uint64_t records, uint64_t seed)
{
	uint64_t head, drops, skipped;
	struct dev d;
	int status;
	pid_t pid;

	memset(ck, 0, sizeof(*ck));
	ck->n = slots;
	ck->overwrite = mode == XSPROF_MODE_OVERWRITE;
	ASSERT_EQ(0, dev_attach(&d, mode, ring_size, 1));
	ASSERT_EQ(0, dev_ring_open(&d, d.nr));
	pid = reader_start(d.id, pace, seed);
	ASSERT_GE(pid, 0);
	for (uint64_t i = 0; i < records; i++) {
		ring_put(&d, d.nr, 0, i, slots);
		if (i % 1000 == 999 && pace != STOPPED)
			let_read();
		if (pace == KILLED && i % (records / 4) == records / 8)
			pid = reader_replace(pid, d.id, seed + i);
	}
	__atomic_store_n(&ck->stop, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, ck->err);

	head = dev_writer(&d, d.nr)->head;
	drops = ring_drops(&d, d.nr);
	skipped = ck->c.skipped;
	EXPECT_EQ(head, ck->c.at);
	EXPECT_EQ(0, ck->c.torn);
	EXPECT_EQ(0, ck->c.back);
	EXPECT_EQ(0, ck->misplaced);
	EXPECT_EQ(0, ck->wrong_place);
	if (ck->overwrite) {
		EXPECT_EQ(0, drops);
		EXPECT_EQ(place(records - 1, slots) + slots, head);
		losses += skipped / slots;
	} else {
		EXPECT_EQ(0, skipped);
		/* The hole at the end has no LOST: what the ring says beyond the last one. */
		EXPECT_EQ(records - ck->next, drops - ck->lost_seen);
		if (pace != KILLED) {
			EXPECT_EQ(records, ck->c.records + drops);
		}
		losses += drops;
	}
	taken[pace] += ck->c.records;
	if (pace == STOPPED) {
		EXPECT_LT(0, ck->overwrite ? skipped : drops);
	}
	if (ck->c.torn || ck->c.back || ck->misplaced || ck->wrong_place || head != ck->c.at)
		TH_LOG("mode %u, ring of %llu, %u slots, reader %s", mode,
		       (unsigned long long)ring_size, slots, pace_name[pace]);
	dev_close(&d);
}

static void all(struct __test_metadata *_metadata, uint32_t mode)
{
	/* 32 combinations a mode; a good half of the records is lost. */
	uint64_t records = env_costly(80000, 4000), seed = env_seed();

	ck = mmap(NULL, sizeof(*ck), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, ck);
	losses = 0;
	for (unsigned int blocks = 4; blocks <= 8; blocks *= 2)
		for (unsigned int i = 0; i < 4; i++)
			for (unsigned int pace = 0; pace < PACES; pace++)
				one(_metadata, mode, blocks * XSPROF_BLOCK_SIZE, sizes[i], pace,
				    records, seed + 100 * i + pace);
	TH_LOG("%llu losses counted; read %llu slowly, %llu by killed readers, %llu fast",
	       (unsigned long long)losses, (unsigned long long)taken[SLOW],
	       (unsigned long long)taken[KILLED], (unsigned long long)taken[FAST]);
	/* Eight combinations each, and a round of the reader for every thousand records. */
	EXPECT_LT(8 * records / 1000, taken[SLOW]);
	EXPECT_LT(8 * records / 1000, taken[KILLED]);
	EXPECT_LT(8 * 10 * records / 1000, taken[FAST]);
	EXPECT_GE(losses, env_costly(1000000, 50000) / 2);
}

TEST(discard)
{
	all(_metadata, XSPROF_MODE_DISCARD);
}

TEST(overwrite)
{
	all(_metadata, XSPROF_MODE_OVERWRITE);
}

TEST_HARNESS_MAIN
