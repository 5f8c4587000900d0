// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thousand producers at once: all attach, one reader drains all of them, and every loss is
 * counted. Also the cost of an idle one.
 */
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include "ring.h"

#define MOST	1000

/**
 * struct board - shared with all producers
 * @attached: how many are there
 * @failed: how many could not
 * @id: their numbers
 */
struct board {
	uint32_t	attached;
	uint32_t	failed;
	uint64_t	id[MOST];
};

struct source {
	struct dev		d;
	struct ring_cursor	c;
	uint64_t		next;
	uint64_t		wrong;
};

/* @go: a pipe that is closed when all may begin. */
static void produce(struct board *b, int go, unsigned int me, uint64_t records)
{
	struct dev d;
	int err;

	err = dev_attach(&d, XSPROF_MODE_DISCARD, 16 << 10, 1);
	if (!err)
		err = dev_ring_open(&d, d.nr);
	if (err) {
		__atomic_add_fetch(&b->failed, 1, __ATOMIC_RELEASE);
		_exit(1);
	}
	b->id[me] = d.id;
	__atomic_add_fetch(&b->attached, 1, __ATOMIC_RELEASE);
	if (read(go, &err, 1))
		_exit(2);
	for (uint64_t i = 0; i < records; i++) {
		ring_put(&d, d.nr, me, i, 1);
		if (i % 200 == 199)
			sched_yield();
	}
	_exit(0);
}

static void take(void *arg, uint32_t k, uint64_t at, const uint64_t *s, unsigned int n)
{
	struct source *src = arg;

	(void)k, (void)at, (void)n;
	if (ring_rec_type(s) != XSPROF_REC_INSTANT)
		return;
	src->wrong += (s[3] & RING_SEQ_MASK) < src->next;
	src->next = (s[3] & RING_SEQ_MASK) + 1;
}

static bool drain(struct source *s, unsigned int n)
{
	bool ended = true;

	for (unsigned int i = 0; i < n; i++) {
		bool live = __atomic_load_n(&s[i].d.ctl->state, __ATOMIC_ACQUIRE) ==
			    XSPROF_STATE_LIVE;

		ended &= !live;
		ring_take(&s[i].d, s[i].d.nr, &s[i].c, UINT64_MAX, take, &s[i]);
		ring_tail_set(&s[i].d, s[i].d.nr, s[i].c.at);
	}
	return ended;
}

TEST(thousand)
{
	uint64_t records = env_figure(2000, 200), read = 0, lost = 0, wrong = 0;
	struct rlimit lim = { 4096, 4096 };
	unsigned int most = MOST, n = 0;
	struct xsprof_info *infos;
	struct source *s;
	struct sysinfo si;
	struct board *b;
	int fd, status, go[2];

	/* About a megabyte a process, page tables and all; the guest may be a small one. */
	sysinfo(&si);
	if (si.freeram * si.mem_unit >> 20 < 1200)
		most = MOST / 10;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &lim));
	b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, b);
	infos = calloc(most, sizeof(*infos));
	s = calloc(most, sizeof(*s));
	ASSERT_EQ(0, pipe(go));
	fd = dev_open();
	ASSERT_GE(fd, 0);
	ASSERT_GE(dev_drop_ended(fd), 0);
	for (unsigned int i = 0; i < most; i++) {
		pid_t pid = fork();

		ASSERT_GE(pid, 0);
		if (!pid) {
			close(go[1]);
			produce(b, go[0], i, records);
		}
	}
	while (__atomic_load_n(&b->attached, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&b->failed, __ATOMIC_ACQUIRE) < most)
		env_nap(1000);
	ASSERT_EQ(0, b->failed);
	EXPECT_EQ((int)most, dev_list(fd, infos, most, 0, NULL));
	for (; n < most; n++) {
		EXPECT_EQ(XSPROF_STATE_LIVE, infos[n].state);
		EXPECT_GT(infos[n].bytes, 0);
		ASSERT_EQ(0, dev_read_id(&s[n].d, fd, b->id[n], XSPROF_OPEN_CONSUME));
		ASSERT_EQ(0, dev_tail_open(&s[n].d, s[n].d.nr));
	}
	close(go[1]);
	while (!drain(s, n))
		sched_yield();
	for (unsigned int i = 0; i < most; i++) {
		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
	for (unsigned int i = 0; i < n; i++) {
		uint64_t drops = ring_drops(&s[i].d, s[i].d.nr);

		EXPECT_EQ(records, s[i].c.records + drops);
		EXPECT_EQ(dev_writer(&s[i].d, s[i].d.nr)->head, s[i].c.at);
		wrong += s[i].wrong + s[i].c.torn + s[i].c.back;
		read += s[i].c.records;
		lost += drops;
		EXPECT_EQ(0, dev_call(s[i].d.fd, XSPROF_IOC_DROP, NULL));
		dev_close(&s[i].d);
	}
	EXPECT_EQ(0, wrong);
	EXPECT_LT(0, read);
	TH_LOG("%u producers: %llu written, %llu read, %llu lost", most,
	       (unsigned long long)(most * records), (unsigned long long)read,
	       (unsigned long long)lost);
}

TEST(idle)
{
	struct xsprof_info info;
	struct dev d;

	ASSERT_EQ(0, dev_attach(&d, XSPROF_MODE_OVERWRITE, 8 << 20, XSPROF_MAX_LOCK_RINGS));
	ASSERT_EQ(0, dev_info(d.fd, d.id, &info));
	EXPECT_LT(info.bytes, 64 << 10);
	EXPECT_GE(info.bytes, 2 * d.page);
	TH_LOG("%llu bytes", (unsigned long long)info.bytes);
	dev_close(&d);
}

TEST_HARNESS_MAIN
