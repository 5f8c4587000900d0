// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arguments of ioctls: read once, checked for size, written back.  It knows no command.
 */
#include <linux/errno.h>
#include <linux/uaccess.h>

#include "call.h"

static long get_argument(union xsp_argument *a, size_t size, u32 *given, const void __user *from)
{
	long err;

	memset(a, 0, sizeof(*a));
	if (get_user(*given, (const u32 __user *)from))
		return -EFAULT;
	if (*given < sizeof(*given) || *given > PAGE_SIZE)
		return -EINVAL;
	/* -E2BIG: a newer caller uses fields that this module does not know. */
	err = copy_struct_from_user(a, size, from, *given);
	/* It may have changed between the two reads: the first one counts. */
	a->size = *given;
	return err;
}

static long put_argument(const union xsp_argument *a, size_t size, u32 given, void __user *to)
{
	return copy_to_user(to, a, min_t(size_t, size, given)) ? -EFAULT : 0;
}

static long call(const struct xsp_command *c, void *self, void __user *arg)
{
	union xsp_argument a;
	u32 given;
	long ret;

	ret = get_argument(&a, c->size, &given, arg);
	if (ret)
		return ret;
	ret = c->call(self, &a);
	if (ret < 0 || !(_IOC_DIR(c->cmd) & _IOC_READ))
		return ret;
	/* Copies as much as the caller's structure holds; its size field keeps its value. */
	return put_argument(&a, c->size, given, arg) ?: ret;
}

/**
 * xsp_call() - execute an ioctl
 * @commands: commands of this descriptor
 * @nr: number of @commands
 * @self: the object of the descriptor
 * @cmd: as ioctl() gave it
 * @arg: as ioctl() gave it
 */
long xsp_call(const struct xsp_command *commands, size_t nr, void *self, unsigned int cmd,
	      unsigned long arg)
{
	union xsp_argument a;
	size_t i;

	for (i = 0; i < nr; i++) {
		/* Compares all bits, so that a seccomp filter knows what it permits. */
		if (commands[i].cmd != cmd)
			continue;
		if (commands[i].size)
			return call(&commands[i], self, (void __user *)arg);
		a.value = arg;
		return commands[i].call(self, &a);
	}
	return -ENOTTY;
}
