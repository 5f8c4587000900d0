/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Faults for the calling thread: the nth of its next allocations, or copies to and from user space,
 * fails.  Owns the kernel's settings for that; never a verdict.
 */
#ifndef KMOD_FAULT_H
#define KMOD_FAULT_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env.h"

static const char *const fault_settings[][2] = {
	{ "/sys/kernel/debug/failslab/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/failslab/verbose", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/min-order", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/verbose", "0" },
	{ "/sys/kernel/debug/fail_usercopy/verbose", "0" },
};

/* The calling thread's allocations and copies can be made to fail.  Return: the file, or -1. */
__attribute__((unused)) static int fault_open(void)
{
	for (unsigned int i = 0; i < sizeof(fault_settings) / sizeof(fault_settings[0]); i++)
		if (env_file_put(fault_settings[i][0], fault_settings[i][1]))
			return -1;
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

/* Return: 0 or -errno. */
__attribute__((unused)) static int fault_set(int nth, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	return pwrite(nth, text, (size_t)len, 0) == len ? 0 : -errno;
}

/* Switches it off.  Return: how many more it would have taken for one to fail; 0: it has failed. */
__attribute__((unused)) static int fault_end(int nth)
{
	char text[16] = "";

	/* Copies to user space can be made to fail too, and this is one: it was it. */
	if (pread(nth, text, sizeof(text) - 1, 0) < 0)
		strcpy(text, "1");
	/* And so is the copy that switches it off. */
	if (fault_set(nth, 0) && fault_set(nth, 0))
		return -1;
	return atoi(text);
}

/* May a call whose allocations or copies fail answer @err? */
static inline bool fault_excuses(int err)
{
	return err == -ENOMEM || err == -EFAULT || err == -ENFILE || err == -EINTR;
}

#endif /* KMOD_FAULT_H */
