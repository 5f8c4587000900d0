// SPDX-License-Identifier: LGPL-2.1-only
/* A process that records itself: not in this build. */
#include <errno.h>

#include "internal.h"

int xsp_self_record_start(const char *file)
{
	(void)file;
	return -ENOSYS;
}

void xsp_self_record_stop(void)
{
}
