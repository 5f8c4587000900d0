// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names of kernels.  rocprofiler-sdk tells them when a code object is loaded, which may have
 * thousands of which the program runs few: a name goes into the trace with the first run.
 *
 * They are told in threads of the program, and asked for by the collector's.  The lock is held
 * without calling rocprofiler-sdk or the library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "gpu/common/kernel.h"
#include "gpu/rocm/local.h"

#define MOST		(1u << 20)

/* Ids count from 1 in a process. */
struct kernel {
	char		*text;
	xsprof_name_t	name;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;
static uint32_t nr_kernels;

/* The symbol is of the kernel's descriptor. */
static char *copy(const char *symbol)
{
	size_t len = strlen(symbol);

	if (len > 3 && !strcmp(symbol + len - 3, ".kd"))
		len -= 3;
	return strndup(symbol, len);
}

/* The lock is held. */
static bool grow(uint64_t kernel)
{
	uint32_t n = nr_kernels ? nr_kernels : 256;
	struct kernel *more;

	while (n <= kernel)
		n *= 2;
	more = realloc(kernels, n * sizeof(*more));
	if (!more)
		return false;
	memset(more + nr_kernels, 0, (n - nr_kernels) * sizeof(*more));
	kernels = more;
	nr_kernels = n;
	return true;
}

void rocm_kernel_is(uint64_t kernel, const char *name)
{
	char *text = name && kernel < MOST ? copy(name) : NULL;

	if (!text)
		return;
	pthread_mutex_lock(&lock);
	if (kernel < nr_kernels || grow(kernel)) {
		free(kernels[kernel].text);
		kernels[kernel] = (struct kernel){ .text = text };
		text = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(text);
}

xsprof_name_t rocm_kernel_name(uint64_t kernel)
{
	xsprof_name_t name = 0;
	char *text = NULL;

	pthread_mutex_lock(&lock);
	if (kernel < nr_kernels) {
		name = kernels[kernel].name;
		if (!name && kernels[kernel].text)
			text = strdup(kernels[kernel].text);
	}
	pthread_mutex_unlock(&lock);
	if (name)
		return name;
	name = gpu_kernel_name(rocm_category(), text ? text : "(no name)");
	free(text);
	pthread_mutex_lock(&lock);
	if (kernel < nr_kernels)
		kernels[kernel].name = name;
	pthread_mutex_unlock(&lock);
	return name;
}

void rocm_kernels_forget(void)
{
	pthread_mutex_init(&lock, NULL);
}
