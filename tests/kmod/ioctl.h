/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of the device, each with a right argument, and a producer and its readers to call
 * them on.  For programs that call them wrongly.
 */
#ifndef KMOD_IOCTL_H
#define KMOD_IOCTL_H

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

#endif /* KMOD_IOCTL_H */
