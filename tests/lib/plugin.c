// SPDX-License-Identifier: GPL-2.0-only
/* A plugin that uses the library, to be loaded and unloaded; see dl.c. */
#include <xsprof/xsprof.h>

void plugin_emit(void);

void plugin_emit(void)
{
	XSPROF_BEGIN("plugin");
	XSPROF_END();
}
