// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that must be refused: unknown commands, reserved fields and flags, values out of range, and
 * commands on a descriptor of another kind.  The device is usable after all of them.
 */
#include "ioctl.h"

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

/* A call that finds the producer again is checked like one that makes a producer. */
TEST_F(ioctl, rejoin)
{
	const struct command *attach = &commands[0];
	struct xsprof_attach a = dev_attach_defaults();

	a.flags = XSPROF_ATTACH_REJOIN;
	a.id = self->d.id;
	EXPECT_EQ(0, try_call(attach, -1, &a));
	for (unsigned int bit = 0; bit < 32; bit++) {
		a.flags = XSPROF_ATTACH_REJOIN | 1u << bit;
		if (a.flags != XSPROF_ATTACH_REJOIN)
			EXPECT_EQ(-EINVAL, try_call(attach, -1, &a));
	}
	a.flags = XSPROF_ATTACH_REJOIN;
	for (unsigned int bit = 0; bit < 64; bit++) {
		a.reserved = 1ull << bit;
		EXPECT_EQ(-EINVAL, try_call(attach, -1, &a)) {
			TH_LOG("reserved bit %u", bit);
		}
	}
	a.reserved = 0;
	a.abi_major++;
	EXPECT_EQ(-EPROTONOSUPPORT, try_call(attach, -1, &a));
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

TEST_HARNESS_MAIN
