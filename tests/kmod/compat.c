// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of 32-bit programs, which come by another way into the kernel: each command is the same
 * there and has the same answer, in the same places.
 */
#include <sys/wait.h>

#include "ioctl.h"

#define IOCTL_32	54	/* numbers of the 32-bit system calls */
#define GETPID_32	20

#if defined(__x86_64__)
/* A 64-bit process may make these calls as well.  What they point to has to be below 4 GiB. */
static int call_32(unsigned int nr, int fd, unsigned long cmd, const void *arg)
{
	int ret;

	__asm__ __volatile__("int $0x80" : "=a" (ret)
			     : "0" (nr), "b" (fd), "c" (cmd), "d" (arg)
			     : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

/* Where the kernel has no such calls, the instruction is a fault. */
static bool has_32(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(call_32(GETPID_32, 0, 0, NULL) != getpid());
	return waitpid(pid, &status, 0) == pid && !status;
}

static void *low_memory(void)
{
	void *at = mmap(NULL, 4 * MOST, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}
#else
static int call_32(unsigned int nr, int fd, unsigned long cmd, const void *arg)
{
	return -ENOSYS;
}

static bool has_32(void)
{
	return false;
}

static void *low_memory(void)
{
	return NULL;
}
#endif

/* As try_call(). */
static int try_32(const struct command *c, int fd, void *arg)
{
	int fresh = c->cmd == XSPROF_IOC_ATTACH ? dev_open() : -1;
	int ret = call_32(IOCTL_32, fresh >= 0 ? fresh : fd, c->cmd, arg);

	if (c->cmd == XSPROF_IOC_OPEN && ret >= 0) {
		close(ret);
		ret = 0;
	}
	if (fresh >= 0)
		close(fresh);
	return ret;
}

/* Each attach has a number of its own, and there may be a sync point more. */
static void same_but_for_time(const struct command *c, const void *from, void *to)
{
	if (c->cmd == XSPROF_IOC_ATTACH)
		((struct xsprof_attach *)to)->id = ((const struct xsprof_attach *)from)->id;
	if (c->cmd == XSPROF_IOC_SYNCS)
		((struct xsprof_syncs *)to)->count = ((const struct xsprof_syncs *)from)->count;
}

TEST_F(ioctl, same_answers)
{
	char *low = has_32() ? low_memory() : NULL;

	if (!low)
		SKIP(return, "no 32-bit system calls here");
	for (unsigned int i = 0; i < COMMANDS; i++) {
		const struct command *c = &commands[i];
		int fd = self->fd[c->side], want = 0;

		/* The first call may change what the second one answers. */
		for (unsigned int call = 0; call < 2; call++) {
			fill(c, &self->d, self->buf);
			want = try_call(c, fd, c->size ? self->buf : NULL);
		}
		fill(c, &self->d, low);
		EXPECT_EQ(want, try_32(c, fd, c->size ? low : NULL)) {
			TH_LOG("%s of a 32-bit program", c->name);
		}
		same_but_for_time(c, self->buf, low);
		EXPECT_EQ(0, memcmp(self->buf, low, MOST)) {
			TH_LOG("%s of a 32-bit program has another answer", c->name);
		}
		if (!c->size)
			continue;
		/* Another size or direction is another command there too. */
		EXPECT_EQ(-ENOTTY, call_32(IOCTL_32, fd, c->cmd ^ 4 << _IOC_SIZESHIFT, low));
		EXPECT_EQ(-ENOTTY, call_32(IOCTL_32, fd, c->cmd ^ _IOC_READ << _IOC_DIRSHIFT,
					   low));
		EXPECT_EQ(-EFAULT, try_32(c, fd, NULL));
	}
}

/* Arrays lie at addresses of 64 bits, whoever calls. */
TEST_F(ioctl, same_list)
{
	struct xsprof_info *low = has_32() ? low_memory() : NULL;
	struct xsprof_list *l;

	if (!low)
		SKIP(return, "no 32-bit system calls here");
	l = (struct xsprof_list *)((char *)low + 2 * MOST);
	*l = (struct xsprof_list){
		.size = sizeof(*l), .after = self->d.id - 1, .infos = (uintptr_t)low,
		.info_size = sizeof(*low), .count = 1,
	};
	EXPECT_EQ(0, call_32(IOCTL_32, self->fd[CONTROL_FD], XSPROF_IOC_LIST, l));
	EXPECT_EQ(1, l->count);
	EXPECT_EQ(0, dev_info(self->fd[CONTROL_FD], self->d.id, &infos[0]));
	EXPECT_EQ(0, memcmp(&infos[0], low, sizeof(*low)));
}

TEST_HARNESS_MAIN
