// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The configuration of a session: accepts any version of the struct, and computes what the session
 * needs of the library.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "forward/forward.h"
#include "profiler/op-mirror.h"
#include "profiler/session.h"
#include "ring/op-wanted.h"

#define SIZE_SANE	4096u

/* Return: 0; -EINVAL, -E2BIG. */
static int copy_sized(void *to, size_t size, const void *from, size_t least)
{
	size_t has = *(const size_t *)from;

	if (has < least)
		return -EINVAL;
	/* No version is that large: the field is not a size, so do not read that far. */
	if (has > SIZE_SANE)
		return -E2BIG;
	for (size_t i = size; i < has; i++)
		if (((const char *)from)[i])
			return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, has < size ? has : size);
	*(size_t *)to = size;
	return 0;
}

bool xsp_session_records(uint32_t state)
{
	return state != XSPROF_PROFILER_NVTX && state != XSPROF_PROFILER_ITT &&
	       state != XSPROF_PROFILER_PRIVATEUSE1;
}

int xsp_session_copy(const struct xsprof_profiler_config *config,
		     struct xsprof_profiler_config *to, struct xsprof_experimental *experimental)
{
	int err;

	if (!config)
		return -EINVAL;
	err = copy_sized(to, sizeof(*to), config,
			 offsetof(struct xsprof_profiler_config, experimental));
	if (err)
		return err;
	if (to->state <= XSPROF_PROFILER_DISABLED || to->state >= XSPROF_PROFILER_STATES)
		return -EINVAL;
	*experimental = (struct xsprof_experimental){ .size = sizeof(*experimental) };
	if (to->experimental)
		err = copy_sized(experimental, sizeof(*experimental), to->experimental,
				 offsetof(struct xsprof_experimental, custom));
	to->experimental = experimental;
	return err;
}

uint32_t xsp_session_flags(const struct xsprof_profiler_config *config)
{
	return (config->report_input_shapes || config->with_flops ? XSP_OPS_INPUTS : 0) |
	       (config->with_stack ? XSP_OPS_STACK : 0) |
	       (config->with_modules ? XSP_OPS_MODULES : 0) |
	       (config->profile_memory ? XSP_OPS_MEMORY : 0);
}

uint32_t xsp_session_mirror(uint32_t state)
{
	switch (state) {
	case XSPROF_PROFILER_NVTX:
		return XSP_MIRROR_NVTX;
	case XSPROF_PROFILER_ITT:
		return XSP_MIRROR_ITT;
	case XSPROF_PROFILER_PRIVATEUSE1:
		return XSP_MIRROR_BACKEND;
	default:
		return 0;
	}
}
