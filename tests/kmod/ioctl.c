// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile arguments: every command with every size and every kind of bad pointer, callers that
 * change their argument meanwhile, and random calls. Each returns the result documented in the
 * ABI's ioctl.h, and the device is usable after all of them.
 */
#include <pthread.h>
#include <signal.h>

#include "ioctl.h"

/*
 * A size that is too small reads as if filled up with 0, one that is too large is fine as long
 * as the rest is 0: each answers as the same content in the right size does.
 */
TEST_F(ioctl, sizes)
{
	char right[MOST];

	for (unsigned int i = 0; i < COMMANDS; i++) {
		const struct command *c = &commands[i];
		int fd = self->fd[c->side];

		/* With checkers, beyond what is known, not each: an attach takes long there. */
		for (unsigned int size = 0; c->size && size <= MOST;
		     size += env_debug() && size > 2 * c->size ? 61 : 1) {
			int want, got, grown;

			fill(c, &self->d, right);
			fill(c, &self->d, self->buf);
			if (size < c->size)
				memset(right + (size < 4 ? 4 : size), 0,
				       c->size - (size < 4 ? 4 : size));
			memcpy(self->buf + 4, right + 4, MOST - 4);
			*(uint32_t *)self->buf = size;
			want = size < 4 ? -EINVAL : try_call(c, fd, right);
			got = try_call(c, fd, self->buf);
			EXPECT_EQ(want, got) {
				TH_LOG("%s with size %u", c->name, size);
			}
			if (size <= c->size)
				continue;
			fill(c, &self->d, self->buf);
			*(uint32_t *)self->buf = size;
			self->buf[c->size + (size * 7) % (size - c->size)] = 1;
			grown = try_call(c, fd, self->buf);
			EXPECT_EQ(-E2BIG, grown) {
				TH_LOG("%s with size %u and something in it", c->name, size);
			}
		}
	}
}

/* Nothing behind a short argument is written to. */
TEST_F(ioctl, stays_inside)
{
	for (unsigned int i = 0; i < COMMANDS; i++) {
		const struct command *c = &commands[i];

		for (unsigned int size = 4; size <= c->size; size++) {
			fill(c, &self->d, self->buf);
			*(uint32_t *)self->buf = size;
			memset(self->buf + size, 0xa5, 512);
			try_call(c, self->fd[c->side], self->buf);
			for (unsigned int b = size; b < size + 512; b++)
				if ((unsigned char)self->buf[b] != 0xa5) {
					EXPECT_EQ(0xa5, (unsigned char)self->buf[b]) {
						TH_LOG("%s of %u bytes writes byte %u", c->name,
						       size, b);
					}
					break;
				}
		}
	}
}

TEST_F(ioctl, pointers)
{
	for (unsigned int i = 0; i < COMMANDS; i++) {
		const struct command *c = &commands[i];
		int fd = self->fd[c->side];
		char *edge;

		if (!c->size)
			continue;
		EXPECT_EQ(-EFAULT, try_call(c, fd, NULL));
		EXPECT_EQ(-EFAULT, try_call(c, fd, self->buf + 2 * MOST));
		EXPECT_EQ(-EFAULT, try_call(c, fd, (void *)-64L));
		EXPECT_EQ(-EFAULT, try_call(c, fd, (void *)(1ul << 63)));
		/* Half of it is there. */
		edge = self->buf + 2 * MOST - 8;
		*(uint32_t *)edge = c->size;
		EXPECT_EQ(c->size > 8 ? -EFAULT : 0, try_call(c, fd, edge)) {
			TH_LOG("%s over an edge", c->name);
		}
		/* Any alignment will do. */
		for (unsigned int by = 1; by < 8; by++) {
			fill(c, &self->d, self->buf + by);
			EXPECT_EQ(0, try_call(c, fd, self->buf + by)) {
				TH_LOG("%s misaligned by %u", c->name, by);
			}
		}
		ASSERT_EQ(0, mprotect(self->readonly, MOST, PROT_READ | PROT_WRITE));
		fill(c, &self->d, self->readonly);
		ASSERT_EQ(0, mprotect(self->readonly, MOST, PROT_READ));
		EXPECT_EQ(c->out ? -EFAULT : 0, try_call(c, fd, self->readonly)) {
			TH_LOG("%s read-only", c->name);
		}
	}
}

/* Arrays that an argument points to. */
TEST_F(ioctl, arrays)
{
	struct xsprof_list l = { .size = sizeof(l), .info_size = sizeof(infos[0]) };
	struct xsprof_syncs s = { .size = sizeof(s) };
	int fd = self->fd[CONTROL_FD];
	char *info = self->buf;

	EXPECT_EQ(0, dev_call(fd, XSPROF_IOC_LIST, &l));
	EXPECT_EQ(0, l.count);
	EXPECT_EQ(0, dev_call(fd, XSPROF_IOC_SYNCS, &s));
	EXPECT_EQ(0, s.count);
	l.count = 8;
	l.infos = (uintptr_t)(self->buf + 2 * MOST);
	EXPECT_EQ(-EFAULT, dev_call(fd, XSPROF_IOC_LIST, &l));
	s.count = 8;
	s.syncs = (uintptr_t)(self->buf + 2 * MOST);
	EXPECT_EQ(-EFAULT, dev_call(fd, XSPROF_IOC_SYNCS, &s));
	/* More elements than could ever be: what there is, is given. */
	l.infos = (uintptr_t)infos;
	l.count = UINT32_MAX;
	l.after = self->d.id - 1;
	EXPECT_EQ(0, dev_call(fd, XSPROF_IOC_LIST, &l));
	EXPECT_EQ(1, l.count);
	EXPECT_EQ(self->d.id, infos[0].id);
	l.count = 1;
	l.after = UINT64_MAX;
	EXPECT_EQ(0, dev_call(fd, XSPROF_IOC_LIST, &l));
	EXPECT_EQ(0, l.count);
	/* Elements of another size: cut, or filled up with 0. */
	for (unsigned int size = 8; size <= MOST; size += size < 400 ? 4 : 92) {
		unsigned int same = size < sizeof(infos[0]) ? size : sizeof(infos[0]);

		memset(info, 0xa5, 2 * MOST);
		l.infos = (uintptr_t)info;
		l.info_size = size;
		l.after = self->d.id - 1;
		l.count = 1;
		ASSERT_EQ(0, dev_call(fd, XSPROF_IOC_LIST, &l)) {
			TH_LOG("elements of %u bytes", size);
		}
		ASSERT_EQ(1, l.count);
		EXPECT_EQ(0, memcmp(info, &infos[0], same));
		for (unsigned int b = same; b < size; b++)
			ASSERT_EQ(0, info[b]);
		ASSERT_EQ(0xa5, (unsigned char)info[size]);
	}
	l.info_size = 0;
	l.count = 1;
	EXPECT_EQ(-EINVAL, dev_call(fd, XSPROF_IOC_LIST, &l));
}

struct racer {
	uint32_t	*words;
	uint32_t	stop;
	uint64_t	seed;
};

static void *scribble(void *arg)
{
	struct racer *r = arg;

	while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
		uint64_t x = env_random(&r->seed);

		/* Mostly the size: it is read twice, and must mean one thing. */
		__atomic_store_n(&r->words[x & 8 ? 0 : x >> 8 & 31],
				 x & 16 ? (uint32_t)(x >> 32) % 200 : (uint32_t)(x >> 32),
				 __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST_F(ioctl, racing)
{
	uint64_t calls = env_costly(40000, 4000);
	struct racer r = { .words = (uint32_t *)self->buf, .seed = env_seed() };
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, scribble, &r));
	for (uint64_t i = 0; i < calls; i++) {
		const struct command *c = &commands[i % COMMANDS];
		int ret;

		if (!c->size)
			continue;
		if (i % 5 < 2)
			fill(c, &self->d, self->buf);
		ret = try_call(c, self->fd[c->side], self->buf);
		if (ret > 0 || ret == -ENOTTY) {
			EXPECT_EQ(0, ret);
		}
	}
	__atomic_store_n(&r.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* Anything with anything.  What succeeds must be something that may. */
TEST_F(ioctl, random)
{
	/* A million in tier full, whatever the kernel. */
	uint64_t calls = env_part(1000000, 1000000, env_debug() ? 30 : 3);
	uint64_t x = env_seed(), done = 0;
	struct xsprof_open o = { .size = sizeof(o), .id = self->d.id };
	int got;

	for (uint64_t i = 0; i < calls; i++) {
		uint64_t r = env_random(&x);
		unsigned int side = r & 3;
		unsigned long cmd = _IOC(r >> 2 & 3, r >> 4 & 15 ? XSPROF_IOC_MAGIC : r >> 8 & 255,
					 r >> 16 & 15 ? 1 + (r >> 20) % 12 : r >> 24 & 255,
					 r >> 32 & 0x3fff);
		const struct command *c = &commands[(r >> 46) % COMMANDS];
		void *arg = self->buf;
		int ret;

		if (r >> 50 & 3) {
			cmd = c->cmd;
			fill(c, &self->d, self->buf);
		} else {
			/*
			 * Never what another command left: its small numbers, taken for a
			 * pointer and changed, lead to this program's own data.
			 */
			for (unsigned int n = 0; n < 128; n += 8) {
				uint64_t y = env_random(&x);

				memcpy(self->buf + n, &y, 8);
			}
		}
		for (unsigned int n = r >> 52 & 3; n; n--) {
			uint64_t y = env_random(&x);

			self->buf[y & 127] = y >> 8;
		}
		if (!(r >> 54 & 31))
			arg = (void *)env_random(&x);
		ret = dev_call(self->fd[side], cmd, arg);
		done += ret >= 0;
		if (ret > 2)	/* LIST says more elsewhere; only OPEN gives numbers */
			close(ret);
		if (side == CONTROL_FD && !ret && _IOC_NR(cmd) == _IOC_NR(XSPROF_IOC_ATTACH)) {
			close(self->fd[side]);
			self->fd[side] = dev_open();
			ASSERT_GE(self->fd[side], 0);
		}
	}
	EXPECT_LT(0, done);
	/* The producer that all this was done to is as it was. */
	EXPECT_EQ(self->d.len, self->d.ctl->total_size);
	EXPECT_EQ(XSPROF_STATE_LIVE, self->d.ctl->state);
	got = dev_call(self->d.fd, XSPROF_IOC_OPEN, &o);
	EXPECT_LE(0, got);
	TH_LOG("%llu calls, %llu accepted", (unsigned long long)calls, (unsigned long long)done);
}

TEST_HARNESS_MAIN
