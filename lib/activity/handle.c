// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Names that programs give to a runtime's objects by their handles.
 */
#include <errno.h>

#include "activity/local.h"

int xsprof_handle_name(const char *type, const void *handle, const char *name)
{
	int ret = -ENOENT, err = errno;

	if (!type || !name)
		return -EINVAL;
	for (struct xsp_collector *k = xsp_collectors(); k && ret == -ENOENT; k = k->next)
		if (k->c.handle_named)
			ret = k->c.handle_named(k->c.data, type, handle, name);
	errno = err;
	return ret;
}
