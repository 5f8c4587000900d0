// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile calls: every command with every size and every kind of bad pointer, unknown commands,
 * reserved fields, callers that change their argument meanwhile, and random calls.  Each has the
 * answer that ioctl.h says, and the device is usable after all of them.
 */
#include <pthread.h>
#include <signal.h>

#include "dev.h"
#include "env.h"

#define MOST	4096	/* bytes of an argument */

enum side { CONTROL_FD, PRODUCER_FD, READER_FD, CONSUMER_FD, SIDES };

/**
 * struct command - one call as it is right
 * @name: for messages
 * @cmd: its number
 * @size: of its argument, 0 for none
 * @side: whose descriptor takes it
 * @out: the kernel writes the argument
 */
struct command {
	const char	*name;
	unsigned long	cmd;
	unsigned int	size;
	enum side	side;
	bool		out;
};

static const struct command commands[] = {
	{ "ATTACH", XSPROF_IOC_ATTACH, sizeof(struct xsprof_attach), CONTROL_FD, true },
	{ "LIST", XSPROF_IOC_LIST, sizeof(struct xsprof_list), CONTROL_FD, true },
	{ "OPEN", XSPROF_IOC_OPEN, sizeof(struct xsprof_open), CONTROL_FD, false },
	{ "SYNCS", XSPROF_IOC_SYNCS, sizeof(struct xsprof_syncs), CONTROL_FD, true },
	{ "POPULATE", XSPROF_IOC_POPULATE, sizeof(struct xsprof_populate), PRODUCER_FD, false },
	{ "CONTROL", XSPROF_IOC_CONTROL, sizeof(struct xsprof_control), PRODUCER_FD, true },
	{ "KICK", XSPROF_IOC_KICK, 0, PRODUCER_FD, false },
	{ "WATCH", XSPROF_IOC_WATCH, sizeof(struct xsprof_watch), CONSUMER_FD, false },
	{ "EVENTS", XSPROF_IOC_EVENTS, sizeof(struct xsprof_events), CONSUMER_FD, true },
	{ "DROP", XSPROF_IOC_DROP, 0, CONSUMER_FD, false },
	{ "EMIT", XSPROF_IOC_EMIT, sizeof(struct xsprof_emit), PRODUCER_FD, false },
	{ "SCHED", XSPROF_IOC_SCHED, sizeof(struct xsprof_sched), PRODUCER_FD, true },
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))

/*
 * Arrays lie where a pointer to them with a byte or a word changed leads to nothing of ours:
 * hostile calls must not overwrite the test itself.
 */
#define ALONE		((char *)0x100080000000ul)
#define ALONE_SIZE	(16ul << 20)
#define ARRAY_ROOM	(1ul << 20)

static struct xsprof_info *const infos = (void *)(ALONE + ALONE_SIZE / 2);
static struct xsprof_sync *const syncs = (void *)(ALONE + ALONE_SIZE / 4);

FIXTURE(ioctl)
{
	struct dev	d;
	int		fd[SIDES];
	char		*buf;		/* two pages, then none */
	char		*readonly;
};

FIXTURE_SETUP(ioctl)
{
	struct xsprof_open o = { .size = sizeof(o) };

	ASSERT_EQ(ALONE, mmap(ALONE, ALONE_SIZE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
	ASSERT_EQ(0, mprotect(infos, ARRAY_ROOM, PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, mprotect(syncs, ARRAY_ROOM, PROT_READ | PROT_WRITE));
	ASSERT_EQ(0, dev_attach(&self->d, XSPROF_MODE_DISCARD, 64 << 10, 2));
	ASSERT_EQ(0, dev_ring_open(&self->d, self->d.nr));
	o.id = self->d.id;
	self->fd[CONTROL_FD] = dev_open();
	self->fd[PRODUCER_FD] = self->d.fd;
	self->fd[READER_FD] = dev_call(self->d.fd, XSPROF_IOC_OPEN, &o);
	o.flags = XSPROF_OPEN_CONSUME;
	self->fd[CONSUMER_FD] = dev_call(self->d.fd, XSPROF_IOC_OPEN, &o);
	for (unsigned int i = 0; i < SIDES; i++)
		ASSERT_GE(self->fd[i], 0);
	/* Before the hole behind buf is made, or it would lie there. */
	self->readonly = mmap(NULL, MOST, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->readonly);
	self->buf = mmap(NULL, 3 * MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	ASSERT_NE(MAP_FAILED, self->buf);
	ASSERT_EQ(0, munmap(self->buf + 2 * MOST, MOST));
}

FIXTURE_TEARDOWN(ioctl)
{
	struct dev again;

	/* Whatever was tried: the device goes on working. */
	EXPECT_EQ(0, dev_attach(&again, XSPROF_MODE_OVERWRITE, 16 << 10, 1));
	EXPECT_EQ(0, dev_ring_open(&again, again.nr));
	dev_close(&again);
	for (unsigned int i = 0; i < SIDES; i++)
		close(self->fd[i]);
}

/* A right argument of @c, at @to. */
static void fill(const struct command *c, const struct dev *d, void *to)
{
	union {
		struct xsprof_attach	attach;
		struct xsprof_list	list;
		struct xsprof_open	open;
		struct xsprof_syncs	syncs;
		struct xsprof_populate	populate;
		struct xsprof_control	control;
		struct xsprof_watch	watch;
		struct xsprof_sched	sched;
	} a = { 0 };

	switch (c->cmd) {
	case XSPROF_IOC_ATTACH:
		a.attach = dev_attach_defaults();
		break;
	case XSPROF_IOC_LIST:
		a.list.infos = (uintptr_t)infos;
		a.list.info_size = sizeof(infos[0]);
		a.list.count = 8;
		break;
	case XSPROF_IOC_OPEN:
		a.open.id = d->id;
		break;
	case XSPROF_IOC_SYNCS:
		a.syncs.syncs = (uintptr_t)syncs;
		a.syncs.count = 8;
		break;
	case XSPROF_IOC_POPULATE:
		a.populate.offset = d->arena_off;
		a.populate.bytes = d->page;
		break;
	case XSPROF_IOC_CONTROL:
		a.control.set = 1;
		break;
	case XSPROF_IOC_WATCH:
		a.watch.slots = 64;
		a.watch.period = 1000000000;
		break;
	case XSPROF_IOC_SCHED:
		a.sched.flags = XSPROF_SCHED_ON;
		break;
	}
	*(uint32_t *)&a = c->size;
	memset(to, 0, MOST);
	memcpy(to, &a, c->size < sizeof(a) ? c->size : sizeof(a));
	*(uint32_t *)to = c->size;
}

/* Call it; a new descriptor is closed, and an attach is tried on a fresh one. */
static int try_call(const struct command *c, int fd, void *arg)
{
	int fresh = c->cmd == XSPROF_IOC_ATTACH ? dev_open() : -1, ret;

	ret = dev_call(fresh >= 0 ? fresh : fd, c->cmd, arg);
	if (c->cmd == XSPROF_IOC_OPEN && ret >= 0) {
		close(ret);
		ret = 0;
	}
	if (fresh >= 0)
		close(fresh);
	return ret;
}

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

/* What no one has defined is refused, on each kind of descriptor. */
TEST_F(ioctl, unknown)
{
	memset(self->buf, 0, MOST);
	for (unsigned int side = 0; side < SIDES; side++) {
		for (unsigned int nr = 0; nr < 256; nr++) {
			if ((nr >= _IOC_NR(XSPROF_IOC_ATTACH) && nr <= _IOC_NR(XSPROF_IOC_SCHED)) ||
			    nr == _IOC_NR(XSPROF_IOC_EMIT))
				continue;
			for (unsigned int dir = 0; dir < 4; dir++)
				EXPECT_EQ(-ENOTTY, dev_call(self->fd[side],
							    _IOC(dir, XSPROF_IOC_MAGIC, nr, 8),
							    self->buf));
		}
	}
}

/* Return: how many commands are known that differ from @c's in magic, direction or size. */
static unsigned int known_like(const struct command *c, const struct dev *d, int fd, void *arg)
{
	unsigned int cmd = (unsigned int)c->cmd, known = 0;

	/* Of no magic are some that every file has, FIGETBSZ with KICK's number. */
	for (unsigned int magic = 1; magic < 256; magic++) {
		fill(c, d, arg);
		known += magic != _IOC_TYPE(cmd) &&
			 dev_call(fd, (cmd & ~0xff00u) | magic << 8, arg) != -ENOTTY;
	}
	for (unsigned int dir = 0; dir < 4; dir++) {
		fill(c, d, arg);
		known += dir != _IOC_DIR(cmd) &&
			 dev_call(fd, _IOC(dir, XSPROF_IOC_MAGIC, _IOC_NR(cmd), _IOC_SIZE(cmd)),
				  arg) != -ENOTTY;
	}
	for (unsigned int size = 0; size < 1u << _IOC_SIZEBITS; size += size < MOST ? 1 : 37) {
		fill(c, d, arg);
		known += size != _IOC_SIZE(cmd) &&
			 dev_call(fd, _IOC(_IOC_DIR(cmd), XSPROF_IOC_MAGIC, _IOC_NR(cmd), size),
				  arg) != -ENOTTY;
	}
	return known;
}

/* A filter that lets one command pass lets no other pass. */
TEST_F(ioctl, whole_command)
{
	for (unsigned int i = 0; i < COMMANDS; i++) {
		const struct command *c = &commands[i];

		EXPECT_EQ(0, known_like(c, &self->d, self->fd[c->side], self->buf)) {
			TH_LOG("%s", c->name);
		}
		fill(c, &self->d, self->buf);
		EXPECT_NE(-ENOTTY, try_call(c, self->fd[c->side], self->buf)) {
			TH_LOG("%s itself", c->name);
		}
	}
}

#define REFUSED(c, field, type, value, error) do { \
	struct type a_; \
	fill(c, &self->d, self->buf); \
	memcpy(&a_, self->buf, sizeof(a_)); \
	a_.field = value; \
	EXPECT_EQ(error, try_call(c, self->fd[(c)->side], &a_)) { \
		TH_LOG("%s with " #field " = %llx", (c)->name, (unsigned long long)(value)); \
	} \
} while (0)

TEST_F(ioctl, reserved)
{
	const struct command *attach = &commands[0], *list = &commands[1], *open = &commands[2];
	const struct command *syncs_of = &commands[3], *populate = &commands[4];
	const struct command *control = &commands[5], *watch = &commands[7];
	const struct command *events = &commands[8], *sched = &commands[11];
	uint64_t end = self->d.rings_off + self->d.stride;

	for (unsigned int bit = 0; bit < 32; bit++) {
		uint32_t flag = 1u << bit;

		if (bit > 2)
			REFUSED(attach, flags, xsprof_attach, flag, -EINVAL);
		REFUSED(list, flags, xsprof_list, flag, -EINVAL);
		if (bit)
			REFUSED(open, flags, xsprof_open, flag, -EINVAL);
		REFUSED(syncs_of, flags, xsprof_syncs, flag, -EINVAL);
		REFUSED(populate, flags, xsprof_populate, flag, -EINVAL);
		REFUSED(control, flags, xsprof_control, flag, -EINVAL);
		REFUSED(watch, flags, xsprof_watch, flag, -EINVAL);
		REFUSED(events, flags, xsprof_events, flag, -EINVAL);
		if (flag & ~(XSPROF_PAUSED_PROGRAM | XSPROF_PAUSED_RECORDER)) {
			REFUSED(control, pause, xsprof_control, flag, -EINVAL);
			REFUSED(control, resume, xsprof_control, flag, -EINVAL);
		}
		if (bit)
			REFUSED(attach, mode, xsprof_attach, flag, -EINVAL);
		REFUSED(attach, reserved, xsprof_attach, 1ull << 2 * bit, -EINVAL);
		REFUSED(attach, reserved, xsprof_attach, 1ull << (2 * bit + 1), -EINVAL);
		if (bit)
			REFUSED(sched, flags, xsprof_sched, flag, -EINVAL);
		REFUSED(sched, reserved, xsprof_sched, flag, -EINVAL);
	}
	REFUSED(attach, abi_major, xsprof_attach, XSPROF_ABI_MAJOR + 1, -EPROTONOSUPPORT);
	REFUSED(attach, abi_major, xsprof_attach, 0, -EPROTONOSUPPORT);
	REFUSED(attach, abi_minor, xsprof_attach, XSPROF_ABI_MINOR + 1, 0);
	REFUSED(attach, nr_lock_rings, xsprof_attach, 0, -EINVAL);
	REFUSED(attach, nr_lock_rings, xsprof_attach, XSPROF_MAX_LOCK_RINGS + 1, -EINVAL);
	REFUSED(attach, ring_size, xsprof_attach, UINT64_MAX, -EINVAL);
	REFUSED(attach, ring_size, xsprof_attach, (1ull << 40) + 1, -EINVAL);
	REFUSED(attach, arena_size, xsprof_attach, UINT64_MAX, -EINVAL);
	REFUSED(attach, kernel_size, xsprof_attach, UINT64_MAX, -EINVAL);
	REFUSED(attach, kernel_size, xsprof_attach, (1ull << 40) + 1, -EINVAL);
	REFUSED(open, id, xsprof_open, 0, -ENOENT);
	REFUSED(open, id, xsprof_open, UINT64_MAX, -ENOENT);
	REFUSED(open, flags, xsprof_open, XSPROF_OPEN_CONSUME, -EBUSY);
	REFUSED(control, pause, xsprof_control, XSPROF_PAUSED_RECORDER, -EPERM);
	REFUSED(watch, period, xsprof_watch, 1, -EINVAL);
	REFUSED(watch, period, xsprof_watch, 999999, -EINVAL);
	REFUSED(watch, period, xsprof_watch, UINT64_MAX, -EINVAL);
	REFUSED(populate, bytes, xsprof_populate, 0, -EINVAL);
	REFUSED(populate, bytes, xsprof_populate, UINT64_MAX, -EINVAL);
	REFUSED(populate, bytes, xsprof_populate, self->d.arena_size + 1, -EINVAL);
	REFUSED(populate, offset, xsprof_populate, 0, -EINVAL);
	REFUSED(populate, offset, xsprof_populate, end - 1, -EINVAL);
	REFUSED(populate, offset, xsprof_populate, self->d.len, -EINVAL);
	REFUSED(populate, offset, xsprof_populate, UINT64_MAX, -EINVAL);
}

/* Calls on a descriptor of another kind. */
TEST_F(ioctl, wrong_side)
{
	for (unsigned int i = 0; i < COMMANDS; i++) {
		const struct command *c = &commands[i];

		for (unsigned int side = 0; side < SIDES; side++) {
			int want, got;

			/* LIST and OPEN go with any open of the device, SYNCS with all. */
			if (c->side == CONTROL_FD && c->cmd != XSPROF_IOC_ATTACH)
				want = side <= PRODUCER_FD || c->cmd == XSPROF_IOC_SYNCS ? 0 :
				       -ENOTTY;
			else if (c->cmd == XSPROF_IOC_ATTACH)
				want = side == PRODUCER_FD ? -EBUSY : side == CONTROL_FD ? 0 :
				       -ENOTTY;
			else if (c->cmd == XSPROF_IOC_CONTROL || c->cmd == XSPROF_IOC_SCHED)
				want = side == CONTROL_FD ? -ENODEV : 0;
			else if (c->side == PRODUCER_FD)
				want = side == CONTROL_FD ? -ENODEV :
				       side == PRODUCER_FD ? 0 : -ENOTTY;
			else if (c->cmd == XSPROF_IOC_DROP)
				want = side >= READER_FD ? -EBUSY : -ENOTTY;
			else if (c->cmd == XSPROF_IOC_WATCH && side == READER_FD)
				want = -EPERM;
			else
				want = side >= READER_FD ? 0 : -ENOTTY;
			if (c->size)
				fill(c, &self->d, self->buf);
			/* The descriptor itself: it is what is looked at here. */
			got = c->cmd == XSPROF_IOC_ATTACH && side == CONTROL_FD ?
			      try_call(c, self->fd[side], self->buf) :
			      dev_call(self->fd[side], c->cmd, c->size ? self->buf : NULL);
			if (c->cmd == XSPROF_IOC_OPEN && got >= 0) {
				close(got);
				got = 0;
			}
			if (c->cmd == XSPROF_IOC_KICK && got > 0)
				got = 0;
			EXPECT_EQ(want, got) {
				TH_LOG("%s on descriptor %u", c->name, side);
			}
		}
	}
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
	uint64_t calls = env_costly(1000000, 100000), x = env_seed(), done = 0;
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
