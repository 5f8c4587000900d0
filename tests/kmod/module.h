/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module is loaded and unloaded by the tests themselves, while a thread changes its parameters.
 */
#ifndef XSP_TEST_MODULE_H
#define XSP_TEST_MODULE_H

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "env.h"

static int module_unload(void)
{
	return syscall(SYS_delete_module, "xsprof", O_NONBLOCK) ? -errno : 0;
}

static int module_load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, parameters, 0))
		err = -errno;
	close(fd);
	return err;
}

/* Writes a limit over and over, while there is a module.  @over: a bool that ends it. */
__attribute__((unused)) static void *module_change_limits(void *over)
{
	while (!__atomic_load_n((bool *)over, __ATOMIC_ACQUIRE)) {
		int fd = open(ENV_PARAMETERS "retain_bytes", O_WRONLY | O_CLOEXEC);

		for (int i = 0; fd >= 0 && i < 50; i++)
			if (write(fd, "1000000", 7) != 7)
				break;
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

#endif /* XSP_TEST_MODULE_H */
